"""Skill records: a change of a program, and the tasks where it helped or failed in measurements."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from specahd.core.program import Program
from specahd.core.skill import Condition, Skill
from specahd.memory.diff import describe_child

TOLERANCE = 1e-9
"""Largest difference of equal scores: costs are sums in floating point, and thus rounded."""
SIDE = 8
"""Least number of tasks in the group, and of other tasks, for which a condition is stated."""
LEVEL = 0.05
"""Probability that a record states any condition if no coordinate separates the groups."""
CONDITIONS = 3
"""Largest number of conditions of either kind in a record; the strongest are kept."""

_DIGITS = 2
_VARIES = 1e-9
"""Largest spread of a coordinate that counts as constant, relative to its largest magnitude."""


@dataclass(frozen=True)
class Effects:
    """Measurements of a child and its parent on the same tasks.

    Parameters
    ----------
    differences
        The child's score minus the parent's, by task, shape (tasks,).
    descriptors
        Raw descriptors of the tasks, shape (tasks, coordinates); nan where a task has none.
    coordinates
        Names of the coordinates.
    instances
        Number of the instance of each task, shape (tasks,).
    failures
        Number of tasks on which the child had no answer, by outcome.
    """

    differences: NDArray[np.float64]
    descriptors: NDArray[np.float64]
    coordinates: tuple[str, ...]
    instances: NDArray[np.int64]
    failures: Mapping[str, int] = field(default_factory=dict)


def make_skill(child: Program, parent: Program, effects: Effects, version: int) -> Skill:
    """Return the record of a child."""
    better = effects.differences > TOLERANCE
    worse = effects.differences < -TOLERANCE
    return Skill(
        child,
        parent,
        version,
        change=describe_child(child, parent),
        tasks=len(better),
        better=int(better.sum()),
        worse=int(worse.sum()),
        gain=float(effects.differences.mean()),
        helped=find_conditions(better, effects),
        failed=find_conditions(worse, effects),
        failures=dict(effects.failures),
    )


def find_conditions(kind: NDArray[np.bool_], effects: Effects) -> tuple[Condition, ...]:
    """Find descriptor conditions that separate a group of tasks, the strongest effect first.

    A condition is stated if its effect exceeds chance. If the group did not depend on the
    descriptor, the effect would be about normal, of variance ``1 / n + 1 / m`` for n tasks
    in the group (``kind``) and m others. Tasks of one instance may be alike, and in the
    group together. So the variance for identical tasks in each instance is computed too,
    and the larger one is used. The two-sided quantile is that of ``LEVEL`` divided by
    the number of conditions that a record could state (Bonferroni): two groups times
    all coordinates.
    """
    trials = 2 * len(effects.coordinates)
    found = []
    for coordinate, values in zip(effects.coordinates, effects.descriptors.T, strict=True):
        known = np.isfinite(values)
        apart = _effect(values[known], kind[known], effects.instances[known], trials)
        if apart is not None:
            found.append(Condition(coordinate, apart))
    return tuple(sorted(found, key=lambda condition: -abs(condition.effect))[:CONDITIONS])


def _effect(
    values: NDArray[np.float64],
    kind: NDArray[np.bool_],
    instances: NDArray[np.int64],
    trials: int,
) -> float | None:
    """Return the effect size of a group's values; None if it may be due to chance."""
    sides = int(kind.sum()), int((~kind).sum())
    if min(sides) < SIDE or np.ptp(values) <= _VARIES * np.abs(values).max():
        return None
    effect = float((values[kind].mean() - values[~kind].mean()) / values.std(ddof=1))
    # The effect is the sum of the standardised values with these weights.
    weights = np.where(kind, 1 / sides[0], -1 / sides[1])
    by_instance = np.bincount(instances, weights)
    variance = max(float((weights**2).sum()), float((by_instance**2).sum()))
    quantile = NormalDist().inv_cdf(1 - LEVEL / (2 * trials))
    return round(effect, _DIGITS) if abs(effect) > quantile * math.sqrt(variance) else None
