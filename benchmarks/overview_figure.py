"""Draw the figure of the first page: a solution, the regions of an upper program, the repair.

    python benchmarks/overview_figure.py CHECKPOINT [NAME]

CHECKPOINT is that of a training on the CVRP that rebuilds regions. The one that was drawn:

    python -m specahd.train problem=cvrp llm=recorded llm.match=sample budget=smoke \
        llm.path=cassettes/cvrp-append-smoke-seed0.jsonl

NAME is an instance of the pool ``validation``; without it, that of the median gain among those of
100 customers. Writes docs/pictures/overview.png.
"""

import io
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from scipy.spatial import ConvexHull

from specahd import api
from specahd.api.solutions import Repaired
from specahd.repair.maps import customer_routes

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "overview.png"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#8c6d31")
GREY = "0.72"
CUSTOMERS = 100


def main(checkpoint: str, name: str | None = None) -> None:
    mpl.use("agg")
    loaded = api.load(checkpoint)
    pool = [each for each in api.read_pool("cvrp", "validation") if each.size == CUSTOMERS]
    repaired = [
        loaded.repair(each) for each in pool if name is None or name == each.name
    ]
    drawn = sorted(repaired, key=lambda each: each.improvement)[len(repaired) // 2]
    figure = draw(drawn)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=130)
    Image.open(picture).convert("RGB").quantize(128).save(PICTURE, optimize=True)
    print(f"{drawn.name}: {drawn.incumbent_cost:,.0f} to {drawn.cost:,.0f}; {PICTURE.name}")


def draw(solution: Repaired) -> Figure:
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    coords = np.asarray(solution.case.instance.coords)
    regions = [np.array(sorted(step.region.support)) for step in solution.repair.steps]
    gains = [step.cost_before - (step.cost_merged or step.cost_before) for step in solution.repair.steps]
    before = customer_routes(solution.problem, solution.case.baseline)
    after = customer_routes(solution.problem, solution.data)
    titles = (
        f"1  baseline solution, cost {solution.incumbent_cost:,.0f}",
        f"2  an upper program opens {len(regions)} regions",
        f"3  lower programs rebuild them, cost {solution.cost:,.0f}",
    )
    for panel, title, routes in zip(panels, titles, (before, before, after), strict=True):
        old = edges(before) if routes is after else set()
        for edge in edges(routes):
            new = routes is after and edge not in old
            panel.plot(*coords[list(edge)].T, color="#222222" if new else GREY, linewidth=1.3 if new else 0.9, zorder=1)
        panel.set_title(title, fontsize=11, loc="left")
        panel.set(aspect="equal", xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    for place, (region, _) in enumerate(zip(regions, gains, strict=True)):
        for panel in panels[1:]:
            shade(panel, coords[region], COLOURS[place % len(COLOURS)])
    panels[0].scatter(*coords[1:].T, s=14, color="0.35", zorder=3, linewidths=0)
    for panel in panels[1:]:
        opened = np.unique(np.concatenate(regions)) if regions else []
        rest = np.setdiff1d(np.arange(1, len(coords)), opened)
        panel.scatter(*coords[rest].T, s=12, color="0.6", zorder=2, linewidths=0)
    for panel in panels:
        panel.scatter(*coords[0], marker="s", s=55, color="black", zorder=4)
    return figure


def edges(routes: list[list[int]]) -> set[tuple[int, int]]:
    """Return the edges of routes that leave from node 0 and return to it."""
    found = set()
    for route in routes:
        stops = [0, *route, 0]
        found |= {(min(pair), max(pair)) for pair in zip(stops, stops[1:], strict=False)}
    return found


def shade(panel: Axes, points: np.ndarray, colour: str) -> None:
    """Mark the customers of a region, and the area that they lie in."""
    panel.scatter(*points.T, s=20, color=colour, zorder=3, linewidths=0)
    if len(points) > 2:
        hull = points[ConvexHull(points).vertices]
        panel.fill(*hull.T, color=colour, alpha=0.15, linewidth=0, zorder=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
