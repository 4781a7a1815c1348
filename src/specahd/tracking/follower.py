"""Follow the records of a run directory, during the run or afterwards.

The journal is the queue between a search and its tracker: its records can be
uploaded at any time, and repeatedly with the same result.
"""

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from specahd.core import journal
from specahd.core.journal import Record
from specahd.evaluation.files import ROUTES, rows_file
from specahd.evaluation.rows import Routes, RowRecord
from specahd.runs import files
from specahd.runs.reading import is_sample
from specahd.runs.records import (
    Answer,
    Prompt,
    Timing,
    responses_type,
    uploaded_journal_type,
)

# Number of samples over which programs per minute are measured.
_WINDOW = 20
_REQUESTED = {None: "sample", "text": "text"}
"""Field with the request that a record answers, by the kind of the record."""
_SPENT = ("prompt_tokens", "completion_tokens", "cost", "refunds")


@dataclass(frozen=True, slots=True)
class Measure:
    """One value of a metric; ``step`` is a ticket, or a round for ``round/…``."""

    name: str
    value: float
    step: int


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One record of the journal, with the related records of the other files.

    Parameters
    ----------
    at
        Time of the commit in milliseconds; every reading returns the same value.
    ticket
        Position of a sample among all samples, from 1; 0 for any other record.
    reply
        The sample's record in ``wal.jsonl``: text, tokens, cost.
    seconds
        Seconds from the sample's request until the ``reply``, and until the ``commit``.
    """

    record: Record
    at: int
    ticket: int
    measures: tuple[Measure, ...]
    reply: Record = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def request(self) -> str | None:
        """The request that a program or a text answers; None for any other record."""
        return self.record.get(_REQUESTED.get(self.record.get("record"), ""))

    @property
    def ends_round(self) -> bool:
        return self.record.get("record") == "round"


class RunFollower:
    """An incremental reader of a run directory.

    Attributes
    ----------
    began, at
        Start of the run, and commit of the last record that was read, in milliseconds.
    """

    def __init__(self, directory: Path) -> None:
        self._journal = _GrowingFile(directory / files.JOURNAL)
        self._wal = _GrowingFile(directory / files.REPLIES)
        self._timings = _GrowingFile(directory / files.TIMINGS)
        self._responses = _GrowingFile(directory / files.RESPONSES)
        self._pending: deque[Record] = deque()
        self._replies: dict[str, Record] = {}
        self._seconds: dict[str, Record] = {}
        self._utilities: dict[str, tuple[float, float]] = {}
        self._outcomes: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self._commits: deque[int] = deque(maxlen=_WINDOW + 1)
        self._tickets = 0
        # The file dates the start of the run, since it is never written again.
        self.began = (directory / files.CONFIG).stat().st_mtime_ns // 1_000_000
        self.at = self.began

    def new_entries(self, *, final: bool = False) -> list[JournalEntry]:
        """Return the new entries since the last call.

        A sample without a written time is left for the next call, unless this one is ``final``.
        """
        # Read first: the journal's line is written after all others of its sample but the time.
        self._pending.extend(self._journal.read())
        self._replies.update((record["sample"], record) for record in self._wal.read())
        self._seconds.update((record["sample"], record) for record in self._timings.read())
        for record in self._responses.read(containing=b'"utilities"'):
            program = record["sample"] if "sample" in record else record["carried"]
            if record["utilities"]:
                self._utilities[program] = fmean(record["utilities"]), fmean(record["penalties"])
        last = next((record for record in reversed(self._pending) if is_sample(record)), None)
        entries = []
        while self._pending and (
            final or self._pending[0] is not last or last["sample"] in self._seconds
        ):
            entries.append(self._entry(self._pending.popleft()))
        return entries

    def _entry(self, record: Record) -> JournalEntry:
        if record.get("record") == "round":
            return JournalEntry(record, self.at, 0, tuple(self._round_entry(record)))
        if record.get("record") == "text":
            # A text's cost counts with the next program, since metrics are by ticket.
            reply = self._replies.pop(record["text"], {})
            self._texts.update({name: reply[name] for name in _SPENT if name in reply})
            self._texts["auxiliary_calls"] += 1
            return JournalEntry(record, self.at, 0, (), reply)
        if not is_sample(record):
            return JournalEntry(record, self.at, 0, ())
        sample = record["sample"]
        seconds = self._seconds.pop(sample, {})
        reply = self._replies.pop(sample, {})
        if "at" in seconds:
            self.at = round(1000 * seconds["at"])
        self._tickets += 1
        measures = tuple(self._sample_entry(record, reply))
        return JournalEntry(record, self.at, self._tickets, measures, reply, seconds)

    def _sample_entry(self, record: Record, reply: Record) -> Iterator[Measure]:
        level, outcome = record["level"], record["outcome"]
        self._outcomes[outcome] += 1
        self._commits.append(self.at)
        values = {
            f"outcome/{outcome}": self._outcomes[outcome],
            f"{level}/score": record["score"],
            f"{level}/best": record["best"],
            "spent/tickets": self._tickets,
        }
        for name in (*_SPENT, "auxiliary_calls"):
            spent = reply.get(name, 0) + self._texts.pop(name, 0)
            if spent:
                self._spent[name] += spent
                values[f"spent/{name}"] = self._spent[name]
        took = self._commits[-1] - self._commits[0]
        if took > 0:
            values["programs_per_minute"] = 60_000 * (len(self._commits) - 1) / took
        for name, value in values.items():
            if value is not None:
                yield Measure(name, float(value), self._tickets)

    def _round_entry(self, record: Record) -> Iterator[Measure]:
        number = record["round"]
        for name, value in record.items():
            if name != "round" and isinstance(value, int | float):
                yield Measure(f"round/{name}", float(value), number)
        if record.get("upper") in self._utilities:
            for name, value in zip(("U", "penalty"), self._utilities[record["upper"]], strict=True):
                yield Measure(f"round/{name}", value, number)


class _GrowingFile:
    """A file of JSON lines that another process may still be writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def read(self, containing: bytes = b"") -> Iterator[dict[str, Any]]:
        """Yield the records of new complete lines that contain the given bytes."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                if containing in line:
                    yield json.loads(line)


def check_records(directory: Path) -> None:
    """Check all records that are uploaded to MLflow against their types.

    Raises
    ------
    FileError
        A record is not of its type.
    """
    kinds: dict[str, Any] = {
        files.JOURNAL: uploaded_journal_type,
        files.RESPONSES: responses_type,
        files.REPLIES: Answer,
        files.TIMINGS: Timing,
        files.PROMPTS: Prompt,
        **{rows_file(pool): RowRecord for pool in files.POOLS},
        ROUTES: Routes,
    }
    for name, kind in kinds.items():
        for _ in journal.read_records(directory / name, kind):
            pass
