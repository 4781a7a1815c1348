"""Pictures of a run: the course of its search, and the repair of one instance."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import atan2, nan
from statistics import mean
from typing import TYPE_CHECKING, Any

from specahd.core.display import visible
from specahd.core.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_COLOURS = {"lower": "#0072b2", "upper": "#d55e00"}
_ROUTES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, distinguishable for colour-blind people."""
_STYLES = ("-", "--", ":", "-.")
"""Line styles, so that routes differ in grey too; neighbours differ in colour and style."""
_CROWD = 2_000
"""Number of stops above which dots and lines get smaller, to cover the same area."""
_MOST_NAMES, _FEW_NAMES = 60, 20
"""Most nodes that are named, and that are named in a larger font."""
_LONGEST_NAME = 24
_PANEL = 330
"""Width of a panel with routes, in points."""
_MOST_LEGEND = 16
"""Most routes that the legend lists."""
_MEASURES = {"lower": "J of the repertoire", "upper": "mean U − λΩ"}


def warm_up() -> None:
    """Import matplotlib and draw once, so that the end of a run does not wait for it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _empty_figure(7, 5)
    figure.subplots().set_title("as fonts take time too")
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]


def _empty_figure(width: float, height: float) -> "Figure":
    """Return an empty figure with its width and height in inches."""
    require("plot", "A picture")
    # The import takes half a second, and only drawing needs it.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def draw_convergence(records: Iterable[Mapping[str, Any]]) -> "Figure":
    """Draw the running best of both levels by ticket, from the records of a run's journal.

    Each round measures on its own tasks, so the best may fall where a round begins.
    """
    samples = [record for record in records if "sample" in record]
    levels = [level for level in _COLOURS if any(s["level"] == level for s in samples)]
    figure = _empty_figure(7, 2.4 * max(1, len(levels)) + 0.4)
    panels = figure.subplots(max(1, len(levels)), sharex=True, squeeze=False)[:, 0]
    for panel, level in zip(panels, levels, strict=False):
        _draw_convergence(panel, level, samples)
    for panel in panels:
        _open_frame(panel)
    panels[-1].set_xlabel("tickets")
    return figure


def _draw_convergence(panel: "Axes", level: str, samples: Sequence[Mapping[str, Any]]) -> None:
    for ticket, (before, now) in enumerate(pairwise(samples), start=1):
        if before["round"] != now["round"]:
            panel.axvline(ticket + 0.5, color="0.8", linewidth=0.8, zorder=0)
    own = {ticket: s for ticket, s in enumerate(samples, start=1) if s["level"] == level}
    scores, best = (
        [nan if sample[name] is None else sample[name] for sample in own.values()]
        for name in ("score", "best")
    )
    colour, tickets = _COLOURS[level], list(own)
    panel.plot(tickets, scores, ".", color=colour, alpha=0.25, markeredgewidth=0, label="programs")
    panel.step(tickets, best, where="post", color=colour, label=_MEASURES[level])
    panel.set_ylabel(f"{level} level")
    panel.legend(frameon=False, fontsize="small", loc="lower right")


def _open_frame(panel: "Axes") -> None:
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", color="0.9")


def draw_route_map(drawn: Mapping[str, Any]) -> "Figure":
    """Draw an instance's routes before and after repair, with changed edges in colour.

    Parameters
    ----------
    drawn
        ``instance`` is the name, ``coords`` are the coordinates of the nodes, ``before`` and
        ``after`` the routes, and ``cost_before`` and ``cost_after`` their costs. A route starts
        and ends at node 0, which it does not list. ``names``, if any, are those of the nodes, which
        are shown if they are few.
    """
    figure = _empty_figure(11, 5.8)
    from matplotlib.lines import Line2D

    _draw_routes(figure.subplots(1, 2, sharex=True, sharey=True), drawn)
    shades = {"in both": "0.75", "before only": _COLOURS["upper"], "after only": _COLOURS["lower"]}
    lines = [Line2D([], [], color=shade, label=label) for label, shade in shades.items()]
    figure.legend(handles=lines, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"{_gain(drawn)}; in colour, the edges that only one has", parse_math=False)
    return figure


def draw_solving(drawn: Mapping[str, Any], history: Sequence[tuple[float, float, int]]) -> "Figure":
    """Draw an instance's routes before and after solving, and the cost over time.

    Each route has its own colour and style, as long as there are enough of them. A legend lists the
    routes after solving if they are few.

    Parameters
    ----------
    drawn
        As for :func:`draw_route_map`.
    history
        Seconds, cost and repairs at the start, at every improvement and at the end.
    """
    figure = _empty_figure(11, 8.2)
    grid = figure.add_gridspec(2, 2, height_ratios=(2.4, 1))
    before = figure.add_subplot(grid[0, 0])
    after = figure.add_subplot(grid[0, 1], sharex=before, sharey=before)
    _draw_routes((before, after), drawn, apart=True)
    panel = figure.add_subplot(grid[1, :])
    seconds, costs, _ = zip(*history, strict=True)
    panel.step(seconds, costs, where="post", color=_COLOURS["lower"])
    panel.set(xlabel="seconds", ylabel="cost")
    panel.ticklabel_format(axis="y", style="plain", useOffset=False)
    _open_frame(panel)
    figure.suptitle(_gain(drawn), parse_math=False)
    if 1 < len(drawn["after"]) <= _MOST_LEGEND:
        handles = _legend_of(drawn)
        options: dict[str, Any] = {"frameon": False, "fontsize": "small"}
        figure.legend(handles=handles, loc="outside lower center", ncols=6, **options)
    return figure


def _legend_of(drawn: Mapping[str, Any]) -> "list[Line2D]":
    """Return an entry for the depot, and for each route with its number and its stops."""
    from matplotlib.lines import Line2D

    looks = _looks(drawn["coords"], drawn["after"])
    depot = Line2D([], [], color="black", marker="s", linestyle="", label="depot")
    return [
        depot,
        *(
            Line2D([], [], label=_route_label(place, route), **looks[place])
            for place, route in enumerate(drawn["after"])
        ),
    ]


def _route_label(place: int, route: Sequence[int]) -> str:
    return f"route {place + 1}: {len(route)} stop{'s' if len(route) > 1 else ''}"


def _gain(drawn: Mapping[str, Any]) -> str:
    cost, repaired = drawn["cost_before"], drawn["cost_after"]
    return f"{visible(drawn['instance'])}: saves {100 * (cost - repaired) / max(1e-12, cost):.2f}%"


def _draw_routes(
    panels: Sequence["Axes"], drawn: Mapping[str, Any], *, apart: bool = False
) -> None:
    """Draw the edges of two solutions; an edge of only one of them has a colour.

    Parameters
    ----------
    apart
        Draws each route in a colour and style instead.
    """
    from matplotlib.collections import LineCollection

    coords, before, after = (
        drawn["coords"],
        _undirected_edges(drawn["before"]),
        _undirected_edges(drawn["after"]),
    )
    # A picture of a run has no names.
    names = drawn.get("names", ())
    across, along = zip(*coords, strict=True)
    share = min(1.0, _CROWD / len(coords))
    for panel, when, edges, other, colour in (
        (panels[0], "before", before, after, _COLOURS["upper"]),
        (panels[1], "after", after, before, _COLOURS["lower"]),
    ):
        title = f"{when}: {drawn[f'cost_{when}']:,.1f}"
        if apart:
            panel.add_collection(_colour_routes(coords, drawn[when], share**0.5))
        for drawn_edges, shade in ((edges & other, "0.75"), (edges - other, colour)) * (not apart):
            # Sorted, so that equal runs give equal pictures.
            lines = [(coords[first], coords[second]) for first, second in sorted(drawn_edges)]
            panel.add_collection(LineCollection(lines, colors=shade, linewidths=share**0.5))
        panel.scatter(across, along, s=6 * share, linewidths=0, color="0.35", zorder=3)
        if len(drawn["before"]) > 1:
            panel.plot(*coords[0], "s", color="black", markersize=8, zorder=4)
        panel.set(title=title, aspect="equal", xticks=[], yticks=[])
        if 0 < len(names) <= _MOST_NAMES:
            _draw_names(panel, coords, names)


def _draw_names(panel: "Axes", coords: Sequence[Sequence[float]], names: Sequence[str]) -> None:
    """Write the names of the nodes beside them; names at one place are one text.

    A name that would cover one before it is left out. Sizes are estimated, in points.
    """
    places: dict[tuple[float, float], list[str]] = {}
    for (x, y), name in zip(coords, names, strict=True):
        places.setdefault((x, y), []).append(visible(name))
    size = 8 if len(names) <= _FEW_NAMES else 6
    left, right = min(x for x, _ in places), max(x for x, _ in places)
    low, high = min(y for _, y in places), max(y for _, y in places)
    scale = _PANEL / max(right - left, high - low, 1e-12)
    taken: list[tuple[float, float, float]] = []
    for (x, y), found in places.items():
        text = ", ".join(found)
        text = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        width = 0.6 * size * len(text)
        turned = x > left + 0.75 * (right - left)
        start, base = scale * x + (-4 - width if turned else 4), scale * y
        if any(
            start < end and begin < start + width and abs(base - other) < size
            for begin, end, other in taken
        ):
            continue
        taken.append((start, start + width, base))
        panel.annotate(
            text,
            (x, y),
            xytext=(-4 if turned else 4, 3),
            textcoords="offset points",
            horizontalalignment="right" if turned else "left",
            fontsize=size,
            color="0.25",
            zorder=5,
            parse_math=False,
        )


def _looks(
    coords: Sequence[Sequence[float]], routes: Sequence[Sequence[int]]
) -> dict[int, dict[str, Any]]:
    """Return a colour and a style by place of the route, different for neighbours at the depot."""

    def direction(place: int) -> float:
        across, along = (mean(coords[node][axis] for node in routes[place]) for axis in (0, 1))
        return atan2(along - coords[0][1], across - coords[0][0])

    ordered = sorted((place for place, route in enumerate(routes) if route), key=direction)
    return {
        place: {"color": _ROUTES[rank % len(_ROUTES)], "linestyle": _STYLES[rank % len(_STYLES)]}
        for rank, place in enumerate(ordered)
    }


def _colour_routes(
    coords: Sequence[Sequence[float]], routes: Sequence[Sequence[int]], width: float
) -> "LineCollection":
    """Return the routes as lines; neighbours around the depot get different colours."""
    from matplotlib.collections import LineCollection

    looks = _looks(coords, routes)
    return LineCollection(
        [[coords[node] for node in (0, *routes[place], 0)] for place in looks],
        colors=[look["color"] for look in looks.values()],
        linestyles=[look["linestyle"] for look in looks.values()],
        linewidths=width,
    )


def _undirected_edges(routes: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """Return the undirected edges of routes from node 0 to node 0."""
    return {(min(pair), max(pair)) for route in routes for pair in pairwise([0, *route, 0])}
