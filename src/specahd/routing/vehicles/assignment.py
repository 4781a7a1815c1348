"""Which type of vehicle serves which route: the cheapest choice that the fleet allows.

Solutions are routes alone. Where vehicles differ, the routes and the fleet determine the types, so
that no file has to state them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats.vrplib import VehicleType
from specahd.routing.vehicles.instance import VehicleInstance

_ROUNDING = 1e-9
"""Relative error of a sum of distances."""


@dataclass(frozen=True)
class Assignment:
    """The type of each route.

    Parameters
    ----------
    types
        A type for each route; for one without a vehicle the one that suits best.
    costs
        What each route costs with its type, in the file's unit.
    without
        The routes for which no vehicle is left.
    fits
        Whether each route has a vehicle that can serve it.
    """

    types: Sequence[VehicleType]
    costs: FloatArray
    without: Sequence[int]
    fits: NDArray[np.bool_]


def assign(instance: VehicleInstance, routes: Sequence[Sequence[int]]) -> Assignment:
    """Return the types with the fewest violations and, among these, the least cost.

    Nodes that are no customers count for nothing. Types without a limit of their number are had for
    each route, so the others are a linear assignment problem (Kuhn 1955).
    """
    types = vehicle_types(instance)
    routes = [[node for node in route if 1 <= node <= instance.size] for route in routes]
    prices, wrong = _measured(instance, routes, types)
    # A violation weighs more than all costs together.
    weights = prices + wrong * (1.0 + prices.sum())
    chosen = weights.argmin(axis=1) if routes else np.zeros(0, np.int64)
    counts = np.array([len(routes) if each.count is None else each.count for each in types])
    missing: list[int] = []
    if (np.bincount(chosen, minlength=len(types)) > counts).any():
        chosen, missing = _limited(weights, np.minimum(counts, len(routes)))
    rows = np.arange(len(routes))
    fits = wrong[rows, chosen] == 0
    fits[missing] = False
    named = [types[kind] for kind in chosen.tolist()]
    return Assignment(named, prices[rows, chosen], missing, fits)


def least_costs(instance: VehicleInstance, routes: Sequence[Sequence[int]]) -> FloatArray:
    """Return what each route costs with the type that suits it, however many there are."""
    prices, wrong = _measured(instance, routes, vehicle_types(instance))
    best = np.lexsort((prices, wrong), axis=1)[:, 0]
    found: FloatArray = prices[np.arange(len(routes)), best]
    return found


def vehicle_types(instance: VehicleInstance) -> tuple[VehicleType, ...]:
    """Return the types of vehicles; where all are alike, one without a limit of their number."""
    alike = VehicleType(
        "",
        None,
        instance.capacity,
        fixed_cost=instance.fixed_cost,
        max_distance=instance.max_distance,
        max_duration=instance.max_duration,
        start=instance.start,
        end=instance.end,
    )
    return instance.types or (alike,)


def depot_window(instance: VehicleInstance, kind: VehicleType) -> tuple[float, float]:
    """Return when vehicles of a type leave and are back at the latest, in the instance's unit."""
    windows = instance.windows
    if windows is None:
        return 0.0, np.inf
    unit = instance.parts * windows.speed
    opens, closes = float(windows.ready[0]), float(windows.due[0])
    if kind.shift_start is not None:
        opens = max(opens, unit * (kind.shift_start + instance.labels.loading))
    if kind.shift_end is not None:
        closes = min(closes, unit * kind.shift_end)
    return opens, closes


