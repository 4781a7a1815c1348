"""Cases at several stages of a descent: what a repertoire for many passes is trained on.

The hand-written programs make the stages, in this process: they are ours, as baseline solvers are.
Stages are counted in repairs, so equal cases come from equal instances on any machine.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from specahd.core.contract import Contract
from specahd.core.settings import Accept
from specahd.repair.cases import Case
from specahd.repair.merge import checked_merge
from specahd.routing.base import AnyProblem, IntArray, PassOperator

STAGES = {0: 0.0, 1: 0.1, 10: 0.4, 100: 0.8}
"""By repairs per customer that lie behind an incumbent, which share of a descent they are."""


class Descent:
    """Makes cases at stages of the descent of a problem whose operator makes several passes.

    Parameters
    ----------
    problem
        Its operator's seed programs, the last of each level, make the descent.
    """

    def __init__(self, problem: AnyProblem, operator: PassOperator) -> None:
        self._problem = problem
        self._operator = operator
        self._propose = _runner(operator.selector.contract)
        self._rebuild = _runner(operator.contract)

    def staged(self, case: Case, repairs: int) -> Case:
        """Return a case after so many repairs per customer."""
        if not repairs:
            return case
        problem = self._problem
        instance, solution, cost = case.instance, case.baseline, case.cost
        layout = problem.layout(instance).items()
        arrays = {name: np.zeros(shape, dtype) for name, (dtype, shape) in layout}
        problem.fill(instance, arrays)
        for array in arrays.values():
            array.flags.writeable = False
        wanted = left = repairs * instance.size
        exposures: Counter[int] = Counter()
        while left > 0:
            operator = self._operator.at(1.0 - left / wanted, exposures)
            output = self._propose(arrays, operator.selector.inputs(instance, solution))
            regions = operator.selector.validate(instance, solution, output).regions
            if not regions:
                break
            for region in regions:
                given = operator.inputs(instance, solution, region)
                merge = checked_merge(
                    problem,
                    instance,
                    solution,
                    cost,
                    region,
                    self._rebuild(arrays, given),
                    Accept.IMPROVING,
                )
                solution, cost = merge.solution, merge.cost
                exposures.update(region.nodes)
                left -= operator.repairs(region)
                if left <= 0:
                    break
        return replace(case, baseline=solution, cost=cost, progress=STAGES[repairs])


def staged(
    problem: AnyProblem, cases: Iterable[Case], step: Callable[[], None] = lambda: None
) -> list[Case]:
    """Return the cases, each at one of the stages in turn, if the operator makes several passes."""
    operator = problem.operator
    if not isinstance(operator, PassOperator):
        return list(cases)
    descent = Descent(problem, operator)
    stages = list(STAGES)
    made = []
    for index, case in enumerate(cases):
        made.append(descent.staged(case, stages[index % len(stages)]))
        step()
    return made


def _runner(contract: Contract) -> Callable[[Any, tuple[IntArray, ...]], list[IntArray]]:
    """Return a function that runs the strongest seed program of a contract, compiled."""
    assert contract.compiled is not None
    module, _, name = contract.compiled.partition(":")
    runner = getattr(importlib.import_module(module), name)
    program = runner.translate(contract.seeds[-1].source, contract.name)

    def run(arrays: Any, inputs: tuple[IntArray, ...]) -> list[IntArray]:
        answer: list[IntArray] = runner(program, arrays, inputs).arrays
        return answer

    return run
