"""Cases (x, y0): instances with their baseline solutions, made or kept, and the shared block."""

import hashlib
import inspect
import json
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from specahd import engine, routing
from specahd.core.errors import ConfigError, FileError, FileWarning, SpecAHDError
from specahd.core.folders import write_atomically, write_errors
from specahd.core.journal import dumps
from specahd.core.memory_limit import require_memory
from specahd.core.options import accepted_arguments
from specahd.core.plain import to_tuples
from specahd.routing.base import AnyProblem, FloatArray, Region
from specahd.routing.pools import definition_hash
from specahd.routing.problem import RoutingProblem
from specahd.routing.verification import PRECISION
from specahd.sandbox.shared_arrays import SharedArrays, block_size

_ROUTE = re.compile(r"^Route #\d+: (.*)$", re.MULTILINE)
LEAST_SECONDS = 0.05
"""Least computing time of a stored solution, in seconds; a faster one is computed each time."""
_SHARED = tuple(Path(inspect.getfile(module)).parent for module in (engine, routing))
_SOLVER = "pyvrp"


@dataclass(frozen=True, slots=True)
class Case:
    """An instance x with its baseline solution y0 = B(x) and C_x(y0).

    ``source`` names B, or the file that y0 was read from; then the case is ``given``. ``progress``
    is the share of a descent that led to y0, 0 where B made it. ``seconds`` is the time that B took
    when it was run, now or for an earlier evaluation.
    """

    instance: Any
    baseline: Any
    cost: float
    source: str
    progress: float = 0.0
    seconds: float | None = field(default=None, compare=False)
    given: bool = False

    def describe(self, problem: AnyProblem) -> FloatArray:
        """Return the raw descriptor Φ of the solution: all nodes but node 0 as one region."""
        whole = Region(tuple(range(1, len(self.instance.coords))))
        return problem.describe(self.instance, self.baseline, whole)

    def comparison(self, problem: AnyProblem, solution: object, cost: float) -> dict[str, Any]:
        """Return the routes of the case and of a better solution, as ``routes.json`` holds them."""
        return {
            "instance": self.instance.name,
            "coords": getattr(self.instance, "sites", self.instance).coords.tolist(),
            "before": _customer_routes(problem, self.baseline),
            "after": _customer_routes(problem, solution),
            "cost_before": self.cost,
            "cost_after": cost,
        }


def _customer_routes(problem: AnyProblem, solution: object) -> list[list[int]]:
    """Return the nodes of each route without node 0, as every ``.sol`` file lists them."""
    text = problem.solution_files("", solution, 0.0).get(".sol", "")
    return [[int(node) for node in nodes.split()] for nodes in _ROUTE.findall(text)]


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A solution that training repairs.

    Parameters
    ----------
    case
        Index of its instance among the run's cases.
    solution
        None for the baseline solution of the case.
    """

    case: int
    solution: Any = None

    def as_case(self, problem: AnyProblem, cases: Sequence[Case]) -> Case:
        """Return the case with this incumbent."""
        case = cases[self.case]
        if self.solution is None:
            return case
        cost = problem.cost(case.instance, self.solution)
        return replace(case, baseline=self.solution, cost=cost)


Incumbents = Sequence[Incumbent]


class InfeasibleBaseline(SpecAHDError):
    """A baseline solver returned an infeasible solution: a bug."""


class BaselineSolutions:
    """The baseline solvers' solutions that the evaluations of all methods share.

    It is a folder with a file for each solution and the seconds that it took.

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
            with write_errors(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, dumps({"seconds": seconds, "solution": solution}) + "\n")
        return solution, seconds


_NOT_STORED = BaselineSolutions(None)
"""Each solution is constructed, and none is kept."""


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
    shared = {path for package in _SHARED for path in package.rglob("*.py")}
    for path in sorted({*folder.glob("*.py"), *shared}):
        digest.update(path.read_bytes())
    with suppress(PackageNotFoundError):
        digest.update(version(_SOLVER).encode())
    return digest.hexdigest()


def make_case(
    problem: AnyProblem,
    instance: Any,
    kept: BaselineSolutions = _NOT_STORED,
) -> Case:
    """Run B on an instance, unless its solution is stored, and check it with F.

    Raises
    ------
    InfeasibleBaseline
        F finds a violation.
    NotEnoughMemory
        The arrays of the instance would not fit; B was not run.
    ConfigError
        The repair operator cannot repair the instance, or it has stops that may or must be left
        out.
    """
    if getattr(instance, "prizes", None) is not None or getattr(instance, "unservable", None):
        raise _limited_error(instance)
    _require_block(problem, [instance])
    solution, seconds = kept.solve(problem, instance)
    violations = problem.check(instance, solution)
    if violations:
        raise InfeasibleBaseline(
            f"{instance.name}: the baseline is infeasible: {violations[0].detail}."
        )
    return _certified_case(problem, instance, solution, problem.baseline_name, seconds)


