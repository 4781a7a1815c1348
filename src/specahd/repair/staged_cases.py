"""Cases at several stages of a search, on which a repertoire for searches is trained.

The hand-written programs make the stages with the engine, in this process: they are trusted, as
baseline solvers are. Stages are counted in repairs, so equal cases come from equal instances.
"""

import importlib
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from numba.core.errors import NumbaExperimentalFeatureWarning

from specahd.core.contract import Contract
from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine.blocks import shared_block
from specahd.engine.improver import SandboxedEngine
from specahd.engine.neighbourhood_search import run_search
from specahd.repair.cases import Case, InfeasibleBaseline
from specahd.routing.base import AnyProblem, RepairOperator
from specahd.sandbox.calls import Call, Result

_EXPERIMENTAL = ".*First-class function type feature is experimental"
"""Pattern of numba's warning (in bold) about loops with programs as arguments."""


class Stages:
    """Makes cases at stages of a search, for an operator that makes passes.

    Parameters
    ----------
    operator
        The problem's operator; its last hand-written program of each level makes the descent.
    """

    def __init__(self, problem: AnyProblem, operator: RepairOperator) -> None:
        self._problem, self._progress = problem, operator.stages
        self._groups, self._upper, _ = _compile_seed(operator.selector.contract)
        _, _, self._lower = _compile_seed(operator.contract)

    def advance(self, case: Case, repairs: int) -> Case:
        """Return a case after a search of ``repairs`` repairs per customer.

        Raises
        ------
        InfeasibleBaseline
            The engine made an infeasible solution, which is a bug.
        """
        if not repairs:
            return case
        problem, instance, start = self._problem, case.instance, case.baseline
        with closing(shared_block(problem, instance)) as shared:
            arrays = shared.arrays(0)
            here = _InProcess(self._groups, self._upper, arrays)
            near = arrays["neighbour_distances"]
            engine = SandboxedEngine(here, problem, instance, near, 1, seed=0)
            engine.lowers = (self._lower,)
            engine.start(start)
            limit = SearchLimit(repairs=repairs * instance.size)
            found = run_search(problem, instance, start, case.cost, engine, limit)
        if found.failure:
            raise InfeasibleBaseline(f"{instance.name}: the engine: {found.failure}.")
        return replace(
            case, baseline=found.solution, cost=found.cost, progress=self._progress[repairs]
        )


@dataclass(frozen=True)
class _InProcess:
    """Answers calls of an upper program in this process."""

    runner: Any
    program: Any
    arrays: Mapping[str, Any]

    def call(self, call: Call) -> Result:
        with warnings.catch_warnings():
            # The first call compiles the loops, with warnings of numba that no user can act on.
            warnings.filterwarnings("ignore", _EXPERIMENTAL, NumbaExperimentalFeatureWarning)
            answer = self.runner(self.program, self.arrays, call.inputs)
        return Result(Outcome.OK, tuple(answer.arrays), fallbacks=answer.fallbacks)


def stage_cases(problem: AnyProblem, cases: Iterable[Case]) -> list[Case]:
    """Assign the cases to the operator's stages in turn, if it has any."""
    operator = problem.operator
    names = list(operator.stages)
    if not names:
        return list(cases)
    stages = Stages(problem, operator)
    return [stages.advance(case, names[index % len(names)]) for index, case in enumerate(cases)]


def _compile_seed(contract: Contract) -> tuple[Any, Any, int]:
    """Return a contract's runner, its strongest seed program, compiled, and that seed's index."""
    module, _, name = contract.runner.partition(":")
    runner = getattr(importlib.import_module(module), name)
    # The engine's package keeps the hand-written programs compiled.
    runner.read_own()
    number = 0 if runner.translated is None else len(runner.translated)
    return runner, runner.translate(contract.seeds[-1].source, contract.name), number
