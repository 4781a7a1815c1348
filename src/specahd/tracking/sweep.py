"""A sweep in MLflow: the parent of its jobs' runs, with their means and the numbers of jobs.

The parent is created before any job starts. The jobs read its id from ``sweep.json``
in the sweep's directory. Results are read from the jobs' directories, so they do not
depend on the jobs' trackers. A tracker that fails only causes a warning.
"""

import json
import math
import re
import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from specahd.core.display import csv_text
from specahd.core.journal import write_json
from specahd.core.services import without_password
from specahd.evaluation.files import row_timings_file
from specahd.evaluation.rows import average_rows, read_seconds
from specahd.runs.configuration import MAIN_GROUPS, swept_overrides, varying_options
from specahd.runs.files import CONFIG, POOLS, SWEEP
from specahd.runs.reading import Run, choose_runs, read_run, read_spending
from specahd.tracking.description import FIGURES, PAGES
from specahd.tracking.store import (
    LONGEST_TAG,
    NOTE,
    SELECTION,
    Store,
    artifact_link,
    log_values,
    one_line_error,
    origin_tags,
    percent_metric,
    run_link,
    ui_directions,
)
from specahd.tracking.tables import new_table, stdout_console
from specahd.tracking.upload import SyncCursor

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from specahd.reporting.document import Document

_RESULTS_PAGE = f"{PAGES}/results.html"
_CHOSEN = {"hydra.mode", "hydra.sweep.dir"}
"""Hydra's options that the resume command sets itself."""


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

    @classmethod
    def of(cls, label: str, jobs: Sequence[Run]) -> "Configuration":
        """Return the configuration of jobs."""
        means = {job.name: _pool_means(job) for job in jobs}
        values: dict[str, list[float]] = defaultdict(list)
        for each in means.values():
            for name, value in each.items():
                values[name].append(value)
        chosen = {name: each[SELECTION] for name, each in means.items() if SELECTION in each}
        return cls(
            label,
            sorted(job.seed for job in jobs),
            sum(job.complete for job in jobs),
            [job.name for job in jobs if not job.complete],
            {name: fmean(each) for name, each in values.items()},
            {name: stdev(each) for name, each in values.items() if len(each) > 1},
            max(chosen, key=chosen.__getitem__, default=None),
        )

    def improvement(self, pool: str) -> str:
        """Return the mean improvement with its deviation as a text, "-" if there is none."""
        name = f"{pool}/improvement"
        if name not in self.means:
            return "-"
        mean = f"{100 * self.means[name]:+.2f}%"
        spread = self.deviations.get(name)
        return mean if spread is None else f"{mean} ± {100 * spread:.2f}"

    def metrics(self, name: str) -> Iterator[tuple[str, float]]:
        """Yield mean and deviation of a figure by the ends of their names; nan if unknown."""
        # Names in MLflow cannot contain an equals sign.
        label = re.sub(r"[^\w\-. :/]", "_", self.label.replace("=", ":"))
        suffix = f"/{label}" if label else ""
        yield f"mean{suffix}", self.means.get(name, math.nan)
        yield f"sd{suffix}", self.deviations.get(name, math.nan)


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
        return [Configuration.of(label, groups[label]) for label in sorted(groups)]

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

    def note(self, jobs: int, experiment: str, command: str) -> str:
        """Return the description of the sweep, at its start or its end.

        Parameters
        ----------
        jobs
            The number of jobs, 0 if it is unknown.
        experiment
            The id of the experiment of the sweep's run.
        command
            The command that resumes the sweep.
        """
        counts = self.counts
        complete, known = counts["complete"], jobs or sum(counts.values())
        rest = [f"{count} {name}" for name, count in counts.items() if name != "complete" and count]
        lines = [f"**{', '.join([f'{complete} of {known} jobs complete', *rest])}**", ""]
        for each in self.configurations():
            of = f"{each.complete}/{len(each.seeds)} complete, "
            parts = []
            if each.best is not None:
                pools = ", ".join(f"{pool} {each.improvement(pool)}" for pool in POOLS)
                best = self._job_link(each.best, experiment)
                parts += [f"improvement on {pools}", f"best on selection: {best}"]
            if each.partial:
                left = (self._job_link(name, experiment) for name in sorted(each.partial))
                parts.append(f"not complete: {', '.join(left)}")
            lines.append(f"- {f'`{each.label}`: {of}' if each.label else ''}{'; '.join(parts)}")
        if complete < known:
            lines += ["", "If it broke off, go on with", "", f"    {command}"]
        return "\n".join(lines) + "\n"

    def print(self) -> None:
        """Print the numbers of jobs, and the means of each configuration."""
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        found = self.configurations()
        improvement = "improvement: mean ± sample standard deviation of the complete jobs"
        table = new_table(f"sweep: {counts}", improvement)
        if any(each.label for each in found):
            table.add_column("configuration")
        table.add_column("seeds")
        for heading in ("complete", *POOLS):
            table.add_column(heading, justify="right", no_wrap=True)
        for each in found:
            table.add_row(
                *([each.label] if each.label else []),
                " ".join(map(str, each.seeds)),
                f"{each.complete}/{len(each.seeds)}",
                *(each.improvement(pool) for pool in POOLS),
            )
        stdout_console().print(table)
        done = [each for each in found if SELECTION in each.means]
        if len(done) > 1:
            best = max(done, key=lambda each: each.means[SELECTION])
            sys.stdout.write(f"best on selection: {best.label}, {best.improvement('selection')}\n")
        partial = sorted(name for each in found for name in each.partial)
        if partial:
            sys.stdout.write(f"partial, counted in no mean: {', '.join(partial)}\n")

    def _varying(self) -> list[str]:
        return varying_options(job.kind for job in self.jobs)

    def _job_link(self, name: str, experiment: str) -> str:
        """Return a job's name, as a link if it has a run."""
        place = SyncCursor.read(self.directory / name)
        if place is None or not place.run_id:
            return f"`{name}`"
        return run_link(experiment, place.run_id, name)


