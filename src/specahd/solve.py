"""``python -m specahd.solve``: find good routes for one instance file within a time limit.

``specahd solve FILE`` is ``python -m specahd.solve instance=FILE``. The first solution is written
at once, better ones follow during the search, and the last one at the end: after the time limit,
at the target, or after Ctrl-C or SIGTERM. The file always holds a complete, feasible solution. A
JSON file of the same name beside it holds the cost over time.
"""

import signal
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import fields
from pathlib import Path

from omegaconf import DictConfig

from specahd.api.output_files import PICTURES, STATISTICS, OutputFiles, SolutionWriter
from specahd.api.problems import ProblemInstance, read, under_convention, with_fleet
from specahd.api.solutions import expect_ending
from specahd.api.solving import solve as find
from specahd.config.cli import run_command, run_directory, with_folders
from specahd.config.process import exit_on_interrupt
from specahd.config.solving import check_output_path, result_inputs
from specahd.config.sweeps import in_sweep
from specahd.config.targets import instantiate_group
from specahd.config.words import output_names, quote_files
from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.core.folders import display_path, safe_file_name
from specahd.core.interrupts import Interrupts
from specahd.core.settings import FleetOptions, SearchLimit
from specahd.routing.best_known import best_known, published_fields
from specahd.tracking.observers import ProgressObserver
from specahd.tracking.solving import SolvingLine, print_summary

_SAME = ("seed", "target", "repairs", "workers", "cluster", "memory_gb")
"""Options that have the same name in the command and in the search."""


def solve(config: DictConfig) -> None:
    """Solve one instance and write the solution."""
    with nullcontext() if in_sweep() else exit_on_interrupt():
        instance = _instance(config)
        known = best_known(instance.problem, instance.data, Path(config.instance))
        files = _output_files(config, instance)
        decided = result_inputs(config)
    limit = SearchLimit(config.time_limit, config.repairs, config.target)
    line = SolvingLine(instance.name, limit)
    interrupts = Interrupts(signal.SIGINT, signal.SIGTERM)
    progress, waiting = ProgressObserver(), ExitStack()
    # Once the search begins, its own line tells how far it is.
    writer = SolutionWriter(files.solutions, line, interrupts, waiting.close)
    # From here on, a signal ends the search, and the best solution is still written.
    with interrupts.deferred(), waiting:
        waiting.enter_context(progress.reporting())
        try:
            solved = find(
                instance,
                config.time_limit,
                config.checkpoint,
                config.incumbent,
                **{name: config[name] for name in _SAME},
                callback=writer,
                require=config.sandbox.require,
                observer=progress,
                interrupts=interrupts,
            )
        except KeyboardInterrupt:
            # The second signal.
            raise KeyboardInterrupt(_interrupted(files.solutions[0], writer.wrote)) from None
        finally:
            line.close()
        details = {**published_fields(known, solved.cost, solved.case.cost), "inputs": decided}
        print_summary(solved.statistics(), config.target, files.write(solved, details))
    if interrupts.pressed:
        raise KeyboardInterrupt(_interrupted(files.solutions[0], True))


def _interrupted(out: Path, wrote: bool) -> str:
    if not wrote:
        return "Interrupted; nothing was written."
    return f"Interrupted; the best solution until then is in {display_path(out)}."


def _instance(config: DictConfig) -> ProblemInstance:
    """Read the instance, for the given problem or the one that the file's content determines.

    With ``convention``, the file is read again under that convention of the problem.
    """
    stated = {name: config[name] for name in ("capacity", "matrix", "split", "speed")}
    problem = config.problem and instantiate_group(config.problem, "problem")
    found = read(config.instance, problem, ignore=config.ignore or (), **stated)
    if config.convention is not None:
        found = under_convention(found, Path(config.instance), config.convention)
    limits = {each.name: config[each.name] for each in fields(FleetOptions)}
    return with_fleet(found, FleetOptions(**limits))


def _output_files(config: DictConfig, instance: ProblemInstance) -> OutputFiles:
    """Return the files that ``out`` and ``plot`` name, in folders that exist."""
    if config.out is None:
        [ending, *_] = instance.problem.endings
        name = f"{safe_file_name(instance.name, 'solution')}{ending}"
        solutions, pictures, statistics = [run_directory() / name], [], []
    else:
        named = [Path(name).absolute() for name in output_names(config.out)]
        pictures = [path for path in named if path.suffix in PICTURES]
        statistics = [path for path in named if path.suffix == STATISTICS]
        solutions = [path for path in named if path not in (*pictures, *statistics)]
        if not solutions:
            raise ConfigError(
                f"Expected out to name a solution ({', '.join(instance.problem.endings)}, .csv) "
                f"besides other files, got {config.out}."
            )
    for path in solutions:
        expect_ending(path, instance.problem, instance.data)
    statistics = statistics or [solutions[0].with_suffix(STATISTICS)]
    options = dict.fromkeys([*solutions, *statistics, *pictures], "out")
    if config.plot is not None:
        picture = Path(config.plot).absolute()
        if picture.suffix not in PICTURES:
            raise ConfigError(
                f"Expected plot to end in {' or '.join(PICTURES)}, got {config.plot}."
            )
        options[picture] = "plot"
        pictures.append(picture)
    if pictures:
        require("plot", "A picture")
    if len(options) < len(solutions) + len(statistics) + len(pictures):
        raise ConfigError(f"Expected out and plot to name each file once, got {config.out}.")
    if config.out is None:
        # Its folder is made by this run, and holds nothing yet.
        options = {path: option for path, option in options.items() if option == "plot"}
    for path, option in options.items():
        check_output_path(option, config, str(path))
    return OutputFiles(solutions, statistics, pictures)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(solve, "solve", rewrite=lambda words: quote_files(with_folders(words)))


if __name__ == "__main__":
    sys.exit(main())
