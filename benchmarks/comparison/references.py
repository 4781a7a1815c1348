"""What solvers that nobody trained reach on the instances of a comparison, in the same time.

    python benchmarks/comparison/references.py RUNS OUT

RUNS holds the runs of one comparison or several. For each problem the quick constructions of
this package (for CVRP: nearest and savings) and PyVRP solve the instances of the validation rows
of the complete runs; PyVRP in as many iterations, a power of two, as fit into the seconds that the
runs of SpecAHD take for an instance on average, and in one if none fits. OUT receives
PROBLEM/SOLVER/rows.jsonl and rows-timings.jsonl: `python -m specahd.report` with
`references=OUT` puts them beside the methods.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hydra.utils import instantiate

from specahd.core.errors import ConfigError
from specahd.core.journal import write_records
from specahd.core.settings import Pools
from specahd.evaluation.files import row_timings_file, rows_file
from specahd.evaluation.rows import mean_or_nan, read_seconds
from specahd.repair.cases import make_case
from specahd.routing.base import AnyProblem
from specahd.routing.pools import prepare_pools, read_pool
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.runs.configuration import RunConfiguration
from specahd.runs.reading import Run, read_runs

OURS = "specahd"
MOST_ITERATIONS = 1 << 20
Solve = Callable[[Any], Any]


def main(runs: str, out: str) -> None:
    """Solve the instances of every problem of some runs."""
    folder = Path(runs)
    complete = [run for run in read_runs(folder) if run.complete]
    for problem in sorted({run.kind.problem for run in complete}):
        solve_problem(
            folder, [run for run in complete if run.kind.problem == problem], Path(out, problem)
        )


def solve_problem(folder: Path, runs: list[Run], out: Path) -> None:
    """Write the rows of every solver for the problem of some runs."""
    ours = [run for run in runs if run.kind.method == OURS] or runs
    passes = [read_seconds(folder / run.name / row_timings_file("validation")) for run in ours]
    seconds = mean_or_nan(mean_or_nan(took.values()) for took in passes)
    config = RunConfiguration.read(folder / ours[0].name)
    problem: AnyProblem = instantiate(config.values["problem"])
    # The folder of the pools is relative to where the runs were started.
    pools = prepare_pools(problem, Pools(config.pools.dir, config.pools.seed))
    named = {row.instance for run in runs for row in run.validation}
    instances = [each for each in read_pool(problem, pools, "validation") if each.name in named]
    for name in problem.references:
        write(
            problem,
            instances,
            out / name,
            lambda instance, name=name: once(problem, instance, name),
        )
    write(problem, instances, out / "pyvrp", lambda instance: pyvrp(problem, instance, seconds))


def once(problem: AnyProblem, instance: Any, name: str) -> tuple[Any, float]:
    """Return a construction's solution and its seconds."""
    return timed(lambda: problem.baseline(instance, name))


def pyvrp(problem: AnyProblem, instance: Any, seconds: float) -> tuple[Any, float]:
    """Return PyVRP's solution in as many iterations as fit, and the seconds of that call."""
    iterations = 1
    best = timed(lambda: solved(problem, instance, iterations))
    while best[1] < seconds and iterations < MOST_ITERATIONS:
        iterations *= 2
        found = timed(lambda count=iterations: solved(problem, instance, count))
        if found[1] > seconds:
            break
        best = found
    return best


def solved(problem: AnyProblem, instance: Any, iterations: int) -> Any:
    """Return PyVRP's solution after some iterations; a tour as one of vehicles without loads."""
    iterated = getattr(problem, "iterated", None)
    if iterated is not None:
        problem.solver_iterations = iterations
        return problem.baseline(instance, iterated)
    weightless = VehicleInstance(
        instance.name,
        instance.coords,
        np.zeros(instance.size, np.int64),
        1,
        instance.convention,
        instance.matrix,
    )
    routes = baselines.pyvrp(weightless, iterations)
    return (0, *(node for route in routes for node in route))


def timed(solve: Callable[[], Any]) -> tuple[Any, float]:
    """Return a solution and the seconds that it took."""
    began = time.perf_counter()
    return solve(), time.perf_counter() - began


def write(
    problem: AnyProblem, instances: list[Any], out: Path, solve: Callable[[Any], tuple[Any, float]]
) -> None:
    """Write the rows of one solver, checked, and its seconds."""
    if instances:
        solve(instances[0])  # what is compiled or imported at the first call is no part of it
    rows, timings = [], []
    for instance in instances:
        case = make_case(problem, instance)
        try:
            solution, took = solve(instance)
        except ConfigError as error:
            print(f"{out.name} on {instance.name}: {error}", file=sys.stderr)
            continue
        if violations := problem.check(instance, solution):
            raise RuntimeError(f"{out.name} on {instance.name}: {violations[0].detail}")
        cost = problem.cost(instance, solution)
        rows.append(
            {
                "instance": instance.name,
                "size": instance.size,
                "baseline": case.source,
                "baseline_cost": case.cost,
                "cost": cost,
                "improvement": (case.cost - cost) / case.cost,
                "feasible": True,
                "lower_bound": problem.lower_bound(instance),
                "status": "ok",
                "steps": [],
            }
        )
        timings.append({"instance": instance.name, "solve": took})
    out.mkdir(parents=True, exist_ok=True)
    write_records(out / row_timings_file(), timings)
    write_records(out / rows_file(), rows)
    print(f"{out}: {len(rows)} of {len(instances)} instances")


if __name__ == "__main__":
    main(*sys.argv[1:])
