"""Limits and prices of vehicles, and what constructions and the engine see of them.

A limit of a route is a time window of its depot: what a vehicle drives (and serves) is its time. A
fixed cost is on the way: half of it to the first stop of a route and half from the last one to the
depot. Where routes are open, the ways to the depot are 0; where there is no way, it is too long. So
:func:`reduced` returns an instance without these fields. A solution costs the same there, and is
feasible there if and only if it is feasible under all limits but that of the number of vehicles.
The checker reads the fields themselves.
"""

from dataclasses import replace

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.settings import FleetOptions
from specahd.routing.base import FloatArray
from specahd.routing.formats.road_services import NO_WAY
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.vehicles.instance import VehicleInstance

_PARTS = 1024
"""Half a fixed cost is stored in these parts of a unit: sums with integers are then exact."""
_TOO_LONG = 1000.0
"""What a search takes for a way that does not exist, in longest ways. It is small enough that sums
with it are exact to a hundredth of a millionth of a way."""


def with_fleet(instance: VehicleInstance, options: FleetOptions) -> VehicleInstance:
    """Return an instance with these limits and prices beside those that its file states.

    Raises
    ------
    ConfigError
        The instance has no room for one of them.
    """
    if not (options.given or instance.limited):
        return instance
    name, windows = instance.name, instance.windows
    if instance.splits and (given := [each for each in options.given if each != "fixed_cost"]):
        raise ConfigError(f"Expected no {given[0]} for {name}, whose deliveries are split.")
    if windows is not None and options.max_distance is not None:
        raise ConfigError(f"Expected max_duration, not max_distance, for {name}, which has times.")
    if windows is not None and options.max_duration is not None:
        opens = windows.ready.max()
        if opens > windows.ready[0]:
            raise ConfigError(
                f"Expected no max_duration for {name}: a window opens after the depot, so a "
                "vehicle may wait; the depot's own window limits routes."
            )
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
    if changed.max_distance is not None and changed.max_duration is not None:
        raise ConfigError(f"Expected max_distance or max_duration for {name}, not both.")
    _refuse_heavy(changed)
    _refuse_far(changed)
    return changed


def _refuse_heavy(instance: VehicleInstance) -> None:
    """Refuse demands that the vehicles cannot carry together."""
    least = -(-int(instance.demands.sum()) // instance.capacity)
    if instance.fleet is not None and instance.fleet < least:
        raise ConfigError(
            f"Expected vehicles of at least {least} for {instance.name}, whose demands fill as "
            f"many, got {instance.fleet}."
        )


def _refuse_far(instance: VehicleInstance) -> None:
    """Refuse a customer that no route within the limits can serve alone."""
    nodes = np.arange(instance.size + 1)
    ways, times = (
        far(0, nodes) + (0.0 if instance.open else far(nodes, 0))
        for far in (instance.between, instance.lasting)
    )
    limits = {
        "max_distance": (instance.max_distance, ways / instance.parts),
        "max_duration": (instance.max_duration, (times + stop_times(instance)) / _unit(instance)),
    }
    for name, (limit, taken) in limits.items():
        if limit is None:
            continue
        for node in np.flatnonzero(taken > limit).tolist():
            raise ConfigError(
                f"{instance.name}: a route to customer {instance.labels.quoted_name(node)} alone "
                f"takes {taken[node]:g}, expected at most {name}={limit:g}."
            )


def reduced(instance: VehicleInstance, fixed_cost: float | None = None) -> VehicleInstance:
    """Return an instance without prices and limits of routes, whose solutions cost as much.

    Parameters
    ----------
    fixed_cost
        In place of the instance's own.

    Raises
    ------
    NotEnoughMemory
        There is a fixed cost, or ways are directed, and the distances would not fit.
    """
    price = instance.fixed_cost if fixed_cost is None else fixed_cost
    limit, windows, matrix = longest(instance), instance.windows, instance.matrix
    durations, horizon = None, np.inf
    if instance.directed:
        matrix, durations = roads(instance)
        # No route takes longer.
        horizon = float(durations.max(axis=1).sum() + stop_times(instance).sum())
    if instance.directed or limit is not None:
        own = np.zeros(instance.size + 1)
        windows = windows or TimeWindows(own, own + horizon, stop_times(instance))
    if windows is not None and limit is not None:
        closes = windows.ready[0] + limit
        windows = replace(windows, due=np.minimum(windows.due, closes))
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


def roads(instance: VehicleInstance) -> tuple[FloatArray, FloatArray]:
    """Return the distance and the time from each node to each other one, for a search.

    Both are 0 to the depot where routes are open. No way is so long that no search takes it. The
    times are distances if there are no durations, or if it is distances that are limited.

    Raises
    ------
    NotEnoughMemory
        The distances would not fit.
    """
    whole = instance.whole_matrix("of its ways", 2)
    timed = instance.durations is not None and instance.max_distance is None
    found = []
    for ways in (whole, instance.durations) if timed else (whole,):
        assert ways is not None  # durations, if timed
        changed = ways.copy()
        if instance.open:
            changed[:, 0] = 0.0
        missing = changed >= NO_WAY
        changed[missing] = _TOO_LONG * changed[~missing].max()
        found.append(changed)
    return found[0], found[-1]


def longest(instance: VehicleInstance) -> float | None:
    """Return the longest route, :func:`stop_times` included, in the instance's unit."""
    limit = instance.max_duration or instance.max_distance
    return None if limit is None else limit * _unit(instance)


def stop_times(instance: VehicleInstance) -> FloatArray:
    """Return what a stop adds to the time of a route, shape (n + 1,), in the instance's unit."""
    if instance.windows is not None:
        return instance.windows.service
    times = np.full(instance.size + 1, instance.stop_time * instance.parts)
    times[0] = 0.0
    return times


def _unit(instance: VehicleInstance) -> float:
    """Return the number of the instance's units of time in one unit of the file."""
    return instance.parts * (1.0 if instance.windows is None else instance.windows.speed)
