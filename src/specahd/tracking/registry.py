"""What the names of an MLflow store lead to, which training is champion, and its model's versions.

A run counts in the selection of a problem's champion if it is complete (it ended well and spent
its budget), if it has the requested problem with all options, pools and, where one is given,
budget, and if its checkpoint fails on no instance of the selection pool. Of the runs that count,
the one with the largest mean improvement on that pool is selected; ties go to the smaller seed,
then to the smaller run id. Runs that were measured on different instances of the pool are not
ranked against each other. The rule was fixed before scores are read.

Only existing stores are opened; this module creates none. MLflow is imported on demand, because
the import takes a second or two.
"""

import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specahd.checkpoint.frozen import thaw
from specahd.checkpoint.manifest import digest, remove_unlisted
from specahd.core.errors import CheckpointError, ConfigError, FileError
from specahd.core.services import without_password
from specahd.runs.files import CHECKPOINT
from specahd.tracking.store import SELECTION, TRAININGS, open_store

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

CHAMPION = "champion"
"""Alias of the version that was selected."""
_MODEL = "model"
_IDENTITY = "checkpoint_sha256"
_RESUMED = re.compile(r"resume=([0-9a-f]{32})")
_STORE = "tracking.uri="
_ADDRESS = re.compile(r"models:/[^/@]+(@[^/@]+|/[1-9][0-9]*)|runs:/[0-9a-f]{32}/.+")
_FAILED = "selection/failed"
_BASELINE = "selection/baseline_cost"
_VALIDATION = "validation/improvement"
_SPENT = "spent/tickets"
_BUDGET = "budget.programs"
_UNFINISHED = {"RUNNING": "running or killed", "KILLED": "interrupted", "FAILED": "failed"}
_REASONS = 3
_MOST_RUNS = 50_000
"""Most runs that MLflow returns at once."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a registered model; ``new`` if it was just created."""

    model: str
    number: int
    new: bool


@contextmanager
def fetched_checkpoint(checkpoint: str, uri: str | None) -> Iterator[Path]:
    """Yield the directory of a checkpoint; a downloaded one exists until the block ends.

    Parameters
    ----------
    checkpoint
        A directory; or ``models:/NAME@ALIAS``, ``models:/NAME/VERSION``,
        ``runs:/RUN/checkpoint``.
    uri
        The store to fetch from, or None if there is none.

    Raises
    ------
    ConfigError
        The address is invalid, or there is no store to fetch from.
    FileError
        The store does not have the checkpoint.
    CheckpointError
        Raised in the block; the message gets the address in place of the temporary directory.
    """
    if not checkpoint.startswith(("models:", "runs:")):
        yield Path(checkpoint)
        return
    if not _ADDRESS.fullmatch(checkpoint):
        raise ConfigError(
            "Expected checkpoint=DIRECTORY, models:/NAME@ALIAS, models:/NAME/VERSION or "
            f"runs:/RUN/{CHECKPOINT}, got {checkpoint!r}."
        )
    if uri is None:
        raise ConfigError(f"Expected tracking=mlflow with checkpoint={checkpoint}.")
    with tempfile.TemporaryDirectory() as folder:
        directory = _download(checkpoint, uri, folder)
        # A resumed run writes its later checkpoint over the earlier one in the store, where
        # programs of the earlier one remain.
        remove_unlisted(directory)
        try:
            yield directory
        except CheckpointError as error:
            raise CheckpointError(str(error).replace(str(directory), checkpoint)) from None


def _download(address: str, uri: str, folder: str) -> Path:
    with open_store(uri) as client:
        from mlflow.artifacts import download_artifacts

        kind, _, rest = address.partition(":/")
        try:
            if kind == "runs":
                run_id, _, path = rest.partition("/")
                return Path(client.download_artifacts(run_id, path, folder))
            # Resolved here, because MLflow would resolve the name in its default store.
            name, separator, version_or_alias = re.split("([@/])", rest)
            if separator == "@":
                version_or_alias = client.get_model_version_by_alias(name, version_or_alias).version
            place = client.get_model_version_download_uri(name, version_or_alias)
            return Path(
                download_artifacts(
                    f"{place}/artifacts/{CHECKPOINT}", dst_path=folder, tracking_uri=uri
                )
            )
        except OSError as error:
            raise FileError(f"{address} has no checkpoint: {error.strerror or error}.") from None


