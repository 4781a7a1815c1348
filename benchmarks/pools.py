"""What do the generated pools hold? Pictures of all, and the tables of docs/reference/pools.md.

    python benchmarks/pools.py [SEED]

Draws docs/pictures/*.png and writes the tables into docs/reference/pools.md between its two marks.
Everything is read from the instances that the generators yield.
"""

import io
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from hydra.utils import instantiate
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from omegaconf import OmegaConf
from PIL import Image

from specahd.config import CONF_DIR
from specahd.problems.tsp.instance import SIDE as TSP_SIDE
from specahd.routing.base import POOLS, AnyProblem
from specahd.routing.generation import SIDE

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- begin: benchmarks/pools.py -->", "<!-- end -->"
Pools = dict[str, list[Any]]

STATED = {
    "tsp": (
        "128 clustered, 10-200 cities, 4 x 32",
        "60, 200-1,000 cities",
        "60, other seeds",
        "60 at 200, 500, 800, 1000, other families",
    ),
    "cvrp": (
        "256 uniform, 20-200 nodes, capacity 10-150",
        "60, same uniform rules",
        "60",
        "60 at 100, 200, 300, 500, 800, other families",
    ),
    "vrptw": (
        "60, rules of the upper pool",
        "60: C/R/RC x type 1/2 x 200, 400, 600, 800, 1000",
        "60",
        "60 at 200, 400, 600, 800, 1000",
    ),
    "sdvrp": (
        "60, rules of the upper pool",
        "60: 200-500; uniform, clustered, ring, TSPLIB-like; medium, heavy, mixed",
        "60",
        "60 at 200, 250, 300, 400, 500",
    ),
}
"""What the protocol asks for, in the order of the pools; the other columns are counted."""

TSP_SAMPLES = [
    ("upper_train", 10, "3 clusters, spread 0.03"),
    ("upper_train", 1, "3 clusters, spread 0.07"),
    ("upper_train", 2, "10 clusters, spread 0.03"),
    ("upper_train", 3, "10 clusters, spread 0.07"),
    ("upper_train", 4, "uniform"),
    ("validation", 15, "ring"),
    ("validation", 16, "corridor"),
    ("validation", 17, "mixed"),
]
CVRP_SAMPLES = [
    ("upper_train", 0, "uniform"),
    ("validation", 24, "clustered"),
    ("validation", 25, "ring"),
    ("validation", 26, "corridor"),
    ("validation", 27, "mixed"),
]
DEPOT = {"marker": "s", "s": 34, "color": "#d62728", "edgecolor": "white", "zorder": 3}
POINTS = "#1f4e79"


def main(seed: int = 2024) -> None:
    mpl.use("agg")
    plt.rcParams |= {"font.size": 8, "axes.titlesize": 8, "axes.spines.top": False}
    plt.rcParams |= {"axes.spines.right": False, "legend.frameon": False}
    draw = {"tsp": tsp, "cvrp": cvrp, "vrptw": vrptw, "sdvrp": sdvrp}
    sections = []
    for name in STATED:
        problem = instantiate(OmegaConf.load(CONF_DIR / "problem" / f"{name}.yaml"))
        pools = {pool: list(problem.generate(pool, seed)) for pool in POOLS}
        save(draw[name](pools), f"{name}-samples")
        save(sizes(problem, pools), f"{name}-sizes")
        sections.append(table(problem, pools))
    page = DOCS / "reference" / "pools.md"
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{''.join(sections)}{END}{after}")


def save(figure: Figure, name: str) -> None:
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=110)
    plt.close(figure)
    # A palette makes a small file; this method keeps the depot red.
    palette = Image.open(picture).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE)
    palette.save(folder / f"{name}.png", optimize=True)


# Pictures.


def layout(axes: Axes, coords: Any, side: int, title: str, area: Any = 4) -> None:
    """Draw nodes in the whole square of that side, which the generator may use."""
    axes.scatter(*coords.T, s=area, color=POINTS, alpha=0.75, linewidths=0)
    span = (-0.03 * side, 1.03 * side)
    axes.set(title=title, aspect="equal", xlim=span, ylim=span, xticks=[], yticks=[])
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def tsp(pools: Pools) -> Figure:
    figure, grid = plt.subplots(2, 4, figsize=(8.6, 4.9), layout="constrained")
    for axes, (pool, index, words) in zip(grid.flat, TSP_SAMPLES, strict=True):
        instance = pools[pool][index]
        title = f"{words}\n{instance.size} cities ({pool})"
        layout(axes, instance.coords, TSP_SIDE, title)
    return figure


def cvrp(pools: Pools) -> Figure:
    figure, grid = plt.subplots(1, 5, figsize=(10.4, 2.7), layout="constrained")
    for axes, (pool, index, words) in zip(grid.flat, CVRP_SAMPLES, strict=True):
        instance = pools[pool][index]
        title = f"{words}, capacity {instance.capacity}\n{instance.size} customers ({pool})"
        layout(axes, instance.coords[1:], SIDE, title, 2 * instance.demands[1:])
        axes.scatter(*instance.coords[0], **DEPOT)
    return figure


