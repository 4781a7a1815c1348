"""A sweep in MLflow: the parent of its jobs' runs, with their means and the numbers of jobs.

The parent is created before any job starts. The jobs read its id from ``sweep.json``
in the sweep's directory. Results are read from the jobs' directories, so they do not
depend on the jobs' trackers. A tracker that fails only causes a warning.
"""

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from specahd.core.services import without_password
from specahd.runs.files import POOLS, SWEEP, write_json
from specahd.tracking.description import FIGURES, NOTE, PAGES
from specahd.tracking.run_writer import LONGEST_TAG
from specahd.tracking.store import Store, one_line_error
from specahd.tracking.sweep_note import format_improvement, resume_command, write_sweep_note
from specahd.tracking.sweep_results import RESULTS_PAGE, SweepResults
from specahd.tracking.tables import new_table, stdout_console
from specahd.tracking.view import artifact_link, percent_metric, ui_directions

if TYPE_CHECKING:
    from mlflow import MlflowClient

_GROUPS = ("problem", "method", "llm", "budget")


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
        store = _store(config)
        if store is not None:
            self._try("has no MLflow run", lambda: _open(store, config))

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


def _store(config: DictConfig) -> Store | None:
    tracking = config.tracking
    if "uri" not in tracking:
        return None
    return Store(tracking.uri, Path(tracking.artifacts), tracking.experiment)


def _words(config: DictConfig) -> list[str]:
    """Return the options that an experiment sweeps, and those of the command line."""
    # An override may refer to values that exist only in a job.
    words: list[str] = OmegaConf.to_container(config.hydra.overrides.task, resolve=False)  # type: ignore[assignment]  # a list
    params = config.hydra.sweeper.get("params") or {}
    return [*(f"{key}={value}" for key, value in params.items()), *words]


def _count(config: DictConfig) -> int:
    """Return the number of jobs, 0 if it is unknown."""
    hydra = GlobalHydra.instance()
    # After an interrupted sweep Hydra is no longer initialised; a glob cannot be counted.
    loader = hydra.config_loader() if hydra.is_initialized() else None
    overrides = OverridesParser.create(loader).parse_overrides(_words(config))
    # Hydra takes the last value of an option that is given twice.
    last = {each.get_key_element(): each for each in overrides}
    swept = [each for each in last.values() if each.is_discrete_sweep()]
    if loader is None and any(isinstance(each.value(), Glob) for each in swept):
        return 0
    return math.prod(sum(1 for _ in each.sweep_string_iterator()) for each in swept)


def _finish(config: DictConfig) -> None:
    results = SweepResults.read(Path(config.hydra.sweep.dir), _count(config))
    if results.jobs:
        _print(results)
    store = _store(config)
    if store is not None and (results.directory / SWEEP).is_file():
        _close(store, results, config)


def _open(store: Store, config: DictConfig) -> None:
    """Create the sweep's run, or resume that of an interrupted sweep."""
    directory = Path(config.hydra.sweep.dir)
    client, experiment = store.connect()
    run = _known(client, experiment, directory / SWEEP)
    if run is not None:
        client.update_run(run, "RUNNING")
    else:
        run = _create(client, experiment, config, directory)
    _describe(client, experiment, run, SweepResults.read(directory, 0), config)


def _create(client: "MlflowClient", experiment: str, config: DictConfig, directory: Path) -> str:
    words = _words(config)
    asked = dict(word.partition("=")[::2] for word in words)
    chosen = config.hydra.runtime.choices
    tags = {
        "mlflow.source.name": "specahd",
        "kind": "sweep",
        "directory": str(directory.resolve()),
    }
    created = client.create_run(experiment, tags=tags, run_name=directory.name)
    run: str = created.info.run_id
    parameters = {group: asked.get(group, chosen[group]) for group in _GROUPS if group in chosen}
    parameters["jobs"] = str(_count(config))
    parameters["overrides"] = " ".join(without_password(word) for word in words)
    for name, value in parameters.items():
        client.log_param(run, name, value)
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / SWEEP, {"run_id": run})
    return run


