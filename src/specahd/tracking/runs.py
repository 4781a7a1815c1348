"""Finding a run's directory by what the MLflow UI calls it."""

import re
from collections.abc import Sequence
from pathlib import Path

from specahd.core.errors import FileError
from specahd.tracking.store import absolute

_ID = re.compile(r"[0-9a-f]{32}")
_RESUME, _STORE = "resume=", "tracking.uri="


def with_directory(arguments: Sequence[str], store: str) -> list[str]:
    """Return a command line in which ``resume=`` names a directory instead of an MLflow run.

    Parameters
    ----------
    store
        The tracking store, unless the command line names another.

    Raises
    ------
    FileError
        The store knows no such run.
    """
    for word in arguments:
        if word.startswith(_STORE):
            store = word.removeprefix(_STORE)
    return [
        f"{_RESUME}{_directory(word.removeprefix(_RESUME), store)}" if _names_run(word) else word
        for word in arguments
    ]


def _names_run(word: str) -> bool:
    return word.startswith(_RESUME) and bool(_ID.fullmatch(word.removeprefix(_RESUME)))


def _directory(run: str, uri: str) -> str:
    # Seconds to import, and only this needs it here.
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    # Asking a database that is not there would make an empty one.
    path = uri.removeprefix("sqlite:///")
    if path != uri and not Path(path).is_file():
        raise FileError(f"There is no run {run} to resume: {path} does not exist.")
    try:
        tags = MlflowClient(absolute(uri)).get_run(run).data.tags
    except MlflowException:
        raise FileError(f"There is no run {run} to resume in {uri}.") from None
    return str(tags["directory"])