def vrptw(pools: Pools) -> Figure:
    """Draw one instance of each family and type, and below it the windows of its customers."""
    figure, grid = plt.subplots(
        2, 6, figsize=(11.6, 4.7), layout="constrained", height_ratios=(1, 1.2)
    )
    for (top, below), instance in zip(grid.T, pools["upper_train"], strict=False):
        title = f"{family(instance).upper()}, capacity {instance.capacity}"
        # The depot lies in the middle.
        side = int(2 * instance.coords[0, 0])
        layout(top, instance.coords[1:], side, f"{title}\n{instance.size} customers")
        top.scatter(*instance.coords[0], **DEPOT)
        windows_of(below, instance)
    grid[1, 0].set_ylabel("customers: those with a window,\nthen those without (grey)")
    return figure


def windows_of(axes: Axes, instance: Any) -> None:
    """Draw when each customer may be served, by the middle of its window."""
    ready, due = instance.windows.ready, instance.windows.due
    # Whoever has a window cannot be served at the depot's opening time.
    bound = ready > 0
    order = np.lexsort((ready + due, ~bound))
    order = order[order > 0]
    colours = np.where(bound[order], POINTS, "#c8c8c8")
    axes.barh(range(len(order)), due[order] - ready[order], 1, ready[order], color=colours)
    share = 100 * bound[1:].mean()
    width = 100 * (due - ready)[bound].mean() / due[0]
    axes.set(
        xlim=(0, due[0]),
        ylim=(0, len(order)),
        xticks=[0, due[0] / 2, due[0]],
        yticks=[],
        xlabel=f"time, {due[0]:,.0f} at closing\n{share:.0f}% have windows, {width:.0f}% wide",
    )
    axes.set_xticklabels(["0", "½", "1"])


def sdvrp(pools: Pools) -> Figure:
    """Draw each layout with each class of demand; a point's area is demand / capacity."""
    figure, grid = plt.subplots(3, 4, figsize=(8.6, 7.0), layout="constrained")
    for axes, instance in zip(grid.flat, pools["upper_train"], strict=False):
        share = instance.demands[1:] / instance.capacity
        area = 30 * share
        percent = f"{100 * share.min():.0f}-{100 * share.max():.0f}%"
        place, demand = family(instance).split("-")
        title = f"{place}, {demand}: {instance.size} customers\ndemand {percent} of the capacity"
        layout(axes, instance.coords[1:], SIDE, title, area)
        axes.scatter(*instance.coords[0], **DEPOT)
    return figure


def sizes(problem: AnyProblem, pools: Pools) -> Figure:
    """Draw how many instances of each size every pool has, by spatial family."""
    figure, grid = plt.subplots(1, 4, figsize=(10.4, 2.5), layout="constrained")
    largest = max(instance.size for pool in pools.values() for instance in pool)
    # Round sizes stand in the middle of their bars.
    edges = np.arange(-12.5, largest + 25, 25)
    kinds = sorted({spatial(x) for pool in pools.values() for x in pool})
    colours = [plt.get_cmap("tab10")(index) for index in range(len(kinds))]
    for axes, (pool, instances) in zip(grid.flat, pools.items(), strict=True):
        values = [[x.size for x in instances if spatial(x) == kind] for kind in kinds]
        axes.hist(values, bins=edges, stacked=True, color=colours, label=kinds)
        axes.set(title=f"{pool}: {len(instances)} instances", xlabel=noun(problem))
        axes.yaxis.get_major_locator().set_params(integer=True)
    grid[0].set_ylabel("instances")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside right center")
    return figure


# Tables.


def table(problem: AnyProblem, pools: Pools) -> str:
    """Return a problem's part of the page."""
    lines = [
        f"## {problem.name.upper()}\n",
        f"| pool | protocol | instances | {noun(problem)} | families |",
        "|---|---|---|---|---|",
    ]
    for (pool, instances), stated in zip(pools.items(), STATED[problem.name], strict=True):
        lines.append(
            f"| `{pool}` | {stated} | {len(instances)} | {size_words(instances)} "
            f"| {family_words(instances)} |"
        )
    if hasattr(pools["lower_train"][0], "capacity"):
        capacities = [x.capacity for pool in pools.values() for x in pool]
        lines.append(f"\nCapacities run from {min(capacities)} to {max(capacities)}.")
    for what in ("samples", "sizes"):
        lines.append(f"\n![{problem.name}: {what}](../pictures/{problem.name}-{what}.png)")
    return "\n".join(lines) + "\n\n"


def size_words(instances: list[Any]) -> str:
    counts = Counter(instance.size for instance in instances)
    if len(counts) <= 5:
        return ", ".join(f"{size:,} ({counts[size]})" for size in sorted(counts))
    return f"{min(counts):,}-{max(counts):,}"


def family_words(instances: list[Any]) -> str:
    counts = Counter(map(family, instances))
    if len(counts) > 6:
        split = partial(str.split, sep="-")
        parts = [sorted(set(part)) for part in zip(*map(split, counts), strict=True)]
        [each] = set(counts.values())
        return " x ".join("/".join(part) for part in parts) + f" ({each} each)"
    return ", ".join(f"{kind} ({count})" for kind, count in sorted(counts.items()))


def family(instance: Any) -> str:
    """Return what an instance's name says between the problem and the size."""
    return "-".join(instance.name.split("-")[1:-2])


def spatial(instance: Any) -> str:
    return family(instance).partition("-")[0]


def noun(problem: AnyProblem) -> str:
    return "cities" if problem.name == "tsp" else "customers"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
