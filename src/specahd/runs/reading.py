"""Read run directories, and choose which of several runs counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import nan
from pathlib import Path
from typing import Any

import msgspec
from msgspec import DecodeError, Struct, field
from msgspec.json import Decoder

from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.plain import parse_json, printable, read_json
from specahd.core.sums import sequential_sum
from specahd.evaluation.files import rows_file
from specahd.evaluation.rows import Row, average_rows, read_rows
from specahd.runs.configuration import RunConfiguration, RunKind
from specahd.runs.files import (
    CONFIG,
    JOURNAL,
    MACHINE,
    POOLS,
    PROMPTS,
    REPLIES,
    RESPONSES,
    TIMINGS,
    TRAINING_TIMINGS,
)
from specahd.runs.records import Answer, Measured, Other, Prompt, Sample, Timing

_FACTS = 1 << 16
_COMMIT = 7
"""The number of characters of a commit in messages."""


class RunStatus(StrEnum):
    """Progress of a run."""

    COMPLETE = "complete"
    """Its tickets are spent and its checkpoint was evaluated."""
    PARTIAL = "partial"
    """Its checkpoint was evaluated before the tickets were spent: it ended early."""
    INTERRUPTED = "interrupted"
    """Its checkpoint was not evaluated."""


class _Machine(Struct):
    version: str = field(name="version.specahd")
    commit: str | None = None


class _Timings(Struct):
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its options, the outcomes of its programs, and its checkpoint's rows.

    Parameters
    ----------
    programs
        The number of its tickets.
    recorded
        Time of the last commit of a sample, in seconds since 1970; 0 if unknown.
    """

    name: str
    kind: RunKind
    seed: int
    programs: int
    recorded: float
    samples: tuple[Sample, ...]
    selection: tuple[Row, ...]
    validation: tuple[Row, ...]

    @property
    def status(self) -> RunStatus:
        """Progress of the run."""
        if not all(self.rows(pool) for pool in POOLS):
            return RunStatus.INTERRUPTED
        spent = len(self.samples) >= self.programs
        return RunStatus.COMPLETE if spent else RunStatus.PARTIAL

    @property
    def complete(self) -> bool:
        """Whether the run counts in means: its tickets are spent and it has all its rows."""
        return self.status is RunStatus.COMPLETE

    @property
    def improvement(self) -> float:
        """The mean improvement on the pool that chose the checkpoint; nan if there is none."""
        return average_rows(self.selection).improvement

    def rows(self, pool: str) -> tuple[Row, ...]:
        """Return the rows of a pool."""
        return self.validation if pool == "validation" else self.selection


