"""Limits and prices of vehicles, and what constructions and the engine see of them.

A limit of a route is a time window of its depot: what a vehicle drives (and serves) is its time.
Where distances are limited beside times, or durations where a vehicle may wait, the engine keeps
the distance and the duration of each route, as if its vehicle were of a type. A fixed cost is on
the way: half of it to the first stop of a route and half from the last one to the depot. Where
routes are open, the ways to the depot are 0; where there is no way, it is too long. So
:func:`reduced` returns an instance without these fields. A solution costs the same there, and is
feasible there if and only if it is feasible under all limits but that of the number of vehicles.
The checker reads the fields themselves.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError, FileWarning
from specahd.core.settings import FleetOptions
from specahd.routing.base import FloatArray
from specahd.routing.distances import (
    LENGTHS,
    LIMITS,
    LONGEST,
    PRICES,
    SHIFTS,
    TYPE_LENGTHS,
    TYPE_TIMES,
)
from specahd.routing.formats import fleet_table
from specahd.routing.formats.road_services import NO_WAY
from specahd.routing.formats.rows import Row
from specahd.routing.formats.times import duration_of, expected_duration
from specahd.routing.formats.vrplib import PRIZE, TimeWindows, VehicleType
from specahd.routing.vehicles.assignment import least_costs, vehicle_types
from specahd.routing.vehicles.instance import OUT_OF_REACH, VehicleInstance

NOT_WORTH = "not worth it"
"""Why a customer is left out whose price is at most what a route to it alone costs."""
_PARTS = 1024
"""Half a fixed cost is stored in these parts of a unit: sums with integers are then exact."""
_TOO_LONG = 1000.0
"""What a search takes for a way that does not exist, in longest ways. It is small enough that sums
with it are exact to a hundredth of a millionth of a way."""


def with_fleet(
    instance: VehicleInstance, options: FleetOptions, rows: Sequence[Row] = ()
) -> VehicleInstance:
    """Return an instance with these limits and prices beside those that its file states.

    Parameters
    ----------
    rows
        The types of vehicles, as :func:`specahd.routing.formats.fleet_table.read` returns them.

    Raises
    ------
    ConfigError, FileError
        The instance has no room for one of them.
    """
    if not (options.given or instance.limited):
        return instance
    name = instance.name
    if instance.splits:
        _check_split_deliveries(instance, options)
    if isinstance(text := options.max_duration, str):
        most = duration_of(text, instance.labels.times)
        if isnan(most):
            expected = expected_duration(instance.labels.times)
            raise ConfigError(f"Expected max_duration for {name} to be {expected}, got {text!r}.")
        options = replace(options, max_duration=most)
    limits = {
        each: getattr(options, each)
        for each in ("max_distance", "max_duration")
        if getattr(options, each) is not None
    }
    changed = replace(
        instance,
        fleet=options.vehicles,
        fixed_cost=options.fixed_cost,
        open=options.open,
        **limits,
    )
    if rows:
        types = fleet_table.types_of(rows, changed)
        capacity = max(each.capacity for each in types)
        changed = replace(
            changed,
            types=types,
            capacity=capacity,
            fixed_cost=0.0,
            max_distance=None,
            max_duration=None,
        )
    if len(unservable(changed)) == changed.size:
        told = {"max_duration": changed.labels.duration}
        stated = [
            f"{each} of {told.get(each, '{:g}'.format)(most)}" for each, most in limits.items()
        ]
        what = "the limits of its type" if rows else " and ".join(stated)
        raise ConfigError(
            f"{name}: no route to one customer alone holds to {what}, expected larger limits."
        )
    for kind, alike in zip(changed.types or (), by_type(changed), strict=False):
        if len(_unservable(alike)) == changed.size:
            warnings.warn(
                f"{name}: no vehicle of the type {kind.name[:40]!r} can serve a stop within its "
                "capacity, shift and limits.",
                FileWarning,
                stacklevel=2,
            )
    return changed


def _check_split_deliveries(instance: VehicleInstance, options: FleetOptions) -> None:
    """Refuse options without a meaning for split deliveries, and vehicles that are too few."""
    name, taken = instance.name, ("vehicles", "fixed_cost", "open")
    if given := [each for each in options.given if each not in taken]:
        raise ConfigError(f"Expected no {given[0]} for {name}, whose deliveries are split.")
    least = -(-int(instance.demands.sum()) // instance.capacity)
    if options.vehicles is not None and options.vehicles < least:
        raise ConfigError(
            f"Expected at least {least} vehicles for {name}, whose demands fill so many, got "
            f"{options.vehicles}."
        )


def by_type(instance: VehicleInstance) -> list[VehicleInstance]:
    """Return for each type of vehicles the instance that has no others, without costs of ways.

    The shift of a type is then the depot's window.
    """
    return [_with_alike(instance, each) for each in instance.types or ()] or [instance]


def _with_alike(instance: VehicleInstance, kind: VehicleType) -> VehicleInstance:
    windows = instance.windows
    if windows is not None:
        # As specahd.routing.vehicles.assignment.depot_window, by which the checker checks this one.
        unit, ready, due = time_unit(instance), windows.ready.copy(), windows.due.copy()
        if kind.shift_start is not None:
            ready[0] = max(ready[0], (kind.shift_start + instance.labels.loading) * unit)
        if kind.shift_end is not None:
            due[0] = min(due[0], kind.shift_end * unit)
        windows = replace(windows, ready=ready, due=due)
    return replace(
        instance,
        types=None,
        capacity=kind.capacity,
        fleet=kind.count,
        fixed_cost=kind.fixed_cost,
        max_distance=kind.max_distance,
        max_duration=kind.max_duration,
        start=kind.start,
        end=kind.end,
        windows=windows,
    )


def unservable(instance: VehicleInstance) -> Mapping[int, str]:
    """Return the customers that no vehicle can serve within the limits of a route, and why."""
    first, *others = map(_unservable, by_type(instance))
    return {
        node: reason if all(each[node] == reason for each in others) else OUT_OF_REACH
        for node, reason in first.items()
        if all(node in each for each in others)
    }


def _unservable(instance: VehicleInstance) -> Mapping[int, str]:
    found, nodes = dict(instance.unservable), np.arange(1, instance.size + 1)
    # A vehicle that serves one stop alone need not wait: it can leave later.
    for most, unit, between, served in (
        (instance.max_distance, instance.parts, instance.between, 0.0),
        (instance.max_duration, time_unit(instance), instance.lasting, stop_times(instance)[1:]),
    ):
        if most is not None:
            alone = between(instance.start, nodes) + served
            alone = alone + (0.0 if instance.open else between(nodes, instance.end))
            far = nodes[alone > most * unit]
            found = dict.fromkeys(far.tolist(), OUT_OF_REACH) | found
    return dict(sorted(found.items()))


def with_prizes(instance: VehicleInstance, prizes: Sequence[float | None]) -> VehicleInstance:
    """Return an instance whose customers, in order, may be left out at these prices.

    Raises
    ------
    ConfigError
        Deliveries are split, a price is out of its range, or there are more or fewer of them.
    """
    # None becomes nan.
    found = np.array(prizes, float)
    if found.shape != (instance.size,) or instance.splits:
        what = "none, since deliveries are split" if instance.splits else f"{instance.size} numbers"
        raise ConfigError(f"Expected prizes of {instance.name} to be {what}.")
    found[np.isnan(found)] = np.inf
    for place in PRIZE.outside(np.where(np.isinf(found), 0.0, found)):
        raise ConfigError(f"Expected each of prizes to be {PRIZE} or None, got {found[place]:g}.")
    return replace(instance, prizes=np.array([0.0, *found]))


def penalty(instance: VehicleInstance) -> float:
    """Return a price of a stop that exceeds the cost of every solution."""
    nodes, ways = np.arange(instance.size + 1), instance.sites.matrix
    if ways is None:
        # By the triangle inequality no way is longer than one over the depot.
        assert instance.sites.coords is not None  # the ways are had from them
        sites = np.arange(len(instance.sites.coords))
        longest_way = 2 * float(instance.between(0, sites).max())
    else:
        longest_way = float(ways[ways < NO_WAY].max())
    kinds = instance.types or ()
    route = max((each.cost_per_distance for each in kinds), default=1.0) * 2 * longest_way
    if per_duration := max((each.cost_per_duration for each in kinds), default=0.0):
        times = instance.sites.durations
        longest_time = longest_way if times is None else float(times[times < NO_WAY].max())
        lasts = 2 * longest_time + float(stop_times(instance).max())
        route += per_duration * lasts * instance.parts / time_unit(instance)
    fixed_cost = max((each.fixed_cost for each in kinds), default=instance.fixed_cost)
    routes = (route / instance.parts + fixed_cost) * len(nodes)
    prizes = 0.0 if instance.prizes is None else instance.prizes[np.isfinite(instance.prizes)].sum()
    return float(np.ceil(routes + prizes + 1))


def relaxed(instance: VehicleInstance) -> VehicleInstance:
    """Return an instance in which a limited fleet may leave out all customers.

    One that must be served gets the :func:`penalty` as its price, so that the search serves as many
    of them as it can. One that no vehicle can serve is left out at no price.

    Raises
    ------
    ConfigError
        No customer is worth a vehicle.
    """
    if instance.splits:
        # Enough vehicles deliver all, and fewer are refused.
        return instance
    never = list(unservable(instance))
    limited = instance.fleet is not None or searches_types(instance)
    if not limited and instance.prizes is None and not never:
        return instance
    must = np.full(instance.size + 1, np.inf) if instance.prizes is None else instance.prizes.copy()
    # The engine tells customers that must be served by the price at the depot.
    must[0] = penalty(instance) if limited else 0.0
    if limited:
        must[np.isinf(must)] = must[0]
    must[never] = 0.0
    if not must[1:].any():
        raise ConfigError(f"{instance.name}: no stop that can be served has a prize above 0.")
    return replace(instance, prizes=must)


def left_out(
    instance: VehicleInstance, routes: Sequence[Sequence[int]]
) -> list[tuple[int, str, float | None]]:
    """Return each customer that is on no route, why, and its price, if it has one."""
    served = {node for route in routes for node in route}
    missing = [node for node in range(1, instance.size + 1) if node not in served]
    if not missing:
        return []
    never = unservable(instance)
    full = "no vehicle in time" if instance.windows is not None else "no vehicle with room"
    found = []
    alone = least_costs(instance, [[node] for node in missing])
    for node, least in zip(missing, alone.tolist(), strict=True):
        price = np.inf if instance.prizes is None else float(instance.prizes[node])
        reason = NOT_WORTH if price <= least else full
        stated = None if np.isinf(price) else price
        found.append((node, never.get(node, reason), stated))
    return found


def reduced(instance: VehicleInstance) -> VehicleInstance:
    """Return an instance without prices and limits of routes, whose solutions cost as much.

    Where there are types of vehicles, it has the widest windows, the largest capacity and mean
    costs, and ``type_columns`` for the engine.

    Raises
    ------
    NotEnoughMemory
        There is a fixed cost, or ways are directed, and the distances would not fit.
    """
    if searches_types(instance):
        return _reduced_to_types(instance)
    price, limit = instance.fixed_cost, _limit_of_time(instance) or instance.max_distance
    matrix, durations, windows = instance.matrix, None, _windows_within(instance, limit)
    if instance.directed:
        matrix, durations = roads(instance)
        if instance.max_distance is not None:
            # A limit of distances is one of times where distances are the times.
            durations = matrix
        if windows is None and not instance.splits:
            # No route takes longer.
            own = np.zeros(instance.size + 1)
            horizon = float(durations.max(axis=1).sum() + stop_times(instance).sum())
            windows = TimeWindows(own, own + horizon, stop_times(instance))
    if price:
        half = round(price * instance.parts / 2 * _PARTS) / _PARTS
        if not instance.directed:
            matrix = instance.whole_matrix("of its fixed cost")
        assert matrix is not None  # that of the roads
        matrix = matrix.copy()
        matrix[0, 1:] += half
        matrix[1:, 0] += half
        if windows is not None and durations is None:
            ready, due = windows.ready.copy(), windows.due.copy()
            # Vehicles drive longer on both ends of a route.
            ready[0] -= half
            due[0] += half
            windows = replace(windows, ready=ready, due=due)
    return replace(
        instance,
        matrix=matrix,
        windows=windows,
        durations=durations,
        open=False,
        fixed_cost=0.0,
        max_distance=None,
        max_duration=None,
        stop_time=0.0,
    )


def _reduced_to_types(instance: VehicleInstance) -> VehicleInstance:
    kinds, alike, parts = vehicle_types(instance), by_type(instance), instance.parts
    own, served = np.zeros(instance.size + 1), stop_times(instance)
    distances, times = roads(instance)
    both, measured = limits_both(instance), limits_routes(instance)
    # A limit of distances alone is one of times where distances are the times.
    clock = distances if not both and any(each.max_distance for each in kinds) else times
    prices, ends, lengths = [], *np.zeros((2, len(kinds), 2, instance.size + 1))
    for place, kind in enumerate(kinds):
        _begin_and_end(instance, kind, distances, instance.between)
        _begin_and_end(instance, kind, times, instance.lasting)
        ends[place] = clock[0], clock[:, 0]
        lengths[place] = distances[0], distances[:, 0]
        paid = kind.cost_per_distance * distances
        paid += kind.cost_per_duration * parts / time_unit(instance) * (times + served)
        if instance.matrix is not None:
            # Those that a vehicle starts and ends with exist.
            paid[1:, 1:][instance.matrix[1:, 1:] >= NO_WAY] = _TOO_LONG * paid.max()
        np.fill_diagonal(paid, 0.0)
        half = round(kind.fixed_cost * parts / 2 * _PARTS) / _PARTS
        paid[0, 1:] += half
        paid[1:, 0] += half
        prices.append(paid)
    columns: dict[str, NDArray[Any]] = {}
    if measured:
        # None becomes nan.
        most = np.array([[each.max_distance, each.max_duration] for each in kinds], float)
        most = np.where(np.isnan(most), np.inf, most) * (parts, time_unit(instance))
        columns = {LENGTHS: distances.copy(), TYPE_LENGTHS: lengths, LONGEST: most}
    # No route of any type takes longer.
    clock[0], clock[:, 0] = ends.max(axis=0)
    horizon = float(clock.max(axis=1).sum() + served.sum())
    # A construction knows no types; each stop is in time that one of them serves in time.
    clock[0], clock[:, 0] = ends.min(axis=0)
    plain = TimeWindows(own, own + horizon, served)
    shifts = [
        _windows_within(each, _limit_of_time(each) or (None if both else each.max_distance))
        or plain
        for each in alike
    ]
    windows = instance.windows or plain
    ready, due = windows.ready.copy(), windows.due.copy()
    ready[0] = min(each.ready[0] for each in shifts)
    due[0] = max(each.due[0] for each in shifts)
    counts = [kind.count or instance.fleet or instance.size for kind in kinds]
    limits = [[kind.capacity, count] for kind, count in zip(kinds, counts, strict=True)]
    return replace(
        instance,
        matrix=np.mean(prices, axis=0),
        windows=replace(windows, ready=ready, due=due),
        durations=clock,
        open=False,
        fleet=None,
        fixed_cost=0.0,
        types=None,
        places=None,
        type_columns={
            PRICES: np.array(prices),
            TYPE_TIMES: ends,
            SHIFTS: np.array([[each.ready[0], min(each.due[0], due[0])] for each in shifts]),
            LIMITS: np.array(limits),
            **columns,
        },
        max_distance=None,
        max_duration=None,
        stop_time=0.0,
    )


def _begin_and_end(
    instance: VehicleInstance, kind: VehicleType, ways: FloatArray, between: Any
) -> None:
    """Write the ways from where vehicles of a type start, and to where they end, to the depot's."""
    nodes = np.arange(1, instance.size + 1)
    ways[0, 1:] = between(kind.start, nodes)
    ways[1:, 0] = 0.0 if instance.open else between(nodes, kind.end)


