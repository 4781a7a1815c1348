"""The engine beside others at equal time: ``python benchmarks/solve.py OUT SECONDS SEEDS FILE …``.

The others are PyVRP, of the TSP only where ways are directed; for TSP and CVRP OR-Tools, and for
the TSP LKH, where they are there (``pip install ortools elkai``).

For SDVRP, PyVRP gets demands that are cut into pieces (20, 10, 5 and 1 percent of the capacity).

A file may have options, as in ``RC101.txt,vehicles=15``: those of :func:`specahd.api.read`, the
problem's ``convention``, the best cost ``known``, and for ``prizes`` a share: one customer in five
must be served, and the prize of each other one is its way from the depot and back times a number
drawn from [0, share). PyVRP checks solutions with such fields too.

SEEDS is a list like 0,1,2. Each solver has one core and the same seconds, one run after the
other; the costs are recomputed by the checker. OUT receives one line for each run and is read
again: a run that is there is not made twice. A line is a row of an evaluation without steps, with
the cost over time where the solver tells it. At the end stands a table of median gaps to
``known`` or to bks.csv, which lies beside the folders of the instances, or else to the cheapest
solution here. With ``CHECKPOINT=DIR``, or ``evolved``, in the environment the programs of that
checkpoint run too; ``NAME=DIR,…`` are several with names of their own. ``SOLVERS=NAME,…`` leaves
all others out. The solvers take turns, and every second instance is solved in the reverse order.
"""

import json
import math
import os
import statistics
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from specahd import api
from specahd.api.programs import BY_HAND
from specahd.problems.sdvrp.baseline import cut
from specahd.routing import best_known as published
from specahd.routing.kernels.distances import whole_matrix
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import joined


def engine(given: Any, seconds: float, seed: int, checkpoint: str = BY_HAND) -> Any:
    """Return the solution of the engine, which the trusted process checked, and how it went."""
    solved = api.solve(given, seconds, checkpoint, seed=seed)
    told = solved.statistics()
    return solved.routes, {"repairs": told["repairs"], "history": told["history"]}


def pyvrp_data(instance: VehicleInstance) -> Any:
    """Return PyVRP's model of an instance."""
    return baselines.problem_data(instance, instance.whole_matrix("pyvrp", baselines.MATRICES))


def pyvrp(given: Any, seconds: float, seed: int) -> Any:
    """Return PyVRP's solution, of a TSP with one vehicle; its model is built before."""
    import pyvrp as library
    from pyvrp.stop import MaxRuntime

    split = given.problem.name == "sdvrp"
    pieces = cut(given.data.demands, given.data.capacity) if split else ()
    tour = given.problem.name == "tsp"
    data = pyvrp_data(given.data.at(*pieces) if split else one_vehicle(given.data))
    result = library.solve(data, MaxRuntime(seconds), seed=seed, display=False)
    if not result.is_feasible():
        return None, {}
    routes = [
        tuple(each.idx + 1 for each in route if each.is_client()) for route in result.best.routes()
    ]
    if split:
        owners, demands = pieces
        routes = [joined((int(owners[p]), int(demands[p])) for p in route) for route in routes]
    if tour:
        routes = [(0, *route) for route in routes]
    return routes, {"history": history(result.stats, getattr(given.data, "parts", 1))}


def one_vehicle(data: Any) -> VehicleInstance:
    """Return an instance with vehicles itself, and a tour as that of one vehicle without loads."""
    if isinstance(data, VehicleInstance):
        return data
    nothing = np.zeros(data.size, np.int64)
    return VehicleInstance(
        data.name, data.coords, nothing, 1, data.convention, data.matrix, fleet=1
    )


def history(stats: Any, parts: int) -> list[list[float]]:
    """Return PyVRP's cost over time as that of the engine: seconds, cost, no repairs.

    Parameters
    ----------
    parts
        How many of its units make one of the file's.
    """
    moments, gone, best = [], 0.0, math.inf
    for seconds, each in zip(stats.runtimes, stats.data, strict=True):
        gone += seconds
        if each.best_feas and each.best_cost < best:
            best = each.best_cost
            moments.append([round(gone, 3), best / parts, 0])
    return moments