@dataclass(frozen=True, slots=True)
class StoredRun(Run):
    """A run of which a table keeps the rows and the status, and no more."""

    stated: RunStatus = RunStatus.COMPLETE

    @property
    def status(self) -> RunStatus:
        """Progress of the run, as stated."""
        return self.stated


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run's training took; nan if unknown.

    Parameters
    ----------
    tokens
        The tokens of prompts and replies together.
    cost
        In the currency of the prices.
    evaluations
        Calls of programs that were measured: of a lower program on a task, or of an upper one on
        an instance.
    cpu_seconds
        CPU seconds of all processes, without the evaluation of the checkpoint at the end.
    """

    tokens: float = nan
    cost: float = nan
    evaluations: float = nan
    cpu_seconds: float = nan


def read_spending(directory: Path) -> Spending:
    """Add up the replies and the measurements of a run.

    Raises
    ------
    FileError
        A line does not have the format of a run.
    """
    tokens, cost, evaluations = nan, nan, nan
    if (directory / REPLIES).is_file():
        replies = list(journal.read_records(directory / REPLIES, Answer))
        tokens = sum(reply.prompt_tokens + reply.completion_tokens for reply in replies)
        cost = sequential_sum(reply.cost for reply in replies)
    if (directory / RESPONSES).is_file():
        measured = read_measurements(directory)
        evaluations = float(sum(len(each.cost_before) + len(each.utilities) for each in measured))
    took: _Timings | None = read_json(directory / TRAINING_TIMINGS, _FACTS, _Timings)
    return Spending(tokens, cost, evaluations, took.cpu_seconds if took else nan)


def read_prompts(directory: Path) -> dict[str, Prompt]:
    """Return the prompts of a run, each whole, by sample.

    Raises
    ------
    FileError
        A line does not have the format of a run.
    """
    prompts: dict[str, Prompt] = {}
    for prompt in journal.read_records(directory / PROMPTS, Prompt):
        if prompt.begins in prompts:
            beginning = prompts[prompt.begins].prompt[: prompt.shared]
            prompt = msgspec.structs.replace(prompt, prompt=beginning + prompt.prompt)
        prompts[prompt.sample] = prompt
    return prompts


def read_measurements(directory: Path) -> Iterator[Measured]:
    """Yield the measurements of programs in a run, which may still be running.

    The file is the largest of a run, so its lines are decoded directly into their type.

    Raises
    ------
    FileError
        A line does not have the format of a run.
    """
    path, decode = directory / RESPONSES, Decoder(Measured).decode
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            if b'"tasks":' in line:
                continue
            try:
                yield decode(line)
            except (DecodeError, UnicodeDecodeError):
                # Half of a surrogate pair, which a program may have raised, is allowed.
                try:
                    yield parse_json(line, Measured)
                except ValueError as error:
                    raise journal.damaged_line_error(path, number, str(error)) from None


def read_run(directory: Path, name: str = "", validation: Path | None = None) -> Run:
    """Read a run directory.

    Parameters
    ----------
    name
        The run's name; by default that of the directory.
    validation
        A file with rows of the validation pool that replaces the run's own rows.

    Raises
    ------
    FileError
        A file does not have the format of a run.
    """
    config = RunConfiguration.read(directory)
    return Run(
        name=name or directory.name,
        kind=RunKind.of(config.values),
        seed=config.seed,
        programs=config.budget.programs,
        recorded=_recorded_seconds(directory),
        samples=_read_samples(directory),
        selection=read_rows(directory / rows_file("selection")),
        validation=read_rows(validation or directory / rows_file("validation")),
    )


def read_runs(folder: Path, evaluations: Path | None = None) -> list[Run]:
    """Read every run below a folder, in the order of their names.

    Parameters
    ----------
    evaluations
        Folder from which the rows of ``validation`` are read, instead of from the runs:
        ``<evaluations>/<run>/rows.jsonl``, as evaluation wrote them.

    Raises
    ------
    FileError
        There is no run, or a file does not have the format of a run.
    """
    runs = []
    for directory in sorted(path.parent for path in folder.rglob(JOURNAL)):
        if (directory / CONFIG).is_file():
            name = directory.relative_to(folder).as_posix()
            rows = evaluations / name / rows_file() if evaluations is not None else None
            runs.append(read_run(directory, name, rows))
    if not runs:
        raise FileError(f"{folder} holds no run: no folder with {CONFIG} and {JOURNAL}.")
    return runs


def name_passed_over(folder: Path, runs: Sequence[Run]) -> list[str]:
    """Return the reason for each directory below a folder that is not counted.

    Parameters
    ----------
    runs
        All runs that :func:`read_runs` found there.
    """
    reasons = []
    for path in sorted(folder.rglob(CONFIG)):
        if not (path.parent / JOURNAL).is_file():
            reasons.append(f"{path.parent.relative_to(folder).as_posix()}: has no {JOURNAL}")
    for path in sorted(folder.rglob(JOURNAL)):
        if not (path.parent / CONFIG).is_file():
            reasons.append(f"{path.parent.relative_to(folder).as_posix()}: has no {CONFIG}")
    chosen = {(run.kind, run.seed): run for run in choose_runs(runs)}
    for run in runs:
        other = chosen[run.kind, run.seed]
        if other is not run:
            why = (
                "is newer" if run.complete else "is complete" if other.complete else "came further"
            )
            reasons.append(f"{run.name}: {other.name}, of the same kind and seed, {why}")
    return reasons


def choose_runs(runs: Iterable[Run]) -> list[Run]:
    """Keep one run of each kind and seed, independently of scores.

    The newest complete run counts, by recorded time; if there is none, that with most samples.
    """
    best: dict[tuple[RunKind, int], Run] = {}
    for run in runs:
        key = (run.kind, run.seed)
        best[key] = max(best.get(key, run), run, key=_precedence)
    return sorted(best.values(), key=lambda run: (run.kind.problem, run.name))


def require_current(directory: Path, before: Sequence[journal.Record] = ()) -> None:
    """Check that a run, perhaps of another version, has the records needed to resume it.

    Parameters
    ----------
    before
        The records that this version writes before the first sample.

    Raises
    ------
    FileError
        The first sample in the journal names no contract, or does not follow those records.
    """
    path = directory / JOURNAL
    head: list[journal.Record] = []
    for record in journal.read_records(path) if path.is_file() else ():
        head.append(record)
        if is_sample(record):
            break
    else:
        return
    if "contract" not in head[-1] or any(record not in head for record in before):
        raise FileError(
            f"{directory} was written by {_read_version(directory)}, which alone can go "
            "on with it; use that version, or begin anew in another directory."
        )


def _precedence(run: Run) -> tuple[bool, float, float, str]:
    # Among partial runs the number of samples comes before the time.
    progress = (run.recorded, 0.0) if run.complete else (float(len(run.samples)), run.recorded)
    return run.complete, *progress, run.name


def _read_samples(directory: Path) -> tuple[Sample, ...]:
    records = journal.read_records(
        directory / JOURNAL, lambda each: Sample if is_sample(each) else Other
    )
    return tuple(record for record in records if isinstance(record, Sample))


def is_sample(record: Mapping[str, Any]) -> bool:
    """Return whether a record of the journal is a program's."""
    return "sample" in record and "record" not in record


def _recorded_seconds(directory: Path) -> float:
    return max((each.at for each in journal.read_records(directory / TIMINGS, Timing)), default=0.0)


def _read_version(directory: Path) -> str:
    """Return the version of specahd that wrote a run, as far as it is recorded."""
    facts: _Machine | None = read_json(directory / MACHINE, _FACTS, _Machine)
    if facts is None:
        return "an older version of specahd"
    of = f" of commit {printable(facts.commit[:_COMMIT])}" if facts.commit else ""
    return f"specahd {printable(facts.version)}{of}"
