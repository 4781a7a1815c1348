"""What DVC knows of the working directory, and telling MLflow: where the two records meet."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from specahd.core.errors import FileError
from specahd.tracking.run_writer import without_password
from specahd.tracking.store import Store, database_of

LOCK = "dvc.lock"
TAG = "dvc.checkpoint"
"""The tag of an MLflow run that holds the hash of its checkpoint."""


def dvc_hashes(root: Path) -> Mapping[str, str]:
    """Return the MD5 that DVC recorded of each out, by its path relative to ``root``.

    The outs are those of the pipeline (``dvc.lock``) and of the ``*.dvc`` files in
    ``root`` itself; a directory's hash ends in ``.dir``. What DVC has not hashed is
    left out, and a folder without DVC has none.

    Raises
    ------
    FileError
        One of these files is not what DVC writes.
    """
    files = [path for path in (root / LOCK, *sorted(root.glob("*.dvc"))) if path.is_file()]
    return {name: md5 for path in files for name, md5 in _outs(path)}


def _outs(path: Path) -> Iterator[tuple[str, str]]:
    try:
        record = yaml.safe_load(path.read_text(encoding="utf-8"))
        stages = record["stages"].values() if path.name == LOCK else [record]
        for stage in stages:
            folder = Path(stage.get("wdir", "."))
            for out in stage.get("outs", ()):
                if "md5" in out:
                    yield (folder / out["path"]).as_posix(), str(out["md5"])
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError, AttributeError):
        raise FileError(f"{path} is not a file of DVC; restore it with git.") from None


def tag_checkpoints(store: Store, root: Path, checkpoints: Iterable[Path]) -> str:
    """Tag the newest MLflow run of each checkpoint's directory with the checkpoint's hash.

    Checkpoints that DVC does not know, and runs that MLflow does not, are passed over. What is
    returned is a line for the user if the store cannot be used, else nothing.
    """
    hashes = dvc_hashes(root)
    known = {
        path.parent.resolve(): hashes[name]
        for path in checkpoints
        if (name := _relative(path, root)) in hashes
    }
    database = database_of(store.uri)
    if not known or (database is not None and not database.is_file()):
        return ""
    # Seconds to import, and only who tags needs them.
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        client, experiment = store.connect()
        for directory, md5 in known.items():
            quote = '"' if "'" in str(directory) else "'"
            found = client.search_runs(
                [experiment],
                f"tags.directory = {quote}{directory}{quote}",
                order_by=["attributes.start_time DESC"],
            )
            for run in [run for run in found if "mlflow.parentRunId" not in run.data.tags][:1]:
                client.set_tag(run.info.run_id, TAG, md5)
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        said = f"The hashes of the checkpoints are not in {store.uri}: {reason}\n"
        return without_password(said)[:200]
    return ""


def _relative(path: Path, root: Path) -> str:
    whole, base = path.resolve(), root.resolve()
    return whole.relative_to(base).as_posix() if whole.is_relative_to(base) else ""