def resolve_resume(arguments: Sequence[str], store: str) -> list[str]:
    """Replace an MLflow run id in ``resume=`` by the directory of the run.

    Parameters
    ----------
    store
        The tracking store, unless the command line names another.

    Raises
    ------
    FileError
        The store cannot be reached, or has no such training.
    """
    store = _named_store(arguments, store)
    return [
        f"resume={_run_directory(match[1], store)}" if (match := _RESUMED.fullmatch(word)) else word
        for word in arguments
    ]


def remembered_option(arguments: Sequence[str], store: str, problem: str, option: str) -> str:
    """Return an option of the newest training of a problem, as the store has it.

    Parameters
    ----------
    store
        As in :func:`resolve_resume`.
    problem
        The problem's name; if it is no identifier, no training has it.

    Returns
    -------
    str
        Empty if no training of the problem was given the option.

    Raises
    ------
    FileError
        The store cannot be reached.
    """
    if not problem.isidentifier():
        return ""
    with open_store(_named_store(arguments, store)) as client:
        experiments = [each.experiment_id for each in client.search_experiments()]
        wanted = f"params.problem = '{problem}' and {TRAININGS}"
        runs = client.search_runs(experiments, wanted, max_results=1)
        return next((str(run.data.params.get(option, "")) for run in runs), "")


def _named_store(arguments: Sequence[str], store: str) -> str:
    """Return the store that a command line names, or else the given one."""
    named = [word.removeprefix(_STORE) for word in arguments if word.startswith(_STORE)]
    return named[-1] if named else store


def _run_directory(run: str, uri: str) -> str:
    with open_store(uri) as client:
        tags = client.get_run(run).data.tags
    if "directory" not in tags:
        raise FileError(
            f"The run {run} in {without_password(uri)} is no training, so it cannot be resumed."
        )
    directory = str(tags["directory"])
    # The directory becomes a word of the command line.
    if not Path(directory).is_absolute() or "${" in directory or not directory.isprintable():
        raise FileError(f"The run {run} in {without_password(uri)} names no directory.")
    return directory


def register_checkpoint(
    client: "MlflowClient",
    run: "Run",
    directory: Path,
    problem: str,
    save: Callable[[Path, Path], None],
    tags: Mapping[str, str],
) -> Version:
    """Register a run's checkpoint as a version of its problem's model, unless it is one already.

    ``directory`` holds the checkpoint as fetched from the run; ``save`` writes a folder with
    its MLflow model. The version is created last, when all its files are in the store. If the
    process is killed before that, the next call writes the files again.

    Raises
    ------
    CheckpointError
        The checkpoint was altered, or belongs to another problem.
    """
    name, run_id = f"specahd-{problem}", run.info.run_id
    if thaw(directory).problem != problem:
        raise CheckpointError(f"The checkpoint {directory} is not one of {problem}.")
    identity = digest(directory)
    for known in client.search_model_versions(f"name = '{name}' and run_id = '{run_id}'"):
        if known.tags.get(_IDENTITY) == identity:
            return Version(name, int(known.version), new=False)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / _MODEL
        save(saved, directory)
        client.log_artifacts(run_id, str(saved), _MODEL)
    if not client.search_registered_models(f"name = '{name}'"):
        client.create_registered_model(name, description=f"Frozen repair systems for {problem}.")
    version = client.create_model_version(
        name,
        source=f"{run.info.artifact_uri}/{_MODEL}",
        run_id=run_id,
        tags={**tags, "run_id": run_id, _IDENTITY: identity},
    )
    return Version(name, int(version.version), new=True)


def promote_version(client: "MlflowClient", version: Version) -> bool:
    """Make a version the champion; return False if it already was."""
    aliases = client.get_registered_model(version.model).aliases
    if str(aliases.get(CHAMPION)) == str(version.number):
        return False
    client.set_registered_model_alias(version.model, CHAMPION, str(version.number))
    return True


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """A training run, and the reason if it does not count in the selection.

    Parameters
    ----------
    objection
        Reason why the run does not count; empty if it counts.
    """

    run: "Run"
    objection: str

    @property
    def id(self) -> str:
        return str(self.run.info.run_id)

    @property
    def seed(self) -> int:
        return int(self.run.data.params.get("seed", 0))

    def choice(self, group: str) -> str:
        """Return the run's choice of a group of ``conf/``."""
        return str(self.run.data.params.get(group, ""))

    @property
    def selection(self) -> float | None:
        """Mean improvement on the selection pool."""
        return self.measure(SELECTION)

    @property
    def scores(self) -> tuple[float | None, float | None]:
        """Mean improvements on the selection pool and on validation (not used to select)."""
        return self.selection, self.measure(_VALIDATION)

    def measure(self, name: str) -> float | None:
        """Return the last value of a metric; None if it was not measured."""
        value = self.run.data.metrics.get(name)
        return None if value is None or math.isnan(value) else float(value)


