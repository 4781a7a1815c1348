"""What the jobs of a sweep have come to, read from the directories that they left."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.plain import check_plain, content, misfit, parse_yaml
from specahd.tracking.records import row_shape

POOLS = ("selection", "validation")
_MEASURES = ("improvement", "baseline_cost", "cost")
_LIMIT = 1 << 20
# What enters into no result, or is the seed's own.
_OWN = (
    *("seed", "record", "resume", "executor", "tracking", "sandbox", "search.samplers"),
    *("pools.dir", "memory.base_url", "memory.api_key_env", "memory.batch", "memory.timeout"),
    *("memory.attempts", "memory.backoff", "memory.patience", "memory.cache"),
)


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep: its options by dotted name, and its means over each pool."""

    name: str
    options: Mapping[str, str]
    complete: bool
    measures: Mapping[str, float]

    @property
    def seed(self) -> str:
        return self.options.get("seed", "")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The jobs of a sweep that differ in nothing but the seed; ``label`` is empty for all jobs.

    Means and deviations are those of the complete jobs. A deviation is that of a
    sample (n - 1), so there is none of a single job.
    """

    label: str
    seeds: Sequence[str]
    complete: int
    partial: int
    means: Mapping[str, float]
    deviations: Mapping[str, float]


def is_complete(directory: Path) -> bool:
    """Whether the run in a directory came to its end."""
    return all((directory / f"{pool}.jsonl").is_file() for pool in POOLS)


def read_jobs(sweep: Path) -> list[Job]:
    """Read the runs in a sweep's directory; a job that left no run is not among them.

    Of several with one configuration and seed one counts, a complete one before others: a
    sweep that was called again with other options may have numbered its jobs anew.
    """
    jobs = [_read(path.parent) for path in sorted(sweep.glob("*/config.yaml"))]
    varying = _varying(jobs)
    one: dict[tuple[str, str], Job] = {}
    for job in sorted(jobs, key=lambda job: not job.complete):
        one.setdefault((_label(job, varying), job.seed), job)
    return sorted(one.values(), key=lambda job: job.name)


def configurations(jobs: Sequence[Job]) -> list[Configuration]:
    """Put together the jobs that differ in nothing but the seed."""
    varying = _varying(jobs)
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        groups[_label(job, varying)].append(job)
    return [_summarise(label, groups[label]) for label in sorted(groups)]


def table(jobs: Sequence[Job]) -> str:
    """Return the jobs as a table of comma-separated values."""
    varying = _varying(jobs)
    names = sorted({name for job in jobs for name in job.measures})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["job", "status", "seed", *varying, *names])
    for job in jobs:
        writer.writerow(
            [job.name, "complete" if job.complete else "partial", job.seed]
            + [job.options.get(key, "") for key in varying]
            + [job.measures.get(name, "") for name in names]
        )
    return text.getvalue()


def _read(directory: Path) -> Job:
    path = directory / "config.yaml"
    try:
        config: dict[str, Any] = parse_yaml(content(path, _LIMIT))
        check_plain(config)
    except ValueError as error:
        raise FileError(f"{path} is not the configuration of a run ({error}).") from None
    if misfit(config, {"choices": dict[str, str | None]}) is not None:
        raise FileError(f"{path} is not the configuration of a run.")
    choices = config.pop("choices")
    # What a choice brings with it stands under its name: budget, budget.programs.
    options = {str(key): str(value) for key, value in choices.items()} | dict(_flat(config))
    complete = is_complete(directory)
    return Job(directory.name, options, complete, _measures(directory) if complete else {})


def _measures(directory: Path) -> dict[str, float]:
    measures = {}
    for pool in POOLS:
        written = journal.read(directory / f"{pool}.jsonl", row_shape)
        rows = [row for row in written if row["status"] == "ok"]
        for name in _MEASURES:
            if rows:
                measures[f"{pool}/{name}"] = fmean(row[name] for row in rows)
    return measures


def _varying(jobs: Sequence[Job]) -> list[str]:
    """Return the options in which jobs differ that are alike in those before them.

    Choices come first, so that one stands in place of all that it brings.
    """
    keys = {key for job in jobs for key in job.options if not _is_own(key)}
    varying: list[str] = []
    for key in sorted(keys, key=lambda key: ("." in key, key)):
        values: dict[str, set[str | None]] = defaultdict(set)
        for job in jobs:
            values[_label(job, varying)].add(job.options.get(key))
        if any(len(found) > 1 for found in values.values()):
            varying.append(key)
    return varying


def _label(job: Job, varying: Sequence[str]) -> str:
    return " ".join(f"{key}={job.options.get(key)}" for key in varying)


def _is_own(key: str) -> bool:
    return any(key == own or key.startswith(f"{own}.") for own in _OWN)


def _summarise(label: str, jobs: Sequence[Job]) -> Configuration:
    complete = [job for job in jobs if job.complete]
    values: dict[str, list[float]] = defaultdict(list)
    for job in complete:
        for name, value in job.measures.items():
            values[name].append(value)
    return Configuration(
        label,
        sorted((job.seed for job in jobs), key=lambda seed: (len(seed), seed)),
        len(complete),
        len(jobs) - len(complete),
        {name: fmean(each) for name, each in values.items()},
        {name: stdev(each) for name, each in values.items() if len(each) > 1},
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
