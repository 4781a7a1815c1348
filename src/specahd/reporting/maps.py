"""The map of one repaired instance: routes before and after, and the regions that were rebuilt."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from specahd.core import journal
from specahd.reporting.charts import BLUE, ORANGE, Point, drawing
from specahd.runs.files import ROUTES, rows_file
from specahd.runs.records import Routes

_SIZE, _GAP, _TOP = 430, 20, 24
_OUTLINES = 8
"""Number of regions, the first ones, with drawn outlines."""


class _Step(Struct):
    nodes: list[int] = []
    accepted: bool = False


class _Row(Struct):
    instance: str
    steps: list[_Step]


def route_map(directory: Path) -> tuple[str, str]:
    """Return an SVG of the instance that a run stored, and a caption; both empty without a map.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    drawn = next(journal.read_records(directory / ROUTES, Routes), None)
    if drawn is None or not _is_drawable(drawn):
        return "", ""
    rows = journal.read_records(directory / rows_file("validation"), _Row)
    steps: list[_Step] = next((row.steps for row in rows if row.instance == drawn.instance), [])
    regions = [step.nodes for step in steps if step.accepted]
    places = _places(drawn.coords)
    before, after = _edges(drawn.before), _edges(drawn.after)
    height = max(y for _, y in places) + 10
    parts = []
    for shift, when, cost, common, own, colour in (
        (0, "before", drawn.cost_before, before & after, before - after, ORANGE),
        (_SIZE + _GAP, "after", drawn.cost_after, before & after, after - before, BLUE),
    ):
        parts += [
            f'<g transform="translate({shift} 0)"><text x="8" y="14">{when}: {cost:,.1f}</text>',
            f'<path d="{_path(common, places)}" stroke="#bbb" fill="none"/>',
            f'<path d="{_path(own, places)}" stroke="{colour}" stroke-width="1.6" fill="none"/>',
        ]
        for number, nodes in enumerate(regions[:_OUTLINES], 1) if when == "before" else ():
            hull = _hull([places[node] for node in nodes if node < len(places)])
            corners = " ".join(f"{x},{y}" for x, y in hull)
            x, y = hull[-1] if hull else (0.0, 0.0)
            parts.append(
                f'<polygon points="{corners}" fill="#000" fill-opacity="0.06" stroke="#000" '
                f'stroke-dasharray="4 3"/><text x="{x}" y="{y - 4}">{number}</text>'
            )
        # One path of points with round ends, since a page of many maps would have too many circles.
        points = "".join(f"M{x} {y}h0" for x, y in places)
        dots = f'<path d="{points}" stroke="#000" stroke-width="3.2" stroke-linecap="round"/>'
        x, y = places[0]
        depot = f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8"/>' * (len(drawn.before) > 1)
        parts.append(f"{dots}{depot}</g>")
    caption = (
        f"{drawn.instance}, of validation: in colour the edges that only one of both solutions "
        f"has; dashed the outlines of the regions whose rebuilding was accepted ({len(regions)}"
        + (f", the first {_OUTLINES} are drawn)." if len(regions) > _OUTLINES else ").")
    )
    return drawing(parts, 2 * _SIZE + _GAP, height, drawn.instance), caption


def _is_drawable(drawn: Routes) -> bool:
    """Return whether nodes are points of a plane, numbered from 0, unlike in some own problems."""
    count = len(drawn.coords)
    nodes = [node for route in (*drawn.before, *drawn.after) for node in route]
    plane = all(len(place) == 2 for place in drawn.coords)
    return plane and bool(nodes) and all(0 <= node < count for node in nodes)


def _places(coords: Sequence[Sequence[float]]) -> list[Point]:
    """Return the points of the nodes in a square map, at one scale, the second axis upwards."""
    xs, ys = zip(*coords, strict=True)
    scale = (_SIZE - 16) / (max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0)
    return [
        (round(8 + (x - min(xs)) * scale, 1), round(_TOP + (max(ys) - y) * scale, 1))
        for x, y in coords
    ]


def _edges(routes: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """Return the undirected edges of routes from node 0 to node 0."""
    return {(min(pair), max(pair)) for route in routes for pair in pairwise([0, *route, 0])}


def _path(edges: set[tuple[int, int]], places: Sequence[Point]) -> str:
    ends = ((places[a], places[b]) for a, b in sorted(edges))
    return "".join(f"M{a[0]} {a[1]}L{b[0]} {b[1]}" for a, b in ends)


def _hull(points: Sequence[Point]) -> list[Point]:
    """Return the convex hull by Andrew's monotone chains; up to two points are their own hull."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered

    def chain(along: Sequence[Point]) -> list[Point]:
        kept: list[Point] = []
        for x, y in along:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return chain(ordered) + chain(ordered[::-1])
