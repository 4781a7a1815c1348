"""Brings what a run directory tells into MLflow, from where that was left."""

import sqlite3
import tempfile
from collections.abc import Iterator
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
from specahd.tracking.account import Account, Entry, Measure
from specahd.tracking.book import Book, without_password
from specahd.tracking.candidates import KEEPERS, Candidates
from specahd.tracking.description import Description
from specahd.tracking.figures import convergence, route_map
from specahd.tracking.mark import Mark
from specahd.tracking.options import Options
from specahd.tracking.traces import Traces

_FILES = (
    *(JOURNAL, RESPONSES, REPLIES, TIMINGS, PROMPTS),
    *(name(pool) for pool in POOLS for name in (rows_file, row_timings_file)),
    *(SANDBOX, MACHINE, ROUTES),
)
# A run that its own limit on cost ended early came to its end all the same.
_STATUS = {
    "complete": "FINISHED",
    "partial": "FINISHED",
    "interrupted": "KILLED",
    "failed": "FAILED",
}
# So many records at a time, so that the mark is never far behind.
_RECORDS = 25


class Undelivered(Exception):
    """MLflow did not take something; the message says why, in one line without passwords."""

    def __init__(self, error: BaseException) -> None:
        # What the disk, the network or the database said is plainer than what was made of it.
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError | sqlite3.Error):
                error = cause
            cause = cause.__cause__ or cause.__context__
        [first, *_] = str(error).splitlines() or [""]
        super().__init__(without_password(f"{type(error).__name__}: {first}")[:300])


class Delivery:
    """The way of one run directory into one MLflow run.

    Whatever fails can be tried again, by this object or by another process: the mark
    in the directory says how far things are, and what may be there already is looked
    for first. Only one process may do it at a time (:func:`~specahd.tracking.mark.sole`).

    Attributes
    ----------
    samples
        How many samples it has gone through.
    """

    def __init__(self, options: Options, directory: Path) -> None:
        self._options = options
        self._directory = directory
        self._account = Account(directory)
        self._waiting: list[Entry] = []
        self._told = 0
        self._book: Book | None = None
        self.samples = 0

    def step(self, *, final: bool = False) -> bool:
        """Deliver some of what is there and not delivered; say whether there was any.

        Raises
        ------
        Undelivered
        """
        try:
            return self._step(final=final)
        except Exception as error:  # whatever a store can raise
            self._reckon()
            raise Undelivered(error) from error

    def close(self, status: str) -> Iterator[None]:
        """Deliver what stands at a run's end, and mark the run as ended; yields after each part.

        Raises
        ------
        Undelivered
        """
        try:
            while self._step(final=True):
                yield
            assert self._book is not None
            for _ in self._ending(self._book, status):
                yield
        except Exception as error:  # whatever a store can raise
            self._reckon()
            raise Undelivered(error) from error

    def _reckon(self) -> None:
        """Expect that what failed may have been done all the same."""
        if self._book is not None:
            self._book.doubt = True

    def _step(self, *, final: bool) -> bool:
        if self._book is None:
            self._book = self._open()
            return True
        book = self._book
        if not self._waiting:
            self._waiting = self._account.news(final=final)
        part = self._waiting[:_RECORDS]
        if not part:
            return False
        new = part[max(0, self._mark.records - self._told) :]
        for index, entry in enumerate(part):
            known = index < len(part) - len(new)
            if entry.ticket and self._traces is not None and not known:
                self._traces.tell(entry)
            if entry.ticket:
                self._candidates.tell(entry, known=known)
        book.measure((measure, entry.at) for entry in new for measure in entry.measures)
        if any(entry.ends_round for entry in new):
            self._candidates.end_round()
        self._mark.records += len(new)
        self._mark.write(self._directory)
        self._waiting = self._waiting[len(part) :]
        self._told += len(part)
        self.samples += sum(entry.ticket > 0 for entry in part)
        return True

    def _open(self) -> Book:
        """Return the book, opened at the run: that of the mark, else a new one."""
        mark = Mark.read(self._directory)
        doubt = mark is not None
        mark = mark or Mark.new()
        place = without_password(self._options.uri), self._options.experiment
        if (mark.store, mark.experiment) != place:
            mark = Mark(mark.key, *place)
        # On disk before a run bears the key.
        mark.write(self._directory)
        book = Book(self._options.store, doubt=doubt)
        described = Description(self._directory)
        book.open(mark.run_id, mark.key, described.name, described.tags(), self._account.began)
        if book.parent.info.run_id != mark.run_id:
            mark.run_id, mark.records = book.parent.info.run_id, 0
            mark.write(self._directory)
        book.describe(described.params(), described.tags())
        book.use(described.datasets())
        book.reopen()
        self._mark = mark
        self._candidates: Candidates = KEEPERS[self._options.candidates](book, described.choices)
        traces = self._options.traces
        self._traces = Traces(book, self._directory, described.choices) if traces else None
        return book

    def _ending(self, book: Book, status: str) -> Iterator[None]:
        """Keep results, files and pictures; yield after each part."""
        self._candidates.end_round()
        book.measure((measure, self._account.at) for measure in self._results())
        yield
        config = (self._directory / CONFIG).read_text(encoding="utf-8")
        book.write_text(book.parent, without_password(config), f"run/{CONFIG}")
        for path in (self._directory / name for name in _FILES):
            if path.is_file():
                book.keep(path, "run")
                yield
        if (self._directory / CHECKPOINT).is_dir():
            book.keep(self._directory / CHECKPOINT, CHECKPOINT)
            yield
        with tempfile.TemporaryDirectory() as folder:
            self._draw(Path(folder))
            book.keep(Path(folder), "figures")
        book.end(book.parent.info.run_id, _STATUS.get(status, "FAILED"), self._account.at)
        yield

    def _results(self) -> Iterator[Measure]:
        """Yield the means over both pools, and beside them how many instances are left out.

        Those are the ones on which the upper program failed.
        """
        for pool in POOLS:
            found = means(read_rows(self._directory / rows_file(pool)))
            for name, value in found.measures().items():
                yield Measure(f"{pool}/{name}", value, 0)
            if found.rows:
                yield Measure(f"{pool}/failed", found.failed, 0)

    def _draw(self, folder: Path) -> None:
        records = list(journal.read(self._directory / JOURNAL))
        if any("sample" in record for record in records):
            convergence(records).savefig(folder / "convergence.png", dpi=120)
        for drawn in journal.read(self._directory / ROUTES):
            route_map(drawn).savefig(folder / "routes.png", dpi=120)
