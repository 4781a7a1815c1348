"""The checker F and the cost C of vehicle problems: one function for each constraint.

Each is run where the instance has the field that states the constraint. Nothing but the
form of solutions is shared with the code that builds them.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specahd.routing.base import IntArray, Violation
from specahd.routing.formats.road_services import NO_WAY
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import path_length
from specahd.routing.vehicles.assignment import Assignment, assign, depot_window
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import customers_of

_ROUNDING = 1e-9
"""Relative error of a sum of distances."""


class _Visits(NamedTuple):
    """The visits to customers that exist, route by route.

    Parameters
    ----------
    routes, customers
        The route, from 0, and the customer of each visit.
    quantities
        What each visit delivers, exact; 0 where that is no integer of at least 1.
    counts
        The number of visits to each node.
    loads
        The sum of the quantities of each route.
    """

    routes: IntArray
    customers: IntArray
    quantities: NDArray[Any]
    counts: IntArray
    loads: NDArray[Any]


def check(instance: VehicleInstance, solution: Sequence[Sequence[Any]]) -> tuple[Violation, ...]:
    """Return every violation; empty means feasible.

    Kinds: ``empty_route``, ``depot_inside``, ``unknown_customer``, ``missing_customer`` (one that
    has no prize) and ``capacity``. Where deliveries are split, ``repeated_visit`` (by one route; by
    the triangle inequality one stop is enough), ``quantity`` (not an integer of at least 1) and
    ``demand`` (more or less is delivered); elsewhere ``duplicated_customer``. With time windows,
    ``late`` (service starts after the window has closed) and ``late_return`` (the vehicle is back
    after the depot has closed or its shift has ended). With limits of vehicles, ``vehicles`` (more
    routes than vehicles, or than those of the types that can serve them), ``distance`` and
    ``duration`` (of a route with the best departure; by more than rounding errors of a sum). Where
    the matrix lacks ways, ``no_way``. Visits to nodes that are not customers count towards nothing
    else, and neither does a quantity of that kind. Routes are numbered from 1, as in solution
    files.
    """
    found: list[Violation] = []
    visits = _visits(instance, solution, found)
    found += _coverage(instance, visits)
    if instance.splits:
        found += _deliveries(instance, visits)
    fleet = assign(instance, solution) if instance.types else None
    found += _capacity(instance, visits, fleet)
    if instance.matrix is not None:
        found += _ways(instance, customers_of(solution) if instance.splits else solution, fleet)
    if instance.windows is not None:
        found += _windows(instance, solution, fleet)
    if instance.fleet is not None:
        found += _fleet(solution, instance.fleet)
    if fleet is not None:
        found += _types(instance, fleet)
    if instance.max_distance is not None or fleet is not None:
        found += _distances(instance, solution, fleet)
    if instance.max_duration is not None or fleet is not None:
        found += _durations(instance, solution, fleet)
    return tuple(found)


def cost(instance: VehicleInstance, solution: Sequence[Sequence[Any]]) -> float:
    """Return the total length of the routes, in the file's unit, with fixed costs and prizes.

    The prizes are those of customers that are left out.
    """
    routes = customers_of(solution) if instance.splits else solution
    lengths = _lengths(routes)
    walk = np.zeros(int(lengths.sum()) + len(routes) + 1, np.int64)
    # The depot comes before each route and after the last.
    stops = np.ones(len(walk), bool)
    stops[np.cumsum(lengths) + np.arange(1, len(routes) + 1)] = False
    stops[0] = False
    walk[stops] = _joined(routes, lengths)
    shape = instance.coords, walk, instance.measure, instance.matrix
    prices = instance.fixed_cost * int((lengths > 0).sum())
    if instance.prizes is not None:
        lost = np.delete(instance.prizes, walk[(walk >= 0) & (walk <= instance.size)])
        prices += float(lost[np.isfinite(lost)].sum())
    if instance.types:
        return prices + float(assign(instance, solution).costs.sum())
    if instance.open:
        # No way to the depot is driven.
        driven = walk[1:] != 0
        length = float(instance.between(walk[:-1][driven], walk[1:][driven]).sum())
    else:
        length = path_length(*shape)
    return length / instance.parts + prices


def _visits(
    instance: VehicleInstance, solution: Sequence[Sequence[Any]], found: list[Violation]
) -> _Visits:
    """Return the visits to customers, and add the violations of everything else in the routes."""
    lengths = _lengths(solution)
    nodes = _joined(customers_of(solution) if instance.splits else solution, lengths)
    routes = np.repeat(np.arange(len(solution)), lengths)
    for route in np.flatnonzero(lengths == 0).tolist():
        found.append(Violation("empty_route", f"Route {route + 1} is empty."))
    known = (nodes >= 1) & (nodes <= instance.size)
    unknown = nodes[~known].tolist()
    for _ in range(unknown.count(0)):
        found.append(Violation("depot_inside", "The depot stands inside a route."))
    for node in filter(None, unknown):
        found.append(Violation("unknown_customer", f"Customer {node} does not exist."))
    routes, customers = routes[known], nodes[known]
    quantities: NDArray[Any] = instance.demands[customers]
    # Exact in float64: demands are below 2**31.
    loads = np.bincount(routes, weights=quantities, minlength=len(solution))
    if instance.splits:
        stated = [quantity for route in solution for _, quantity in route]
        # Python's integers, since a sum may be beyond 64 bits.
        quantities = quantities.astype(object)
        for visit, place in enumerate(np.flatnonzero(known).tolist()):
            quantity = stated[place]
            if quantity is None:
                continue
            valid = type(quantity) is int and quantity >= 1
            quantities[visit] = quantity if valid else 0
            if not valid:
                name = instance.labels.quoted_name(customers[visit])
                sentence = f"Route {routes[visit] + 1} delivers {quantity} to customer {name}."
                found.append(Violation("quantity", sentence))
        loads = np.zeros(len(solution), object)
        np.add.at(loads, routes, quantities)
    counts = np.bincount(customers, minlength=instance.size + 1)
    return _Visits(routes, customers, quantities, counts, loads)


def _coverage(instance: VehicleInstance, visits: _Visits) -> Iterator[Violation]:
    """Every customer without a prize is visited, and none twice unless deliveries are split."""
    counts, quoted_name = visits.counts, instance.labels.quoted_name
    missing = counts[1:] == 0
    if instance.prizes is not None:
        missing &= np.isinf(instance.prizes[1:])
    for node in np.flatnonzero(missing).tolist():
        sentence = f"Customer {quoted_name(node + 1)} is not visited."
        yield Violation("missing_customer", sentence)
    if instance.splits:
        return
    for node in np.flatnonzero(counts > 1).tolist():
        sentence = f"Customer {quoted_name(node)} is visited {counts[node]} times."
        yield Violation("duplicated_customer", sentence)


def _deliveries(instance: VehicleInstance, visits: _Visits) -> Iterator[Violation]:
    """The deliveries to a customer add up to its demand, and no route visits it twice."""
    demands, quoted_name = instance.demands, instance.labels.quoted_name
    keys, counts = np.unique(visits.routes * len(demands) + visits.customers, return_counts=True)
    for key, count in zip(keys[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True):
        route, node = divmod(key, len(demands))
        sentence = f"Route {route + 1} visits customer {quoted_name(node)} more than once."
        yield from [Violation("repeated_visit", sentence)] * (count - 1)
    received = np.zeros(instance.size + 1, object)
    np.add.at(received, visits.customers, visits.quantities)
    for node in np.flatnonzero((received != demands) & (visits.counts > 0)).tolist():
        sentence = f"Customer {quoted_name(node)} receives {received[node]} of {demands[node]}."
        yield Violation("demand", sentence)


def _route(number: int, fleet: Assignment | None) -> str:
    """Return a route's number, counted from 1, and its type of vehicles."""
    return f"Route {number}" + (f" ({fleet.types[number - 1].name})" if fleet else "")