def case_of_file(problem: AnyProblem, instance: Any, path: Path) -> Case:
    """Make a case from the solution in a file of the problem's own formats.

    Raises and warns as :func:`case_of_solution`; a file that cannot be read raises FileError.
    """
    _require_block(problem, [instance])
    solution, stated = problem.read_solution(path, instance)
    return case_of_solution(problem, instance, solution, str(path), stated)


def case_of_solution(
    problem: AnyProblem, instance: Any, solution: Any, name: str, stated: float | None = None
) -> Case:
    """Make a case from a solution that is given.

    Parameters
    ----------
    name
        The path of its file, or another name for messages.
    stated
        The cost that its file states; None: it states none.

    Raises
    ------
    FileError
        F finds a violation.
    NotEnoughMemory
        The arrays of the instance would not fit.
    ConfigError
        The repair operator cannot repair the instance.

    Warns
    -----
    FileWarning
        Its cost differs from the one that the file states.
    """
    _require_block(problem, [instance])
    violations = problem.check(instance, solution)
    if violations:
        raise FileError(f"{name} does not solve {instance.name}: {violations[0].detail}")
    case = replace(_certified_case(problem, instance, solution, Path(name).name), given=True)
    if stated is not None and not abs(case.cost - stated) < PRECISION:
        warnings.warn(
            f"{name}: states the cost {stated:.10g}, but costs {case.cost:.10g} as the distances "
            f"of {instance.name} are measured here.",
            FileWarning,
            stacklevel=2,
        )
    return case


def _certified_case(
    problem: AnyProblem, instance: Any, solution: Any, source: str, seconds: float | None = None
) -> Case:
    # An instance that cannot be repaired is refused before others are repaired.
    problem.operator.admit(instance, solution)
    cost = problem.cost(instance, solution)
    return Case(instance, solution, cost, source, seconds=seconds)


def make_cases(
    problem: AnyProblem, instances: Iterable[Any], step: Callable[[], None] = lambda: None
) -> list[Case]:
    """Return a case for each instance; call ``step`` after each."""
    cases = []
    for instance in instances:
        cases.append(make_case(problem, instance))
        step()
    return cases


def share_arrays(problem: AnyProblem, cases: Sequence[Case]) -> SharedArrays:
    """Put the arrays that programs see into one shared block, case by case.

    Raises
    ------
    NotEnoughMemory
        The block would not fit; nothing was allocated.
    ConfigError
        An instance is refused by :func:`require_supported`.
    """
    instances, operator = [case.instance for case in cases], problem.operator
    _require_block(problem, instances)
    for instance in instances:
        require_supported(problem, instance)
    shared = SharedArrays.allocate([operator.layout(problem, each) for each in instances])
    for index, instance in enumerate(instances):
        operator.fill(problem, instance, shared.writable(index))
    return shared


def require_supported(problem: AnyProblem, instance: Any) -> None:
    """Refuse an instance of which programs would not see all.

    Raises
    ------
    ConfigError
        It has limits or prices of vehicles, or stops that may or must be left out, which programs
        do not see; or directed ways, which those of regions do not.
    """
    if getattr(instance, "limited", False):
        raise _limited_error(instance)
    if getattr(instance, "directed", False) and not problem.operator.repairs_per_customer:
        raise ConfigError(
            f"{instance.name} has ways that differ from the ways back, expected "
            "repair=insertion: other programs take distances as symmetric."
        )


def _limited_error(instance: Any) -> ConfigError:
    return ConfigError(
        f"{instance.name} limits or prices vehicles, has stops that may or must be left out, or "
        "directed ways, expected an instance without: specahd solve plans it."
    )


def _require_block(problem: AnyProblem, instances: Sequence[Any]) -> None:
    """Refuse instances whose arrays would not fit into memory, before any array is made."""
    operator = problem.operator
    sizes = [block_size(operator.layout(problem, instance)) for instance in instances]
    if not sizes:
        return
    largest = instances[sizes.index(max(sizes))].name
    what = f"The arrays of {largest} need"
    if len(instances) > 1:
        what = f"The arrays of {len(instances)} instances ({largest} has the largest) need"
    require_memory(sum(sizes), what)
