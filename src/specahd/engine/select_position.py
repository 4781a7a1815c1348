"""Vocabulary and contract of lower programs that choose where a customer is inserted.

All compositions compile. A ``value`` is a number per position, smaller is better. A ``length`` is a
distance and a ``share`` a number in [0, 1], both per ``position``. A ``phase`` is one number in
[0, 1] per customer. A ``score`` is an array over all positions.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from specahd.core.contract import Contract
from specahd.core.interface import Interface
from specahd.core.program import Level, Tier
from specahd.core.vocabulary import Constant, Production, Vocabulary, body, body_of, rule
from specahd.engine import interfaces, seeds, strings
from specahd.engine.select_groups import STANDING, substitute_terms
from specahd.programs.language import COMPILED_RULES

_PACE = (
    "It is called for every customer that is inserted. A region is a group: it is taken out and "
    "inserted again many times, as often as the facts below say, each time with other noise; what "
    "is cheaper stays. Where it raises, the cheapest position is taken; a program that takes too "
    "long on any region is discarded."
)
GREEDY_WITH_BLINKS = (
    "Insert where the detour is least, overlooking each position at a rate of 0.01, on a route of "
    "its own only if no other is seen."
)
GREEDY_OVERLOOKING = (
    "Insert where the detour is least, overlooking each position at a rate of 0.01."
)
_OVERLOOKING = "insert where {VALUE} is least, overlooking each position at a rate of {RATE}"
_GREEDY_HOLES = {"detours[position]": "VALUE", "0.01": "RATE"}
_LOOP = """
    best = len(detours) - 1
    least = np.inf
    for position in range(len(detours)):
        value = VALUE
        if value < least:
            least = value
            best = position
    return best
"""
_SKIPPING = """
    best = len(detours) - 1
    least = np.inf
    for position in range(len(detours)):
        if noise[position] < RATE:
            continue
        value = VALUE
        if value < least:
            least = value
            best = position
    return best
