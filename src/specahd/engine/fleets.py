"""Types of vehicles that differ in capacity, costs and shifts; chosen by type.

Where the times of a state (:class:`specahd.engine.timed.Times`) have a fleet, each route has the
type of its vehicle: the distances of its edges are what ways cost with it, and its terminal has its
shift. Compiled loops look the type up. Where there is none, they are compiled as if these functions
were not there.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from specahd.engine.inlined import inlined
from specahd.routing.distances import (
    DURATIONS,
    LENGTHS,
    LIMITS,
    LONGEST,
    PRICES,
    SHIFTS,
    TYPE_LENGTHS,
    TYPE_TIMES,
)
from specahd.routing.kernels.distances import leg_length

DRIVEN, WORKED, LEAVES, REST_DRIVEN, REST_WORKED, ENDS = range(6)
"""Columns of :class:`Reach`'s parts."""


class Reach(NamedTuple):
    """What parts of routes take, where their distance or duration is limited beside times.

    Parameters
    ----------
    lengths
        The distances of ways, shape (n + 1, n + 1).
    ends
        The distances from the start and to the end of each type, shape (types, 2, n + 1).
    limits
        The longest distance and the longest duration of each type, shape (types, 2).
    parts
        For each node on a route, a row. Until service begins there: the distance, the time without
        waiting, and the latest departure with which the stops up to there are in time. From there
        on: the distance, the time without waiting, and the end of the route if the vehicle is there
        as early as can be.
    """

    lengths: Any
    ends: Any
    limits: Any
    parts: Any


class Fleet(NamedTuple):
    """The types of vehicles, and which routes have them.

    Parameters
    ----------
    prices
        Shape (types, n + 1, n + 1).
    times
        Shape (types, 2, n + 1).
    shifts
        Shape (types, 2).
    capacities, left
        The capacity of each type, and how many of its vehicles have no route.
    left_before
        ``left`` when the last group was removed.
    kinds
        The type of each route.
    freed, count
        The routes that the removal of the group emptied, with their types, and their number.
    offered
        The type of each position that opens a route.
    reach
        What parts of routes take; None if the window of the depot is the only limit of routes.
    """

    prices: Any
    times: Any
    shifts: Any
    capacities: Any
    left: Any
    left_before: Any
    kinds: Any
    freed: Any
    count: Any
    offered: Any
    reach: Any


def examples(arrays: Mapping[str, Any], *, reach: bool) -> dict[str, Any]:
    """Return a block with two types of vehicles beside the arrays that it has."""
    nodes = len(arrays["demands"])
    limited = {
        LENGTHS: np.ones((nodes, nodes)),
        TYPE_LENGTHS: np.ones((2, 2, nodes)),
        LONGEST: np.full((2, 2), 10.0),
    }
    return {
        **arrays,
        DURATIONS: np.ones((nodes, nodes)),
        PRICES: np.ones((2, nodes, nodes)),
        TYPE_TIMES: np.ones((2, 2, nodes)),
        SHIFTS: np.array([[0.0, 100.0], [0.0, 100.0]]),
        LIMITS: np.array([[2, nodes], [2, nodes]]),
        "prizes": np.full(nodes, 10.0),
        **(limited if reach else {}),
    }


def fleet_of(arrays: Mapping[str, Any]) -> Fleet:
    """Return the fleet of a block, of which no route has a vehicle yet."""
    capacities, left = arrays[LIMITS].T.copy()
    # As many as a state has (specahd.engine.capacitated), and a vehicle of each type more.
    nodes, widest = len(arrays["demands"]), 2 * arrays["neighbours"].shape[1] + 1
    most = 2 * nodes + 2048
    reach = None
    if LENGTHS in arrays:
        parts = np.tile([0.0, 0.0, np.inf, 0.0, 0.0, -np.inf], (nodes + most, 1))
        reach = Reach(arrays[LENGTHS], arrays[TYPE_LENGTHS], arrays[LONGEST], parts)
    return Fleet(
        *(arrays[PRICES], arrays[TYPE_TIMES], arrays[SHIFTS], capacities, left, left.copy()),
        *(np.zeros(most, np.int64), np.zeros((most, 2), np.int64), np.zeros(1, np.int64)),
        np.zeros(widest + len(left), np.int64),
        reach,
    )


def by_types(plain: Any) -> Callable[[Any], Any]:
    """Replace a function, in compiled code, by another where the first argument has no fleet."""
    return _chosen(has_fleet, plain)


def by_reach(plain: Any) -> Callable[[Any], Any]:
    """Replace a function, in compiled code, by another where the first argument has no reach."""
    return _chosen(_has_reach, plain)


def _chosen(condition: Callable[[Any], bool], plain: Any) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        def chosen(own: Any, *arguments: Any) -> Any:
            raise NotImplementedError

        def choose(own: Any, *arguments: Any) -> Any:
            taken = function if condition(own) else plain

            def call(own: Any, *arguments: Any) -> Any:
                return taken(own, *arguments)

            return call

        overload(chosen, jit_options={"forceinline": True})(choose)
        return chosen

    return decorate


