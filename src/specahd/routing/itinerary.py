"""Itineraries: the stops of each vehicle in order, for drivers, spreadsheets and maps.

All values are in the units of the instance's file. ``distance`` and ``duration`` are sums of the
legs up to a stop, so the last row of a vehicle has the totals of its route. A vehicle leaves the
depot, or where its type starts, just in time for its first stop, with all that it will deliver.
Where the duration of its route is limited, it leaves as late as it can without ending later.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.display import csv_text, json_line
from specahd.routing.base import FloatArray
from specahd.routing.formats.vrplib import VehicleType
from specahd.routing.geometry import distances
from specahd.routing.labels import Labels, rounded
from specahd.routing.vehicles.assignment import assign, depot_window, timing, vehicle_types
from specahd.routing.vehicles.fleet import left_out

Visits = Sequence[Sequence[tuple[int, Mapping[str, Any]]]]
"""The stops of each vehicle in order, from where it starts to where it ends: the node or place, and
the values of its row by column."""

BYTE_ORDER_MARK = "\ufeff"
_TIMES = ("arrival", "wait", "start", "departure")
_DURATIONS = ("wait", "duration")
_TOTALS = ("vehicle", "type", "distance", "duration")


def visits(instance: Any, routes: Sequence[Sequence[Any]]) -> Visits:
    """Return the stops of feasible routes.

    Parameters
    ----------
    routes
        Routes of nodes, or of pairs of a node and the quantity delivered there (None: all of its
        demand). A route without node 0 starts and ends at node 0.
    """
    kinds = types(instance, routes)
    return [
        _visits(instance, number, route, kind)
        for number, (route, kind) in enumerate(zip(routes, kinds, strict=True), start=1)
    ]


def types(instance: Any, routes: Sequence[Sequence[Any]]) -> Sequence[VehicleType | None]:
    """Return the type of the vehicle of each route, None where all vehicles are alike."""
    if not getattr(instance, "types", None):
        return [None] * len(routes)
    return assign(instance, routes).types


def unserved(instance: Any, routes: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the stops that are left out: name, reason and, unless it must be served, prize."""
    name = instance.labels.name
    return [
        {"name": name(node), "reason": reason, **({} if price is None else {"prize": price})}
        for node, reason, price in unserved_nodes(instance, routes)
    ]


def unserved_nodes(
    instance: Any, routes: Sequence[Sequence[Any]]
) -> list[tuple[int, str, float | None]]:
    """Return each node that is on no route, why, and its prize unless it must be served."""
    if not getattr(instance, "limited", False) or instance.splits:
        return []
    return left_out(instance, routes)


def _visits(
    instance: Any, vehicle: int, route: Sequence[Any], kind: VehicleType | None
) -> Sequence[tuple[int, Mapping[str, Any]]]:
    labels, demands = instance.labels, getattr(instance, "demands", None)
    nodes, given = _stops(route)
    walk = _walk(nodes, kind)
    rows: list[dict[str, Any]] = [
        {
            "vehicle": vehicle,
            **({} if kind is None else {"type": kind.name}),
            "order": order,
            "name": labels.name(node),
        }
        for order, node in enumerate(walk)
    ]
    parts = getattr(instance, "parts", 1)
    legs = _legs(instance, walk)
    lasting = _legs(instance, walk, timed=True)
    windows = getattr(instance, "windows", None)
    if windows is not None:
        unit = parts * windows.speed
        for row, times in zip(rows, _times(instance, nodes, lasting, unit, kind), strict=True):
            row.update((name, _time(labels, name, times.get(name))) for name in _TIMES)
    if demands is not None and demands.any():
        quantities: list[int] = [
            int(demands[node]) if part is None else part
            for node, part in zip(nodes, given, strict=True)
        ]
        load = sum(quantities)
        for row, quantity in zip(rows, [0, *quantities, 0], strict=True):
            load -= quantity
            row.update(quantity=labels.amount(quantity), load=labels.amount(load))
    driven, taken = (np.concatenate(([0.0], np.cumsum(ways))) for ways in (legs, lasting))
    for row, far, time in zip(rows, driven.tolist(), taken.tolist(), strict=True):
        row["distance"] = rounded(far / parts)
        if windows is not None:
            row["duration"] = _time(labels, "duration", time / unit)
    # A vehicle of an open route stays at its last stop.
    return list(zip(walk[:-1] if _is_open(instance) else walk, rows, strict=False))


