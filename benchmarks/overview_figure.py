"""Draw the figure of the first page: a solution, the regions of an upper program, the repair.

    python benchmarks/overview_figure.py RUN NAME

RUN is a training on the CVRP that rebuilds regions. Its checkpoint repairs the instance NAME of the
pool ``validation``, which is drawn into docs/pictures/overview.svg. What was drawn is
``cvrp-clustered-n101-s2024508``, and the run:

    python -m specahd.train problem=cvrp llm=recorded llm.match=sample budget=smoke \
        llm.path=cassettes/cvrp-append-smoke-seed0.jsonl
"""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from specahd import api

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "overview.svg"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#8c6d31")
OLD, NEW = 'stroke="#b4b4b4" stroke-width="1"', 'stroke="#222" stroke-width="1.5"'
SIDE, TOP, GAP = 330, 46, 20
Point = tuple[float, float]


def main(run: str, name: str) -> None:
    [instance] = [each for each in api.read_pool("cvrp", "validation") if each.name == name]
    solution = api.load(Path(run) / "checkpoint").repair(instance)
    regions = [(step.region.nodes, step.accepted) for step in solution.repair.steps]
    PICTURE.write_text(draw(solution.drawn(), regions), encoding="utf-8")
    print(f"{name}: {solution.incumbent_cost:,.0f} to {solution.cost:,.0f}")


def draw(drawn: dict[str, Any], regions: list[tuple[tuple[int, ...], bool]]) -> str:
    """Draw three panels: the baseline solution, the regions in it, and what came of them."""
    before, after = edges(drawn["before"]), edges(drawn["after"])
    kept = [saves for _, saves in regions]
    titles = (
        ("1  Baseline solution", f"cost {drawn['cost_before']:,.0f}"),
        ("2  An upper program chooses regions", f"{len(regions)} of at most 50 customers"),
        ("3  Lower programs rebuild them", f"cost {drawn['cost_after']:,.0f}; "
         f"{sum(kept)} of {len(kept)} rebuilds save"),
    )  # fmt: skip
    parts = []
    for place, (title, shown) in enumerate(zip(titles, (before, before, after), strict=True)):
        left = place * (SIDE + GAP) + GAP
        points = scaled(drawn["coords"], left)
        parts.append(words(left, 18, title[0], "15", "bold") + words(left, 37, title[1], "13"))
        coloured = list(zip(regions, COLOURS, strict=False))
        marked = {0: [], 1: coloured, 2: [each for each in coloured if each[0][1]]}[place]
        for (nodes, _), colour in marked:
            corners = hull([points[node] for node in nodes])
            parts.append(f'<path d="M{path(corners)}Z" fill="{colour}" fill-opacity="0.14"/>')
        for style, some in ((OLD, shown & before), (NEW, shown - before)):
            lines = "".join(f"M{path([points[a], points[b]])}" for a, b in sorted(some))
            parts.append(f'<path d="{lines}" {style} fill="none"/>')
        colours = {node: colour for (nodes, _), colour in marked for node in nodes}
        for node, (x, y) in enumerate(points[1:], start=1):
            size = 3.2 if node in colours else 2.2
            colour = colours.get(node, "#777")
            parts.append(f'<circle cx="{x}" cy="{y}" r="{size}" fill="{colour}"/>')
        x, y = points[0]
        parts.append(f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="#000"/>')
    width, height = 3 * (SIDE + GAP) + GAP, TOP + SIDE + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    paper = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, paper, *parts, "</svg>", ""])


def scaled(coords: list[list[float]], left: float) -> list[Point]:
    """Return where the nodes lie in a panel; both axes have one scale."""
    xs, ys = zip(*coords, strict=True)
    unit = SIDE / max(max(xs) - min(xs), max(ys) - min(ys))
    return [
        (round(left + unit * (x - min(xs)), 1), round(TOP + SIDE - unit * (y - min(ys)), 1))
        for x, y in coords
    ]


def edges(routes: list[list[int]]) -> set[tuple[int, int]]:
    """Return the edges of routes that leave from node 0 and return to it."""
    return {(min(pair), max(pair)) for route in routes for pair in pairwise([0, *route, 0])}


def hull(points: list[Point]) -> list[Point]:
    """Return the corners of the convex hull, in order."""
    halves = []
    for order in (sorted(points), sorted(points, reverse=True)):
        half: list[Point] = []
        for point in order:
            while len(half) > 1 and turn(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves += half[:-1]
    return halves


def turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def path(points: list[Point]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)


def words(x: float, y: float, text: str, size: str, weight: str = "normal") -> str:
    font = f'font-family="sans-serif" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" {font} fill="#222" xml:space="preserve">{text}</text>'


if __name__ == "__main__":
    main(*sys.argv[1:])
