"""What the loops of problem families do differently, chosen by type when they are compiled.

``times`` is empty for the CVRP; :mod:`specahd.engine.timed` says what it is for the VRPTW.
"""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.extending import overload

from specahd.engine import changes, deliveries, tail_exchange, timed
from specahd.engine.changes import EXPOSURES, FOLLOWING, PRECEDING, ROUTE_OF
from specahd.engine.links import BEFORE, BEHIND, ROUTE
from specahd.engine.programs import BACK, DETOUR, REST, SHIFT, SLACK, THERE
from specahd.routing.kernels.distances import between


def show(times: Any, *_: Any) -> Any:
    """Bring what upper programs see up to date with the current solution.

    Arguments: ``times``, or what :mod:`specahd.engine.deliveries` keeps; the distances, ``nodes``,
    ``edges`` and what :func:`specahd.engine.changes.show` writes.
    """
    raise NotImplementedError


def choose_groups(times: Any, *_: Any) -> Any:
    """Ask an upper program.

    Arguments: ``times``, or what :mod:`specahd.engine.deliveries` keeps; the program, what
    :func:`show` has brought up to date (``shown`` and ``gains``), the neighbours and their
    distances, those from the depot, demands, capacity, noise, progress, the most groups and the
    most customers of one.
    """
    raise NotImplementedError


def find_positions(times: Any, *_: Any) -> Any:
    """Write the positions for a customer, that on a new route last; return how many.

    Arguments: ``times``, the customer, the distances, the neighbours and their distances, those
    from the depot, the load of a route up to which the customer fits, the detour beyond which
    the group would be taken back, ``nodes``, ``edges``, ``route_loads``, a free route's
    terminal, and what is written: ``found`` (:data:`DETOUR` and so on) and the nodes ``before``
    the positions.
    """
    raise NotImplementedError


def choose(times: Any, *_: Any) -> Any:
    """Ask a lower program.

    Arguments: ``times``, the program, ``found``, how many positions there are, their noise,
    demand, distance from the depot, capacity, progress.
    """
    raise NotImplementedError


def refresh(times: Any, *_: Any) -> Any:
    """Bring times up to date after a group was taken out, and note what they were from now on.

    Arguments: ``times``, ``nodes``, ``edges``, the log, its lines.
    """
    raise NotImplementedError


def restore(times: Any) -> Any:
    """Take back the times from before the group was taken out."""
    raise NotImplementedError


def push(times: Any, *_: Any) -> Any:
    """Bring the times of a route up to date after a customer was put in.

    Arguments: ``times``, ``nodes``, ``edges``, the customer.
    """
    raise NotImplementedError


def exchange_tails(times: Any, *_: Any) -> Any:
    """Let tails of two routes change places where that is accepted.

    Arguments: ``times``, the instance's arrays, the capacity, the state's arrays, how many
    exchanges are tried, the temperature.
    """
    raise NotImplementedError


@njit(cache=True)
def _plain_positions(
    times: Any,
    customer: int,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    room: int,
    most: float,
    nodes: Any,
    edges: Any,
    route_loads: Any,
    terminal: int,
    found: Any,
    before: Any,
) -> int:
    customers = len(neighbours) - 1
    home = depot_distances[customer]
    count = 0
    for place in range(neighbours.shape[1]):
        near = neighbours[customer, place]
        route = nodes[near, ROUTE]
        if route < 0:
            continue
        rest = room - route_loads[route]
        if rest < 0:
            continue
        away = neighbour_distances[customer, place]
        behind = nodes[near, BEHIND]
        back = home if behind > customers else between(distances, customer, behind)
        detour = away + back - edges[near, BEHIND]
        found[DETOUR, count] = detour
        found[THERE, count] = away
        found[BACK, count] = back
        found[REST, count] = rest
        before[count] = near
        # What is too dear is written over.
        count += int(detour <= most)
        first = nodes[near, BEFORE]
        if first > customers:
            detour = home + away - edges[near, BEFORE]
            found[DETOUR, count] = detour
            found[THERE, count] = home
            found[BACK, count] = away
            found[REST, count] = rest
            before[count] = first
            count += int(detour <= most)
    found[DETOUR, count] = home + home
    found[THERE, count] = home
    found[BACK, count] = home
    found[REST, count] = room
    before[count] = terminal
    return count + 1


