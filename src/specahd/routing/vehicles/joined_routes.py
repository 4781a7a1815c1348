"""Routes joined where that leaves the cost as it is, so that a plan takes fewer vehicles."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specahd.routing.geometry import distances

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
    if instance.matrix is not None:
        home, between = instance.matrix[nodes, 0], instance.matrix[np.ix_(nodes, nodes)]
    else:
        points = instance.coords[nodes]
        home = distances(points, instance.coords[0], instance.measure)
        between = distances(points[:, None], points[None], instance.measure)
    ways = home[:, None] + home
    found: NDArray[np.bool_] = np.abs(between - ways) <= _ROUNDING * ways
    return found
