"""What solving shows: a live line on standard error while it goes on, a summary at its end."""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from specahd.core.folders import display_path
from specahd.core.settings import SearchLimit
from specahd.engine.descent import Moment

_LINES = 10
"""Without a terminal, so many lines report the search."""
_ENDS = {
    "time": "the time is up",
    "repairs": "all were made",
    "target": "the target is reached",
    "stopped": "interrupted",
    "failed": "the programs failed",
}
_UNITS = ("", "k", "M", "G")


class SolvingLine:
    """Shows cost, gap, repairs per second and time left.

    Parameters
    ----------
    name
        Of the instance.
    limit
        Says what is left, and what costs are compared with.
    """

    def __init__(self, name: str, limit: SearchLimit) -> None:
        self._name = name
        self._limit = limit
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[note]}", markup=False),
            console=self._console,
        )
        self._task = self._progress.add_task(name, total=1.0, note="")
        self._said = -1
        self._first: float | None = None

    def show(self, moment: Moment) -> None:
        """Show where the search stands."""
        if self._first is None:
            self._first = moment.cost
        tenth = int(moment.share * _LINES)
        if self._console.is_terminal:
            self._progress.start()
            self._progress.update(self._task, completed=moment.share, note=self._note(moment))
        elif tenth > self._said:
            self._said = tenth
            self._console.out(f"{self._name}: {self._note(moment)}", highlight=False)

    def _note(self, moment: Moment) -> str:
        parts = [f"cost {told(moment.cost)}"]
        if self._limit.target:
            parts.append(f"gap {gap(moment.cost, self._limit.target)}")
        if self._first and moment.cost < self._first:
            parts.append(f"{100 * (moment.cost / self._first - 1):+.2f}% of the start")
        if moment.repairs and moment.seconds > 0:
            parts.append(f"{short(moment.repairs / moment.seconds)} repairs/s")
        if self._limit.repairs is not None:
            parts.append(f"{short(max(0, self._limit.repairs - moment.repairs))} repairs left")
        else:
            parts.append(f"{max(0.0, self._limit.time_limit - moment.seconds):.0f} s left")
        return ", ".join(parts)

    def close(self) -> None:
        """Give the terminal back."""
        if self._console.is_terminal:
            self._progress.stop()


def told(cost: float) -> str:
    """Return a cost in words: whole where it is, else with two digits behind the point."""
    return f"{cost:,.0f}" if float(cost).is_integer() else f"{cost:,.2f}"


def gap(cost: float, best: float) -> str:
    """Return by how much a cost exceeds another one."""
    return f"{100 * (cost / best - 1):+.2f}%" if best > 0 else "–"


def short(count: float) -> str:
    """Return a count with three digits or so: 205k."""
    power = min(len(_UNITS) - 1, int(math.log10(count) / 3)) if count >= 1000 else 0
    value = count / 1000**power
    decimals = 0 if value >= 10 or power == 0 else 1
    return f"{value:.{decimals}f}{_UNITS[power]}"


def print_summary(
    statistics: Mapping[str, Any], target: float | None, written: Sequence[Path]
) -> None:
    """Print what a search found, and the files that hold it, on standard output."""
    start, cost = statistics["start"], statistics["cost"]
    compared = f", gap {gap(cost, target)} to {told(target)}" if target else ""
    # Nothing gained is no -0.00%.
    gain = f"{0.0 - 100 * statistics['improvement']:+.2f}%"
    workers = f", {statistics['workers']} workers" if statistics["workers"] > 1 else ""
    for line in (
        f"{statistics['instance']}: {statistics['problem']}, {statistics['size']:,} to serve",
        f"start     {told(start['cost'])} ({start['source']})",
        f"solution  {told(cost)} ({gain}{compared}), "
        f"{statistics['vehicles']:,} route{'s' if statistics['vehicles'] > 1 else ''}",
        f"search    {statistics['seconds']:.1f} s, {statistics['repairs']:,} repairs "
        f"({short(statistics['repairs_per_second'])}/s{workers}), {_ENDS[statistics['ended']]}; "
        f"{statistics['startup_seconds']:.1f} s to start",
        *(f"written   {display_path(path.absolute())}" for path in written),
    ):
        sys.stdout.write(f"{line}\n")