@njit(cache=True)
def _plain_choice(
    times: Any,
    lower: Any,
    found: Any,
    count: int,
    noise: Any,
    demand: float,
    home: float,
    capacity: float,
    now: float,
) -> Any:
    return lower(
        found[DETOUR, :count],
        found[THERE, :count],
        found[REST, :count],
        noise,
        demand,
        home,
        capacity,
        now,
    )


@njit(cache=True)
def _timed_choice(
    times: Any,
    lower: Any,
    found: Any,
    count: int,
    noise: Any,
    demand: float,
    home: float,
    capacity: float,
    now: float,
) -> Any:
    return lower(
        found[DETOUR, :count],
        found[THERE, :count],
        found[REST, :count],
        found[SLACK, :count],
        found[SHIFT, :count],
        noise,
        demand,
        home,
        capacity,
        now,
    )


@njit(cache=True)
def _plain_groups(
    times: Any,
    upper: Any,
    shown: Any,
    gains: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    noise: Any,
    now: float,
    max_groups: int,
    max_size: int,
) -> Any:
    return upper(
        shown[PRECEDING],
        shown[FOLLOWING],
        shown[ROUTE_OF],
        neighbours,
        neighbour_distances,
        depot_distances,
        gains,
        demands,
        capacity,
        shown[EXPOSURES],
        noise,
        now,
        max_groups,
        max_size,
    )


@njit(cache=True)
def _timed_groups(
    times: Any,
    upper: Any,
    shown: Any,
    gains: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    noise: Any,
    now: float,
    max_groups: int,
    max_size: int,
) -> Any:
    _, _, _, _, _, _, _, _, _, views, _ = times
    return upper(
        shown[PRECEDING],
        shown[FOLLOWING],
        shown[ROUTE_OF],
        neighbours,
        neighbour_distances,
        depot_distances,
        gains,
        demands,
        capacity,
        views[timed.OPENS],
        views[timed.CLOSES],
        views[timed.EARLIEST],
        views[timed.LATEST],
        shown[EXPOSURES],
        noise,
        now,
        max_groups,
        max_size,
    )


@njit(cache=True)
def _plain_views(
    times: Any,
    distances: Any,
    nodes: Any,
    edges: Any,
    shown: Any,
    gains: Any,
    marks: Any,
    changed: Any,
    numbers: Any,
) -> None:
    changes.show(distances, nodes, edges, shown, gains, marks, changed, numbers)


def _of_family(plain: Any, timed: Any, parted: Any = None) -> Callable[..., Any]:
    """Return what chooses among functions by the type of ``times``.

    Parameters
    ----------
    parted
        For what :mod:`specahd.engine.deliveries` keeps: arrays that are all alike.
    """

    def chosen(times: Any, *arguments: Any) -> Any:
        function = timed
        if isinstance(times, types.UniTuple):
            function = parted
        elif isinstance(times, types.BaseTuple) and not len(times):
            function = plain

        def call(times: Any, *arguments: Any) -> Any:
            return function(times, *arguments)

        return call

    return chosen


@njit(cache=True)
def _nothing(times: Any, *_: Any) -> None:
    pass


overload(show)(_of_family(_plain_views, timed.show, deliveries.show))
overload(choose_groups)(_of_family(_plain_groups, _timed_groups, _plain_groups))
overload(find_positions)(_of_family(_plain_positions, timed.positions))
overload(choose)(_of_family(_plain_choice, _timed_choice))
overload(refresh)(_of_family(_nothing, timed.close_gaps))
overload(restore)(_of_family(_nothing, timed.restore))
overload(push)(_of_family(_nothing, timed.push))
overload(exchange_tails)(_of_family(_nothing, tail_exchange.exchange_tails))
