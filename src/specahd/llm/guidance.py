"""Guided mutation: skill records of measured changes weight the candidates.

A change is the difference of a child and its parent in the counts of productions and of
pairs of productions, and in the values of numbers. Several candidates are drawn as usual. A
candidate is likelier to be chosen if its change is similar to changes that helped, and
dissimilar to changes that harmed. Only the request is used.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from specahd.core.contract import Request
from specahd.core.skill import Condition, Skill
from specahd.core.sums import sequential_sum
from specahd.core.vocabulary import Constant, Production
from specahd.llm.grammar import Grammar, Tree
from specahd.llm.variation import graft

CANDIDATES = 8
"""Number of candidates if there are records."""
UNBIASED = 0.25
"""Probability that the records are not used, so that the search keeps exploring."""
STRENGTH = 4.0
"""Strength of the choice: a difference of 1 in merit multiplies the odds of two candidates by
the exponential of this number."""
DOUBT = 8
"""Number of tasks without a difference that are added to the tasks of every record."""
SUPPORTED = 1.5
"""Factor of the worth of a record that states conditions for it."""

_Change = Mapping[object, float]


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """A change that was measured.

    Parameters
    ----------
    worth
        Gain of the change; negative if it harmed.
    part
        The part that replaced another or was put around it; None if that was the whole
        program or a number, or if the program to vary already has the part.
    """

    change: _Change
    worth: float
    part: Tree | None


def measured_changes(grammar: Grammar, request: Request) -> list[MeasuredChange]:
    """Return the measured changes of a request's skill records that the grammar can derive."""
    varied = request.parents[0].program.id if request.parents else None
    weaknesses = {
        _direction(condition)
        for skill in request.skills
        if skill.program.id == varied
        for condition in skill.failed
    }
    measured_changes = []
    for skill in request.skills:
        child = grammar.recover(skill.program.source)
        parent = grammar.recover(skill.parent.source)
        worth = _measured_gain(skill, weaknesses)
        if child is None or parent is None or not worth:
            continue
        part = None if skill.program.id == varied else _replaced_part(child, parent)
        measured_changes.append(MeasuredChange(_feature_difference(child, parent), worth, part))
    return measured_changes


def choose_guided(
    draw: Callable[[], Tree],
    tree: Tree,
    measured_changes: Sequence[MeasuredChange],
    rng: np.random.Generator,
    *,
    grafts: bool,
) -> Tree:
    """Choose one of several variations of a tree, preferring those like helpful changes.

    Parameters
    ----------
    draw
        Makes one variation.
    grafts
        Whether parts that helped elsewhere are candidates, too.
    """
    if rng.random() < UNBIASED:
        return draw()
    drawn: list[Tree | None] = [draw() for _ in range(CANDIDATES)]
    if grafts:
        helpful = [
            measured.part for measured in measured_changes if measured.part and measured.worth > 0
        ]
        drawn += [graft(tree, part, rng) for part in helpful]
    candidates = [candidate for candidate in drawn if candidate not in (None, tree)]
    if not candidates:
        return tree
    merits = np.array(
        [_merit(_feature_difference(candidate, tree), measured_changes) for candidate in candidates]
    )
    weights = np.exp(STRENGTH * (merits - merits.max()))
    return candidates[rng.choice(len(candidates), p=weights / weights.sum())]


def _measured_gain(skill: Skill, weaknesses: set[tuple[str, bool]]) -> float:
    """Return the worth of a change: the share of tasks that it improved minus that it worsened.

    The worth is larger if the record states conditions, and larger still if the
    change helped under a condition in which the program to vary fails.
    """
    total = skill.better + skill.worse + DOUBT
    balance = (skill.better - skill.worse) / total
    # Better on most tasks, worse in the mean: no evidence for or against the change.
    worth = balance if balance * skill.gain > 0 else 0.0
    if skill.helped if worth > 0 else skill.failed:
        worth *= SUPPORTED
    if any(_direction(condition) in weaknesses for condition in skill.helped):
        worth += skill.better / total
    return worth


def _direction(condition: Condition) -> tuple[str, bool]:
    return condition.coordinate, condition.effect > 0


def _merit(change: _Change, measured_changes: Sequence[MeasuredChange]) -> float:
    return sequential_sum(
        measured.worth * _cosine(change, measured.change) for measured in measured_changes
    )


def _cosine(first: _Change, second: _Change) -> float:
    """Return the cosine similarity of two changes; opposite changes have -1."""
    lengths = math.hypot(*first.values()) * math.hypot(*second.values())
    common = sequential_sum(value * second[key] for key, value in first.items() if key in second)
    return common / lengths if lengths else 0.0


def _feature_difference(child: Tree, parent: Tree) -> _Change:
    """Return the child's feature counts minus the parent's."""
    (forms, values), (old_forms, old_values) = _features(child), _features(parent)
    change: dict[object, float] = {
        key: forms[key] - old_forms[key]
        for key in (*forms, *(key for key in old_forms if key not in forms))
        if forms[key] != old_forms[key]
    }
    for key, numbers in values.items():
        before = old_values.get(key, [])
        # A number that was added or removed with its term does not count as changed.
        difference = sequential_sum(numbers) - sequential_sum(before)
        if len(before) == len(numbers) and difference:
            change[key] = difference
    return change


def _features(tree: Tree) -> tuple[Counter[object], dict[object, list[float]]]:
    """Return the counts of a tree's productions and their pairs, and its numbers by position."""
    forms: Counter[object] = Counter()
    values: dict[object, list[float]] = {}
    for _, node in tree.walk():
        # Equal productions are one object: those of the vocabulary.
        rule = id(node.rule)
        if isinstance(node.rule, Production):
            forms[rule] += 1
        # The factor of a number, not its summand.
        siblings = tuple(
            id(child.rule)
            for child in node.children
            if not child.children and child.makes != node.makes
        )
        for position, child in enumerate(node.children):
            if isinstance(child.rule, Constant):
                values.setdefault(("value", rule, position, siblings), []).append(
                    _relative_position(child)
                )
            else:
                forms[rule, position, id(child.rule)] += 1
    return forms, values


def _relative_position(tree: Tree) -> float:
    """Return the position of a number in its range, from 0 to 1."""
    constant = tree.rule
    assert isinstance(constant, Constant)
    value = min(max(tree.value, constant.low), constant.high)
    if constant.log:
        return math.log(value / constant.low) / math.log(constant.high / constant.low)
    return (value - constant.low) / (constant.high - constant.low)


def _replaced_part(child: Tree, parent: Tree) -> Tree | None:
    """Return the only part that a child replaces, None if there is no such part."""
    part: Tree | None = None
    while child.rule is parent.rule:
        pairs = [
            (ours, theirs)
            for ours, theirs in zip(child.children, parent.children, strict=True)
            if ours != theirs
        ]
        if len(pairs) != 1:
            break
        child, parent = pairs[0]
        part = child
    return part if part is not None and isinstance(part.rule, Production) else None