def or_tools(given: Any, seconds: float, seed: int) -> Any:
    """Return the solution of OR-Tools' guided local search, which has no seed; None if none."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    instance = given.data
    nodes = instance.size + int(hasattr(instance, "demands"))
    vehicles = 1
    if nodes > instance.size:
        # A tenth more than the load needs.
        vehicles = int(1.1 * instance.demands.sum() / instance.capacity) + 2
    matrix = distance_matrix(instance, "OR-Tools").astype(np.int64)
    manager = pywrapcp.RoutingIndexManager(nodes, vehicles, 0)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(matrix.tolist()))
    if vehicles > 1:
        load = routing.RegisterUnaryTransitVector(instance.demands.tolist())
        capacities = [int(instance.capacity)] * vehicles
        routing.AddDimensionWithVehicleCapacity(load, 0, capacities, True, "load")
    options = pywrapcp.DefaultRoutingSearchParameters()
    options.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.SAVINGS
    options.local_search_metaheuristic = (
        routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    )
    options.time_limit.FromMilliseconds(int(1000 * seconds))
    found = routing.SolveWithParameters(options)
    if found is None:
        return None, {}
    routes = []
    for vehicle in range(vehicles):
        route, index = [], routing.Start(vehicle)
        while not routing.IsEnd(index):
            route.append(manager.IndexToNode(index))
            index = found.Value(routing.NextVar(index))
        routes.append(route)
    return routes if vehicles == 1 else [route[1:] for route in routes if len(route) > 1], {}


def lkh(given: Any, seconds: float, seed: int) -> Any:
    """Return LKH's tour in one run; it takes no limit, so that its time stands in the row."""
    import elkai

    matrix = distance_matrix(given.data, "LKH").astype(np.int64)
    return [elkai.DistanceMatrix(matrix.tolist()).solve_tsp(runs=1)[:-1]], {}


_PATHS = ("matrix", "durations", "fleet")
_OF_TABLES = ("capacity", "speed", *_PATHS)
"""Options without which a table is no instance."""


def distance_matrix(instance: Any, who: str) -> Any:
    """Return all distances of an instance."""
    return whole_matrix(instance.coords, instance.convention, instance.matrix, who)


def solvers(given: Any) -> dict[str, Any]:
    """Return the solvers of an instance by name."""
    problem, found = given.problem.name, {"written by hand": engine}
    if problem != "tsp" or given.data.directed:
        found["PyVRP"] = pyvrp
    plain = not getattr(given.data, "limited", False)
    if problem in ("tsp", "cvrp") and plain and find_spec("ortools"):
        found["OR-Tools"] = or_tools
    if problem == "tsp" and find_spec("elkai"):
        found["LKH"] = lkh
    for word in filter(None, os.environ.get("CHECKPOINT", "").split(",")):
        name, _, checkpoint = word.rpartition("=")
        found[name or "evolved"] = partial(engine, checkpoint=checkpoint)
    if chosen := os.environ.get("SOLVERS"):
        found = {name: found[name] for name in chosen.split(",")}
    return found


def read(word: str) -> tuple[Any, str, published.BestKnown | None]:
    """Return the instance of FILE or FILE,NAME=VALUE,…, its name in rows, and its best cost."""
    path, *words = word.split(",")
    file, options = Path(path), dict(each.split("=", 1) for each in words)
    if not options:
        given = api.read(file)
        return given, file.stem, best_known(given, file)
    cost, problem = options.pop("known", None), None
    if convention := options.pop("convention", None):
        problem = api.make_problem(api.read(file).problem.name, convention=convention)
    shown = [f"{name}={value}" for name, value in options.items() if name not in _OF_TABLES]
    typed: dict[str, Any] = {
        name: value if name in _PATHS else json.loads(value) for name, value in options.items()
    }
    if share := typed.pop("prizes", None):
        typed["prizes"] = prizes(api.read(file, problem, **typed).data, share)
    known = cost and published.BestKnown(file.parent.name, float(cost), convention or "", True)
    return api.read(file, problem, **typed), " ".join([file.stem, *shown]), known or None


def prizes(data: VehicleInstance, share: float) -> list[float | None]:
    """Return whole prizes in proportion to ways; the draw depends on the share alone."""
    nodes = np.arange(1, data.size + 1)
    ways = (data.between(0, nodes) + data.between(nodes, 0)) / data.parts
    generator = np.random.default_rng(round(100 * share))
    drawn = np.round(ways * generator.uniform(0, share, data.size)).tolist()
    must = generator.random(data.size) < 0.2
    return [None if each else prize for prize, each in zip(drawn, must, strict=True)]


def best_known(given: Any, file: Path) -> published.BestKnown:
    """Return the best known cost of an instance of the public sets, in its convention here."""
    known = published.best_known(given.problem, given.data, file)
    if known is None or not known.comparable:
        raise LookupError(f"{published.FILE} has no {file.stem} of {file.parent}.")
    return known


