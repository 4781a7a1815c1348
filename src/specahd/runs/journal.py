"""The journal of a run, written while the run goes on."""

from pathlib import Path
from types import TracebackType
from typing import Self

from specahd.core.journal import JournalFile
from specahd.runs.files import JOURNAL, PROMPTS, REPLIES, RESPONSES, TIMINGS
from specahd.runs.reading import read_prompts


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
