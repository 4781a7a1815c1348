"""The figures of a report: equal runs give equal bytes, and lines differ in grey print."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from specahd.core.program import Level
from specahd.reporting.aggregates import best_score_curve, convergence_band
from specahd.runs.reading import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Settings that make the output reproducible: no random ids, text as paths, a fixed font.
_FIXED: Any = {"svg.hashsalt": "specahd", "svg.fonttype": "path", "font.family": "DejaVu Sans"}
LEVELS = (Level.LOWER, Level.UPPER)
_PANEL = (3.4, 2.4)
"""Width and height of one panel in inches."""
_DOTS_PER_INCH = 150
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours of Okabe and Ito's palette."""
_DASHES = ("-", "--", ":", "-.")
"""Line styles in addition to colours, so that lines differ in grey print."""
_WIDE = 300
"""Ratio of the ends of a logarithmic axis from which only powers of ten are labelled."""
_SIGNS = ("", "o", "^", "s", "x")
_MARKERS = {"complete": "o", "partial": "^", "timeout": "x"}
_FEW = 4
"""Largest number of lines of a panel that are drawn with bands."""


class Drawing(NamedTuple):
    """A figure as SVG and as PNG."""

    svg: str
    png: bytes


def draw_convergence(groups: Mapping[str, Sequence[Run]]) -> Drawing:
    """Draw the search: a column for each problem, a row for each level, a line for each kind.

    Each panel has the best score over the number of requested programs of both levels together: the
    mean over complete runs of several seeds with a band of one deviation, else one line per run.
    """
    problems = {
        problem: dict(members)
        for problem, members in groupby(groups.items(), key=lambda item: item[1][0].kind.problem)
    }
    levels = [level for level in LEVELS if any(_curves(runs, level) for runs in groups.values())]

    def draw(figure: "Figure") -> None:
        width, height = _PANEL
        figure.set_size_inches(
            max(1.2, len(problems)) * width + 0.4, max(1, len(levels)) * height + 0.6
        )
        panels = figure.subplots(max(1, len(levels)), len(problems), squeeze=False)
        for column, (problem, problem_groups) in enumerate(problems.items()):
            panels[0, column].set_title(problem, fontsize=10)
            for panel, level in zip(panels[:, column], levels, strict=False):
                _draw_level(panel, problem, problem_groups, level)
        for row, level in enumerate(levels):
            panels[row, 0].set_ylabel(f"best {level} score", fontsize=9)
        for panel in panels.flat:
            # A level that a problem's runs do not have gets no empty panel.
            panel.set_visible(bool(panel.lines))
        _legend(figure, panels)

    return _drawn(draw)


def draw_seconds(
    groups: Mapping[str, Sequence[Run]], seconds: Mapping[str, Mapping[str, float]]
) -> Drawing | None:
    """Draw each run's seconds of validation on a logarithmic scale; None if there are none.

    A circle is a complete run, a triangle a partial one, a cross a run with a timeout or another
    failure of its upper program (T).
    """
    names = [name for name, runs in groups.items() if any(seconds.get(run.name) for run in runs)]
    if not names:
        return None

    def draw(figure: "Figure") -> None:
        figure.set_size_inches(7.2, 0.32 * len(names) + 1.2)
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

    return _drawn(draw)


def draw_anytime(panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> Drawing:
    """Draw mean excess costs, given as shares, over seconds on a logarithmic scale.

    Parameters
    ----------
    panels
        Points (seconds, share) by the title of a panel and the name of a solver, at least one each.
    """
    solvers = list(dict.fromkeys(name for lines in panels.values() for name in lines))

    def draw(figure: "Figure") -> None:
        width, height = _PANEL
        figure.set_size_inches(max(1.2, len(panels)) * width + 0.4, height + 0.8)
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for panel, (title, lines) in zip(row, panels.items(), strict=True):
            panel.set_title(title, fontsize=10)
            for name, points in lines.items():
                seconds, shares = zip(*points, strict=True)
                style = _style(solvers.index(name))
                panel.plot(seconds, [100 * share for share in shares], label=name, **style)
            _logarithmic(panel)
            panel.set_xlabel("seconds", fontsize=9)
            _open_frame(panel)
        row[0].set_ylabel("excess, %", fontsize=9)
        _legend(figure, row)

    return _drawn(draw)


def _style(number: int) -> dict[str, Any]:
    """Return the style of the line with this number."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "drawstyle": "steps-post",
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
    from matplotlib.ticker import MaxNLocator

    for number, (name, runs) in enumerate(groups.items()):
        style = _style(number)
        label = name.removeprefix(f"{problem}-") if len(groups) > 1 else "mean of the seeds"
        several = list(convergence_band(runs, level))
        for part in several:
            places, means, spreads = zip(*part, strict=True)
            panel.plot(places, means, label=label, linewidth=1.6, **style)
            if len(groups) <= _FEW:
                low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
                high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
                panel.fill_between(
                    places, low, high, step="post", color=style["color"], alpha=0.2, linewidth=0
                )
        if not several:
            for run in runs:
                for points in best_score_curve(run, level):
                    places, scores = zip(*points, strict=True)
                    curve = label if len(groups) > 1 else f"seed {run.seed}"
                    panel.plot(places, scores, ".", color=style["color"], markersize=3)
                    panel.plot(places, scores, label=curve, linewidth=1.0, **style)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    panel.ticklabel_format(axis="y", useOffset=False)
    panel.set_xlabel("programs", fontsize=9)
    _open_frame(panel)


def _open_frame(panel: Any) -> None:
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)


def _legend(figure: "Figure", panels: Any) -> None:
    """Put one entry for each label below the panels."""
    known: dict[str, Any] = {}
    for panel in getattr(panels, "flat", panels):
        for line, text in zip(*panel.get_legend_handles_labels(), strict=True):
            known.setdefault(text, line)
    if known:
        # Width in inches of the longest name and of the line before it.
        width = 0.6 + 0.075 * max(map(len, known))
        columns = min(4, max(1, int(figure.get_figwidth() / width)))
        figure.legend(
            known.values(), known.keys(), loc="outside lower center", ncols=columns, frameon=False,
            fontsize=9,
        )  # fmt: skip


@contextmanager
def fixed_style() -> Iterator[None]:
    """Draw with fixed settings, independent of the user's matplotlib defaults."""
    import matplotlib as mpl

    with mpl.rc_context(mpl.rcParamsDefault), mpl.rc_context(_FIXED):
        yield


def _drawn(draw: Callable[["Figure"], None]) -> Drawing:
    # Imported here, because matplotlib belongs to an extra.
    from matplotlib.figure import Figure

    with fixed_style():
        figure = Figure(layout="constrained")
        draw(figure)
        text, image = io.StringIO(), io.BytesIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(image, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    # The XML header before the drawing would not be valid in HTML.
    drawing = text.getvalue()
    return Drawing(drawing[drawing.index("<svg") :].rstrip("\n"), image.getvalue())
