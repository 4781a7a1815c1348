"""``python -m specahd.solve``: find good routes for one instance file within a time limit.

``specahd solve FILE`` is ``python -m specahd.solve instance=FILE``. The first solution is written
at once, better ones follow during the search, and the last one at the end: after the time limit,
at the target, or after Ctrl-C or SIGTERM. The file always holds a complete, feasible solution. A
JSON file of the same name beside it holds the cost over time.
"""

import signal
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from specahd.api.output_files import SolutionWriter, write_results
from specahd.api.problems import ProblemInstance, read, under_convention, with_fleet
from specahd.api.solutions import PICTURES, RECORD, early_endings, expect_ending
from specahd.api.solving import solve as find
from specahd.config.cli import result_inputs, run_command, run_directory, with_folders
from specahd.config.process import exit_on_interrupt
from specahd.config.sweeps import in_sweep
from specahd.config.targets import instantiate_group
from specahd.config.words import check_output_path, is_ending, output_names, quote_files
from specahd.core.errors import ConfigError
from specahd.core.folders import display_path, safe_file_name
from specahd.core.interrupts import Interrupts
from specahd.core.settings import FleetOptions, SolveOptions, TableOptions
from specahd.routing.best_known import best_known, published_fields
from specahd.tracking.observers import ProgressObserver
from specahd.tracking.solving import SolvingLine, print_summary


def solve(config: DictConfig) -> None:
    """Solve one instance and write the solution."""
    with nullcontext() if in_sweep() else exit_on_interrupt():
        instance = _instance(config)
        known = best_known(instance.problem, instance.data, Path(config.instance))
        files = _output_files(config, instance)
        decided = result_inputs(config)
    options = SolveOptions(**_values(config, SolveOptions))
    line = SolvingLine(instance.name, options)
    interrupts = Interrupts(signal.SIGINT, signal.SIGTERM)
    progress, waiting = ProgressObserver(), ExitStack()
    # Once the search begins, its own line tells how far it is.
    early = [path for path in files if path.suffix in early_endings(instance.problem)]
    writer = SolutionWriter(early, line, interrupts, waiting.close)
    # From here on, a signal ends the search, and the best solution is still written.
    with interrupts.deferred(), waiting:
        waiting.enter_context(progress.reporting())
        try:
            solved = find(
                instance,
                checkpoint=config.checkpoint,
                incumbent=config.incumbent,
                **asdict(options),
                callback=writer,
                require=config.sandbox.require,
                observer=progress,
                interrupts=interrupts,
            )
        except KeyboardInterrupt:
            # The second signal.
            raise KeyboardInterrupt(_interrupted(early[0], writer.wrote)) from None
        finally:
            line.close()
        details = {**published_fields(known, solved.cost, solved.case.cost), "inputs": decided}
        write_results(solved, files, details)
        told = {**solved.statistics(), "unserved": solved.unserved}
        print_summary(told, config.target, files)
    if interrupts.pressed:
        raise KeyboardInterrupt(_interrupted(early[0], True))


def _interrupted(out: Path, wrote: bool) -> str:
    if not wrote:
        return "Interrupted; nothing was written."
    return f"Interrupted; the best solution until then is in {display_path(out)}."


def _instance(config: DictConfig) -> ProblemInstance:
    """Read the instance, for the given problem or the one that the file's content determines.

    With ``convention``, the file is read again under that convention of the problem.
    """
    problem = config.problem and instantiate_group(config.problem, "problem")
    limits = _values(config, FleetOptions)
    found = read(config.instance, problem, **_values(config, TableOptions), **limits)
    if config.convention is None:
        return found
    found = under_convention(found, Path(config.instance), config.convention)
    return with_fleet(found, FleetOptions(**limits))


def _values(config: DictConfig, kind: type[Any]) -> dict[str, Any]:
    """Return the options of a class by name."""
    return {each.name: config[each.name] for each in fields(kind)}


def _output_files(config: DictConfig, instance: ProblemInstance) -> list[Path]:
    """Return the files that ``out`` and ``plot`` name, in folders that exist.

    There is always a file that is written during the search, and a ``.json`` file.
    """
    problem = instance.problem
    given = [] if config.out is None else output_names(config.out)
    named = [Path(name).absolute() for name in given if not is_ending(name)]
    own = run_directory() / safe_file_name(instance.name, "solution")
    stem = named[0].with_suffix("") if named else own
    files = [
        stem.with_name(stem.name + name) if is_ending(name) else Path(name).absolute()
        for name in given
    ]
    if not any(path.suffix in early_endings(problem) for path in files):
        files.append(stem.with_name(stem.name + problem.endings[0]))
    if not any(path.suffix == RECORD for path in files):
        files.append(stem.with_name(stem.name + RECORD))
    for path in files:
        expect_ending(path, problem, instance.data)
    options = dict.fromkeys(files, "out")
    if config.plot is not None:
        picture = Path(config.plot).absolute()
        if picture.suffix not in PICTURES:
            raise ConfigError(
                f"Expected plot to end in {' or '.join(PICTURES)}, got {config.plot}."
            )
        expect_ending(picture, problem, instance.data)
        options[picture] = "plot"
        files.append(picture)
    if len(options) < len(files):
        raise ConfigError(f"Expected out and plot to name each file once, got {config.out}.")
    for path, option in options.items():
        # The folder of a run is made by it, and holds nothing yet.
        if named or option == "plot":
            check_output_path(option, config, str(path))
    return files


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(solve, "solve", rewrite=lambda words: quote_files(with_folders(words)))


if __name__ == "__main__":
    sys.exit(main())
