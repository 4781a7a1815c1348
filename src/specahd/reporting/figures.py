"""All figures: of reports, of single runs and of routes; their lines differ in grey print.

Functions ``draw_…`` return a matplotlib figure in the user's settings. :func:`svg` and
:func:`render` draw with fixed settings instead, so that equal runs give equal bytes.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, groupby, pairwise
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from specahd.core.display import visible
from specahd.core.extras import require
from specahd.core.program import Level, Outcome
from specahd.reporting.aggregates import best_score_curve, convergence_band
from specahd.reporting.family import Member
from specahd.reporting.maps import COLOURS, Point, around_depot, names_with_room
from specahd.runs.reading import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Settings that make the output reproducible: no random ids, text as paths, a fixed font.
_FIXED: Any = {"svg.hashsalt": "specahd", "svg.fonttype": "path", "font.family": "DejaVu Sans"}
LEVELS = (Level.LOWER, Level.UPPER)
_PANEL = (3.4, 2.4)
"""Width and height of one of several panels in inches."""
_WIDTH = 5.2
"""Width in inches of a figure about one run."""
_DOTS_PER_INCH = 150
_BLUE, _ORANGE, *_ = COLOURS
_OF_LEVEL = {Level.LOWER: _BLUE, Level.UPPER: _ORANGE}
_DASHES = ("-", "--", ":", "-.")
"""Line styles in addition to colours, so that lines differ in grey print."""
_SIGNS = ("", "o", "^", "s", "x")
_MARKERS = {"complete": "o", "partial": "^", "timeout": "x"}
_WIDE = 300
"""Ratio of the ends of a logarithmic axis from which only powers of ten are labelled."""
_FEW = 4
"""Largest number of lines of a panel that are drawn with bands."""
_CROWD = 2_000
"""Number of stops above which dots and lines get smaller, to cover the same area."""
_MOST_NAMES, _FEW_NAMES = 60, 20
"""Most nodes that are named, and that are named in a larger font."""
_MAP = 330
"""Width of a panel with routes, in points."""
_MOST_LEGEND = 16
"""Most routes that the legend lists."""
OUTLINES = 8
"""Number of regions, the first ones, with drawn outlines."""


class Drawing(NamedTuple):
    """A figure as SVG and as PNG."""

    svg: str
    png: bytes


def render(draw: Callable[..., "Figure"], *arguments: Any) -> Drawing:
    """Return the figure that a function draws, as SVG and as PNG."""
    with _fixed_style():
        figure, image = draw(*arguments), io.BytesIO()
        text = _svg(figure)
        figure.savefig(image, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return Drawing(text, image.getvalue())


def svg(draw: Callable[..., "Figure"], *arguments: Any) -> str:
    """Return the figure that a function draws, as SVG for a page."""
    with _fixed_style():
        return _svg(draw(*arguments))


def warm_up() -> None:
    """Import matplotlib and draw once, so that the end of a run does not wait for it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _new_figure(7, 5)
    figure.subplots().set_title("as fonts take time too")
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]


def draw_convergence(groups: Mapping[str, Sequence[Run]]) -> "Figure":
    """Draw the search: a column for each problem, a row for each level, a line for each kind.

    Each panel has the best score over the number of requested programs of both levels together: the
    mean over complete runs of several seeds with a band of one deviation, else one line per run.
    """
    problems = {
        problem: dict(members)
        for problem, members in groupby(groups.items(), key=lambda item: item[1][0].kind.problem)
    }
    levels = [level for level in LEVELS if any(_curves(runs, level) for runs in groups.values())]
    width, height = _PANEL
    rows = max(1, len(levels))
    figure = _new_figure(max(1.2, len(problems)) * width + 0.4, rows * height + 0.6)
    panels = figure.subplots(rows, len(problems), squeeze=False)
    for column, (problem, problem_groups) in enumerate(problems.items()):
        panels[0, column].set_title(problem, fontsize=10)
        for panel, level in zip(panels[:, column], levels, strict=False):
            _draw_level(panel, problem, problem_groups, level)
    for row, level in enumerate(levels):
        panels[row, 0].set_ylabel(f"best {level} score", fontsize=9)
    for panel in panels.flat:
        # A level that a problem's runs do not have gets no empty panel.
        panel.set_visible(bool(panel.lines))
    _legend(figure, panels.flat)
    return figure


