"""The results of a sweep's jobs, read from their directories."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from specahd.core.display import csv_text
from specahd.runs.files import CONFIG, POOLS, row_timings_file
from specahd.runs.kinds import varying_options
from specahd.runs.reading import Run, choose_runs, read_run, read_spending
from specahd.runs.rows import average_rows, read_seconds

if TYPE_CHECKING:
    from specahd.reporting.document import Document

RESULTS_PAGE = "results.html"
"""Name of the page of a sweep, among its artifacts."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Jobs of a sweep that differ only in the seed; ``label`` is empty if these are all jobs.

    Means and deviations are those of the complete jobs. A deviation is that of a
    sample (n - 1), so a single job has none.

    Parameters
    ----------
    best
        The complete job with the largest improvement on the selection pool; None if none is
        complete.
    """

    label: str
    seeds: Sequence[int]
    complete: int
    partial: Sequence[str]
    means: Mapping[str, float]
    deviations: Mapping[str, float]
    best: str | None


@dataclass(frozen=True, slots=True)
class SweepResults:
    """The jobs that wrote a run, sorted by name: one of each configuration and seed.

    A sweep that was called again with other options may have renumbered its jobs.

    Parameters
    ----------
    failed
        Number of jobs that began and wrote no run.
    not_started
        Number of jobs that never began, since the sweep ended before.
    """

    directory: Path
    jobs: Sequence[Run]
    failed: int
    not_started: int = 0

    @classmethod
    def read(cls, directory: Path, jobs: int) -> "SweepResults":
        """Read the directory of a sweep with this number of jobs.

        Raises
        ------
        FileError
            A job's file is not one that a run writes.
        """
        found = choose_runs(read_run(path.parent) for path in directory.glob(f"*/{CONFIG}"))
        found.sort(key=lambda run: run.name)
        missing = max(0, jobs - len(found))
        # A job that begins has a directory, which is removed only when the sweep has ended.
        places = [path for path in directory.glob("[!.]*") if path.is_dir()]
        begun = sum(not (path / CONFIG).exists() for path in places)
        failed = min(missing, begun)
        return cls(directory, found, failed, missing - failed)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of complete, partial and failed jobs, and of jobs not started, if any."""
        complete = sum(job.complete for job in self.jobs)
        partial = len(self.jobs) - complete
        counts = {"complete": complete, "partial": partial, "failed": self.failed}
        return counts | ({"not started": self.not_started} if self.not_started else {})

    def configurations(self) -> list[Configuration]:
        """Group the jobs that differ only in their seed."""
        keys = self._varying()
        groups: dict[str, list[Run]] = defaultdict(list)
        for job in self.jobs:
            values = zip(keys, job.kind.values(keys), strict=True)
            groups[" ".join(f"{key}={value}" for key, value in values)].append(job)
        return [_summarise(label, groups[label]) for label in sorted(groups)]

    def table(self) -> str:
        """Return the jobs as a table of comma-separated values."""
        keys = self._varying()
        measures = [_pool_means(job) for job in self.jobs]
        names = sorted({name for each in measures for name in each})
        rows: list[Sequence[object]] = [["job", "status", "seed", *keys, *names]]
        for job, each in zip(self.jobs, measures, strict=True):
            status = "complete" if job.complete else "partial"
            values = [each.get(name, "") for name in names]
            rows.append([job.name, status, job.seed, *job.kind.values(keys), *values])
        return csv_text(rows)

    def document(self) -> "Document":
        """Return the comparison of the jobs, with the tables and curves of a report."""
        # Imported on demand, so that a refused command does not wait for these modules.
        from specahd.reporting.methods import comparison_tables, is_comparison
        from specahd.reporting.summary import summarise

        seconds = {
            job.name: read_seconds(self.directory / job.name / row_timings_file("validation"))
            for job in self.jobs
        }
        document = summarise(self.jobs, (), seconds).document
        if is_comparison(self.jobs):
            spending = {job.name: read_spending(self.directory / job.name) for job in self.jobs}
            compared = comparison_tables(self.jobs, seconds, {}, spending)
            sections = [*compared.sections, *document.sections]
            document = replace(document, sections=sections)
        return replace(document, title=f"Sweep {self.directory.name}")

    def _varying(self) -> list[str]:
        return varying_options(job.kind for job in self.jobs)


def _pool_means(job: Run) -> dict[str, float]:
    """Return a complete job's means over each pool."""
    if not job.complete:
        return {}
    return {
        f"{pool}/{name}": value
        for pool in POOLS
        for name, value in average_rows(job.rows(pool)).measures().items()
    }


def _summarise(label: str, jobs: Sequence[Run]) -> Configuration:
    values: dict[str, list[float]] = defaultdict(list)
    chosen: dict[str, float] = {}
    for job in jobs:
        for name, value in _pool_means(job).items():
            values[name].append(value)
            if name == "selection/improvement":
                chosen[job.name] = value
    return Configuration(
        label,
        sorted(job.seed for job in jobs),
        sum(job.complete for job in jobs),
        [job.name for job in jobs if not job.complete],
        {name: fmean(each) for name, each in values.items()},
        {name: stdev(each) for name, each in values.items() if len(each) > 1},
        max(chosen, key=chosen.__getitem__, default=None),
    )
