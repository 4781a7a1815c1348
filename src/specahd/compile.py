"""``python -m specahd.compile``: compile the loops of all problems, or of one, before their use.

These are the loops that solving needs, and those of training with each repair operator where the
packages of training are installed. They are kept on disk (:mod:`specahd.core.loop_cache`), so a
second call has nothing to do.
"""

import hashlib
import inspect
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from llvmlite.binding import get_host_cpu_name
from omegaconf import DictConfig

import specahd
from specahd.api.problems import ProblemInstance, make_problem, with_options
from specahd.api.programs import BY_HAND, EVOLVED
from specahd.api.solving import solve
from specahd.config import CONF_DIR
from specahd.config.cli import run_command
from specahd.config.process import write_lines
from specahd.config.targets import instantiate_group
from specahd.core.budget import Budget
from specahd.core.errors import ConfigError
from specahd.core.events import Observer
from specahd.core.extras import require
from specahd.core.folders import write_errors
from specahd.core.loop_cache import VARIABLE, digest, folder_to_write, folders
from specahd.engine.builtin_programs import SHIPPED
from specahd.repair.execution import Execution
from specahd.routing.base import AnyProblem
from specahd.sandbox.executor import LocalExecutor
from specahd.tracking.observers import ProgressObserver

Step = Callable[[Path], None]
"""One part of the work, which gets a folder that is removed afterwards."""

_REPAIRS = 1000
_BUDGET = Budget(0, rounds=1, lower_train=1, upper_train=1, selection=1, validation=1)


def compile_loops(config: DictConfig) -> None:
    """Compile what is missing; print where it is kept, how much that is, and the seconds taken.

    Raises
    ------
    ConfigError
        No folder can keep compiled loops.
    """
    began = time.monotonic()
    if config.problem is not None:
        problems = [instantiate_group(config.problem, "problem")]
    else:
        files = sorted((CONF_DIR / "problem").glob("*.yaml"))
        problems = [make_problem(path.stem) for path in files]
    names = ", ".join(problem.name for problem in problems)
    work = [(_record(problem), steps(problem)) for problem in problems]
    for folder in folders():
        if all((folder / record).exists() for record, _ in work):
            _report(folder, f"{names}: all loops are compiled already")
            return
    kept = folder_to_write()
    if kept is None:
        raise ConfigError(
            f"Compiled loops cannot be kept: set {VARIABLE} to a folder that can be written."
        )
    progress = ProgressObserver()
    progress.on_phase(f"compiling loops of {names}", sum(len(each) for _, each in work))
    for record, each in work:
        for step in each:
            with tempfile.TemporaryDirectory() as scratch:
                step(Path(scratch))
            progress.on_step()
        with write_errors(kept):
            (kept / record).touch()
    progress.on_finish("compiled")
    _report(kept, f"{names}: all loops are compiled, in {time.monotonic() - began:.0f} s")


def steps(problem: AnyProblem) -> list[Step]:
    """Return the parts of the work for one problem."""
    found: list[Step] = []
    if problem.engine:
        shipped = [EVOLVED] if (SHIPPED / problem.name).is_dir() else []
        found += [partial(_solve, problem, programs) for programs in (BY_HAND, *shipped)]
    if _trains():
        found += [partial(_train, problem, operator) for operator in problem.operators]
    return found


def _trains() -> bool:
    try:
        require("train", "Training")
    except ConfigError:
        return False
    return True


def _solve(problem: AnyProblem, programs: str, _: Path) -> None:
    instance = ProblemInstance(problem, next(iter(problem.generate("validation", 1))))
    solve(instance, checkpoint=programs, repairs=_REPAIRS, observer=Observer())


def _train(problem: AnyProblem, operator: str, scratch: Path) -> None:
    # Imported here, because the module imports packages that only the extra installs.
    from specahd.api.training import train

    chosen = with_options(problem, repair=operator)
    for name in chosen.baselines:
        chosen.baseline(next(iter(chosen.generate("lower_train", 1))), name)
    train(
        chosen,
        budget=_BUDGET,
        out=scratch / "run",
        pools=scratch / "pools",
        execution=Execution(executor=partial(LocalExecutor, workers=1)),
        observer=Observer(),
    )


def _record(problem: AnyProblem) -> str:
    """Return the name of the file that says, in the cache, that a problem's loops are compiled.

    It has a hash of what the loops depend on, and of whether those of training are among them.
    """
    own, other = Path(specahd.__file__), Path(inspect.getfile(type(problem)))
    sources = tuple(path for each in (own, other) for path in sorted(each.parent.rglob("*.py")))
    words = (digest(sources), get_host_cpu_name(), _trains())
    return f"{problem.name}-{hashlib.sha256(repr(words).encode()).hexdigest()[:16]}.compiled"


def _report(folder: Path, text: str) -> None:
    size = sum(path.stat().st_size for path in folder.rglob("*.loop")) / 2**20
    write_lines(f"{text}; {folder} holds {size:.0f} MiB.")


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(compile_loops, "compile")


if __name__ == "__main__":
    sys.exit(main())
