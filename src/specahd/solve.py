"""``python -m specahd.solve``: find good routes for one instance file within a time limit.

``specahd solve FILE`` is ``python -m specahd.solve instance=FILE``. The first solution is written
at once, better ones follow during the search, and the last one at the end: after the time limit,
at the target, or after Ctrl-C or SIGTERM. The file always holds a complete, feasible solution. A
JSON file of the same name beside it holds the cost over time.
"""

import signal
import sys
import time
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from specahd.api.problems import ProblemInstance, read, under_convention
from specahd.api.solutions import Solution, expect_ending
from specahd.api.solving import Solved
from specahd.api.solving import solve as find
from specahd.config.cli import run_command, run_directory
from specahd.config.solving import check_output_path, result_inputs
from specahd.config.targets import instantiate_group
from specahd.config.words import quote_files
from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.core.folders import display_path, safe_file_name, write_errors
from specahd.core.interrupts import Interrupts
from specahd.core.settings import SearchLimit
from specahd.engine.neighbourhood_search import SearchProgress
from specahd.routing.best_known import best_known, published_fields
from specahd.runs.files import write_json
from specahd.tracking.observers import ProgressObserver
from specahd.tracking.solving import SolvingLine, print_summary

PICTURES = (".png", ".pdf", ".svg")
KEEP_SECONDS = 5.0
"""Shortest pause between two writes of the solution, in seconds."""
_WRITING_SHARE = 20
"""Shortest pause after a write, as a multiple of the seconds that the write took."""
_SAME = ("seed", "target", "repairs", "workers", "cluster", "memory_gb")
"""Options that have the same name in the command and in the search."""


class _SolutionWriter:
    """Callback that writes the best solution during the search, without delaying the search."""

    def __init__(self, out: Path, line: SolvingLine, interrupts: Interrupts) -> None:
        self._out, self._line, self._interrupts = out, line, interrupts
        self._next = 0.0
        self._waiting = False

    def __call__(self, moment: SearchProgress, solution: Solution) -> bool:
        self._line.show(moment)
        self._waiting |= moment.better
        began = time.monotonic()
        if self._waiting and began >= self._next:
            solution.write(self._out)
            done = time.monotonic()
            self._next = done + max(KEEP_SECONDS, _WRITING_SHARE * (done - began))
            self._waiting = False
        return self._interrupts.pressed


def solve(config: DictConfig) -> None:
    """Solve one instance and write the solution."""
    instance = _instance(config)
    known = best_known(instance.problem, instance.data, Path(config.instance))
    out = _out(config, instance)
    if config.plot is not None:
        require("plot", "A picture")
        if Path(config.plot).suffix not in PICTURES:
            raise ConfigError(
                f"Expected plot to end in {' or '.join(PICTURES)}, got {config.plot}."
            )
        check_output_path("plot", config, config.plot)
    decided = result_inputs(config)
    limit = SearchLimit(config.time_limit, config.repairs, config.target)
    line = SolvingLine(instance.name, limit)
    interrupts = Interrupts(signal.SIGINT, signal.SIGTERM)
    # From here on, a signal ends the search, and the best solution is still written.
    with interrupts.deferred():
        try:
            solved = find(
                instance,
                config.time_limit,
                config.checkpoint,
                config.incumbent,
                **{name: config[name] for name in _SAME},
                callback=_SolutionWriter(out, line, interrupts),
                require=config.sandbox.require,
                observer=ProgressObserver(),
                interrupts=interrupts,
            )
        finally:
            line.close()
        details = {**published_fields(known, solved.cost, solved.case.cost), "inputs": decided}
        print_summary(solved.statistics(), config.target, _write(config, solved, out, details))
    if interrupts.pressed:
        raise KeyboardInterrupt(
            f"Interrupted; the best solution until then is in {display_path(out)}."
        )


def _instance(config: DictConfig) -> ProblemInstance:
    """Read the instance, for the given problem or the one that the file's content determines.

    With ``convention``, the file is read again under that convention of the problem.
    """
    stated = {name: config[name] for name in ("capacity", "matrix", "split", "speed")}
    problem = config.problem and instantiate_group(config.problem, "problem")
    found = read(config.instance, problem, ignore=config.ignore or (), **stated)
    if config.convention is None:
        return found
    return under_convention(found, Path(config.instance), config.convention)


def _out(config: DictConfig, instance: ProblemInstance) -> Path:
    """Return the path of the solution file, in a folder that exists."""
    if config.out is None:
        [ending, *_] = instance.problem.endings
        return run_directory() / f"{safe_file_name(instance.name, 'solution')}{ending}"
    out = Path(config.out).absolute()
    expect_ending(out, instance.problem, instance.data)
    for path in (out, out.with_suffix(".json")):
        check_output_path("out", config, str(path))
    return out


def _write(config: DictConfig, solved: Solved, out: Path, details: dict[str, Any]) -> list[Path]:
    """Write the solution, its statistics and its picture; return the files."""
    solved.write(out)
    statistics = out.with_suffix(".json")
    write_json(statistics, {**solved.statistics(), "routes": solved.named_routes, **details})
    files = [out, statistics]
    if config.plot is not None:
        picture = Path(config.plot)
        with write_errors(picture):
            solved.plot().savefig(picture)
        files.append(picture)
    return files


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(solve, "solve", rewrite=quote_files)


if __name__ == "__main__":
    sys.exit(main())
