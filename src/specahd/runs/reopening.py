"""Remove the final records of a run, so that it can go on, or all of an empty run."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.journal import JournalFile, write_json
from specahd.core.plain import read_json
from specahd.evaluation.files import ROUTES, row_timings_file, rows_file
from specahd.runs import files
from specahd.runs.reading import is_sample

_CURSOR_BYTES = 1 << 16


def reopen_run(directory: Path) -> None:
    """Prepare a run that ended early to go on as if it had not ended.

    First its rows are removed, so that it counts as interrupted. Then the records after its last
    program are removed: the end of a round that becomes longer, and measurements of that round's
    programs. All of this is written again. A kill in between is harmless.

    Raises
    ------
    FileError
        Another process is writing the run, or a file does not have the format of a run.
    JournalError
        A file cannot be written.
    """
    replies = JournalFile(directory / files.REPLIES)
    try:
        replies.claim()
        for name in _END_FILES:
            (directory / name).unlink(missing_ok=True)
        _truncate(directory / files.RESPONSES, lambda record: "sample" in record)
        left = _truncate(directory / files.JOURNAL, is_sample)
        # The records that replace the removed ones are uploaded too.
        cursor = read_json(directory / files.CURSOR, _CURSOR_BYTES, dict[str, Any])
        records = None if cursor is None else cursor.get("records")
        if isinstance(records, int) and records > left:
            write_json(directory / files.CURSOR, {**cursor, "records": left})
    finally:
        replies.close()


def discard_empty_run(directory: Path) -> None:
    """Remove the files of a run that made no request; keep all other files."""
    for name in _START_FILES:
        (directory / name).unlink(missing_ok=True)


_END_FILES = (
    *(name(pool) for pool in files.POOLS for name in (rows_file, row_timings_file)),
    ROUTES,
)
_START_FILES = (
    *(files.CONFIG, files.JOURNAL, files.RESPONSES, files.REPLIES, files.TIMINGS, files.PROMPTS),
    *(files.SANDBOX, files.MACHINE, files.CURSOR),
)


def _truncate(path: Path, kept: Callable[[Mapping[str, Any]], bool]) -> int:
    """Truncate a file after the last record that is kept; return the number of records left."""
    if not path.exists():
        return 0
    records = enumerate(journal.read_records(path), 1)
    count = max((number for number, record in records if kept(record)), default=0)
    lines = path.read_bytes().splitlines(keepends=True)
    os.truncate(path, sum(map(len, lines[:count])))
    return count
