"""Upload of a run directory to MLflow, from the position in ``mlflow.json`` on."""

import fcntl
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from specahd.core.errors import FileError
from specahd.core.plain import read_json
from specahd.core.services import without_password
from specahd.reporting.family import read_family, read_frozen_programs
from specahd.reporting.figures import LEVELS, draw_routes, draw_scores
from specahd.reporting.pages import LINEAGE, SEARCH, lineage_page, read_routes, search_page
from specahd.runs import files
from specahd.runs.reading import read_run
from specahd.runs.rows import average_rows, read_rows
from specahd.tracking.candidates import CandidateTable
from specahd.tracking.description import (
    FIGURES,
    NOTE,
    PAGES,
    STATUS,
    Description,
    write_links,
    write_note,
    write_opening,
    write_stop,
)
from specahd.tracking.follower import JournalEntry, Measure, RunFollower
from specahd.tracking.run_writer import LONGEST_TAG, MlflowRunWriter
from specahd.tracking.store import Options, one_line_error
from specahd.tracking.traces import Traces, asks_model
from specahd.tracking.view import percent_metric, ui_directions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FILES = (
    *(files.JOURNAL, files.RESPONSES, files.REPLIES, files.TIMINGS, files.PROMPTS),
    *(name(pool) for pool in files.POOLS for name in (files.rows_file, files.row_timings_file)),
    *(files.SANDBOX, files.MACHINE, files.ROUTES),
)
_STATUS = {"complete": "FINISHED", "partial": "FINISHED", "interrupted": "KILLED"}
"""MLflow's status by a run's status; FAILED for any other."""
# The UI lists a run's metrics in the order in which they were logged: improvement first.
_UNMEASURED = [percent_metric(pool) for pool in files.POOLS]
# Most records of a step; few, so that the cursor is never far behind.
_RECORDS = 25
_LIMIT = 1 << 16
_PAGE_SECONDS = 10.0
"""Seconds between two versions of the page on the search, while records arrive."""


@dataclass(slots=True)
class SyncCursor:
    """Position of the upload of a run, and its destination.

    Parameters
    ----------
    key
        Value of a tag by which the run is found; a new one by default.
    store, experiment, experiment_id, run_id
        Location of the run; empty until it is known. ``experiment`` is the name of the
        experiment. A cursor of an earlier version has no ``experiment_id``.
    records
        Number of records of the journal that are uploaded.
    reason
        Reason why the run ended early; empty if it is unknown or the run continues.
    """

    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    store: str = ""
    experiment: str = ""
    experiment_id: str = ""
    run_id: str = ""
    records: int = 0
    reason: str = ""

    @classmethod
    def read(cls, directory: Path) -> "SyncCursor | None":
        """Read the cursor of a run directory; None if there is no valid one."""
        kept: SyncCursor | None = read_json(directory / files.CURSOR, _LIMIT, cls)
        return kept if kept is not None and kept.records >= 0 else None

    def write(self, directory: Path) -> None:
        """Write the cursor to the directory atomically."""
        files.write_json(directory / files.CURSOR, asdict(self))


def run_directions(directory: Path) -> str:
    """Return a line on where to see a run in MLflow, empty if it was never uploaded."""
    cursor = SyncCursor.read(directory)
    return (
        ui_directions(cursor.store, cursor.experiment_id) if cursor and cursor.experiment_id else ""
    )


@contextmanager
def upload_lock(directory: Path) -> Iterator[None]:
    """Lock a run directory against uploads by other processes.

    Raises
    ------
    FileError
        Another process uploads the directory.
    """
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise FileError(f"Another process is bringing {directory} into MLflow.") from None
    finally:
        os.close(handle)


class UploadFailed(Exception):
    """Failure of an upload; the message is one line with the reason, without passwords."""

    def __init__(self, error: BaseException) -> None:
        # The error of the disk, the network or the database is clearer than its wrappers.
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError | sqlite3.Error):
                error = cause
            cause = cause.__cause__ or cause.__context__
        super().__init__(one_line_error(error)[:300])


