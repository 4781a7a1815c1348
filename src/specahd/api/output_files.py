"""The files that ``solve`` writes: the solution during the search, and all at its end."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from specahd.api.solutions import RECORD, Solution
from specahd.api.solving import Solved
from specahd.core.folders import write_together
from specahd.core.interrupts import Interrupts
from specahd.core.journal import json_text
from specahd.engine.neighbourhood_search import SearchProgress
from specahd.tracking.solving import SolvingLine

KEEP_SECONDS = 5.0
"""Shortest pause between two writes of the solution, in seconds."""
_WRITING_SHARE = 20
"""Shortest pause after a write, as a multiple of the seconds that the write took."""


def write_results(solved: Solved, files: Sequence[Path], details: dict[str, Any]) -> None:
    """Write all files of a result, or none; the ``.json`` ones hold the details too.

    Raises
    ------
    WriteError
        A file cannot be written.
    """
    record = json_text({**solved.record(), **details})
    write_together(
        {path: record if path.suffix == RECORD else solved.content(path.suffix) for path in files}
    )


class SolutionWriter:
    """Callback that writes the best solution during the search, without delaying the search.

    ``begun`` is called at each moment of the search, before it is shown.
    """

    def __init__(
        self,
        files: Sequence[Path],
        line: SolvingLine,
        interrupts: Interrupts,
        begun: Callable[[], None],
    ) -> None:
        self._files, self._line, self._interrupts, self._begun = files, line, interrupts, begun
        self.wrote = False
        self._next = 0.0
        self._waiting = False

    def __call__(self, moment: SearchProgress, solution: Solution) -> bool:
        self._begun()
        self._line.show(moment)
        self._waiting |= moment.better
        began = time.monotonic()
        if self._waiting and began >= self._next:
            solution.write(*self._files)
            self.wrote = True
            done = time.monotonic()
            self._next = done + max(KEEP_SECONDS, _WRITING_SHARE * (done - began))
            self._waiting = False
        return self._interrupts.pressed