def searches_types(instance: VehicleInstance) -> bool:
    """Return whether a search keeps the type of each route, which may be the only one."""
    return instance.types is not None or limits_routes(instance)


def limits_routes(instance: VehicleInstance) -> bool:
    """Return whether routes have a limit that is no window of the depot."""
    waiting = any(each.max_duration and _may_wait(each) for each in by_type(instance))
    return waiting or limits_both(instance)


def limits_both(instance: VehicleInstance) -> bool:
    """Return whether distances are limited beside times."""
    alike = by_type(instance)
    timed = instance.windows is not None or any(each.max_duration for each in alike)
    return timed and any(each.max_distance for each in alike)


def _may_wait(instance: VehicleInstance) -> bool:
    """Return whether a window opens after alike vehicles can leave."""
    windows = instance.windows
    return windows is not None and bool(windows.ready.max() > windows.ready[0])


def _limit_of_time(instance: VehicleInstance) -> float | None:
    """Return the limit of the duration that is a window of the depot, since none may wait."""
    return None if _may_wait(instance) else instance.max_duration


def _windows_within(instance: VehicleInstance, limit: float | None) -> TimeWindows | None:
    """Return the time windows in which the longest route is one of the depot's."""
    windows = instance.windows
    if limit is None:
        return windows
    if windows is None:
        own = np.zeros(instance.size + 1)
        windows = TimeWindows(own, own + np.inf, stop_times(instance))
    most = windows.ready[0] + limit * time_unit(instance)
    return replace(windows, due=np.minimum(windows.due, most))


def roads(instance: VehicleInstance) -> tuple[FloatArray, FloatArray]:
    """Return the distance and the time from each node to each other one, for a search.

    Both are 0 to the depot where routes are open. No way is so long that no search takes it. The
    times are distances if there are no durations.

    Raises
    ------
    NotEnoughMemory
        The distances would not fit.
    """
    whole = instance.whole_matrix("of its ways", 2)
    found = []
    for ways in (whole,) if instance.durations is None else (whole, instance.durations):
        changed = ways.copy()
        if instance.open:
            changed[:, 0] = 0.0
        missing = changed >= NO_WAY
        changed[missing] = _TOO_LONG * changed[~missing].max()
        found.append(changed)
    return found[0], found[-1]


def stop_times(instance: VehicleInstance) -> FloatArray:
    """Return what a stop adds to the time of a route, shape (n + 1,), in the instance's unit."""
    if instance.windows is not None:
        return instance.windows.service
    times = np.full(instance.size + 1, instance.stop_time * instance.parts)
    times[0] = 0.0
    return times


def time_unit(instance: VehicleInstance) -> float:
    """Return the number of the instance's units of time in one unit of the file's time."""
    return instance.parts * (1.0 if instance.windows is None else instance.windows.speed)