class RunUpload:
    """The upload of one run directory to one MLflow run.

    A failed step can be repeated, by this object or by another process: the cursor in the
    directory stores the position, and values that may be in the store already are searched
    for first. Only one process may upload a directory at a time (:func:`upload_lock`). All
    exceptions are raised as :class:`UploadFailed`.

    Attributes
    ----------
    samples
        Number of samples processed, with those of earlier uploads.
    """

    def __init__(self, options: Options, directory: Path) -> None:
        self._options = options
        self._directory = directory
        self._follower = RunFollower(directory)
        self._waiting: list[JournalEntry] = []
        self._logged = 0
        self._reason: str | None = ""
        self._writer: MlflowRunWriter | None = None
        self._next_page = 0.0
        self.samples = 0

    def step(self) -> bool:
        """Upload some of the new records; return False if there are none."""
        with self._telling():
            return self._step(final=False)

    def close(self, status: str, reason: str | None = None) -> Iterator[None]:
        """Upload the end of a run, and mark the run as ended; yield after each part.

        Parameters
        ----------
        reason
            Reason why the run ended early. None: the reason in the cursor of the directory.
        """
        self._reason = reason
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
                # A failed call may have succeeded on the server.
                self._writer.doubt = True
            raise UploadFailed(error) from error

    def _step(self, *, final: bool) -> bool:
        if self._writer is None:
            self._writer = self._open(ended=final)
            return True
        writer = self._writer
        if not self._waiting:
            self._waiting = self._follower.new_entries(final=final)
        part = self._waiting[:_RECORDS]
        if not part:
            return False
        new = part[max(0, self._cursor.records - self._logged) :]
        for index, entry in enumerate(part):
            known = index < len(part) - len(new)
            if self._traces is not None:
                self._traces.tell(entry, known=known)
            if entry.ticket:
                self._candidates.tell(entry)
        writer.measure((measure, entry.at) for entry in new for measure in entry.measures)
        due = new and time.monotonic() > self._next_page
        if due or any(entry.ends_round for entry in new):
            self._candidates.write()
        if due:
            self._write_page(SEARCH, search_page)
            self._next_page = time.monotonic() + _PAGE_SECONDS
        self._cursor.records += len(new)
        self._cursor.write(self._directory)
        self._waiting = self._waiting[len(part) :]
        self._logged += len(part)
        self.samples += sum(entry.ticket > 0 for entry in part)
        return True

    def _open(self, *, ended: bool) -> MlflowRunWriter:
        """Return the writer of the cursor's run, or of a new one."""
        cursor = SyncCursor.read(self._directory)
        doubt = cursor is not None
        cursor = cursor or SyncCursor()
        place = without_password(self._options.uri), self._options.experiment
        if (cursor.store, cursor.experiment) != place:
            cursor = SyncCursor(cursor.key, *place, reason=cursor.reason)
        if self._reason is not None:
            cursor.reason = self._reason
        # The key is written to disk before a run gets it.
        cursor.write(self._directory)
        writer = MlflowRunWriter(self._options, doubt=doubt)
        described = Description(self._directory)
        writer.open(cursor.key, described, self._follower.began, _UNMEASURED)
        # The results of an ended run are uploaded later.
        if not ended:
            links = write_links(writer.experiment, writer.parent.info.run_id)
            under_way = {STATUS: "running", NOTE: links + write_opening(self._directory)}
            writer.fill(tags=under_way)
        if writer.parent.info.run_id != cursor.run_id:
            cursor.run_id, cursor.records = writer.parent.info.run_id, 0
        cursor.experiment_id = writer.experiment
        cursor.write(self._directory)
        self._cursor = cursor
        self._candidates = CandidateTable(writer)
        wanted = self._options.traces
        if wanted is None:
            wanted = asks_model(described.choices)
        arguments = writer, self._directory, described.choices, described.params()
        self._traces = Traces(*arguments) if wanted else None
        return writer

    def _ending(self, writer: MlflowRunWriter, status: str) -> Iterator[None]:
        """Upload results, files and pictures; yield after each part."""
        if self._reason is not None:
            self._cursor.reason = self._reason
            self._cursor.write(self._directory)
        self._candidates.write()
        writer.measure((measure, self._follower.at) for measure in self._results())
        yield
        client, run_id = writer.client, writer.parent.info.run_id
        config = (self._directory / files.CONFIG).read_text(encoding="utf-8")
        writer.write_text(without_password(config), f"run/{files.CONFIG}")
        for path in (self._directory / name for name in _FILES):
            if path.is_file():
                client.log_artifact(run_id, str(path), "run")
                yield
        if (self._directory / files.CHECKPOINT).is_dir():
            client.log_artifacts(run_id, str(self._directory / files.CHECKPOINT), files.CHECKPOINT)
            yield
        self._describe(writer, status)
        yield
        self._write_page(LINEAGE, lineage_page)
        self._write_page(SEARCH, search_page)
        yield
        for name, figure in self._figures():
            for ending in ("png", "svg"):
                place = f"{FIGURES}/{name}.{ending}"
                client.log_figure(run_id, figure, place, save_kwargs={"dpi": 120})
        client.set_terminated(run_id, _STATUS.get(status, "FAILED"), self._follower.at)
        yield

    def _describe(self, writer: MlflowRunWriter, status: str) -> None:
        """Write the run's status and note, and mark the candidates in its checkpoint."""
        programs = read_frozen_programs(self._directory)
        if _STATUS.get(status) == "FINISHED":
            # This checkpoint is final: no other one will replace it.
            self._candidates.mark(programs)
            self._candidates.write()
        uri, run_id = without_password(self._options.uri), writer.parent.info.run_id
        came = read_run(self._directory).status
        begin = write_stop(self._directory, came, without_password(self._cursor.reason))
        begin += write_links(writer.experiment, run_id)
        note = begin + write_note(self._directory, programs, run_id, uri, LONGEST_TAG - len(begin))
        writer.fill(tags={STATUS: came, NOTE: note})

    def _write_page(self, name: str, make: Callable[[Path, str], str]) -> None:
        assert self._writer is not None
        page = make(self._directory, self._directory.resolve().name)
        self._writer.write_text(page, f"{PAGES}/{name}")

    def _results(self) -> Iterator[Measure]:
        """Yield the means over both pools, and the numbers of failed instances.

        The improvement is written twice: as a share, and in percent as in tables.
        """
        for pool in files.POOLS:
            found = average_rows(read_rows(self._directory / files.rows_file(pool)))
            for name, value in found.measures().items():
                yield Measure(f"{pool}/{name}", value, 0)
                if name == "improvement":
                    yield Measure(percent_metric(pool), round(100 * value, 2), 0)
            if found.rows:
                yield Measure(f"{pool}/failed", found.failed, 0)

    def _figures(self) -> "Iterator[tuple[str, Figure]]":
        programs = read_family(self._directory).requested()
        if levels := [level for level in LEVELS if any(each.level is level for each in programs)]:
            yield "convergence", draw_scores(programs, levels)
        if drawn := read_routes(self._directory):
            yield "routes", draw_routes(*drawn)