def ends(instance: Any, routes: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Return the nodes or places where the vehicle of each route starts and ends."""
    return [_ends(kind) for kind in types(instance, routes)]


def _ends(kind: VehicleType | None) -> tuple[int, int]:
    return (0, 0) if kind is None else (kind.start, kind.end)


def _walk(nodes: Sequence[int], kind: VehicleType | None) -> list[int]:
    """Return the stops of a route between where its vehicle starts and where it ends."""
    start, end = _ends(kind)
    return [start, *nodes, end]


def _is_open(instance: Any) -> bool:
    return bool(getattr(instance, "open", False))


def _stops(route: Sequence[Any]) -> tuple[list[int], list[int | None]]:
    """Return the nodes of a route from the depot on, without it, and the quantities given there."""
    nodes = [stop[0] if isinstance(stop, tuple) else stop for stop in route]
    given = [stop[1] if isinstance(stop, tuple) else None for stop in route]
    if 0 in nodes:
        # A tour may begin at any node.
        place = nodes.index(0)
        nodes, given = nodes[place + 1 :] + nodes[:place], given[1:]
    return nodes, given


def times(instance: Any, routes: Sequence[Sequence[Any]]) -> list[list[Mapping[str, float]]]:
    """Return the times at each stop, the depot's at both ends, of an instance with time windows.

    Returns
    -------
    For each vehicle and stop ``arrival``, ``wait``, ``start`` and ``departure``, as far as it has
    them, in the file's unit from time 0 of the instance. Loading starts at the first ``start``.
    An open route ends at its last stop.
    """
    unit = getattr(instance, "parts", 1) * instance.windows.speed
    kinds = types(instance, routes)
    walks = [_walk(_stops(route)[0], kind) for route, kind in zip(routes, kinds, strict=True)]
    found = [
        _times(instance, walk[1:-1], _legs(instance, walk, timed=True), unit, kind)
        for walk, kind in zip(walks, kinds, strict=True)
    ]
    return [stops[:-1] for stops in found] if _is_open(instance) else found


def _legs(instance: Any, walk: Sequence[int], *, timed: bool = False) -> FloatArray:
    """Return the distances, or the times, from each node to the next."""
    sites = getattr(instance, "sites", instance)
    if timed and getattr(sites, "durations", None) is not None:
        times: FloatArray = sites.durations[walk[:-1], walk[1:]]
        return times
    if sites.matrix is not None:
        found: FloatArray = sites.matrix[walk[:-1], walk[1:]]
        return found
    points = sites.coords[walk]
    measure = getattr(instance, "measure", instance.convention)
    return distances(points[:-1], points[1:], measure)


def _times(
    instance: Any,
    nodes: Sequence[int],
    legs: FloatArray,
    unit: float,
    kind: VehicleType | None,
) -> list[Mapping[str, float]]:
    """Return the times of a vehicle at each stop, in the file's unit of time."""
    windows = instance.windows
    first, *rest = legs.tolist()
    kind = kind or vehicle_types(instance)[0]
    arrival = max(depot_window(instance, kind)[0] + first, windows.ready[nodes[0]])
    if kind.max_duration is not None:
        arrival = timing(instance, nodes, kind)[0] + first
    leaves = (arrival - first) / unit
    found: list[Mapping[str, float]] = [
        {"start": leaves - instance.labels.loading, "departure": leaves}
    ]
    for node, leg in zip(nodes, rest, strict=True):
        start = max(arrival, windows.ready[node])
        departure = start + windows.service[node]
        times = (arrival, start - arrival, start, departure)
        found.append(dict(zip(_TIMES, (time / unit for time in times), strict=True)))
        arrival = departure + leg
    return [*found, {"arrival": arrival / unit}]


def _time(labels: Labels, name: str, value: float | None) -> str | int | float | None:
    if value is None:
        return None
    form = labels.times
    return form.duration(value) if name in _DURATIONS else form.time(value)


def _csv(instance: Any, routes: Sequence[Sequence[Any]]) -> str:
    rows = [row for vehicle in visits(instance, routes) for _, row in vehicle]
    columns = list(rows[0]) if rows else ["vehicle", "order", "name"]
    if missing := unserved(instance, routes):
        columns.append("reason")
        rows += missing
    semicolons = instance.labels.semicolons

    def cell(value: Any) -> Any:
        return str(value).replace(".", ",") if semicolons and isinstance(value, float) else value

    cells = [columns, *([cell(row.get(name)) for name in columns] for row in rows)]
    text = csv_text(cells, ";" if semicolons else ",")
    # Excel reads a file without the mark in the code page of the machine.
    return f"{BYTE_ORDER_MARK}{text}"


def _geojson(instance: Any, routes: Sequence[Sequence[Any]]) -> str:
    degrees = instance.labels.degrees.tolist()
    features: list[Any] = []
    for vehicle in visits(instance, routes):
        walk = [degrees[node] for node, _ in vehicle]
        _, last = vehicle[-1]
        totals = {name: last[name] for name in _TOTALS if name in last}
        features.append(_feature("LineString", walk, totals))
        features += [_feature("Point", degrees[node], row) for node, row in vehicle]
    for node, reason, _ in unserved_nodes(instance, routes):
        row = {"name": instance.labels.name(node), "reason": reason}
        features.append(_feature("Point", degrees[node], row))
    collection = {"type": "FeatureCollection", "features": features}
    return json_line(collection) + "\n"


def _feature(kind: str, coordinates: Sequence[Any], properties: Mapping[str, Any]) -> Any:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


GEOJSON = ".geojson"
FORMATS: Mapping[str, Callable[[Any, Sequence[Sequence[Any]]], str]] = {
    ".csv": _csv,
    GEOJSON: _geojson,
}
"""Functions that return the text of a file for an instance and routes, by file ending."""
