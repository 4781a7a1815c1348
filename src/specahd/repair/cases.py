"""Cases (x, y0): the instances of a run with their baseline solutions, and their shared block."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError, FileWarning, SpecAHDError
from specahd.core.memory_limit import require_memory
from specahd.repair.baseline_solutions import BaselineSolutions
from specahd.routing.base import AnyProblem
from specahd.routing.verification import PRECISION
from specahd.sandbox.shared_arrays import SharedArrays, block_size


@dataclass(frozen=True, slots=True)
class Case:
    """An instance x with its baseline solution y0 = B(x) and C_x(y0).

    ``source`` names B, or the file that y0 was read from. ``progress`` is the share of a descent
    that led to y0, 0 where B made it. ``seconds`` is the time that B took when it was run, now or
    for an earlier evaluation.
    """

    instance: Any
    baseline: Any
    cost: float
    source: str
    progress: float = 0.0
    seconds: float | None = field(default=None, compare=False)


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


def make_case(
    problem: AnyProblem,
    instance: Any,
    kept: BaselineSolutions = BaselineSolutions(None),  # noqa: B008  keeps nothing
) -> Case:
    """Run B on an instance, unless its solution is stored, and check it with F.

    Raises
    ------
    InfeasibleBaseline
        F finds a violation.
    NotEnoughMemory
        The arrays of the instance would not fit; B was not run.
    ConfigError
        The repair operator cannot repair the instance.
    """
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
    case = _certified_case(problem, instance, solution, Path(name).name)
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
    """
    instances, operator = [case.instance for case in cases], problem.operator
    _require_block(problem, instances)
    shared = SharedArrays.allocate([operator.layout(problem, each) for each in instances])
    for index, instance in enumerate(instances):
        operator.fill(problem, instance, shared.writable(index))
    return shared


def _require_block(problem: AnyProblem, instances: Sequence[Any]) -> None:
    """Refuse instances whose arrays would not fit into memory, before any array is made.

    Only the distance matrix counts; the other arrays are small beside it.
    """
    operator = problem.operator
    sizes = [block_size(operator.layout(problem, instance)) for instance in instances]
    if not sizes:
        return
    largest = instances[sizes.index(max(sizes))].name
    what = f"The distance matrix of {largest} needs"
    if len(instances) > 1:
        what = f"The distance matrices of {len(instances)} instances ({largest} has the most) need"
    require_memory(sum(sizes), what)