def checked_cost(given: Any, routes: Any) -> float:
    """Return the cost that the checker finds; infinity where a solver has found nothing."""
    if routes is None:
        return math.inf
    solution: Any = tuple(map(tuple, routes))
    if given.problem.name == "tsp":
        [solution] = solution
    assert not given.problem.check(given.data, solution)
    return float(given.problem.cost(given.data, solution))


def second_opinion(given: Any, routes: Any, cost: float) -> dict[str, Any]:
    """Return whether PyVRP finds routes feasible, where fields are set; the costs are equal.

    It is not asked where vehicles have types: a solution of its own states them.
    """
    from pyvrp import CostEvaluator, Solution

    if routes is None or not getattr(given.data, "limited", False) or given.data.types:
        return {}
    theirs = pyvrp_data(given.data)
    told = Solution(theirs, [[node - 1 for node in route] for route in routes])
    unit = theirs.distance_matrix(0)[0, 1] / given.data.between(0, 1) * given.data.parts
    found = CostEvaluator([1], 1, 1).penalised_cost(told) / unit
    assert math.isclose(found, cost, rel_tol=1e-4), (given.name, found, cost)
    return {"pyvrp_feasible": told.is_feasible()}


def main(out: str, seconds: str, seeds: str, *files: str) -> None:
    """Make the runs that are missing, and print the table."""
    done = {}
    if Path(out).exists():
        rows = map(json.loads, Path(out).read_text(encoding="utf-8").splitlines())
        done = {(row["instance"], row["solver"], row["seed"]): row for row in rows}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for place, word in enumerate(files):
        given, called, known = read(word)
        for seed in map(int, seeds.split(",")):
            turn = list(solvers(given).items())
            for name, solve in turn[::-1] if place % 2 else turn:
                if (called, name, seed) in done:
                    continue
                began = time.perf_counter()
                routes, told = solve(given, float(seconds), seed)
                wall = time.perf_counter() - began
                cost = checked_cost(given, routes)
                begun = beginning(given)
                found = cost if math.isfinite(cost) else None
                row = {
                    **begun,
                    **published.published_fields(known, found, begun["baseline_cost"]),
                    "instance": called,
                    "solver": name,
                    "seed": seed,
                    "seconds": float(seconds),
                    "wall": round(wall, 1),
                    "cost": found,
                    "status": "T" if found is None else "ok",
                    "repairs": 0,
                    **second_opinion(given, routes, cost),
                    **told,
                }
                if found is not None and row["baseline_cost"] is not None:
                    row["improvement"] = 1.0 - cost / row["baseline_cost"]
                done[called, name, seed] = row
                with Path(out).open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(row) + "\n")
                print(row, flush=True)
    table({key: row for key, row in done.items() if row["seconds"] == float(seconds)})


def beginning(given: Any) -> dict[str, Any]:
    """Return what a row of an evaluation says before anything is solved: the construction."""
    problem, data = given.problem, given.data
    name = problem.construction_of(data)
    # Constructions know no limits and prices.
    limited = getattr(data, "limited", False)
    cost = None if limited else problem.cost(data, problem.baseline(data, name))
    return {
        "problem": problem.name,
        "size": data.size,
        "baseline": name,
        "baseline_cost": cost,
        # What checked_cost refuses ends the benchmark.
        "feasible": True,
        "improvement": None,
        "steps": [],
    }


def table(done: dict[Any, Any]) -> None:
    """Print the median gap over the seeds, by instance and solver, and its mean."""
    names = list(dict.fromkeys(name for _, name, _ in done))
    print("| instance | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    gaps: dict[str, list[float]] = {name: [] for name in names}
    for instance in dict.fromkeys(instance for instance, _, _ in done):
        costs = {
            name: [row["cost"] for key, row in done.items() if key[:2] == (instance, name)]
            for name in names
        }
        found = [cost for each in costs.values() for cost in each if cost is not None]
        [known] = {row["best_known"] for key, row in done.items() if key[0] == instance}
        cells = []
        for name in names:
            solved = [cost for cost in costs[name] if cost is not None]
            if solved:
                gaps[name].append(statistics.median(solved) / (known or min(found)) - 1)
            cells.append(f"{gaps[name][-1]:+.2%} ({len(solved)})" if solved else "")
        print(f"| {instance} | " + " | ".join(cells) + " |")
    means = (
        f"{statistics.mean(each):+.2%} ({len(each)})" if each else "" for each in gaps.values()
    )
    print("| mean | " + " | ".join(means) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