def ranked_trainings(
    client: "MlflowClient",
    experiment: str,
    problem: str,
    settings: Mapping[str, Any],
    sweep: str | None = None,
) -> list[TrainedRun]:
    """Return an experiment's training runs of a problem: those that count first, best first.

    Parameters
    ----------
    settings
        Values of the options, by dotted name, that a run must have to count.
    sweep
        Run id of a sweep; only its jobs are returned.

    Raises
    ------
    FileError
        The store has no such experiment.
    """
    found = client.get_experiment_by_name(experiment)
    if found is None:
        raise FileError(f"The MLflow store has no experiment {experiment!r}.")
    wanted = [f"params.problem = '{problem}'", TRAININGS]
    if sweep is not None:
        wanted.append(f"tags.`mlflow.parentRunId` = '{sweep}'")
    runs = client.search_runs([found.experiment_id], " and ".join(wanted), max_results=_MOST_RUNS)
    return sorted((TrainedRun(run, _objection(run, settings)) for run in runs), key=_rank)


def choose_champion(runs: Sequence[TrainedRun], problem: str) -> TrainedRun:
    """Return the winner among runs in the order of :func:`ranked_trainings`.

    Raises
    ------
    FileError
        No run counts, or the runs that count were measured on different instances.
    """
    if not runs:
        raise FileError(f"There is no run of {problem} to select from.")
    if runs[0].objection:
        reasons = Counter(run.objection for run in runs).most_common(_REASONS)
        summary = ", ".join(f"{count} {reason}" for reason, count in reasons)
        raise FileError(f"None of the runs of {problem} counts, {len(runs)} in all: {summary}.")
    _require_same_instances([run for run in runs if not run.objection], problem)
    return runs[0]


def _require_same_instances(runs: Sequence[TrainedRun], problem: str) -> None:
    groups: dict[str, list[TrainedRun]] = {}
    for run in runs:
        # It is equal for equal instances. A run without the value is not excluded.
        if (cost := run.measure(_BASELINE)) is not None:
            groups.setdefault(f"{cost:,.1f}", []).append(run)
    if len(groups) > 1:
        values = "; ".join(
            f"budget {', '.join(sorted({run.choice('budget') for run in group}))}, "
            f"seeds {', '.join(map(str, sorted({run.seed for run in group})))}, "
            f"mean baseline cost {mean}"
            for mean, group in groups.items()
        )
        raise FileError(
            f"The runs of {problem} were measured on different instances of the selection pool "
            f"and cannot be ranked ({values}): choose with budget=NAME or sweep=RUN, or delete "
            "those that shall not count in the MLflow UI."
        )


def _objection(run: "Run", settings: Mapping[str, Any]) -> str:
    if run.info.status != "FINISHED":
        return _UNFINISHED.get(run.info.status, str(run.info.status).lower())
    budget = int(run.data.params.get(_BUDGET, 0))
    spent = int(run.data.metrics.get(_SPENT, 0))
    if spent < budget:
        return f"partial: {spent} of {budget} programs"
    if run.data.metrics.get(_FAILED, 0):
        return "failed on the selection pool"
    if math.isnan(run.data.metrics.get(SELECTION, math.nan)):
        return "not measured on the selection pool"
    for name, value in settings.items():
        # An option that an older run does not have is ignored.
        had = run.data.params.get(name, str(value))
        if had != str(value):
            return f"{name}={had}"
    return ""


def _rank(training: TrainedRun) -> tuple[bool, float, int, str]:
    # The scores of runs that do not count are ignored.
    score = training.selection if not training.objection else None
    return bool(training.objection), -(score or 0.0), training.seed, training.id