"""
_BODIES = (
    body("insert at the position with the least {SCORE}", 0.6, "    return int(np.argmin(SCORE))"),
    body("insert where {VALUE} is least", 1.5, _LOOP),
    body(_OVERLOOKING, 2, _SKIPPING),
    body_of(
        strings.greedy_with_blinks,
        f"{_OVERLOOKING}, on a route of its own only if no other is seen",
        4,
        _GREEDY_HOLES,
    ),
)
_OF_ARRAYS = (
    rule("score", "detours", "detour", 3),
    rule("score", "SCORE + WEIGHT * distances", "{SCORE} plus {WEIGHT} times the way there"),
    rule(
        "score",
        "SCORE + WEIGHT * depot_distance * rests / capacity",
        "{SCORE} plus {WEIGHT} depot distances times the free share of the route",
    ),
    rule(
        "score",
        "SCORE - WEIGHT * depot_distance * rests / capacity",
        "{SCORE} minus {WEIGHT} depot distances times the free share of the route",
    ),
    rule(
        "score",
        "SCORE * (1.0 + WEIGHT * noise)",
        "{SCORE} stretched by up to {WEIGHT} at random",
        2,
    ),
    rule(
        "score",
        "SCORE + 1000000.0 * (noise < CHANCE)",
        "{SCORE} without a position in {CHANCE} of all cases",
        2,
    ),
)
_RULES = (
    rule("value", "detours[position]", "the detour", 4),
    rule("value", "VALUE + WEIGHT * LENGTH", "{VALUE} plus {WEIGHT} times {LENGTH}"),
    rule("value", "VALUE - WEIGHT * LENGTH", "{VALUE} minus {WEIGHT} times {LENGTH}"),
    rule(
        "value",
        "VALUE + WEIGHT * depot_distance * SHARE",
        "{VALUE} plus {WEIGHT} depot distances times {SHARE}",
    ),
    rule(
        "value",
        "VALUE - WEIGHT * depot_distance * SHARE",
        "{VALUE} minus {WEIGHT} depot distances times {SHARE}",
    ),
    rule("value", "VALUE * (1.0 + WEIGHT * SHARE)", "{VALUE} stretched by {WEIGHT} times {SHARE}"),
    rule(
        "value",
        "VALUE * (1.0 + WEIGHT * PHASE * SHARE)",
        "{VALUE} stretched by {WEIGHT} times {PHASE} times {SHARE}",
    ),
    rule(
        "value",
        "VALUE if PHASE > THRESHOLD else VALUE2",
        "{VALUE} while {PHASE} exceeds {THRESHOLD} and {VALUE2} otherwise",
        0.5,
    ),
    rule("length", "distances[position]", "the way there from the stop before"),
    rule("length", "detours[position]", "the detour"),
    rule("length", "abs(distances[position] - depot_distance)", "the change of depot distance"),
    rule(
        "length",
        "max(0.0, detours[position] - distances[position])",
        "the detour beyond the way",
    ),
    rule("share", "noise[position]", "chance", 2),
    rule("share", "rests[position] / capacity", "the free share of the route"),
    rule("share", "1.0 - rests[position] / capacity", "the load of the route"),
    rule("share", "demand / (demand + rests[position] + 1e-09)", "the part of the room it takes"),
    rule("share", "(0.0 if position < len(detours) - 1 else 1.0)", "whether it opens a route"),
    rule("share", "SHARE ** POWER", "{SHARE} to the power of {POWER}", 0.5),
    rule("share", "SHARE * SHARE2", "{SHARE} times {SHARE2}", 0.5),
    rule("phase", "progress", "the time that has passed"),
    rule("phase", "demand / capacity", "the demand"),
    rule("phase", "noise[0]", "one chance for all positions", 0.7),
    rule(
        "phase",
        "depot_distance / (depot_distance + detours[0] + 1e-09)",
        "the depot's distance against the detour at the nearest position",
    ),
    rule("phase", "1.0 - PHASE", "one minus {PHASE}"),
    rule("rate", "CHANCE", "{CHANCE}", 3),
    rule("rate", "CHANCE * PHASE", "{CHANCE} times {PHASE}", 1.5),
    rule("rate", "CHANCE * SHARE", "{CHANCE} times {SHARE}"),
)
_CONSTANTS = (
    Constant("weight", 0.02, 4.0, log=True),
    Constant("chance", 0.003, 0.5, log=True),
    Constant("threshold", 0.02, 0.98),
    Constant("power", 0.25, 4.0, log=True),
)


def greedy(function: Callable[..., Any]) -> Production:
    """Return the production of a hand-written program that is :data:`GREEDY_OVERLOOKING`."""
    return body_of(function, _OVERLOOKING, 4, _GREEDY_HOLES)


def vocabulary(rules: Sequence[Production] = ()) -> Vocabulary:
    """Return the vocabulary of programs that choose a position.

    Parameters
    ----------
    rules
        A problem's own productions.
    """
    return Vocabulary((*_BODIES, *_OF_ARRAYS, *_RULES, *rules), _CONSTANTS)


def contract(
    interface: Interface = interfaces.POSITIONS,
    seed: Callable[..., Any] = seeds.least_detour,
    *,
    goal: str,
    runner: str,
    vocabulary: Vocabulary,
    idea: str = "Insert at the position with the least detour.",
    words: Mapping[str, str] = MappingProxyType({}),
    others: Sequence[tuple[Callable[..., Any], str]] = (),
) -> Contract:
    """Return the contract of programs that choose a position.

    Parameters
    ----------
    interface
        The interface of the programs: their arguments and their answer.
    seed, idea
        The seed function, and what it does.
    goal
        The description of the problem, in whole sentences.
    runner
        The engine of the problem.
    words
        The replacements of words for a problem without routes
        (:func:`select_groups.substitute_terms`).
    vocabulary, others
        As in :meth:`~specahd.core.contract.Contract.of`.
    """
    return Contract.of(
        seed,
        interface=interface,
        id="insertion",
        level=Level.LOWER,
        idea=idea,
        task=goal
        + substitute_terms(
            f"{STANDING}Write the function that decides HOW to repair a group: it is asked for "
            "every customer of the group, one after the other, at which position of which route "
            "the customer is inserted.",
            words,
        ),
        runner=runner,
        vocabulary=vocabulary,
        tier=Tier.COMPILED,
        rules=(*COMPILED_RULES, substitute_terms(_PACE, words)),
        others=others,
    )
