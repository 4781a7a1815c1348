"""Checkpoints and runs by their names in MLflow, and checkpoints as versions of a model there.

Only existing stores are opened; this module creates none. MLflow is imported on
demand, because the import takes a second or two.
"""

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specahd.checkpoint import thaw
from specahd.core.errors import CheckpointError, ConfigError, FileError
from specahd.core.services import without_password
from specahd.repair.checksums import SUMS
from specahd.runs.files import CHECKPOINT
from specahd.tracking.store import open_store

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
        _remove_unlisted(directory)
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


def _remove_unlisted(directory: Path) -> None:
    """Remove the files of a copy that its checksums do not list.

    A resumed run writes its later checkpoint over the earlier one in the store,
    where programs of the earlier one remain.
    """
    sums = directory / SUMS
    if not sums.is_file():
        return
    listed = {line.partition("  ")[2] for line in sums.read_text(errors="replace").splitlines()}
    for path in [path for path in directory.rglob("*") if path.is_file() and path != sums]:
        if path.relative_to(directory).as_posix() not in listed:
            path.unlink()


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
        wanted = f"params.problem = '{problem}' and tags.kind = 'training'"
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
    identity = hashlib.sha256((directory / SUMS).read_bytes()).hexdigest()
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
