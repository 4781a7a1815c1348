"""Γ: a rebuilt region enters the incumbent only if the complete solution passes F."""

from dataclasses import dataclass
from typing import Any

from specahd.core.program import Outcome
from specahd.core.settings import Accept
from specahd.routing.base import AnyProblem, Region, Violation

EPSILON = 1e-9
"""ε, the numerical safeguard of the paper's scores."""


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of one checked merge.

    ``merged_cost`` is the cost of the merged solution, None when it is
    infeasible or malformed; ``solution`` and ``cost`` are Γ's, the incumbent's
    own unless ``accepted``.
    """

    outcome: Outcome
    merged_cost: float | None
    accepted: bool
    solution: Any
    cost: float
    violations: tuple[Violation, ...] = ()


def checked_merge(
    problem: AnyProblem,
    instance: Any,
    incumbent: Any,
    cost: float,
    region: Region,
    output: Any,
    accept: Accept,
) -> Merge:
    """Merge a rebuilt region and check the complete solution (eq. checked_merge).

    Parameters
    ----------
    incumbent, cost
        The feasible incumbent y and C_x(y).
    output
        What the lower runner returned for ``region``: untrusted integer arrays.
    """
    merged = problem.operator.merge(instance, incumbent, region, output)
    if merged is None:
        return Merge(Outcome.INVALID_OUTPUT, None, False, incumbent, cost)
    violations = problem.check(instance, merged)
    if violations:
        return Merge(Outcome.INFEASIBLE_MERGE, None, False, incumbent, cost, violations)
    merged_cost = problem.cost(instance, merged)
    if accept is Accept.IMPROVING and not merged_cost < cost:
        return Merge(Outcome.OK, merged_cost, False, incumbent, cost)
    return Merge(Outcome.OK, merged_cost, True, merged, merged_cost)
