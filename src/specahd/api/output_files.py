"""The files that ``solve`` writes: a solution in several formats, its statistics, and pictures."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specahd.api.solutions import Solution
from specahd.api.solving import Solved
from specahd.core.folders import write_errors
from specahd.core.interrupts import Interrupts
from specahd.core.journal import write_json
from specahd.engine.neighbourhood_search import SearchProgress
from specahd.tracking.solving import SolvingLine

PICTURES = (".png", ".pdf", ".svg")
STATISTICS = ".json"
KEEP_SECONDS = 5.0
"""Shortest pause between two writes of the solution, in seconds."""
_WRITING_SHARE = 20
"""Shortest pause after a write, as a multiple of the seconds that the write took."""


@dataclass(frozen=True)
class OutputFiles:
    """The files of a result: solutions in several formats, its statistics, and pictures."""

    solutions: Sequence[Path]
    statistics: Sequence[Path]
    pictures: Sequence[Path]

    def write(self, solved: Solved, details: dict[str, Any]) -> list[Path]:
        """Write all files, and return them."""
        for path in self.solutions:
            solved.write(path)
        for path in self.statistics:
            write_json(path, {**solved.statistics(), "routes": solved.named_routes, **details})
        for path in self.pictures:
            with write_errors(path), warnings.catch_warnings():
                # The font has no sign for some letters of a name.
                warnings.filterwarnings("ignore", "Glyph")
                solved.plot().savefig(path)
        return [*self.solutions, *self.statistics, *self.pictures]


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
            for path in self._files:
                solution.write(path)
            self.wrote = True
            done = time.monotonic()
            self._next = done + max(KEEP_SECONDS, _WRITING_SHARE * (done - began))
            self._waiting = False
        return self._interrupts.pressed
