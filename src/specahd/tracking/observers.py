"""Observers of a run: a group of observers that cannot make it fail, and a progress display.

The display writes to standard error: bars on a terminal, a few lines elsewhere. A job of a
parallel sweep writes lines on a terminal too, each with the job's name, because the bars of
several processes would overwrite one another.
"""

import atexit
import multiprocessing
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich import progress
from rich.console import Console

from specahd.core.budget import Spent
from specahd.core.contract import Request
from specahd.core.display import visible
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.core.program import Level
from specahd.tracking.store import one_line_error

# Number of lines that report the tickets if there is no terminal, and seconds without a line after
# which one is written.
_LINES = 10
_INTERVAL = 60


class ObserverFailed(Exception):
    """Failure of an observer; the message is a sentence for the user."""


class Observers(Observer):
    """Group that calls every observer's hooks in order, and drops one at its first exception.

    Attributes
    ----------
    warnings : list[str]
        One line for each observer that was dropped, to be shown at the end.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = list(observers)
        self.warnings: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        hook = super().__getattribute__(name)
        return partial(self._notify, name) if name.startswith("on_") else hook

    def _notify(self, hook: str, *what: Any) -> None:
        for observer in tuple(self._observers):
            try:
                getattr(observer, hook)(*what)
            except ObserverFailed as error:
                self._observers.remove(observer)
                self.warnings.append(str(error))
            except Exception as error:  # noqa: BLE001  # whatever it is, the run goes on
                self._observers.remove(observer)
                warning = f"{type(observer).__name__} stopped: {one_line_error(error)}"
                self.warnings.append(warning[:200])

    def write_warnings(self) -> None:
        """Write the warnings to standard error."""
        sys.stderr.write("".join(f"{visible(warning)}\n" for warning in self.warnings))


class ProgressObserver(Observer):
    """Display of the budget used, best scores, outcomes, elapsed time and remaining time.

    Parameters
    ----------
    console
        Where to show it; standard error if None.
    name
        The name of a job among parallel jobs.
    """

    def __init__(self, console: Console | None = None, name: str = "") -> None:
        self._console = console or Console(stderr=True)
        beside_others = multiprocessing.parent_process() is not None
        self._label = f"{name}: " if beside_others else ""
        self._live = self._console.is_terminal and not beside_others
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[note]}", markup=False),
            console=self._console,
        )
        self._outcomes: Counter[str] = Counter()
        self._best: dict[Level, float] = {}
        self._tickets = 0
        self._began = time.monotonic()
        self._programs: progress.TaskID | None = None
        self._phase: progress.TaskID | None = None
        self._title, self._steps, self._done = "preparing", 0, 0
        self._under_way = 0
        # Programs that were finished when the estimate began, and when that was.
        self._estimated_from: tuple[int, float] | None = None
        self._said = self._began

    def on_start(self, tickets: int, directory: Path) -> None:
        self._tickets = tickets
        self._title, self._steps = "preparing", 0
        self._say(f"{tickets} programs; everything is written to {directory}")

    def on_phase(self, text: str, total: int) -> None:
        text = visible(text)
        self._title, self._steps, self._done = text, total, 0
        if not self._live:
            self._say(f"{text} ({total})" if total else text)
            return
        self._end_phase()
        self._open()
        self._phase = self._progress.add_task(text, total=total, note="")

    def on_step(self) -> None:
        self._done += 1
        if self._phase is not None:
            self._progress.advance(self._phase)
        self.report_if_quiet()

    def report_if_quiet(self) -> None:
        """Write how far the run is if there is no terminal, and no line for a minute."""
        now = time.monotonic()
        if not self._live and now - self._said >= _INTERVAL:
            parts = [f"{self._title}: {self._done}/{self._steps}" if self._steps else self._title]
            if self._under_way:
                parts.append(f"{self._under_way} under way")
            self._say(", ".join([*parts, f"{now - self._began:.0f} s gone"]))

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Call :meth:`report_if_quiet` again and again in the background during the block."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(_INTERVAL / 60):
                self.report_if_quiet()

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            ended.set()
            watching.join()

    def on_compile(self) -> None:
        # Imported here, because it imports numba, which whoever compiles has imported.
        from specahd.core.loop_cache import VARIABLE, folder_to_write

        if folder_to_write() is None:
            self._say(
                "compiling loops, in every process: no folder for them can be written; "
                f"set {VARIABLE} to one"
            )
        else:
            self._say("compiling loops, once after an installation: a minute or so")

    def on_request(self, request: Request) -> None:
        self._under_way += not request.operator.wants_text
        self._title = f"{request.level.value} programs, round {request.round}"
        self._steps, self._done = self._tickets, self._outcomes.total()

    def on_commit(self, sample: Committed, spent: Spent) -> None:
        self._under_way -= 1
        self._outcomes[sample.outcome.value] += 1
        if sample.best is not None:
            self._best[sample.level] = sample.best
        done = self._outcomes.total()
        where = f"{sample.level.value} programs, round {sample.round}"
        note = self._note(spent)
        self._title, self._steps, self._done = where, self._tickets, done
        if self._estimated_from is None:
            self._estimated_from = done, time.monotonic()
        if self._live:
            self._end_phase()
            self._open()
            if self._programs is None:
                self._programs = self._progress.add_task(where, total=self._tickets, note=note)
            self._progress.update(self._programs, description=where, completed=done, note=note)
        elif done * _LINES // max(1, self._tickets) > (done - 1) * _LINES // max(1, self._tickets):
            now = time.monotonic()
            line = f"{where}: {done}/{self._tickets}, {note}, {now - self._began:.0f} s gone"
            # The first program waits for what is compiled once, so the estimate begins after it.
            first, since = self._estimated_from
            if done > first:
                left = (now - since) / (done - first) * max(0, self._tickets - done)
                line += f", about {left:.0f} s left"
            self._say(line)

    def on_round(self, end: RoundEnd) -> None:
        measures = ", ".join(f"{name} {value:.5g}" for name, value in end.measures.items())
        self._say(f"round {end.round} ended" + (f": {measures}" if measures else ""))

    def on_warning(self, text: str) -> None:
        self._say(text)

    def on_finish(self, status: str) -> None:
        self._end_phase()
        if self._live:
            self._progress.stop()
        self._say(f"{status} after {time.monotonic() - self._began:.0f} s")

    def _open(self) -> None:
        """Start the display; a phase may begin before the run starts, or without a run."""
        if not self._progress.live.is_started:
            # If a refusal ends the process first, the cursor must be restored.
            atexit.register(self._progress.stop)
            self._progress.start()

    def _end_phase(self) -> None:
        if self._phase is not None:
            self._progress.remove_task(self._phase)
            self._phase = None

    def _note(self, spent: Spent) -> str:
        # Costs come first: a narrow terminal cuts the rest.
        parts = [spent.bill] if spent.bill else []
        parts += [f"best {level.value} {best:.4g}" for level, best in self._best.items()]
        parts += [f"{count} {outcome}" for outcome, count in self._outcomes.most_common()]
        if spent.auxiliary_calls:
            parts.append(f"{spent.auxiliary_calls} texts")
        return ", ".join(parts)

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        self._console.out(visible(f"{self._label}{text}", keep="\n"), highlight=False)