def _capacity(
    instance: VehicleInstance, visits: _Visits, fleet: Assignment | None
) -> Iterator[Violation]:
    """No route carries more than the capacity of its vehicle."""
    amount = instance.labels.amount
    capacities: Any = instance.capacity
    if fleet is not None:
        capacities = np.array([each.capacity for each in fleet.types], np.int64)
    excess = visits.loads - capacities
    for route in np.flatnonzero(excess > 0).tolist():
        load = int(visits.loads[route])
        most = amount(load - int(excess[route]))
        sentence = f"{_route(route + 1, fleet)} carries {amount(load)}, more than {most}."
        yield Violation("capacity", sentence)


def _windows(
    instance: VehicleInstance, solution: Sequence[Sequence[int]], fleet: Assignment | None
) -> Iterator[Violation]:
    """Service starts in time, and vehicles are back in time.

    A vehicle leaves when the depot opens and its shift begins, waits for windows to open, and
    continues if it is late.
    """
    windows = instance.windows
    assert windows is not None  # the caller looks
    routes = [[node for node in route if 1 <= node <= instance.size] for route in solution]
    places = [_ends(fleet, place) for place in range(len(routes))]
    walks = list(zip(places, routes, strict=True))
    heads = np.array([node for (start, _), route in walks for node in (start, *route)], np.int64)
    tails = np.array([node for (_, end), route in walks for node in (*route, end)], np.int64)
    legs = iter(instance.lasting(heads, tails).tolist())
    ready, due, service = (
        times.tolist() for times in (windows.ready, windows.due, windows.service)
    )
    unit, labels = instance.parts * windows.speed, instance.labels

    def clock(time: float) -> str:
        return labels.time(time / unit)

    for number, route in enumerate(routes, start=1):
        time, closes = ready[0], due[0]
        if fleet is not None:
            time, closes = depot_window(instance, fleet.types[number - 1])
        for node in route:
            start = max(time + next(legs), ready[node])
            if start > due[node]:
                yield Violation(
                    "late",
                    f"Customer {labels.quoted_name(node)} on route {number} is served at "
                    f"{clock(start)}, after {clock(due[node])}.",
                )
            time = start + service[node]
        home = next(legs)
        time += 0.0 if instance.open else home
        if time > closes:
            ends = "ends" if instance.open else "is back"
            yield Violation(
                "late_return",
                f"{_route(number, fleet)} {ends} at {clock(time)}, after {clock(closes)}.",
            )


