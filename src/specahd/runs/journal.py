"""The journal of a run, written while the run goes on."""

from pathlib import Path
from types import TracebackType
from typing import Self

from specahd.core.journal import JournalFile
from specahd.runs.files import JOURNAL, REPLIES, RESPONSES, TIMINGS


class Journal:
    """The journal of a run: three files, and one more for the score vectors.

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in (self.wal, self.samples, self.responses, self.timings):
            file.close()
