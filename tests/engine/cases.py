"""What the tests of passes are run on: instances, the arrays that programs see, small programs."""

from contextlib import closing
from functools import cache
from importlib import import_module
from itertools import groupby

import numpy as np

from offered import arrays_of
from specahd.engine.improver import runners
from specahd.engine.orders import Order, Report
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.distances import MATRIX
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.sandbox.session import Sandbox
from specahd.sandbox.shared_arrays import SharedArrays


def runner_of(name):
    """Return the runner ``module:name`` of a contract, in this process."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


class Place:
    """An instance, a solution to begin with, and the engine of its problem in this process.

    Parameters
    ----------
    start
        The trivial solution unless it is given.
    block
        The arrays of the instance; they are made of it unless they are given.
    """

    def __init__(self, problem, instance, start=None, block=None, near=12):
        self.problem, self.instance = problem, instance
        self.groups, self.positions = map(runner_of, runners(problem))
        self.start = problem.trivial_solution(instance) if start is None else start
        self.routes = problem.flat(instance, self.start)
        self.parts = getattr(instance, "parts", 1)
        self.block = block_of(problem, instance, near) if block is None else block
        self.upper, _ = translated(self.groups, self.groups._functions[0])
        _, self.lower = translated(self.positions, self.positions._functions[0])

    @property
    def search(self):
        """The search that the last slice left."""
        return self.groups._search

    def upper_of(self, body):
        """Compile an upper program with some lines."""
        names = self.groups._interface.names
        return self.groups.translate(program_of("choose", " ".join(names), body), "choose")

    def lower_of(self, body):
        """Compile a lower program with some lines, and return its number."""
        names = self.positions._interface.names
        self.positions.translate(program_of("choose", " ".join(names), body), "choose")
        return len(self.positions.translated) - 1

    def slice(
        self, upper=None, lower=None, *, block=None, routes=None, repairs=3000, seed=0,
        temperature=50.0, groups=4, exchanges=0,
    ):  # fmt: skip
        """Return the report of a slice, and the routes that came with it: none if none is best."""
        lower = self.lower if lower is None else lower
        order = Order(
            *(seed, repairs, 0.0, groups, min(30, self.instance.size), 0.0, 1.0),
            *(temperature, 0.05 * temperature, (lower,)),
            exchanges=exchanges,
        )
        inputs = [order.encode(), *(self.routes if routes is None else routes)]
        upper = self.upper if upper is None else upper
        said, *found = self.groups(upper, self.block if block is None else block, inputs).arrays
        return Report.decode(said), found

    def proposed(self, upper, order, routes=None):
        """Return the sizes and the members of the groups that an upper program names."""
        inputs = [order.encode(), *(self.routes if routes is None else routes)]
        return [array.tolist() for array in self.groups(upper, self.block, inputs).arrays]

    def resume(self, *program, **options):
        """Go on from where the last slice ended."""
        return self.slice(*program, routes=[routes[:0] for routes in self.routes], **options)

    def solution(self, found):
        """Return the solution of a slice's routes, or that to begin with."""
        return self.problem.unflat(self.instance, found) if found else self.start

    def cost(self, solution):
        """Return the cost of a solution in the unit of reports."""
        return self.parts * self.problem.cost(self.instance, solution)

    def matches_the_checker(self, report, found):
        """Say whether a slice is feasible and costs what its report claims."""
        solution = self.solution(found)
        feasible = self.problem.check(self.instance, solution) == ()
        return feasible and report.best == self.cost(solution)


def capacitated(size=60):
    rng = np.random.default_rng(5)
    demands = rng.integers(1, 10, size + 1)
    demands[0] = 0
    coords = rng.integers(0, 1000, (size + 1, 2)).astype(float)
    return VehicleInstance("small", coords, demands, 30)


def tour(size, seed):
    rng = np.random.default_rng(seed)
    return TSPInstance("small", rng.integers(0, 1000, (size, 2)).astype(float))


def split(seed, size, demands, capacity):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(*demands, size + 1)
    drawn[0] = 0
    coords = rng.integers(0, 1000, (size + 1, 2)) * 1.0
    return VehicleInstance("parts", coords, drawn, capacity, splits=True)


def timed(size=50):
    rng = np.random.default_rng(2)
    coords = 10.0 * rng.integers(0, 100, (size + 1, 2))
    demands = rng.integers(1, 10, size + 1)
    service = np.full(size + 1, 100.0)
    away = np.floor(np.hypot(*(coords - coords[0]).T))
    ready = away + rng.integers(0, 4000, size + 1)
    due = ready + rng.integers(300, 2500, size + 1)
    demands[0] = service[0] = ready[0] = 0
    due[0] = 10_000
    windows = TimeWindows(ready, due, service)
    return VehicleInstance("timed", coords, demands, 60, Convention.DIMACS, windows=windows)


@cache
def place_of(name):
    """Return a place of a problem, for all tests of a process."""
    return {
        "cvrp": lambda: Place(CVRP(), capacitated()),
        "tsp": lambda: Place(TSP(), tour(60, 5)),
        # Demands are up to one and a half times the capacity.
        "sdvrp": lambda: Place(SDVRP(baseline="nearest"), split(4, 40, (1, 76), 50)),
        "vrptw": lambda: Place(VRPTW(), timed(), near=15),
    }[name]()


def block_of(problem, instance, near=12):
    """Return the arrays of an instance as the child has them, with so many neighbours a node."""
    block = arrays_of(problem, instance)
    others = block[MATRIX][:, 1:].copy()
    np.fill_diagonal(others[1:], np.inf)
    found = np.argsort(others, axis=1, kind="stable")[:, : min(near, len(others) - 2)] + 1
    block["neighbours"] = np.ascontiguousarray(found)
    return at_distances(block, block[MATRIX])


def at_distances(block, matrix):
    """Return the arrays of an instance with other distances."""
    away = np.take_along_axis(matrix, block["neighbours"], 1)
    changed = {**block, MATRIX: matrix, "neighbour_distances": away}
    for array in changed.values():
        array.flags.writeable = False
    return changed


def program_of(name, arguments, body):
    """Return the source of a program with some lines."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def {name}({', '.join(arguments.split())}):\n{lines}"


def unmoved_runs(routes, group):
    """Return the stops of each route that are not in a group, the routes sorted."""
    kept = ~np.isin(routes[0], group)
    stops = zip(*(array[kept].tolist() for array in routes), strict=True)
    parts = groupby(stops, key=lambda stop: stop[0] > 0)
    return sorted(tuple(part) for customers, part in parts if customers)


@cache
def have_compiled(role):
    """Have the Python that zygotes are forked from compile the loops of a role, and keep them.

    In a new clone each process of the tests would else compile them for itself: half a minute of
    CPU time a problem.
    """
    named = (name for kind in (CVRP, VRPTW, SDVRP, TSP) for name in runners(kind()))
    name = next(name for name in named if runner_of(name) is role)
    with (
        closing(SharedArrays.allocate([])) as shared,
        Sandbox(shared, [], compiled=[name]) as sandbox,
    ):
        assert sandbox.status


@cache
def translated(role, function):
    """Return a function of ours as a program of some role, and its number there."""
    have_compiled(role)
    interface = role._interface
    program = role.translate(interface.source_of(function), interface.name)
    return program, len(role.translated) - 1