def draw_seconds(
    groups: Mapping[str, Sequence[Run]], seconds: Mapping[str, Mapping[str, float]]
) -> "Figure":
    """Draw each run's seconds of validation, at least one run's, on a logarithmic scale.

    A circle is a complete run, a triangle a partial one, a cross a run with a timeout or another
    failure of its upper program (T).
    """
    names = [name for name, runs in groups.items() if any(seconds.get(run.name) for run in runs)]
    figure = _new_figure(7.2, 0.32 * len(names) + 1.2)
    panel = figure.subplots()
    for place, name in enumerate(reversed(names)):
        for run in groups[name]:
            if seconds.get(run.name):
                kind = _kind(run)
                panel.plot(
                    fsum(seconds[run.name].values()), place, _MARKERS[kind], label=kind,
                    color="black", markerfacecolor="none", markersize=7,
                )  # fmt: skip
    _logarithmic(panel)
    panel.set_yticks(range(len(names)), reversed(names), fontsize=8)
    panel.set_ylim(-0.6, len(names) - 0.4)
    panel.set_xlabel("seconds of validation, all instances", fontsize=9)
    _open_frame(panel)
    _legend(figure, [panel])
    return figure


def draw_anytime(panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> "Figure":
    """Draw mean excess costs, given as shares, over seconds on a logarithmic scale.

    Parameters
    ----------
    panels
        Points (seconds, share) by the title of a panel and the name of a solver, at least one each.
    """
    solvers = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    width, height = _PANEL
    figure = _new_figure(max(1.2, len(panels)) * width + 0.4, height + 0.8)
    row = figure.subplots(1, len(panels), squeeze=False)[0]
    for panel, (title, lines) in zip(row, panels.items(), strict=True):
        panel.set_title(title, fontsize=10)
        for name, points in lines.items():
            percents = [(second, 100 * share) for second, share in points]
            _plot_steps(panel, percents, label=name, **_style(solvers.index(name)))
        _logarithmic(panel)
        panel.set_xlabel("seconds", fontsize=9)
        _open_frame(panel)
    row[0].set_ylabel("excess, %", fontsize=9)
    _legend(figure, row)
    return figure


def draw_scores(programs: Sequence[Member], levels: Sequence[Level], end: int = 0) -> "Figure":
    """Draw the scores of a run's programs by ticket, and the best so far, in a panel per level.

    The best begins anew with each round, because each round measures on its own tasks.

    Parameters
    ----------
    programs
        The requested programs in order of their tickets.
    levels
        The levels, at least one.
    end
        Number of tickets of the whole run, if larger than that of the programs.
    """
    figure = _run_figure(2.0 * len(levels), bottom=0.75)
    panels = figure.subplots(len(levels), sharex=True, squeeze=False)[:, 0]
    for panel, level in zip(panels, levels, strict=True):
        own = [each for each in programs if each.level is level]
        scores = [(each.ticket, each.score) for each in own if each.score is not None]
        style: dict[str, Any] = {"color": _OF_LEVEL[level], "markeredgewidth": 0}
        panel.plot(*_columns(scores), ".", alpha=0.45, label="score of a program", **style)
        for _, group in groupby(own, key=lambda each: each.round):
            best = [(each.ticket, each.best) for each in group if each.best is not None]
            _plot_steps(panel, best, label="best so far in the round", color=style["color"])
        _number_tickets(panel, programs, end)
        panel.set_ylabel(f"{level} score", fontsize=9)
        panel.label_outer()
    _legend(figure, panels[:1], "lower center")
    return figure


def draw_outcomes(programs: Sequence[Member], end: int = 0) -> "Figure":
    """Draw what became of each program: a row for each outcome, the upper level in its upper half.

    The parameters are those of :func:`draw_scores`.
    """
    groups = {
        outcome: [each for each in programs if each.outcome is outcome] for outcome in Outcome
    }
    met = {outcome: group for outcome, group in groups.items() if group}
    figure = _run_figure(0.22 * len(met), left=1.6)
    panel = figure.subplots()
    for row, group in enumerate(met.values()):
        for level, top in ((Level.UPPER, row - 0.42), (Level.LOWER, row + 0.04)):
            tickets = [each.ticket for each in group if each.level is level]
            marks = [((ticket, top), (ticket, top + 0.38)) for ticket in tickets]
            _add_segments(panel, marks, edgecolor=_OF_LEVEL[level], linewidth=1.2)
    names = [f"{outcome} ({len(group)})" for outcome, group in met.items()]
    _number_tickets(panel, programs, end)
    panel.set_yticks(range(len(met)), names, fontsize=8)
    panel.set_ylim(len(met) - 0.4, -0.6)
    panel.grid(visible=False)
    return figure


def draw_total(
    programs: Sequence[Member], totals: Sequence[float], label: str, end: int = 0
) -> "Figure":
    """Draw a total so far, after each ticket.

    The other parameters are those of :func:`draw_scores`.
    """
    figure = _run_figure(1.8)
    panel = figure.subplots()
    tickets = [each.ticket for each in programs]
    _plot_steps(panel, list(zip(tickets, totals, strict=True)), color="0.2")
    _number_tickets(panel, programs, end)
    panel.yaxis.set_major_formatter("{x:,.10g}")
    panel.set_ylabel(label, fontsize=9)
    return figure


def draw_routes(drawn: Mapping[str, Any], regions: Sequence[Sequence[int]] = ()) -> "Figure":
    """Draw an instance's routes before and after repair, with changed edges in colour.

    Parameters
    ----------
    drawn
        ``instance`` is the name, ``coords`` are the coordinates of the nodes, ``before`` and
        ``after`` the routes, and ``cost_before`` and ``cost_after`` their costs. A route starts
        and, unless ``open`` is set, ends at node 0, which it does not list, or where ``ends`` says
        for each route of both. ``names``, if any, are those of the nodes, which are shown if they
        are few.
    regions
        Nodes of rebuilt regions; the first eight are outlined before repair.
    """
    figure = _new_figure(11, 5.8)
    from matplotlib.lines import Line2D

    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    _draw_maps(panels, drawn)
    for number, nodes in enumerate(regions[:OUTLINES], 1):
        if nodes:
            _outline(panels[0], [drawn["coords"][node] for node in nodes], str(number))
    shades = {"in both": "0.75", "before only": _ORANGE, "after only": _BLUE}
    lines = [Line2D([], [], color=shade, label=label) for label, shade in shades.items()]
    if regions:
        lines.append(Line2D([], [], color="black", linestyle="--", label="region"))
    figure.legend(handles=lines, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"{_gain(drawn)}; in colour, the edges that only one has", parse_math=False)
    return figure


def draw_solving(drawn: Mapping[str, Any], history: Sequence[tuple[float, float, int]]) -> "Figure":
    """Draw an instance's routes before and after solving, and the cost over time.

    Each route has its own colour and style, as long as there are enough of them. A legend lists the
    routes after solving if they are few.

    Parameters
    ----------
    drawn
        As for :func:`draw_routes`.
    history
        Seconds, cost and repairs at the start, at every improvement and at the end.
    """
    figure = _new_figure(11, 8.2)
    grid = figure.add_gridspec(2, 2, height_ratios=(2.4, 1))
    before = figure.add_subplot(grid[0, 0])
    after = figure.add_subplot(grid[0, 1], sharex=before, sharey=before)
    _draw_maps((before, after), drawn, apart=True)
    panel = figure.add_subplot(grid[1, :])
    _plot_steps(panel, history, color=_BLUE)
    panel.set(xlabel="seconds", ylabel="cost")
    panel.ticklabel_format(axis="y", style="plain", useOffset=False)
    _open_frame(panel)
    figure.suptitle(_gain(drawn), parse_math=False)
    if 1 < len(drawn["after"]) <= _MOST_LEGEND:
        from matplotlib.lines import Line2D

        looks = _looks(drawn["coords"], drawn["after"])
        handles = [Line2D([], [], color="black", marker="s", linestyle="", label="depot")]
        for place, route in enumerate(drawn["after"]):
            label = f"route {place + 1}: {len(route)} stop{'s' if len(route) > 1 else ''}"
            handles.append(Line2D([], [], label=label, **looks[place]))
        figure.legend(
            handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize="small"
        )
    return figure


@contextmanager
def _fixed_style() -> Iterator[None]:
    """Draw with fixed settings, independent of the user's matplotlib defaults."""
    require("plot", "A picture")
    import matplotlib as mpl

    with mpl.rc_context(mpl.rcParamsDefault), mpl.rc_context(_FIXED):
        yield


def _new_figure(width: float, height: float, layout: Any = "constrained") -> "Figure":
    """Return an empty figure with its width and height in inches."""
    require("plot", "A picture")
    # The import takes half a second, and only drawing needs it.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def _run_figure(height: float, left: float = 0.95, bottom: float = 0.45) -> "Figure":
    """Return an empty figure about one run; the height of its panels and margins are in inches.

    Its margins are fixed: a run's page is drawn anew again and again, and a computed layout takes
    as long as the drawing.
    """
    total = height + bottom + 0.1
    figure = _new_figure(_WIDTH, total, layout=None)
    figure.subplots_adjust(left / _WIDTH, bottom / total, 1 - 0.1 / _WIDTH, 1 - 0.1 / total)
    return figure


def _svg(figure: "Figure") -> str:
    text = io.StringIO()
    figure.savefig(
        text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
    )
    # The XML header before the drawing would not be valid in HTML.
    drawing = text.getvalue()
    return drawing[drawing.index("<svg") :].rstrip("\n")


def _style(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        # In grey only the dashes differ, and they repeat sooner than the colours.
        "marker": _SIGNS[number // len(_DASHES) % len(_SIGNS)],
        "markevery": 0.15,
        "markersize": 4,
    }


def _logarithmic(panel: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    panel.set_xscale("log")
    low, high = panel.get_xlim()
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < _WIDE * low else (1,)))
    panel.xaxis.set_major_formatter("{x:g}")
    # A label for every digit of every decade would be too many.
    panel.xaxis.set_minor_formatter(NullFormatter())


def _kind(run: Run) -> str:
    if any(row.failed for row in run.validation):
        return "timeout"
    return "complete" if run.complete else "partial"


def _curves(runs: Sequence[Run], level: Level) -> bool:
    return any(points for run in runs for points in best_score_curve(run, level))


def _draw_level(
    panel: Any, problem: str, groups: Mapping[str, Sequence[Run]], level: Level
) -> None:
    for number, (name, runs) in enumerate(groups.items()):
        style = _style(number)
        label = name.removeprefix(f"{problem}-") if len(groups) > 1 else "mean of the seeds"
        several = list(convergence_band(runs, level))
        for part in several:
            places, means, spreads = zip(*part, strict=True)
            _plot_steps(panel, part, label=label, linewidth=1.6, **style)
            if len(groups) <= _FEW:
                low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
                high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
                panel.fill_between(
                    places, low, high, step="post", color=style["color"], alpha=0.2, linewidth=0
                )
        if not several:
            for run in runs:
                for points in best_score_curve(run, level):
                    curve = label if len(groups) > 1 else f"seed {run.seed}"
                    panel.plot(*_columns(points), ".", color=style["color"], markersize=3)
                    _plot_steps(panel, points, label=curve, linewidth=1.0, **style)
    _number_programs(panel)
    panel.ticklabel_format(axis="y", useOffset=False)
    panel.set_xlabel("programs", fontsize=9)


def _number_programs(panel: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    _open_frame(panel)


def _number_tickets(panel: Any, programs: Sequence[Member], end: int) -> None:
    """Give a panel an axis of tickets, and a line between any two rounds."""
    low, high = panel.dataLim.intervaly
    if 0 <= low < 0.5 * high:
        panel.set_ylim(bottom=0)
    for before, after in pairwise(programs):
        if before.round != after.round:
            panel.axvline(after.ticket - 0.5, color="0.8", linestyle="--", linewidth=0.8, zorder=0)
    panel.set_xlim(0, max(end, len(programs), 1) + 0.5)
    panel.set_xlabel("tickets", fontsize=9)
    _number_programs(panel)


def _open_frame(panel: Any) -> None:
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)


def _legend(figure: "Figure", panels: Any, place: Any = "outside lower center") -> None:
    """Put one entry for each label below the panels."""
    known: dict[str, Any] = {}
    for panel in panels:
        for line, text in zip(*panel.get_legend_handles_labels(), strict=True):
            known.setdefault(text, line)
    if known:
        # Width in inches of the longest name and of the line before it.
        width = 0.6 + 0.075 * max(map(len, known))
        columns = min(4, max(1, int(figure.get_figwidth() / width)))
        figure.legend(
            known.values(), known.keys(), loc=place, ncols=columns, frameon=False, fontsize=9,
        )  # fmt: skip


def _plot_steps(panel: Any, points: Sequence[Point], **style: Any) -> None:
    """Draw points as steps; a single point, of which a line would show nothing, as a dot."""
    if len(points) == 1:
        style |= {"marker": style.get("marker") or ".", "markevery": 1}
    panel.plot(*_columns(points), drawstyle="steps-post", **style)


def _columns(points: Sequence[Point]) -> list[list[float]]:
    return [[point[axis] for point in points] for axis in (0, 1)]


def _gain(drawn: Mapping[str, Any]) -> str:
    cost, repaired = drawn["cost_before"], drawn["cost_after"]
    return f"{visible(drawn['instance'])}: saves {100 * (cost - repaired) / max(1e-12, cost):.2f}%"


def _draw_maps(panels: Sequence["Axes"], drawn: Mapping[str, Any], *, apart: bool = False) -> None:
    """Draw two solutions: edges of only one in colour, or, ``apart``, each route in one."""
    coords, names = drawn["coords"], drawn.get("names", ())
    walks = {when: _walks(drawn, when) for when in ("before", "after")}
    before, after = map(_undirected_edges, walks.values())
    share = min(1.0, _CROWD / len(coords)) ** 0.5
    # Lines of almost no length with round ends are dots; a thousand of them are one element.
    tiny = 1e-6 * (max(x for x, _ in coords) - min(x for x, _ in coords) or 1.0)
    dots = [((x, y), (x + tiny, y)) for x, y in coords]
    for panel, when, edges, other, colour in (
        (panels[0], "before", before, after, _ORANGE),
        (panels[1], "after", after, before, _BLUE),
    ):
        if apart:
            for place, look in _looks(coords, drawn[when]).items():
                points = [coords[node] for node in walks[when][place]]
                panel.plot(*_columns(points), linewidth=share, **look)
        else:
            for some, width, shade in ((edges & other, 1.0, "0.75"), (edges - other, 1.4, colour)):
                # Sorted, so that equal runs give equal pictures.
                ends = [(coords[first], coords[second]) for first, second in sorted(some)]
                _add_segments(panel, ends, edgecolor=shade, linewidth=width * share)
        _add_segments(
            panel, dots, edgecolor="0.2", linewidth=2.6 * share, capstyle="round", zorder=3
        )
        if len(drawn["before"]) > 1:
            for node in sorted({0, *chain.from_iterable(drawn.get("ends", {}).get(when, ()))}):
                panel.plot(*coords[node], "s", color="black", markersize=8, zorder=4)
        title = f"{when}: {drawn[f'cost_{when}']:,.1f}"
        panel.set(title=title, aspect="equal", xticks=[], yticks=[])
        panel.autoscale_view()
        if 0 < len(names) <= _MOST_NAMES:
            _draw_names(panel, coords, names)


def _add_segments(panel: "Axes", ends: Sequence[tuple[Point, Point]], **style: Any) -> None:
    """Draw lines between two points each, as one element of the drawing."""
    if ends:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        path = Path(
            [point for both in ends for point in both], [Path.MOVETO, Path.LINETO] * len(ends)
        )
        path.should_simplify = False
        panel.add_patch(PathPatch(path, fill=False, snap=False, **style))


def _draw_names(panel: "Axes", coords: Sequence[Point], names: Sequence[str]) -> None:
    """Write the names of the nodes beside them, as far as there is room; sizes are in points."""
    size = 8 if len(names) <= _FEW_NAMES else 6
    spans = (max(axis) - min(axis) for axis in zip(*coords, strict=True))
    scale = _MAP / max(*spans, 1e-12)
    for (x, y), text, turned in names_with_room(coords, names, size, scale):
        panel.annotate(
            text, (x, y), xytext=(-4 if turned else 4, 3), textcoords="offset points",
            horizontalalignment="right" if turned else "left", fontsize=size, color="0.25",
            zorder=5, parse_math=False,
        )  # fmt: skip


def _looks(coords: Sequence[Point], routes: Sequence[Sequence[int]]) -> dict[int, dict[str, Any]]:
    """Return a colour and a style by place of the route, different for neighbours at the depot."""
    return {
        place: {"color": COLOURS[rank % len(COLOURS)], "linestyle": _DASHES[rank % len(_DASHES)]}
        for place, rank in around_depot(coords, routes).items()
    }


def _walks(drawn: Mapping[str, Any], when: str) -> list[list[int]]:
    """Return the nodes of each route from its start on."""
    routes = drawn[when]
    ends = drawn.get("ends", {}).get(when, [(0, 0)] * len(routes))
    # A vehicle of an open route stays at its last stop.
    return [
        [start, *route, *([] if drawn.get("open") else [end])]
        for route, (start, end) in zip(routes, ends, strict=True)
    ]


def _undirected_edges(walks: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """Return the undirected edges between nodes that follow each other."""
    return {(min(pair), max(pair)) for walk in walks for pair in pairwise(walk)}


def _outline(panel: "Axes", points: Sequence[Point], name: str) -> None:
    """Draw the convex hull of points, with a name at its top."""
    from matplotlib.patches import Polygon

    hull = _hull(points)
    shade: Any = (0, 0, 0, 0.06)
    panel.add_patch(Polygon(hull, facecolor=shade, edgecolor="black", linestyle="--", zorder=2.5))
    panel.annotate(
        name, max(hull, key=lambda point: point[1]), xytext=(0, 5), textcoords="offset points",
        horizontalalignment="center", zorder=5,
        bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white", "linewidth": 0.6},
    )  # fmt: skip


def _hull(points: Sequence[Point]) -> list[tuple[float, float]]:
    """Return the convex hull by Andrew's monotone chains; up to two points are their own hull."""
    ordered = sorted({(x, y) for x, y in points})
    if len(ordered) < 3:
        return ordered

    def chain(along: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for x, y in along:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return chain(ordered) + chain(ordered[::-1])
