"""What the jobs of a sweep have come to, read from the directories that they left."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from omegaconf import OmegaConf

from specahd.core import journal

POOLS = ("selection", "validation")
_MEASURES = ("improvement", "baseline_cost", "cost")
# What differs between the seeds of one configuration.
_OWN = ("seed", "record", "resume")


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
    """Read the runs in a sweep's directory; a job that left no run is not among them."""
    return [_read(path.parent) for path in sorted(sweep.glob("*/config.yaml"))]


def configurations(jobs: Sequence[Job]) -> list[Configuration]:
    """Put together the jobs that differ in nothing but the seed."""
    varying = _varying(jobs)
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        groups[" ".join(f"{key}={job.options.get(key)}" for key in varying)].append(job)
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
    config: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(directory / "config.yaml"))  # type: ignore[assignment]  # a mapping at the top
    choices = config.pop("choices", {})
    # What a choice brings with it stands under its name: budget, budget.programs.
    options = {str(key): str(value) for key, value in choices.items()} | dict(_flat(config))
    complete = is_complete(directory)
    return Job(directory.name, options, complete, _measures(directory) if complete else {})


def _measures(directory: Path) -> dict[str, float]:
    measures = {}
    for pool in POOLS:
        rows = [row for row in journal.read(directory / f"{pool}.jsonl") if row["status"] == "ok"]
        for name in _MEASURES:
            if rows:
                measures[f"{pool}/{name}"] = fmean(row[name] for row in rows)
    return measures


def _varying(jobs: Sequence[Job]) -> list[str]:
    """Return the options in which the jobs differ, a choice in place of all that it brings."""
    keys = sorted({key for job in jobs for key in job.options if key not in _OWN})
    varying: list[str] = []
    for key in keys:
        chosen = any(key.startswith(f"{other}.") for other in varying)
        if not chosen and len({job.options.get(key) for job in jobs}) > 1:
            varying.append(key)
    return varying


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
