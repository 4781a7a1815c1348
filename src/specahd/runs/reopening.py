"""What a run leaves where it ends, taken back: that it may go on, or because it never began."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.journal import JournalFile
from specahd.core.plain import read_json
from specahd.runs import files
from specahd.runs.reading import is_sample

_CURSOR_BYTES = 1 << 16


def reopen(directory: Path) -> None:
    """Make a run that ended early ready to go on as if it had not ended.

    It loses its rows, so that it counts as interrupted from the first moment, and what it
    recorded after its last program: the end of a round that will be longer, and what was measured
    with that round's programs. All of this comes again. It may be killed meanwhile.

    Raises
    ------
    FileError
        Another process is writing the run, or a file is not what a run writes.
    JournalError
        A file cannot be written.
    """
    replies = JournalFile(directory / files.REPLIES)
    try:
        replies.claim()
        for name in _OF_THE_END:
            (directory / name).unlink(missing_ok=True)
        _cut(directory / files.RESPONSES, lambda record: "sample" in record)
        left = _cut(directory / files.JOURNAL, is_sample)
        # What comes in place of the records that are gone is told to MLflow too.
        cursor = read_json(directory / files.CURSOR, _CURSOR_BYTES, dict[str, Any])
        records = None if cursor is None else cursor.get("records")
        if isinstance(records, int) and records > left:
            files.write_json(directory / files.CURSOR, {**cursor, "records": left})
    finally:
        replies.close()


def discard(directory: Path) -> None:
    """Remove the files of a run that asked for nothing, but nothing else that is there."""
    for name in _OF_THE_BEGINNING:
        (directory / name).unlink(missing_ok=True)


_OF_THE_END = (
    *(name(pool) for pool in files.POOLS for name in (files.rows_file, files.row_timings_file)),
    files.ROUTES,
)
_OF_THE_BEGINNING = (
    *(files.CONFIG, files.JOURNAL, files.RESPONSES, files.REPLIES, files.TIMINGS, files.PROMPTS),
    *(files.SANDBOX, files.MACHINE, files.CURSOR),
)


def _cut(path: Path, kept: Callable[[Mapping[str, Any]], bool]) -> int:
    """Cut a file after the last record that is kept; return how many records are left."""
    if not path.exists():
        return 0
    records = enumerate(journal.read_records(path), 1)
    count = max((number for number, record in records if kept(record)), default=0)
    lines = path.read_bytes().splitlines(keepends=True)
    os.truncate(path, sum(map(len, lines[:count])))
    return count
