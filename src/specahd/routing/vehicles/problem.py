"""The common base of CVRP, VRPTW and SDVRP: options, files, F, C, Φ, joining of routes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError
from specahd.core.options import Option, checked
from specahd.routing.base import ArrayLayout, FloatArray, IntArray, Region, S
from specahd.routing.distances import layout
from specahd.routing.formats import kinds, sol, vrplib
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.groups import concatenated
from specahd.routing.kernels.descriptors import GROUP_NAMES, describe_group
from specahd.routing.kernels.distances import fill_block
from specahd.routing.problem import RoutingProblem
from specahd.routing.vehicles import feasibility
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Solution

CONVENTION = "how files measure distances that leave it open"
SUITED_TO_LARGE_INSTANCES: Mapping[str, Mapping[str, Any]] = {
    "smoke": {
        "budget.lower_train": 6,
        "budget.upper_train": 4,
        "budget.selection": 5,
        "budget.validation": 5,
    },
    "pilot": {
        "budget.lower_train": 16,
        "budget.upper_train": 8,
        "budget.selection": 10,
        "budget.validation": 12,
    },
    "comparison": {"budget.lower_train": 16, "budget.selection": 12},
}
"""What suits a problem (``suited``) whose generated instances have 200 to 1,000 customers."""
"""What the option `convention` of a problem states."""


class VehicleProblem(RoutingProblem[VehicleInstance, S]):
    """A problem of one depot and any number of vehicles, equal unless an instance has types.

    A subclass says which fields of an instance its files set (:meth:`read_data`).

    Parameters
    ----------
    options
        Those of every problem.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    suffix: str = ".vrp"
    descriptor_names: tuple[str, ...] = GROUP_NAMES
    iterated: ClassVar[str]
    """The baseline that runs PyVRP: the one that takes ``solver_iterations``."""

    check = staticmethod(feasibility.check)
    cost = staticmethod(feasibility.cost)
    from_table = staticmethod(VehicleInstance.of)

    @checked("")
    def __init__(
        self,
        solver_iterations: Annotated[
            int, Option("iterations of PyVRP, where it is the baseline; at least 1", 1)
        ] = 200,
        **options: Annotated[Any, RoutingProblem],
    ) -> None:
        super().__init__(**options)
        self.solver_iterations = solver_iterations

    def read_data(self, path: Path) -> VRPLIBData:
        """Return the content of an instance file.

        Raises
        ------
        FileError
            The file is missing, incomplete, or not of this problem.
        """
        raise NotImplementedError

    def read(self, path: Path) -> VehicleInstance:
        return VehicleInstance.of(self.read_data(path), path)

    @staticmethod
    def dumps(instance: VehicleInstance) -> str:
        """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
        return vrplib.dumps(instance.data())

    def baseline(self, instance: VehicleInstance, name: str | None = None) -> S:
        name = self.baseline_name if name is None else name
        self.expect_baseline(name)
        options = {"iterations": self.solver_iterations} if name == self.iterated else {}
        solution: S = self.baselines[name](instance, **options)
        return solution

    def trivial_solution(self, instance: Any) -> Any:
        # One vehicle per customer.
        return tuple((customer,) for customer in range(1, instance.size + 1))

    def routes(self, solution: Any) -> Sequence[Sequence[int]]:
        routes: Sequence[Sequence[int]] = solution
        return routes

    def fewer_vehicles(self, instance: VehicleInstance, solution: Any, most: float) -> Any:
        def admit(trial: Any) -> bool:
            return self.cost(instance, trial) <= most and not self.check(instance, trial)

        return join_routes(instance, solution, admit, turn=instance.windows is None)

    def read_solution(self, path: Path, instance: Any | None = None) -> tuple[Any, float | None]:
        return sol.read(path, None if instance is None else instance.demands)

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> Any:
        if any(isinstance(stop, tuple) for route in routes for stop in route):
            raise ConfigError(
                "Expected stops without quantities: only "
                f"{kinds.TYPES['SDVRP'].option} splits deliveries."
            )
        return tuple(map(tuple, routes))

    def solution_files(self, name: str, solution: Any, cost: float) -> Mapping[str, str]:
        return {".sol": sol.dumps(solution, cost)}

    def describe(self, instance: Any, solution: Any, region: Region) -> FloatArray:
        spread = instance.spread
        return describe_nodes(
            instance.coords, instance.demands, instance.capacity, spread, solution, region
        )

    def layout(self, instance: VehicleInstance) -> ArrayLayout:
        columns = instance.columns.items()
        return {
            **{name: (column.dtype.type, column.shape) for name, column in columns},
            **layout(instance.size + 1, instance.matrix),
        }

    def fill(self, instance: VehicleInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name, column in instance.columns.items():
            arrays[name][:] = column
        fill_block(arrays, instance.coords, instance.measure, instance.matrix)


MOST_ROUTES = 500
"""Number of routes, those with the smallest loads, that are considered."""
MOST_TRIALS, MOST_WORK = 1_000, 200_000
"""Number of solutions that are tried, and of customers in all of them."""
_ROUNDING = 1e-9
"""Relative error of a sum of two distances."""

Routes = tuple[tuple[Any, ...], ...]


class _Part(NamedTuple):
    """A route, its load, and the rows of its ends in the table of all ends."""

    route: tuple[Any, ...]
    load: int
    start: int
    end: int

    def turned(self) -> "_Part":
        return _Part(self.route[::-1], self.load, self.end, self.start)

    def joined(self, other: "_Part") -> "_Part":
        return _Part((*self.route, *other.route), self.load + other.load, self.start, other.end)


def join_routes(
    instance: Any, solution: Routes, admit: Callable[[Routes], bool], *, turn: bool
) -> Routes:
    """Return the solution with routes joined end to end where that leaves the cost as it is.

    Two routes are joined if the way from the end of one to the start of the other is as long as
    the way by the depot: a shorter way is what the search looks for. In the order of falling
    loads, each route joins the first one before it that has room, as in first-fit decreasing bin
    packing.

    Parameters
    ----------
    admit
        Returns whether a solution is feasible and costs no more.
    turn
        Whether a route may be driven in the other direction.
    """
    if len(solution) < 2:
        return solution
    demands = instance.demands.tolist()
    loads = [sum(_quantity(demands, stop) for stop in route) for route in solution]
    light = sorted(range(len(solution)), key=lambda place: (loads[place], place))[:MOST_ROUTES]
    least = loads[light[0]]
    light = [each for each in light if loads[each] + least <= instance.capacity]
    if len(light) < 2:
        return solution
    free = _free(instance, [_node(solution[place][end]) for place in light for end in (0, -1)])
    # By pairs of routes: whether any of their ends meet.
    met = np.logical_or.reduce(free.reshape(len(light), 2, len(light), 2), axis=(1, 3))
    rows = np.flatnonzero(np.logical_or.reduce(met & ~np.eye(len(light), dtype=bool), axis=1))
    left = min(MOST_TRIALS, max(1, MOST_WORK // int(instance.size)))
    current = dict(enumerate(solution))
    kept: dict[int, _Part] = {}
    for row in sorted(rows.tolist(), key=lambda row: (-loads[light[row]], light[row])):
        place = light[row]
        mine = _Part(solution[place], loads[place], 2 * row, 2 * row + 1)
        for other, part in _joins(kept, mine, instance.capacity, free, turn=turn):
            if not left:
                return tuple(current.values())
            left -= 1
            trial = {**current, other: part.route}
            del trial[place]
            if admit(tuple(trial.values())):
                current, kept[other] = trial, part
                break
        else:
            kept[place] = mine
    return tuple(current.values())


def _joins(
    kept: Mapping[int, _Part], mine: _Part, capacity: int, free: NDArray[np.bool_], *, turn: bool
) -> Iterator[tuple[int, _Part]]:
    """Yield the routes that have room, with what joining them with ``mine`` makes of them."""
    for other, part in kept.items():
        if part.load + mine.load > capacity:
            continue
        orders = [(part, mine), (mine, part)]
        if turn:
            orders += [(part, mine.turned()), (mine.turned(), part)]
        for first, second in orders:
            if free[first.end, second.start]:
                yield other, first.joined(second)


def _node(stop: Any) -> int:
    return int(stop[0] if isinstance(stop, tuple) else stop)


def _quantity(demands: Sequence[int], stop: Any) -> int:
    given = stop[1] if isinstance(stop, tuple) else None
    return demands[_node(stop)] if given is None else int(given)


def _free(instance: Any, ends: Sequence[int]) -> NDArray[np.bool_]:
    """Return for each pair of ends whether the way between them is as long as by the depot."""
    nodes = np.array(ends)
    between = instance.between(nodes[:, None], nodes[None])
    ways = instance.between(nodes, 0)[:, None] + instance.between(0, nodes)
    found: NDArray[np.bool_] = np.abs(between - ways) <= _ROUNDING * ways
    return found


def touched_routes(solution: Solution, region: Region) -> list[tuple[int, ...]]:
    """Return the routes that visit some customer of the region."""
    members = set(region.nodes)
    return [route for route in solution if not members.isdisjoint(route)]


def describe_nodes(
    coords: FloatArray,
    demands: IntArray,
    capacity: int,
    spread: float,
    solution: Solution,
    region: Region,
) -> FloatArray:
    """Return the descriptor Φ of a region of any nodes with demands, a float per ``GROUP_NAMES``.

    Parameters
    ----------
    spread
        Root mean square distance of all nodes from their centre.
    """
    nodes = np.array(region.nodes, np.int64)
    routes = concatenated(touched_routes(solution, region))
    descriptor: FloatArray = describe_group(coords, demands, capacity, spread, nodes, *routes)
    return descriptor
