"""``python -m specahd.solve``: find the best routes for one file that a time limit allows.

``specahd solve FILE`` is ``python -m specahd.solve instance=FILE``. The solution is written as
soon as there is one, then as it gets better, and at the end: when the time is up, the target is
reached, or upon Ctrl-C or SIGTERM. Whatever is there is complete and feasible. Beside it stands
a JSON file of its name, with the cost over time.
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
"""A solution that is found later than this after the last one is written at once."""
_WRITING_SHARE = 20
"""Writing takes at most one part of so many of the time."""
_SAME = ("seed", "target", "repairs", "workers", "cluster", "memory_gb")
"""Options that the search takes under their names."""


class _SolutionWriter:
    """Writes the best solution while the search goes on, without holding it up."""

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
    # From here on a signal still leaves a solution.
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
    """Read the instance, for the given problem or that of the file's content.

    With ``convention`` it is read again under a convention of its problem's.
    """
    stated = {name: config[name] for name in ("capacity", "matrix", "split", "speed")}
    problem = config.problem and instantiate_group(config.problem, "problem")
    found = read(config.instance, problem, ignore=config.ignore or (), **stated)
    if config.convention is None:
        return found
    return under_convention(found, Path(config.instance), config.convention)


def _out(config: DictConfig, instance: ProblemInstance) -> Path:
    """Return where the solution goes; the folder is there."""
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