def _fleet(solution: Sequence[Sequence[int]], most: int) -> Iterator[Violation]:
    """No more vehicles leave the depot than there are."""
    used = sum(map(bool, solution))
    if used > most:
        yield Violation("vehicles", f"{used} vehicles are used, more than {most}.")


def _types(instance: VehicleInstance, fleet: Assignment) -> Iterator[Violation]:
    """No more vehicles of a type leave the depot than there are."""
    counts = [f"{kind.count or 'any number of'} {kind.name}" for kind in instance.types or ()]
    for route in fleet.without:
        sentence = f"Route {route + 1} has no vehicle left: there are {', '.join(counts)}."
        yield Violation("vehicles", sentence)


def _distances(
    instance: VehicleInstance, solution: Sequence[Sequence[int]], fleet: Assignment | None
) -> Iterator[Violation]:
    """No route is longer than the limit."""
    for number, _, legs in _driven(instance, solution, fleet):
        most = (instance if fleet is None else fleet.types[number - 1]).max_distance
        length = float(instance.between(*legs).sum()) / instance.parts
        if most is not None and length > most * (1 + _ROUNDING):
            sentence = f"{_route(number, fleet)} is {length:.10g} long, more than {most:g}."
            yield Violation("distance", sentence)


def _durations(
    instance: VehicleInstance, solution: Sequence[Sequence[int]], fleet: Assignment | None
) -> Iterator[Violation]:
    """No vehicle is away longer than the limit, if it leaves so that it is away least."""
    for number, route, ways in _driven(instance, solution, fleet):
        kind = None if fleet is None else fleet.types[number - 1]
        most = (instance if kind is None else kind).max_duration
        if most is None:
            continue
        legs = instance.lasting(*ways).tolist()
        if instance.windows is None:
            time = sum(legs) / instance.parts + instance.stop_time * len(route)
        else:
            unit = instance.parts * instance.windows.speed
            opens = instance.windows.ready[0] if kind is None else depot_window(instance, kind)[0]
            time = _least_duration(instance.windows, route, legs, opens) / unit
        if time > most * (1 + _ROUNDING):
            spoken = instance.labels.duration
            sentence = f"{_route(number, fleet)} takes {spoken(time)}, more than {spoken(most)}."
            yield Violation("duration", sentence)


def _least_duration(
    windows: TimeWindows, route: Sequence[int], legs: Sequence[float], opens: float
) -> float:
    """Return the time from the latest departure with which a route ends as early as it can.

    Parameters
    ----------
    legs
        The times of the ways to each stop, and of that back unless the route is open.
    opens
        When the vehicle can leave.
    """
    time, starts = opens, []
    for node, leg in zip(route, legs, strict=False):
        starts.append(max(time + leg, windows.ready[node]))
        time = starts[-1] + windows.service[node]
    homeward = legs[len(route)] if len(legs) > len(route) else 0.0
    end = time + homeward
    # From the end back: each stop begins as late as it may, and where it is late no later.
    time = end - homeward
    stops = list(zip(route, legs, starts, strict=False))
    for node, leg, start in reversed(stops):
        time = min(time - windows.service[node], max(windows.due[node], start)) - leg
    return float(end - time)


def _driven(
    instance: VehicleInstance, solution: Sequence[Sequence[int]], fleet: Assignment | None
) -> Iterator[tuple[int, list[int], tuple[IntArray, IntArray]]]:
    """Yield each route's number, its customers, and where its ways begin and where they end."""
    for number, stops in enumerate(solution, start=1):
        route = [node for node in stops if 1 <= node <= instance.size]
        start, end = _ends(fleet, number - 1)
        walk = np.array([start, *route] if instance.open else [start, *route, end])
        yield number, route, (walk[:-1], walk[1:])


def _ends(fleet: Assignment | None, place: int) -> tuple[int, int]:
    """Return where the vehicle of a route starts and ends."""
    return (0, 0) if fleet is None else (fleet.types[place].start, fleet.types[place].end)


def _ways(
    instance: VehicleInstance, solution: Sequence[Sequence[int]], fleet: Assignment | None
) -> Iterator[Violation]:
    """No route drives where there is no way."""
    quoted_name = instance.labels.quoted_name
    for number, _, (starts, ends) in _driven(instance, solution, fleet):
        for place in np.flatnonzero(instance.between(starts, ends) >= NO_WAY).tolist():
            start, end = (quoted_name(int(each[place])) for each in (starts, ends))
            yield Violation("no_way", f"Route {number} drives from {start} to {end}: no such way.")


def _lengths(solution: Sequence[Sequence[Any]]) -> IntArray:
    return np.fromiter(map(len, solution), np.int64, len(solution))


def _joined(routes: Sequence[Sequence[int]], lengths: IntArray) -> IntArray:
    return np.fromiter(chain.from_iterable(routes), np.int64, int(lengths.sum()))
