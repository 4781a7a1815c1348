"""MLflow stores without the second of their migrations, where these say nothing.

``copy_stores`` has this process, and its forks, make a store by copying an empty one that was
made before, in the state that the real maker leaves. Commands that are started cold make theirs.
"""

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from specahd.tracking import store

_make = store._create_store


def copy_stores():
    """Have the stores of this process copied."""
    store._create_store = _copy


@cache
def empty_store():
    """Return the bytes of a store without runs."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "mlflow.db"
        _make(made, "file:///nowhere")
        return made.read_bytes()


def _copy(database, location):
    draft = database.with_name(f".{database.name}.draft")
    draft.write_bytes(empty_store())
    with closing(sqlite3.connect(draft)) as connection, connection:
        connection.execute("UPDATE experiments SET artifact_location = ?", (f"{location}/0",))
    draft.replace(database)