def _measured(
    instance: VehicleInstance, routes: Sequence[Sequence[int]], types: Sequence[VehicleType]
) -> tuple[FloatArray, FloatArray]:
    """Return the costs and the numbers of violations of each route with each type."""
    count = len(routes)
    walk = np.array([node for route in routes for node in (0, *route)] + [0])
    owners = np.repeat(np.arange(count), [len(route) + 1 for route in routes])
    # A vehicle without stops stays where it is.
    driven = (walk[:-1] > 0) | (walk[1:] > 0)
    driven &= (walk[1:] > 0) | (not instance.open)

    def summed(values: Any) -> FloatArray:
        found: FloatArray = np.bincount(owners, values, count).astype(np.float64)
        return found

    windows, speed = instance.windows, 1.0
    service = np.full(instance.size + 1, instance.stop_time * instance.parts)
    if windows is not None:
        service, speed = windows.service, windows.speed
    served = summed(np.where(walk[:-1] > 0, service[walk[:-1]], 0.0))
    driving: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}
    loads = summed(instance.demands[walk[:-1]])
    used = np.array([bool(route) for route in routes], float)
    # Without shifts and other places the windows of stops are kept by all types or by none.
    plain = None, None, 0, 0, None
    clocked = windows is not None and any(
        (each.shift_start, each.shift_end, each.start, each.end, each.max_duration) != plain
        for each in types
    )
    timings: dict[tuple[float, ...], FloatArray] = {}
    prices, wrong = np.zeros((2, count, len(types)))
    for place, kind in enumerate(types):
        ends = kind.start, kind.end
        if ends not in driving:
            heads = np.where(walk[:-1] > 0, walk[:-1], kind.start)
            tails = np.where(walk[1:] > 0, walk[1:], kind.end)
            taken = summed(instance.lasting(heads, tails) * driven)
            driving[ends] = (
                summed(instance.between(heads, tails) * driven) / instance.parts,
                (taken + served) / (instance.parts * speed),
            )
        lengths, times = driving[ends]
        prices[:, place] = kind.fixed_cost * used + kind.cost_per_distance * lengths
        prices[:, place] += kind.cost_per_duration * times
        wrong[:, place] = loads > kind.capacity
        if clocked:
            shift = *depot_window(instance, kind), *ends
            if shift not in timings:
                found = [timing(instance, route, kind) for route in routes]
                timings[shift] = np.array(found, float).reshape(-1, 3)
            leaves, back, late = timings[shift].T
            times = (back - leaves) / (instance.parts * speed)
            wrong[:, place] += late
        for values, most in ((lengths, kind.max_distance), (times, kind.max_duration)):
            if most is not None:
                wrong[:, place] += values > most * (1 + _ROUNDING)
    return prices, wrong


def timing(
    instance: VehicleInstance, route: Sequence[int], kind: VehicleType
) -> tuple[float, float, int]:
    """Return the departure with which a route's duration is least, its end, and what is late.

    The end is as early as can be, and the departure as late as possible with it: so much later as
    the vehicle would wait in vain (Savelsbergh, ORSA Journal on Computing 4, 1992). What is late is
    the number of stops that are served too late, and 1 more for a late return.
    """
    windows = instance.windows
    assert windows is not None  # these are times
    opens, closes = depot_window(instance, kind)
    legs = instance.lasting(np.array([kind.start, *route]), np.array([*route, kind.end])).tolist()
    if instance.open:
        legs[-1] = 0.0
    time, worked, late, leaves = opens, 0.0, 0, np.inf
    for node, leg in zip(route, legs, strict=False):
        worked += leg
        start = max(time + leg, windows.ready[node])
        late += start > windows.due[node]
        # No stop becomes late, or later.
        leaves = min(leaves, max(start, windows.due[node]) - worked)
        time, worked = start + windows.service[node], worked + windows.service[node]
    back = time + legs[-1]
    return min(leaves, back - worked - legs[-1]), back, int(late + (back > closes))


def _limited(weights: FloatArray, counts: IntArray) -> tuple[IntArray, list[int]]:
    """Return the type of each route if there are so many vehicles, and the routes without one."""
    # Slow to import, and needed only where a type's vehicles are too few.
    from scipy.optimize import linear_sum_assignment

    routes, plenty = len(weights), counts >= len(weights)
    owners = np.repeat(np.flatnonzero(~plenty), counts[~plenty])
    # The last columns are types of which there are enough, or no vehicle.
    kinds = np.argmin(np.where(plenty, weights, np.inf), axis=1) if plenty.any() else None
    rest = weights[np.arange(routes), kinds] if kinds is not None else 1.0 + weights.sum()
    best = weights.argmin(axis=1)
    table = np.full((routes, len(owners) + routes), np.inf)
    table[:, : len(owners)] = weights[:, owners]
    table[:, len(owners) :] = np.broadcast_to(np.reshape(rest, (-1, 1)), (routes, routes))
    _, columns = linear_sum_assignment(table)
    beyond = columns >= len(owners)
    chosen = np.where(beyond, best if kinds is None else kinds, 0)
    chosen[~beyond] = owners[columns[~beyond]]
    return chosen, np.flatnonzero(beyond).tolist() if kinds is None else []
