"""Skill records from measured responses: a change, where it helped and where it failed."""

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
"""Scores that differ by no more are the same: costs are sums in floating point."""
SIDE = 8
"""A condition is stated if at least so many tasks are of the kind, and as many of the others."""
LEVEL = 0.05
"""The probability of any condition in a record of a change that has none."""
CONDITIONS = 3
"""The most conditions of either kind in a record; the strongest are kept."""

_DIGITS = 2
_VARIES = 1e-9
"""Least spread, relative to the largest magnitude, of a coordinate that is not constant."""


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
        Their names.
    instances
        A number by task that tasks of one instance share, shape (tasks,).
    failures
        On how many tasks the child had no answer, by outcome.
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

    An effect is stated if it exceeds what chance gives: if tasks were of the kind
    whatever their descriptors, it would be about normal, of variance ``1 / n + 1 / m``
    for n tasks of the kind and m others. Tasks of one instance may be alike; where
    they are of the kind together as well, the variance is that of instances whose
    tasks are all the same. The two-sided quantile is taken at ``LEVEL``, divided by
    the number of statements that a record could make (Bonferroni): two kinds, all
    coordinates.
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
    """Return the effect size of a group's values, None if it may be chance."""
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
