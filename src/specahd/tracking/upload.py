"""Brings what a run directory tells into MLflow, from where that was left."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specahd.core import journal
from specahd.runs.files import (
    CHECKPOINT,
    CONFIG,
    JOURNAL,
    MACHINE,
    POOLS,
    PROMPTS,
    REPLIES,
    RESPONSES,
    ROUTES,
    SANDBOX,
    TIMINGS,
    row_timings_file,
    rows_file,
)
from specahd.runs.rows import means, read_rows
from specahd.tracking.candidates import WRITERS
from specahd.tracking.cursor import SyncCursor
from specahd.tracking.description import NOTE, Description, write_note
from specahd.tracking.figures import convergence, route_map
from specahd.tracking.follower import JournalEntry, Measure, RunFollower
from specahd.tracking.frozen import read_frozen
from specahd.tracking.run_writer import LONGEST_TAG, MlflowRunWriter
from specahd.tracking.store import Options, in_one_line, without_password
from specahd.tracking.traces import Traces
from specahd.tracking.view import PERCENT

_FILES = (
    *(JOURNAL, RESPONSES, REPLIES, TIMINGS, PROMPTS),
    *(name(pool) for pool in POOLS for name in (rows_file, row_timings_file)),
    *(SANDBOX, MACHINE, ROUTES),
)
_STATUS = {
    "complete": "FINISHED",
    "partial": "FINISHED",
    "interrupted": "KILLED",
    "failed": "FAILED",
}
# So many records at a time, so that the mark is never far behind.
_RECORDS = 25


class UploadFailed(Exception):
    """MLflow did not take something; the message says why, in one line without passwords."""

    def __init__(self, error: BaseException) -> None:
        # What the disk, the network or the database said is plainer than what was made of it.
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError | sqlite3.Error):
                error = cause
            cause = cause.__cause__ or cause.__context__
        super().__init__(in_one_line(error)[:300])


class RunUpload:
    """The way of one run directory into one MLflow run.

    Whatever fails can be tried again, by this object or by another process: the mark
    in the directory says how far things are, and what may be there already is looked
    for first. Only one process may do it at a time (:func:`~specahd.tracking.cursor.exclusive`).

    Attributes
    ----------
    samples
        How many samples it has gone through.
    """

    def __init__(self, options: Options, directory: Path) -> None:
        self._options = options
        self._directory = directory
        self._follower = RunFollower(directory)
        self._waiting: list[JournalEntry] = []
        self._told = 0
        self._writer: MlflowRunWriter | None = None
        self.samples = 0

    def step(self, *, final: bool = False) -> bool:
        """Deliver some of what is there and not delivered; say whether there was any.

        Raises
        ------
        UploadFailed
        """
        with self._telling():
            return self._step(final=final)

    def close(self, status: str) -> Iterator[None]:
        """Deliver what stands at a run's end, and mark the run as ended; yields after each part.

        Raises
        ------
        UploadFailed
        """
        with self._telling():
            while self._step(final=True):
                yield
            assert self._writer is not None
            yield from self._ending(self._writer, status)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever a store can raise
            if self._writer is not None:
                # What failed may have been done all the same.
                self._writer.doubt = True
            raise UploadFailed(error) from error

    def _step(self, *, final: bool) -> bool:
        if self._writer is None:
            self._writer = self._open()
            return True
        writer = self._writer
        if not self._waiting:
            self._waiting = self._follower.new_entries(final=final)
        part = self._waiting[:_RECORDS]
        if not part:
            return False
        new = part[max(0, self._cursor.records - self._told) :]
        for index, entry in enumerate(part):
            known = index < len(part) - len(new)
            if entry.ticket and self._traces is not None and not known:
                self._traces.tell(entry)
            if entry.ticket:
                self._candidates.tell(entry, known=known)
        writer.measure((measure, entry.at) for entry in new for measure in entry.measures)
        if any(entry.ends_round for entry in new):
            self._candidates.end_round()
        self._cursor.records += len(new)
        self._cursor.write(self._directory)
        self._waiting = self._waiting[len(part) :]
        self._told += len(part)
        self.samples += sum(entry.ticket > 0 for entry in part)
        return True

    def _open(self) -> MlflowRunWriter:
        """Return what writes the run: that of the mark, else a new one."""
        cursor = SyncCursor.read(self._directory)
        doubt = cursor is not None
        cursor = cursor or SyncCursor()
        place = without_password(self._options.uri), self._options.experiment
        if (cursor.store, cursor.experiment) != place:
            cursor = SyncCursor(cursor.key, *place)
        # On disk before a run bears the key.
        cursor.write(self._directory)
        writer = MlflowRunWriter(self._options, doubt=doubt)
        described = Description(self._directory)
        writer.open(
            cursor.run_id, cursor.key, described.name, described.tags(), self._follower.began
        )
        if writer.parent.info.run_id != cursor.run_id:
            cursor.run_id, cursor.records = writer.parent.info.run_id, 0
        cursor.experiment_id = writer.experiment
        cursor.write(self._directory)
        writer.describe(described.params(), described.tags())
        writer.use(described.datasets())
        writer.reopen()
        self._cursor = cursor
        self._candidates = WRITERS[self._options.candidates](writer, described.choices)
        traces = self._options.traces
        self._traces = Traces(writer, self._directory, described.choices) if traces else None
        return writer

    def _ending(self, writer: MlflowRunWriter, status: str) -> Iterator[None]:
        """Keep results, files and pictures; yield after each part."""
        self._candidates.end_round()
        writer.measure((measure, self._follower.at) for measure in self._results())
        yield
        config = (self._directory / CONFIG).read_text(encoding="utf-8")
        writer.write_text(writer.parent, without_password(config), f"run/{CONFIG}")
        for path in (self._directory / name for name in _FILES):
            if path.is_file():
                writer.keep(path, "run")
                yield
        if (self._directory / CHECKPOINT).is_dir():
            writer.keep(self._directory / CHECKPOINT, CHECKPOINT)
            yield
        self._describe(writer, status)
        yield
        with tempfile.TemporaryDirectory() as folder:
            self._draw(Path(folder))
            writer.keep(Path(folder), "figures")
        writer.end(writer.parent.info.run_id, _STATUS.get(status, "FAILED"), self._follower.at)
        yield

    def _describe(self, writer: MlflowRunWriter, status: str) -> None:
        """Say of the run what it came to, and of candidates that its checkpoint holds them."""
        programs = read_frozen(self._directory)
        if _STATUS.get(status) == "FINISHED":
            # No other checkpoint will take the place of this one.
            self._candidates.freeze(programs, self._follower.at)
        uri, run_id = without_password(self._options.uri), writer.parent.info.run_id
        note = write_note(self._directory, programs, run_id, uri, LONGEST_TAG)
        if note:
            writer.tag({NOTE: note})

    def _results(self) -> Iterator[Measure]:
        """Yield the means over both pools, and beside them how many instances are left out.

        Those are the ones on which the upper program failed. The improvement stands there twice:
        as a share, and as the percentage that tables print.
        """
        for pool in POOLS:
            found = means(read_rows(self._directory / rows_file(pool)))
            for name, value in found.measures().items():
                yield Measure(f"{pool}/{name}", value, 0)
                if name == "improvement":
                    yield Measure(f"{pool}/{PERCENT}", round(100 * value, 2), 0)
            if found.rows:
                yield Measure(f"{pool}/failed", found.failed, 0)

    def _draw(self, folder: Path) -> None:
        records = list(journal.read(self._directory / JOURNAL))
        if any("sample" in record for record in records):
            convergence(records).savefig(folder / "convergence.png", dpi=120)
        for drawn in journal.read(self._directory / ROUTES):
            route_map(drawn).savefig(folder / "routes.png", dpi=120)
