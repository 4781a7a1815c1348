"""Cases at several stages of a descent: what a repertoire for a search is trained on.

The hand-written programs make the stages with the engine, in this process: they are ours, as
baseline solvers are. Stages are counted in repairs, so equal cases come from equal instances.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from specahd.core.contract import Contract
from specahd.engine.improver import engine_layout, fill_engine_block, order_of
from specahd.engine.insertion import seed_of
from specahd.repair.cases import Case, InfeasibleBaseline
from specahd.routing.base import AnyProblem, PassOperator

STAGES = {0: 0.0, 1: 0.1, 10: 0.4, 100: 0.8}
"""By repairs per customer that lie behind an incumbent, which share of a descent they are."""


class Stages:
    """Makes cases at stages of the descent of a problem whose operator makes passes.

    Parameters
    ----------
    operator
        That of the problem; its hand-written programs, the last of each level, make the descent.
    """

    def __init__(self, problem: AnyProblem, operator: PassOperator) -> None:
        self._problem = problem
        self._groups, self._upper, _ = _translated(operator.selector.contract)
        _, _, self._lower = _translated(operator.contract)

    def staged(self, case: Case, repairs: int) -> Case:
        """Return a case after a search of so many repairs per customer.

        Raises
        ------
        InfeasibleBaseline
            The engine made an infeasible solution, a bug of ours.
        """
        if not repairs:
            return case
        problem, instance = self._problem, case.instance
        layout = engine_layout(problem, instance).items()
        arrays: dict[str, Any] = {name: np.zeros(shape, dtype) for name, (dtype, shape) in layout}
        fill_engine_block(problem, instance, arrays)
        for array in arrays.values():
            array.flags.writeable = False
        routes = problem.flat(instance, case.baseline)
        order = order_of(
            instance,
            arrays["neighbour_distances"],
            seed=seed_of(*routes),
            repairs=repairs * instance.size,
            lowers=(self._lower,),
        )
        _, *found = self._groups(self._upper, arrays, [order.encode(), *routes]).arrays
        solution = problem.unflat(instance, found) if found else case.baseline
        violations = problem.check(instance, solution)
        if violations:
            raise InfeasibleBaseline(f"{instance.name}: the engine: {violations[0].detail}.")
        cost = problem.cost(instance, solution)
        return replace(case, baseline=solution, cost=cost, progress=STAGES[repairs])


def staged(
    problem: AnyProblem, cases: Iterable[Case], step: Callable[[], None] = lambda: None
) -> list[Case]:
    """Return the cases, each at one of the stages in turn, if the operator makes passes."""
    operator = problem.operator
    if not isinstance(operator, PassOperator):
        return list(cases)
    descent = Stages(problem, operator)
    stages = list(STAGES)
    made = []
    for index, case in enumerate(cases):
        made.append(descent.staged(case, stages[index % len(stages)]))
        step()
    return made


def _translated(contract: Contract) -> tuple[Any, Any, int]:
    """Return a contract's runner, its strongest seed program compiled, and that one's number."""
    assert contract.compiled is not None
    module, _, name = contract.compiled.partition(":")
    runner = getattr(importlib.import_module(module), name)
    number = 0 if runner.held is None else len(runner.held)
    return runner, runner.translate(contract.seeds[-1].source, contract.name), number
