"""The convergence figure: equal runs give equal bytes."""

import io
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from specahd.core.program import Level
from specahd.reporting.aggregates import best_score_curve
from specahd.runs.reading import Run

# Other defaults of matplotlib give the same picture: no time, no random ids, text as paths.
_FIXED: Any = {"svg.hashsalt": "specahd", "svg.fonttype": "path", "font.family": "DejaVu Sans"}
LEVELS = (Level.LOWER, Level.UPPER)
_PANEL = (2.7, 2.1)
"""Inches of one panel."""
_TITLE = 26
"""Characters that stand side by side above a panel."""


def draw_convergence(groups: Mapping[str, Sequence[Run]]) -> str:
    """Return an SVG: one column a group, one row a level, one line a seed and round.

    The best score so far stands over the programs asked so far, of both levels together.
    """
    # Here, for it is an extra's.
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(mpl.rcParamsDefault), mpl.rc_context(_FIXED):
        width, height = _PANEL
        figure = Figure(
            figsize=(max(1.6, len(groups)) * width + 0.4, len(LEVELS) * height + 0.5),
            layout="constrained",
        )
        panels = figure.subplots(len(LEVELS), len(groups), sharex="col", squeeze=False)
        for column, (name, runs) in enumerate(groups.items()):
            panels[0, column].set_title(textwrap.fill(name, _TITLE), fontsize=10)
            for row, level in enumerate(LEVELS):
                _draw(panels[row, column], runs, level)
            panels[-1, column].set_xlabel("programs", fontsize=9)
        for row, level in enumerate(LEVELS):
            panels[row, 0].set_ylabel(f"best {level} score", fontsize=9)
            _share(panels[row], [runs[0].kind.problem for runs in groups.values()])
        seeds = {
            text: line
            for panel in panels.flat
            for line, text in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            seeds.values(), seeds.keys(), loc="outside lower center", ncols=8, frameon=False,
            fontsize=9,
        )  # fmt: skip
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    # What stands before the drawing itself would be no HTML.
    drawing = text.getvalue()
    return drawing[drawing.index("<svg") :].rstrip("\n")


def _share(panels: Sequence[Any], problems: Sequence[str]) -> None:
    """Give the panels of a problem one scale; one without a line says so."""
    scales: dict[str, list[float]] = defaultdict(list)
    for panel, problem in zip(panels, problems, strict=True):
        if panel.lines:
            scales[problem] += panel.get_ylim()
        else:
            panel.text(
                0.5, 0.5, "none", ha="center", va="center", transform=panel.transAxes, fontsize=9
            )
            panel.set_yticks([])
    for panel, problem in zip(panels, problems, strict=True):
        if panel.lines:
            panel.set_ylim(min(scales[problem]), max(scales[problem]))


def _draw(panel: Any, runs: Sequence[Run], level: Level) -> None:
    for number, run in enumerate(sorted(runs, key=lambda run: run.seed)):
        colour = f"C{number % 10}"
        label = f"seed {run.seed}" if run.complete else f"seed {run.seed} (partial)"
        for points in best_score_curve(run, level):
            places, scores = zip(*points, strict=True)
            panel.plot(
                places, scores, drawstyle="steps-post", color=colour, label=label, linewidth=1.4,
                marker="o", markersize=2,
            )  # fmt: skip
            label = "_same"
    from matplotlib.ticker import MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    panel.ticklabel_format(axis="y", useOffset=False)
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)
