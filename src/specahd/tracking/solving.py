"""The display of solving: a live line on standard error, and a summary at the end."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from specahd.core.display import visible
from specahd.core.folders import display_path
from specahd.core.settings import SearchLimit
from specahd.core.sums import sequential_sum
from specahd.engine.neighbourhood_search import SearchProgress
from specahd.routing.geometry import MEANINGS

_LINES = 10
"""Number of lines that report the search if there is no terminal."""
_ENDS = {
    "time": "the time is up",
    "repairs": "all were made",
    "target": "the target is reached",
    "stopped": "interrupted",
    "failed": "the programs failed",
}
_NAMES = 8
"""Most stops that are named for one reason why they are left out."""
_UNITS = ("", "k", "M", "G")


class SolvingLine:
    """Live line with the cost, the gap, repairs per second and the remaining time.

    Parameters
    ----------
    name
        The name of the instance.
    limit
        The limit of the search, and the target cost.
    """

    def __init__(self, name: str, limit: SearchLimit) -> None:
        self._name = visible(name)
        self._limit = limit
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[note]}", markup=False),
            console=self._console,
        )
        self._task = self._progress.add_task(self._name, total=1.0, note="")
        self._last_tenth = -1
        self._first: float | None = None

    def show(self, moment: SearchProgress) -> None:
        """Show the progress of the search."""
        if self._first is None:
            self._first = moment.cost
        tenth = int(moment.share * _LINES)
        if self._console.is_terminal:
            self._progress.start()
            self._progress.update(self._task, completed=moment.share, note=self._note(moment))
        elif tenth > self._last_tenth:
            self._last_tenth = tenth
            self._console.out(f"{self._name}: {self._note(moment)}", highlight=False)

    def _note(self, moment: SearchProgress) -> str:
        parts = [f"cost {_format_cost(moment.cost)}"]
        if self._limit.target:
            parts.append(f"gap {_format_gap(moment.cost, self._limit.target)}")
        if self._first and moment.cost < self._first:
            parts.append(f"{100 * (moment.cost / self._first - 1):+.2f}% of the start")
        if moment.repairs and moment.seconds > 0:
            parts.append(f"{_format_count(moment.repairs / moment.seconds)} repairs/s")
        if self._limit.repairs is not None:
            parts.append(
                f"{_format_count(max(0, self._limit.repairs - moment.repairs))} repairs left"
            )
        else:
            parts.append(f"{max(0.0, self._limit.time_limit - moment.seconds):.0f} s left")
        return ", ".join(parts)

    def close(self) -> None:
        """Stop the live line."""
        if self._console.is_terminal:
            self._progress.stop()


def _format_cost(cost: float) -> str:
    return f"{cost:,.0f}" if float(cost).is_integer() else f"{cost:,.2f}"


def _format_gap(cost: float, best: float) -> str:
    return f"{100 * (cost / best - 1):+.2f}%" if best > 0 else "–"


def _format_count(count: float) -> str:
    """Format a count with about three digits: 205k."""
    power = min(len(_UNITS) - 1, int(math.log10(count) / 3)) if count >= 1000 else 0
    value = count / 1000**power
    decimals = 0 if value >= 10 or power == 0 else 1
    return f"{value:.{decimals}f}{_UNITS[power]}"


def _left_out(stops: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if stops:
        prizes = sequential_sum(stop.get("prize", 0.0) for stop in stops)
        priced = f" (prizes {_format_cost(prizes)}, in the cost)" if prizes else ""
        yield f"left out  {len(stops):,} stop{'s' if len(stops) > 1 else ''}{priced}:"
    for reason, each in groupby(sorted(stops, key=itemgetter("reason")), itemgetter("reason")):
        names = [stop["name"] for stop in each]
        more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
        yield f"          {reason}: {', '.join(names[:_NAMES])}{more}"


def print_summary(
    statistics: Mapping[str, Any], target: float | None, written: Sequence[Path]
) -> None:
    """Print the result of a search and its files on standard output."""
    start, cost = statistics["start"], statistics["cost"]
    compared = f", gap {_format_gap(cost, target)} to {_format_cost(target)}" if target else ""
    # An improvement of zero is not shown as -0.00%.
    gain = f"{0.0 - 100 * statistics['improvement']:+.2f}%"
    workers = f", {statistics['workers']} workers" if statistics["workers"] > 1 else ""
    speed = f"{_format_count(statistics['repairs_per_second'])}/s{workers}"
    convention = statistics["convention"]
    for line in (
        f"{statistics['instance']}: {statistics['problem']}, {statistics['size']:,} to serve",
        *([f"distances {convention}: {MEANINGS[convention]}"] if convention in MEANINGS else []),
        f"start     {_format_cost(start['cost'])} ({start['source']})",
        f"solution  {_format_cost(cost)} ({gain}{compared}), "
        f"{statistics['vehicles']:,} route{'s' if statistics['vehicles'] != 1 else ''}",
        *_left_out(statistics["unserved"]),
        *([f"program   {statistics['choice']}"] if "choice" in statistics else []),
        f"search    {statistics['seconds']:.1f} s, {statistics['repairs']:,} repairs "
        f"({speed}), {_ENDS[statistics['ended']]}; "
        f"{statistics['startup_seconds']:.1f} s to start",
        *(f"written   {display_path(path.absolute())}" for path in written),
    ):
        sys.stdout.write(f"{visible(line)}\n")
