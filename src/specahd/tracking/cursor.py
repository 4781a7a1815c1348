"""How far a run directory was brought into MLflow: ``mlflow.json``, and who brings it."""

import fcntl
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from specahd.core.errors import FileError
from specahd.core.plain import Shape, content, misfit, parse_json
from specahd.runs.files import CURSOR, write_json
from specahd.tracking.view import directions

_LIMIT = 1 << 16
_SHAPE: Shape = {
    "key": re.compile("[0-9a-f]{32}"),
    "store": str,
    "experiment": str,
    "experiment_id": re.compile("[A-Za-z0-9_-]{0,64}"),
    "run_id": re.compile("[A-Za-z0-9_-]{0,64}"),
    "records": int,
}


@dataclass(slots=True)
class SyncCursor:
    """What was delivered of a run, and where to.

    Parameters
    ----------
    key
        Stands in a tag of the run, by which it is found when its id is not known; new unless given.
    store, experiment, experiment_id, run_id
        Where the run is; empty as long as it was not made. The experiment has a name and an
        id; in a mark of an earlier version it has no id.
    records
        How many records of the journal are there.
    """

    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    store: str = ""
    experiment: str = ""
    experiment_id: str = ""
    run_id: str = ""
    records: int = 0

    @classmethod
    def read(cls, directory: Path) -> "SyncCursor | None":
        """Return what a run directory keeps; None if nothing that can be used."""
        try:
            kept = parse_json(content(directory / CURSOR, _LIMIT))
        except (FileError, ValueError):
            return None
        if isinstance(kept, dict):
            kept = {"experiment_id": "", **kept}
        if misfit(kept, _SHAPE) is not None or kept.keys() != _SHAPE.keys() or kept["records"] < 0:
            return None
        return cls(**kept)

    def write(self, directory: Path) -> None:
        """Replace what the directory keeps, all of it or nothing."""
        write_json(directory / CURSOR, asdict(self))


def whereabouts(directory: Path) -> str:
    """Return a line on where to look at a run in MLflow, nothing if it was never there."""
    cursor = SyncCursor.read(directory)
    return directions(cursor.store, cursor.experiment_id) if cursor and cursor.experiment_id else ""


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Make sure that no other process brings this run directory into MLflow meanwhile.

    Raises
    ------
    FileError
        One does.
    """
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise FileError(f"Another process is bringing {directory} into MLflow.") from None
    finally:
        os.close(handle)