def has_fleet(own: Any) -> bool:
    """Return whether a type of a state's own fields, or of a state, has a fleet."""
    return _field(own, "fleet") is not None


def _has_reach(own: Any) -> bool:
    """Return whether the fleet has a reach."""
    fleet = _field(own, "fleet")
    return fleet is not None and _field(fleet, "reach") is not None


def _field(record: Any, name: str) -> Any:
    """Return the type of a field of a state's own fields, or of a record; None if it is None."""
    if "own" in record.fields:
        record = record.types[record.fields.index("own")]
    if name not in record.fields:
        return None
    found = record.types[record.fields.index(name)]
    return None if isinstance(found, types.NoneType) else found


@inlined
def nothing(own: Any, *arguments: Any) -> None:
    """Do nothing where there is no fleet."""


@inlined
def _way(own: Any, distances: Any, route: int, start: int, end: int) -> Any:
    return leg_length(distances, start, end)


@by_types(_way)
@inlined
def leg(own: Any, distances: Any, route: int, start: int, end: int) -> Any:
    """Return what the way from a customer or the depot, 0, to another costs on a route."""
    return own.fleet.prices[own.fleet.kinds[route], start, end]


@inlined
def _capacity(own: Any, capacity: int, route: int) -> Any:
    return capacity


@by_types(_capacity)
@inlined
def capacity_of(own: Any, capacity: int, route: int) -> Any:
    """Return the capacity of a route's vehicle, given that of all where there are no types."""
    return own.fleet.capacities[own.fleet.kinds[route]]


@inlined
def _one(own: Any) -> Any:
    return 1


@by_types(_one)
@inlined
def number_of_types(own: Any) -> Any:
    """Return the number of types."""
    return len(own.fleet.left)


@inlined
def _offered(own: Any, kind: int, route: int, terminal: int, place: int, demand: int) -> Any:
    return True


@by_types(_offered)
@inlined
def offer(own: Any, kind: int, route: int, terminal: int, place: int, demand: int) -> Any:
    """Give a free route a type for a position; return whether it has a vehicle with room left."""
    fleet = own.fleet
    if fleet.left[kind] == 0 or demand > fleet.capacities[kind]:
        return False
    fleet.offered[place] = kind
    set_type(own, route, terminal, kind)
    return True


@inlined
def _always(own: Any, slack: float) -> Any:
    return True


@by_types(_always)
@inlined
def in_shift(own: Any, slack: float) -> Any:
    """Return whether a position on a route of its own is in time; without types it always is."""
    return slack >= 0.0


@by_types(nothing)
@inlined
def set_type(own: Any, route: int, terminal: int, kind: int) -> None:
    """Give a route a type, and its terminal the shift."""
    fleet = own.fleet
    fleet.kinds[route] = kind
    own.start[terminal] = fleet.shifts[kind, 0]
    own.latest[terminal] = fleet.shifts[kind, 1]


@by_types(nothing)
@inlined
def take_vehicle(own: Any, place: int, route: int, terminal: int) -> None:
    """Open a route with the type of a position."""
    kind = own.fleet.offered[place]
    own.fleet.left[kind] -= 1
    set_type(own, route, terminal, kind)


@by_types(nothing)
@inlined
def return_vehicle(own: Any, route: int) -> None:
    """Make the vehicle of an emptied route available."""
    own.fleet.left[own.fleet.kinds[route]] += 1


@by_types(nothing)
@inlined
def note_emptied(own: Any, route: int) -> None:
    """Make the vehicle of a route that the removal of a group emptied available, and note it."""
    fleet = own.fleet
    fleet.freed[fleet.count[0], 0] = route
    fleet.freed[fleet.count[0], 1] = fleet.kinds[route]
    fleet.count[0] += 1
    return_vehicle(own, route)


@by_types(nothing)
@inlined
def note_vehicles(own: Any) -> None:
    """Note what vehicles are left, before a group is removed."""
    own.fleet.count[0] = 0
    own.fleet.left_before[:] = own.fleet.left


@by_types(nothing)
@inlined
def undo_vehicles(own: Any, first: int) -> None:
    """Return to what was noted; ``first`` is the terminal of route 0."""
    fleet = own.fleet
    fleet.left[:] = fleet.left_before
    for place in range(fleet.count[0]):
        route = fleet.freed[place, 0]
        set_type(own, route, first + route, fleet.freed[place, 1])


@inlined
def _same(own: Any, route: int, other: int) -> Any:
    return True


@by_types(_same)
@inlined
def same_type(own: Any, route: int, other: int) -> Any:
    """Return whether two routes have vehicles of one type."""
    return own.fleet.kinds[route] == own.fleet.kinds[other]