def _pool_means(job: Run) -> dict[str, float]:
    """Return a complete job's means over each pool."""
    if not job.complete:
        return {}
    return {
        f"{pool}/{name}": value
        for pool in POOLS
        for name, value in average_rows(job.rows(pool)).measures().items()
    }


class SweepCallback(Callback):
    """Hydra callback that opens a sweep's run, closes it after the jobs and prints a summary.

    Parameters
    ----------
    patience
        Seconds that the sweep waits for the tracker, before its jobs and after them.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        if "uri" in config.tracking:
            self._try("has no MLflow run", lambda: _SweepRun(config).open())

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Record the end of the sweep; also called after an interrupted sweep."""
        self._try("is not summarised in full", lambda: _finish(config))

    def _try(self, consequence: str, work: Callable[[], None]) -> None:
        """Run an action on a daemon thread, since a store that hangs must not delay the sweep."""
        failure: list[str] = []

        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001  # whatever it is, the sweep goes on
                failure.append(one_line_error(error))

        thread = Thread(target=run, name="sweep", daemon=True)
        thread.start()
        thread.join(self._patience)
        if thread.is_alive():
            failure.append(f"it took more than {self._patience:g} s")
        for reason in failure:
            sys.stderr.write(f"The sweep {consequence}: {reason}"[:200] + "\n")


def _finish(config: DictConfig) -> None:
    results = SweepResults.read(Path(config.hydra.sweep.dir), _count(config))
    if results.jobs:
        results.print()
    if "uri" in config.tracking and (results.directory / SWEEP).is_file():
        _SweepRun(config).close(results)


