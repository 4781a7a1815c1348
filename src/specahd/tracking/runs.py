"""Finding a run's directory by what the MLflow UI calls it."""

import re
from collections.abc import Sequence
from pathlib import Path

from specahd.core.errors import FileError
from specahd.tracking.registry import opened
from specahd.tracking.run_writer import without_password

_RUN = re.compile(r"resume=([0-9a-f]{32})")
_STORE = "tracking.uri="


def with_directory(arguments: Sequence[str], store: str) -> list[str]:
    """Return a command line in which ``resume=`` names a directory instead of an MLflow run.

    Parameters
    ----------
    store
        The tracking store, unless the command line names another.

    Raises
    ------
    FileError
        The store cannot be reached, or knows no such training.
    """
    for word in arguments:
        if word.startswith(_STORE):
            store = word.removeprefix(_STORE)
    return [
        f"resume={_directory(named[1], store)}" if (named := _RUN.fullmatch(word)) else word
        for word in arguments
    ]


def _directory(run: str, uri: str) -> str:
    with opened(uri) as client:
        tags = client.get_run(run).data.tags
    if "directory" not in tags:
        raise FileError(
            f"The run {run} in {without_password(uri)} is no training, so it cannot be resumed."
        )
    directory = str(tags["directory"])
    # It becomes a word of the command line.
    if not Path(directory).is_absolute() or "${" in directory or not directory.isprintable():
        raise FileError(f"The run {run} in {without_password(uri)} names no directory.")
    return directory
