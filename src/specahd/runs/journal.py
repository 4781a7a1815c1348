"""The journal of a run: written while the run goes on, and opened again where it ended early."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from specahd.core.journal import JournalFile, read_records, write_json
from specahd.core.plain import read_json
from specahd.evaluation.files import ROUTES, row_timings_file, rows_file
from specahd.runs import files
from specahd.runs.files import JOURNAL, PROMPTS, REPLIES, RESPONSES, TIMINGS
from specahd.runs.reading import is_sample, read_prompts

_CURSOR_BYTES = 1 << 16


class Journal:
    """The journal of a run: three files, and two more for the score vectors and the prompts.

    ``responses.jsonl`` holds one line per evaluated program; the journal's
    record refers to it by ``responses: <program id>``.

    Parameters
    ----------
    repeat
        Whether the run of this directory is repeated up to the point where it was interrupted.

    Raises
    ------
    FileError
        Another process is writing the run.
    """

    def __init__(self, directory: Path, *, repeat: bool = False) -> None:
        self.directory = directory
        self.wal = JournalFile(directory / REPLIES, sync=True)
        self.wal.claim()
        self.samples = JournalFile(directory / JOURNAL, repeat=repeat)
        self.responses = JournalFile(directory / RESPONSES, repeat=repeat)
        self.timings = JournalFile(directory / TIMINGS)
        self._prompts = JournalFile(directory / PROMPTS)
        kept = read_prompts(directory)
        self._prompted = set(kept)
        self._beginnings = {
            prompt.prompt[: prompt.shared]: prompt.begins or prompt.sample
            for prompt in kept.values()
        }

    def keep_prompt(self, sample: str, prompt: str, shared: int) -> None:
        """Write a prompt that is not in its file yet.

        Parameters
        ----------
        shared
            Length of the beginning that all prompts of the level share; it is written once.
        """
        if sample in self._prompted:
            return
        self._prompted.add(sample)
        record = {"sample": sample, "prompt": prompt, "shared": shared}
        first = self._beginnings.setdefault(prompt[:shared], sample)
        if shared and first != sample:
            record |= {"prompt": prompt[shared:], "begins": first}
        self._prompts.append(record)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in (self.wal, self.samples, self.responses, self.timings, self._prompts):
            file.close()


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
    replies = JournalFile(directory / REPLIES)
    try:
        replies.claim()
        for name in _END_FILES:
            (directory / name).unlink(missing_ok=True)
        _truncate(directory / RESPONSES, lambda record: "sample" in record)
        left = _truncate(directory / JOURNAL, is_sample)
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
    *(files.CONFIG, JOURNAL, RESPONSES, REPLIES, TIMINGS, PROMPTS),
    *(files.SANDBOX, files.MACHINE, files.CURSOR),
)


def _truncate(path: Path, kept: Callable[[Mapping[str, Any]], bool]) -> int:
    """Truncate a file after the last record that is kept; return the number of records left."""
    if not path.exists():
        return 0
    records = enumerate(read_records(path), 1)
    count = max((number for number, record in records if kept(record)), default=0)
    lines = path.read_bytes().splitlines(keepends=True)
    os.truncate(path, sum(map(len, lines[:count])))
    return count
