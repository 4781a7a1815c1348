"""Cache of baseline solvers' solutions on disk, shared by the evaluations of all methods."""

import hashlib
import inspect
import json
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError, WriteError
from specahd.core.folders import write_atomically
from specahd.core.journal import dumps
from specahd.core.options import accepted_arguments
from specahd.core.plain import to_tuples
from specahd.routing.base import AnyProblem
from specahd.routing.pools import definition_hash
from specahd.routing.problem import RoutingProblem

LEAST_SECONDS = 0.05
"""Least computing time of a stored solution, in seconds; a faster one is computed each time."""
_SHARED = Path(inspect.getfile(definition_hash)).parent
_SOLVER = "pyvrp"


class BaselineSolutions:
    """A folder with a file for each solution and the seconds that it took.

    A file's key covers all inputs of the solution: the instance's content, the baseline, the
    problem's options except those of repair, and the code. Writes are atomic, so several
    evaluations may share a folder and be killed at any time. A file without a feasible solution
    counts as missing.

    Parameters
    ----------
    folder
        The folder, created with the first solution; None: no solution is stored.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def solve(
        self, problem: AnyProblem, instance: Any, name: str | None = None
    ) -> tuple[Any, float]:
        """Return the solution of B, or of another baseline solver, and the seconds that it took.

        Raises
        ------
        WriteError
            The folder cannot be written.
        """
        path = None
        if self._folder is not None:
            path = self._folder / f"{_key(problem, instance, name)}.json"
            found = _read(path, problem, instance)
            if found is not None:
                return found
        # Importing numba takes a second; a command that is refused must not wait for it.
        from specahd.core.compilation import Stopwatch

        watch = Stopwatch()
        with watch.running():
            solution = problem.baseline(instance, name)
        seconds = watch.seconds
        if path is not None and seconds >= LEAST_SECONDS:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise WriteError(f"Cannot write {path.parent}: {error.strerror}.") from error
            write_atomically(path, dumps({"seconds": seconds, "solution": solution}) + "\n")
        return solution, seconds


def _read(path: Path, problem: AnyProblem, instance: Any) -> tuple[Any, float] | None:
    """Return the solution in a file; None if it is not a feasible solution of the instance."""
    # The file may hold any value, and the checker uses it as an index.
    with suppress(OSError, ValueError, TypeError, KeyError, IndexError, FileError):
        record = json.loads(path.read_text(encoding="utf-8"))
        solution, seconds = to_tuples(record["solution"]), float(record["seconds"])
        if not problem.check(instance, solution):
            return solution, seconds
    return None


def _key(problem: AnyProblem, instance: Any, name: str | None) -> str:
    repair = accepted_arguments(RoutingProblem)[0]
    options = [one for one in accepted_arguments(type(problem))[0] if one not in repair]
    decides = {
        "instance": definition_hash(problem.dumps(instance)),
        "problem": problem.name,
        "baseline": name or problem.baseline_name,
        "options": {option: getattr(problem, option) for option in options},
        "code": _code(Path(inspect.getfile(type(problem))).parent),
    }
    return hashlib.sha256(dumps(decides).encode()).hexdigest()


@cache
def _code(folder: Path) -> str:
    """Return a hash of the sources that a baseline may call, and the version of its solver."""
    digest = hashlib.sha256()
    for path in sorted({*folder.glob("*.py"), *_SHARED.rglob("*.py")}):
        digest.update(path.read_bytes())
    with suppress(PackageNotFoundError):
        digest.update(version(_SOLVER).encode())
    return digest.hexdigest()
