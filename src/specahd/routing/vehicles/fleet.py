"""Limits and prices of vehicles, and what constructions and the engine see of them.

A limit of a route is a time window of its depot: what a vehicle drives (and serves) is its time. A
fixed cost is on the way: half of it to the first stop of a route and half from the last one to the
depot. So :func:`reduced` returns an instance without these fields. A solution costs the same there,
and is feasible there if and only if it is feasible under all limits but that of the number of
vehicles. The checker reads the fields themselves.
"""

from dataclasses import replace

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.settings import FleetOptions
from specahd.routing.base import FloatArray
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.vehicles.instance import VehicleInstance

_PARTS = 1024
"""Half a fixed cost is stored in these parts of a unit: sums with integers are then exact."""


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
    changed = replace(instance, fleet=options.vehicles, fixed_cost=options.fixed_cost, **limits)
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
    ways = instance.between(0, nodes) + instance.between(nodes, 0)
    limits = {
        "max_distance": (instance.max_distance, ways / instance.parts),
        "max_duration": (instance.max_duration, (ways + stop_times(instance)) / _unit(instance)),
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
        There is a fixed cost, and the distances would not fit.
    """
    price = instance.fixed_cost if fixed_cost is None else fixed_cost
    limit, windows = longest(instance), instance.windows
    if limit is not None:
        own = np.zeros(instance.size + 1)
        windows = windows or TimeWindows(own, own + np.inf, stop_times(instance))
        closes = windows.ready[0] + limit
        windows = replace(windows, due=np.minimum(windows.due, closes))
    matrix = instance.matrix
    if price:
        half = round(price * instance.parts / 2 * _PARTS) / _PARTS
        matrix = instance.whole_matrix("of its fixed cost").copy()
        matrix[0, 1:] += half
        matrix[1:, 0] += half
        if windows is not None:
            ready, due = windows.ready.copy(), windows.due.copy()
            # Vehicles drive longer on both ends of a route.
            ready[0] -= half
            due[0] += half
            windows = replace(windows, ready=ready, due=due)
    return replace(
        instance,
        matrix=matrix,
        windows=windows,
        fixed_cost=0.0,
        max_distance=None,
        max_duration=None,
        stop_time=0.0,
    )


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
