"""Upload of a run directory to MLflow, from the position in ``mlflow.json`` on."""

import fcntl
import json
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specahd.core.errors import FileError
from specahd.core.journal import write_json
from specahd.core.plain import read_json
from specahd.core.services import without_password
from specahd.evaluation.files import ROUTES, row_timings_file, rows_file
from specahd.evaluation.rows import average_rows, read_rows
from specahd.reporting.family import read_family, read_frozen_programs
from specahd.reporting.figures import LEVELS, draw_routes, draw_scores
from specahd.reporting.pages import LINEAGE, SEARCH, lineage_page, read_routes, search_page
from specahd.runs import files
from specahd.runs.reading import read_run
from specahd.tracking.description import (
    FIGURES,
    PAGES,
    Description,
    write_links,
    write_note,
    write_opening,
    write_stop,
)
from specahd.tracking.follower import JournalEntry, Measure, RunFollower
from specahd.tracking.store import (
    LONGEST_TAG,
    NOTE,
    Options,
    cut_text,
    log_values,
    one_line_error,
    percent_metric,
    ui_directions,
)
from specahd.tracking.traces import Traces

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mlflow import MlflowClient
    from mlflow.entities import Run

_KEY = "specahd.key"
_STATUS_TAG = "status"
"""The tag with a run's status, as in ``runs.reading``, or ``running``."""
_FILES = (
    *(files.JOURNAL, files.RESPONSES, files.REPLIES, files.TIMINGS, files.PROMPTS),
    *(name(pool) for pool in files.POOLS for name in (rows_file, row_timings_file)),
    *(files.SANDBOX, files.MACHINE, ROUTES),
)
_STATUS = {"complete": "FINISHED", "partial": "FINISHED", "interrupted": "KILLED"}
"""MLflow's status by a run's status; FAILED for any other."""
# Most records of a step; few, so that the cursor is never far behind.
_RECORDS = 25
_LIMIT = 1 << 16
_PAGE_SECONDS = 10.0
"""Seconds between two versions of the page on the search, while records arrive."""
_TABLE = "candidates.json"
_ROLE, _SCORE = "role", "checkpoint_score"
"""Columns of candidates in the checkpoint: their role, and the score that selected them."""
_SPENT = ("prompt_tokens", "completion_tokens", "cost")
_COLUMNS = (
    *("candidate", "ticket", "level", "round", "operator", "outcome", "score", "parents"),
    *("idea", "detail", *_SPENT, "seconds", "source", "reply", _ROLE, _SCORE),
)


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
        write_json(directory / files.CURSOR, asdict(self))


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
    for first. Metrics have the time at which they were measured, so that MLflow drops those
    that it has. Only one process may upload a directory at a time (:func:`upload_lock`). All
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
        self._cursor: SyncCursor | None = None
        self._client: MlflowClient
        self._run_id: str
        self._traces: Traces | None = None
        self._rows: dict[str, dict[str, Any]] = {}
        self._next_page = 0.0
        self.samples = 0

    def step(self) -> bool:
        """Upload some of the new records; return False if there are none."""
        with self._errors_of_store():
            return self._step(final=False)

    def close(self, status: str, reason: str | None = None) -> Iterator[None]:
        """Upload the end of a run, and mark the run as ended; yield after each part.

        Parameters
        ----------
        reason
            Reason why the run ended early. None: the reason in the cursor of the directory.
        """
        self._reason = reason
        with self._errors_of_store():
            while self._step(final=True):
                yield
            assert self._cursor is not None
            yield from self._ending(self._cursor, status)

    @contextmanager
    def _errors_of_store(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever a store can raise
            if self._traces is not None:
                # A failed call may have succeeded on the server.
                self._traces.may_be_stored = True
            raise UploadFailed(error) from error

    def _step(self, *, final: bool) -> bool:
        if self._cursor is None:
            self._cursor = self._open(ended=final)
            return True
        if not self._waiting:
            self._waiting = self._follower.new_entries(final=final)
        part = self._waiting[:_RECORDS]
        if not part:
            return False
        new = part[max(0, self._cursor.records - self._logged) :]
        for index, entry in enumerate(part):
            if self._traces is not None:
                self._traces.tell(entry, known=index < len(part) - len(new))
            if entry.ticket:
                self._rows[entry.record["sample"]] = _candidate(entry)
        self._measure((measure, entry.at) for entry in new for measure in entry.measures)
        due = new and time.monotonic() > self._next_page
        if due or any(entry.ends_round for entry in new):
            self._write_candidates()
        if due:
            self._write_page(SEARCH, search_page)
            self._next_page = time.monotonic() + _PAGE_SECONDS
        self._cursor.records += len(new)
        self._cursor.write(self._directory)
        self._waiting = self._waiting[len(part) :]
        self._logged += len(part)
        self.samples += sum(entry.ticket > 0 for entry in part)
        return True

    def _open(self, *, ended: bool) -> SyncCursor:
        """Open the run of the directory's cursor, or a new one; return the cursor."""
        cursor = SyncCursor.read(self._directory)
        may_be_stored = cursor is not None
        cursor = cursor or SyncCursor()
        place = without_password(self._options.uri), self._options.experiment
        if (cursor.store, cursor.experiment) != place:
            cursor = SyncCursor(cursor.key, *place, reason=cursor.reason)
        if self._reason is not None:
            cursor.reason = self._reason
        # The key is written to disk before a run gets it.
        cursor.write(self._directory)
        # A request that MLflow repeats by itself could create a run twice.
        os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"
        client, experiment = self._options.connect()
        described = Description(self._directory)
        began = self._follower.began
        run = _open_run(client, experiment, cursor.key, described, began, search=may_be_stored)
        self._client, self._run_id = client, run.info.run_id
        # The results of an ended run are uploaded later.
        if not ended:
            links = write_links(experiment, self._run_id)
            under_way = {_STATUS_TAG: "running", NOTE: links + write_opening(self._directory)}
            log_values(client, self._run_id, tags=under_way)
        if self._run_id != cursor.run_id:
            cursor.run_id, cursor.records = self._run_id, 0
        cursor.experiment_id = experiment
        cursor.write(self._directory)
        wanted = self._options.traces
        # The programs of the offline proposer come from no language model.
        if described.choices.get("llm") != "offline" if wanted is None else wanted:
            arguments = client, experiment, self._run_id, self._directory
            self._traces = Traces(*arguments, described, may_be_stored=may_be_stored)
        return cursor

    def _ending(self, cursor: SyncCursor, status: str) -> Iterator[None]:
        """Upload results, files and pictures; yield after each part."""
        if self._reason is not None:
            cursor.reason = self._reason
            cursor.write(self._directory)
        self._write_candidates()
        self._measure((measure, self._follower.at) for measure in self._results())
        yield
        client, run_id = self._client, self._run_id
        config = (self._directory / files.CONFIG).read_text(encoding="utf-8")
        client.log_text(run_id, without_password(config), f"run/{files.CONFIG}")
        for path in (self._directory / name for name in _FILES):
            if path.is_file():
                client.log_artifact(run_id, str(path), "run")
                yield
        if (self._directory / files.CHECKPOINT).is_dir():
            client.log_artifacts(run_id, str(self._directory / files.CHECKPOINT), files.CHECKPOINT)
            yield
        self._describe(cursor, status)
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

    def _describe(self, cursor: SyncCursor, status: str) -> None:
        """Write the run's status and note, and mark the candidates in its checkpoint."""
        programs = read_frozen_programs(self._directory)
        if _STATUS.get(status) == "FINISHED":
            # This checkpoint is final: no other one will replace it.
            for program in programs:
                # Seed programs and programs of other runs have no row here.
                if program.id in self._rows:
                    self._rows[program.id] |= {_ROLE: program.role, _SCORE: program.score}
            self._write_candidates()
        came = read_run(self._directory).status
        begin = write_stop(self._directory, came, without_password(cursor.reason))
        begin += write_links(cursor.experiment_id, self._run_id)
        room = LONGEST_TAG - len(begin)
        note = write_note(self._directory, programs, self._run_id, cursor.store, room)
        log_values(self._client, self._run_id, tags={_STATUS_TAG: came, NOTE: begin + note})

    def _measure(self, measures: Iterable[tuple[Measure, int]]) -> None:
        """Log measures with their times in milliseconds."""
        from mlflow.entities import Metric

        metrics = [Metric(m.name, m.value, at, m.step) for m, at in measures]
        self._client.log_batch(self._run_id, metrics)

    def _write_candidates(self) -> None:
        """Write the table of candidates, if it has any row.

        One column holds a program's source, another the whole reply if it contained no program.
        """
        if self._rows:
            rows = [list(row.values()) for row in self._rows.values()]
            table = json.dumps({"columns": _COLUMNS, "data": rows})
            self._client.log_text(self._run_id, table, _TABLE)
            # This tag makes the UI show the file as a table.
            artifacts = json.dumps([{"path": _TABLE, "type": "table"}])
            log_values(self._client, self._run_id, tags={"mlflow.loggedArtifacts": artifacts})

    def _write_page(self, name: str, make: Callable[[Path, str], str]) -> None:
        page = make(self._directory, self._directory.resolve().name)
        self._client.log_text(self._run_id, page, f"{PAGES}/{name}")

    def _results(self) -> Iterator[Measure]:
        """Yield the means over both pools, and the numbers of failed instances.

        The improvement is written twice: as a share, and in percent as in tables.
        """
        for pool in files.POOLS:
            found = average_rows(read_rows(self._directory / rows_file(pool)))
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


def _open_run(
    client: "MlflowClient",
    experiment: str,
    key: str,
    described: Description,
    began: int,
    *,
    search: bool,
) -> "Run":
    """Find a run by its key, or create it; add missing fields, and mark it as running.

    Only the key identifies a run, as an untrusted directory could name any run of the store. It
    is searched for if an earlier process may have created it.
    """
    tags = {name: cut_text(value, LONGEST_TAG) for name, value in described.tags().items()}
    condition = f"tags.`{_KEY}` = '{key}'"
    found = client.search_runs([experiment], condition, max_results=1) if search else ()
    run: Run = next(iter(found), None) or client.create_run(
        experiment, start_time=began, tags={_KEY: key, **tags}, run_name=described.name
    )
    run_id, had = run.info.run_id, run.data
    # The UI lists a run's metrics in the order in which they were logged: improvement first.
    unmeasured = map(percent_metric, files.POOLS)
    log_values(
        client,
        run_id,
        {name: nan for name in unmeasured if name not in had.metrics},
        {name: value for name, value in described.params().items() if name not in had.params},
        {name: value for name, value in tags.items() if had.tags.get(name) != value},
        # Before every measured value, so that these are newer.
        at=began - 1,
    )
    if datasets := described.datasets():
        client.log_inputs(run_id, datasets)
    if run.info.status != "RUNNING":
        client.update_run(run_id, status="RUNNING")
    return run


def _candidate(entry: JournalEntry) -> dict[str, Any]:
    """Return the row of a committed sample in the table of candidates."""
    record = entry.record
    values = {
        **record,
        **{name: entry.reply.get(name) for name in _SPENT},
        "candidate": record["sample"],
        "ticket": entry.ticket,
        "parents": " ".join(record["parents"]),
        "seconds": entry.seconds.get("commit"),
        "reply": record["reply"] if record["source"] is None else None,
    }
    return {name: values.get(name) for name in _COLUMNS}