def _describe(
    client: "MlflowClient", experiment: str, run: str, results: SweepResults, config: DictConfig
) -> None:
    go_on = resume_command(config, results.directory)
    note = write_sweep_note(results, _count(config), experiment, go_on)
    if results.jobs:
        link = artifact_link(experiment, run, f"{PAGES}/{RESULTS_PAGE}", "tables and curves")
        note = f"{note[: LONGEST_TAG - 500]}\n{link} of the jobs, the seeds side by side\n"
    client.set_tag(run, NOTE, note[:LONGEST_TAG])


def _known(client: "MlflowClient", experiment: str, path: Path) -> str | None:
    """Return the id of the sweep's run; None if it is in another store, or was deleted."""
    if not path.is_file():
        return None
    noted: str = json.loads(path.read_text(encoding="utf-8"))["run_id"]
    found = client.search_runs([experiment], f"attributes.run_id = '{noted}'")
    return noted if found else None


def _close(store: Store, results: SweepResults, config: DictConfig) -> None:
    """Write the results of the jobs; remove the run of a sweep without any."""
    from mlflow.entities import Metric

    path = results.directory / SWEEP
    client, experiment = store.connect()
    run = _known(client, experiment, path)
    if run is None:
        # The jobs began without a run, and a warning stated the reason.
        return
    if not results.jobs:
        client.delete_run(run)
        path.unlink()
        return
    now = time.time_ns() // 1_000_000
    # The UI lists metrics in the order in which they were logged: improvement first.
    measures = {
        f"{percent_metric(pool)}/{name}": round(100 * value, 2)
        for pool in POOLS
        for name, value in _measures(results, f"{pool}/improvement")
    }
    measures |= {f"jobs/{name.replace(' ', '_')}": n for name, n in results.counts.items()}
    for cost in (f"{pool}/{kind}" for pool in POOLS for kind in ("cost", "baseline_cost")):
        measures |= {f"{cost}/{name}": value for name, value in _measures(results, cost)}
    metrics = [Metric(name, float(value), now, 0) for name, value in measures.items()]
    client.log_batch(run, metrics=metrics)
    client.log_text(run, results.table(), "jobs.csv")
    document = results.document()
    client.log_text(run, document.html(), f"{PAGES}/{RESULTS_PAGE}")
    with TemporaryDirectory() as folder:
        for figure in document.figures():
            figure.write(Path(folder))
        client.log_artifacts(run, folder, FIGURES)
    _describe(client, experiment, run, results, config)
    complete = results.counts["complete"] == sum(results.counts.values())
    client.set_terminated(run, "FINISHED" if complete else "FAILED")
    sys.stdout.write(ui_directions(without_password(store.uri), experiment) + "\n")


def _measures(results: SweepResults, name: str) -> Iterator[tuple[str, float]]:
    """Yield mean and deviation of each configuration; nan where there is none."""
    for each in results.configurations():
        # Names in MLflow cannot contain an equals sign.
        label = re.sub(r"[^\w\-. :/]", "_", each.label.replace("=", ":"))
        suffix = f"/{label}" if label else ""
        yield f"mean{suffix}", each.means.get(name, math.nan)
        yield f"sd{suffix}", each.deviations.get(name, math.nan)


def _print(results: SweepResults) -> None:
    counts = ", ".join(f"{count} {name}" for name, count in results.counts.items())
    found = results.configurations()
    improvement = "improvement: mean ± sample standard deviation of the complete jobs"
    view = new_table(f"sweep: {counts}", improvement)
    if any(each.label for each in found):
        view.add_column("configuration")
    view.add_column("seeds")
    view.add_column("complete", justify="right", no_wrap=True)
    for pool in POOLS:
        view.add_column(pool, justify="right", no_wrap=True)
    for each in found:
        view.add_row(
            *([each.label] if each.label else []),
            " ".join(map(str, each.seeds)),
            f"{each.complete}/{len(each.seeds)}",
            *(format_improvement(each, pool) for pool in POOLS),
        )
    stdout_console().print(view)
    partial = sorted(name for each in found for name in each.partial)
    if partial:
        sys.stdout.write(f"partial, counted in no mean: {', '.join(partial)}\n")