class _SweepRun:
    """The run of a sweep in the store of its configuration."""

    def __init__(self, config: DictConfig) -> None:
        tracking = config.tracking
        self._config = config
        self._directory = Path(config.hydra.sweep.dir)
        self._store = Store(tracking.uri, Path(tracking.artifacts), tracking.experiment)
        self._client: MlflowClient
        self._client, self._experiment = self._store.connect()
        self._run = self._known()

    def open(self) -> None:
        """Create the run, or resume that of an interrupted sweep."""
        if self._run is not None:
            self._client.update_run(self._run, "RUNNING")
        else:
            self._run = self._create()
        self._describe(self._run, SweepResults.read(self._directory, 0))

    def close(self, results: SweepResults) -> None:
        """Write the results of the jobs; remove the run of a sweep without any."""
        client, run = self._client, self._run
        if run is None:
            # The jobs began without a run, and a warning stated the reason.
            return
        if not results.jobs:
            client.delete_run(run)
            (self._directory / SWEEP).unlink()
            return
        found = results.configurations()

        def measures(name: str) -> Iterator[tuple[str, float]]:
            return (measure for each in found for measure in each.metrics(name))

        # The UI lists metrics in the order in which they were logged: improvement first.
        values = {
            f"{percent_metric(pool)}/{name}": round(100 * value, 2)
            for pool in POOLS
            for name, value in measures(f"{pool}/improvement")
        }
        values |= {f"jobs/{name.replace(' ', '_')}": n for name, n in results.counts.items()}
        for cost in (f"{pool}/{kind}" for pool in POOLS for kind in ("cost", "baseline_cost")):
            values |= {f"{cost}/{name}": value for name, value in measures(cost)}
        log_values(client, run, values, at=time.time_ns() // 1_000_000)
        client.log_text(run, results.table(), "jobs.csv")
        document = results.document()
        client.log_text(run, document.html(), _RESULTS_PAGE)
        with TemporaryDirectory() as folder:
            for figure in document.figures():
                figure.write(Path(folder))
            client.log_artifacts(run, folder, FIGURES)
        self._describe(run, results)
        complete = results.counts["complete"] == sum(results.counts.values())
        client.set_terminated(run, "FINISHED" if complete else "FAILED")
        store = without_password(self._store.uri)
        sys.stdout.write(ui_directions(store, self._experiment) + "\n")

    def _known(self) -> str | None:
        """Return the id of the sweep's run; None if it is in another store, or was deleted."""
        path = self._directory / SWEEP
        if not path.is_file():
            return None
        noted: str = json.loads(path.read_text(encoding="utf-8"))["run_id"]
        condition = f"attributes.run_id = '{noted}'"
        return noted if self._client.search_runs([self._experiment], condition) else None

    def _create(self) -> str:
        words = swept_overrides(self._config)
        asked = dict(word.partition("=")[::2] for word in words)
        chosen = self._config.hydra.runtime.choices
        tags, name = origin_tags("sweep", self._directory), self._directory.name
        created = self._client.create_run(self._experiment, tags=tags, run_name=name)
        run: str = created.info.run_id
        parameters = {key: asked.get(key, chosen[key]) for key in MAIN_GROUPS if key in chosen}
        parameters["jobs"] = str(_count(self._config))
        parameters["overrides"] = " ".join(without_password(word) for word in words)
        log_values(self._client, run, params=parameters)
        self._directory.mkdir(parents=True, exist_ok=True)
        write_json(self._directory / SWEEP, {"run_id": run})
        return run

    def _describe(self, run: str, results: SweepResults) -> None:
        note = results.note(_count(self._config), self._experiment, self._resume_command())
        if results.jobs:
            link = artifact_link(self._experiment, run, _RESULTS_PAGE, "tables and curves")
            note = f"{note[: LONGEST_TAG - 500]}\n{link} of the jobs, the seeds side by side\n"
        self._client.set_tag(run, NOTE, note[:LONGEST_TAG])

    def _resume_command(self) -> str:
        given = self._config.hydra.overrides
        hydra = given.get("hydra") or ()
        options = [word for word in hydra if word.partition("=")[0] not in _CHOSEN]
        place = f"hydra.sweep.dir={self._directory.resolve()}"
        words = ["python", "-m", "specahd.train", *options, "-m", *given.task, place]
        return without_password(shlex.join(words))


def _count(config: DictConfig) -> int:
    """Return the number of jobs, 0 if it is unknown."""
    if trials := config.hydra.sweeper.get("n_trials"):
        return int(trials)
    hydra = GlobalHydra.instance()
    # After an interrupted sweep Hydra is no longer initialised; a glob cannot be counted.
    loader = hydra.config_loader() if hydra.is_initialized() else None
    overrides = OverridesParser.create(loader).parse_overrides(swept_overrides(config))
    # Hydra takes the last value of an option that is given twice.
    last = {each.get_key_element(): each for each in overrides}
    swept = [each for each in last.values() if each.is_discrete_sweep()]
    if loader is None and any(isinstance(each.value(), Glob) for each in swept):
        return 0
    return math.prod(sum(1 for _ in each.sweep_string_iterator()) for each in swept)
