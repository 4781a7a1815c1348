"""The vocabulary of lower programs of vehicle problems that choose the next customer.

A ``length`` is a distance per candidate, a ``share`` a number in [0, 1] per
candidate, a ``phase`` one number in [0, 1]. A root template has all variables
that its parts may use; a program keeps only the lines that it uses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specahd.core.contract import Contract
from specahd.core.interface import Body, Interface
from specahd.core.program import Level
from specahd.core.vocabulary import Constant, Production, Vocabulary, body, rule
from specahd.routing.base import FloatArray, IntArray

_CANDIDATES = """
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    back = distance_matrix[current_node, depot]
    size = DEMANDS[unvisited_nodes]
    scale = home.mean() + 1e-09
    detour = np.maximum(here + home - back, 0.0)
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    apart = between.mean(axis=1)
    second = min(1, len(unvisited_nodes) - 1)
    lonely = np.partition(between, second, axis=1)[:, second]
    tight = min(1.0, size.mean() / REST)
    roomy = min(1.0, rest_capacity / TOTAL)
    away = back / (back + scale)
    served = 1.0 - len(unvisited_nodes) / len(DEMANDS)
"""
_SCORE = "    score = SCORE"
_SCORES_IN_LINE = "    score = SCORE if current_node == depot else SCORE2"
_SCORES = """
    if current_node == depot:
        score = SCORE
    else:
        score = SCORE2
"""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of a program's answer, as statements and in words.

    Parameters
    ----------
    choice
        Statements after those that set ``score``.
    closing
        The same, for programs that return to the depot if ``CLOSE`` holds.
    once, twice
        Words for a program with one score, and for one with another score on an empty route.
    until
        Words that follow those if the program closes routes early.
    demands
        Name of the array of the demands of the group's nodes.
    rest, total
        Expressions for the remaining capacity and all candidates' demand, as divisors: never 0.
    """

    choice: str
    closing: str
    once: str
    twice: str
    until: str
    demands: str
    rest: str
    total: str

    def bodies(self, lines: str) -> tuple[Production, ...]:
        """Return the productions of whole programs; ``lines`` are a problem's own statements."""
        words = {"DEMANDS": self.demands, "REST": self.rest, "TOTAL": self.total}
        candidates = _CANDIDATES
        for word, meant in words.items():
            candidates = candidates.replace(word, meant)
        return (
            body(self.once, 3, candidates, lines, _SCORE, self.choice),
            body(self.once + self.until, 1, candidates, lines, _SCORE, self.closing),
            body(self.twice, 1, candidates, lines, _SCORES, self.choice),
            body(self.twice + self.until, 0.7, candidates, lines, _SCORES, self.closing),
            # As programs by hand say it.
            body(self.twice, 0, candidates, lines, _SCORES_IN_LINE, self.choice),
            body(self.twice + self.until, 0, candidates, lines, _SCORES_IN_LINE, self.closing),
        )


CUSTOMER = AnswerForm(
    choice="    return int(unvisited_nodes[np.argmin(score)])",
    closing="""
    best = np.argmin(score)
    if current_node != depot and CLOSE:
        return depot
    return int(unvisited_nodes[best])
""",
    once="visit the customer with the least {SCORE}",
    twice="open a route at the customer with the least {SCORE}, go on to the least {SCORE2}",
    until=", and return to the depot early if {CLOSE}",
    demands="demands",
    rest="max(rest_capacity, 1)",
    total="max(size.sum(), 1)",
)
"""The form of an answer that is the next customer, or the depot."""

# Programs by hand, with which a search begins if search.seeds=varied.
_NEAREST = "return int(unvisited_nodes[np.argmin(score)])"
HERE = "here = distance_matrix[current_node, unvisited_nodes]\n"
HOME = "home = distance_matrix[depot, unvisited_nodes]\n"
FARTHEST = (
    "Open a route at the customer farthest from the depot, go on to the least distance from here"
)
FARTHEST_FIRST = (
    "farthest_first",
    HERE + HOME + "score = -home if current_node == depot else here\n",
    FARTHEST,
)
LARGEST_SAVING = (
    "largest_saving",
    HERE + HOME + "score = -home if current_node == depot else here - home\n",
    f"{FARTHEST} minus distance to the depot",
)
HALF_SAVING = (
    "half_saving",
    HERE + HOME + "score = -home if current_node == depot else here - 0.5 * home\n",
    f"{FARTHEST} minus 0.5 times distance to the depot",
)
INNER_CUSTOMERS = (
    "inner_customers",
    HERE + HOME + "score = here + 0.5 * home\n",
    "Visit the customer with the least distance from here plus 0.5 times distance to the depot",
)

_SCORE_FORMS = (
    ("SCORE + WEIGHT * LENGTH", "{SCORE} plus {WEIGHT} times {LENGTH}"),
    ("SCORE - WEIGHT * LENGTH", "{SCORE} minus {WEIGHT} times {LENGTH}"),
    ("SCORE + WEIGHT * PHASE * LENGTH", "{SCORE} plus {WEIGHT} times {PHASE} times {LENGTH}"),
    ("SCORE - WEIGHT * PHASE * LENGTH", "{SCORE} minus {WEIGHT} times {PHASE} times {LENGTH}"),
    ("SCORE + WEIGHT * scale * SHARE", "{SCORE} plus {WEIGHT} UNIT times {SHARE}"),
    ("SCORE - WEIGHT * scale * SHARE", "{SCORE} minus {WEIGHT} UNIT times {SHARE}"),
    (
        "SCORE + 1000000.0 * (here > WIDTH * here.min())",
        "{SCORE} among those at most {WIDTH} times as far as the nearest",
    ),
    (
        "SCORE if PHASE > THRESHOLD else SCORE2",
        "{SCORE} while {PHASE} exceeds {THRESHOLD} and {SCORE2} otherwise",
    ),
    ("SCORE * (1.0 + WEIGHT * SHARE)", "{SCORE} stretched by {WEIGHT} times {SHARE}"),
)


def scores(unit: str, *weights: float) -> tuple[Production, ...]:
    """Return the productions of a ``score`` from others, with a weight each.

    Parameters
    ----------
    unit
        Words for ``scale``, the unit of lengths that a share is multiplied by.
    """
    return tuple(
        rule("score", template, phrase.replace("UNIT", unit), weight)
        for (template, phrase), weight in zip(_SCORE_FORMS, weights, strict=True)
    )


_RULES = (
    rule("score", "here", "distance from here", 0.8),
    rule("score", "LENGTH", "{LENGTH}", 0.4),
    rule("score", "-LENGTH", "minus {LENGTH}", 0.2),
    *scores("mean depot distances", 2, 2, 1.0, 1.0, 1.0, 1.0, 0.7, 0.7, 0.7),
    rule("score", "SCORE + LENGTH", "{SCORE} plus {LENGTH}", 0),
    rule("score", "SCORE - LENGTH", "{SCORE} minus {LENGTH}", 0),
    rule("length", "here", "distance from here"),
    rule("length", "home", "distance to the depot"),
    rule("length", "apart", "mean distance to the other candidates"),
    rule("length", "lonely", "distance to the nearest other candidate"),
    rule("length", "between.max(axis=1)", "distance to the farthest other candidate"),
    rule("length", "detour", "detour on the way to the depot"),
    rule("length", "np.abs(home - back)", "change of distance to the depot"),
    rule(
        "length",
        "np.sqrt(here * home)",
        "geometric mean of the distances from here and to the depot",
    ),
    rule("length", "np.minimum(here, home)", "lesser of the distances from here and to the depot"),
    rule("length", "np.maximum(here, home)", "greater of the distances from here and to the depot"),
    rule("length", "here ** 2 / scale", "squared distance from here"),
    rule("length", "home ** 2 / scale", "squared distance to the depot"),
    rule("share", "size / max(size.max(), 1)", "the relative demand"),
    rule("share", "size / max(rest_capacity, 1)", "the part of the remaining capacity it takes"),
    rule("share", "LENGTH / (LENGTH + scale)", "the saturated {LENGTH}"),
    rule(
        "share",
        "np.argsort(np.argsort(LENGTH)) / len(unvisited_nodes)",
        "the rank of {LENGTH}",
        0.7,
    ),
    rule("share", "SHARE ** POWER", "{SHARE} to the power of {POWER}", 0.5),
    rule("share", "PHASE * SHARE", "{PHASE} times {SHARE}", 0.5),
    rule("phase", "tight", "the mean share of the remaining capacity a candidate takes"),
    rule("phase", "roomy", "the share of the waiting demand that still fits"),
    rule("phase", "away", "the relative distance of the vehicle from the depot"),
    rule("phase", "served", "the share of customers no longer waiting", 0.7),
    rule("phase", "1.0 - PHASE", "one minus {PHASE}"),
    rule("phase", "PHASE ** POWER", "{PHASE} to the power of {POWER}", 0.7),
    rule(
        "close",
        "here[best] > RATIO * back",
        "the next customer is {RATIO} times as far as the depot",
    ),
    rule(
        "close",
        "detour[best] > RATIO * home[best]",
        "the detour to it exceeds {RATIO} times its depot distance",
    ),
    rule("close", "PHASE > THRESHOLD", "{PHASE} exceeds {THRESHOLD}"),
    rule("close", "CLOSE and CLOSE2", "both {CLOSE} and {CLOSE2}", 1.5),
    rule("close", "CLOSE or CLOSE2", "either {CLOSE} or {CLOSE2}", 0.5),
)
_CONSTANTS = (
    Constant("weight", 0.2, 6.0, log=True),
    Constant("width", 1.05, 4.0),
    Constant("threshold", 0.02, 0.98),
    Constant("power", 0.25, 4.0, log=True),
    Constant("ratio", 0.3, 6.0, log=True),
)


def vocabulary(
    lines: str = "",
    rules: Sequence[Production] = (),
    form: AnswerForm = CUSTOMER,
    constants: Sequence[Constant] = (),
) -> Vocabulary:
    """Return the vocabulary of programs that choose the next customer.

    Parameters
    ----------
    lines
        Statements after the shared ones, with the same indentation, for
        variables that a problem's own rules use.
    rules
        A problem's own productions.
    form
        The form of the programs' answer.
    constants
        A problem's own constants.
    """
    return Vocabulary(
        productions=(*form.bodies(lines), *_RULES, *rules),
        constants=(*_CONSTANTS, *constants),
    )


def nearest(current_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray) -> int:
    """Visit the node with the least distance from here."""
    here = distance_matrix[current_node, unvisited_nodes]
    score = here
    return int(unvisited_nodes[np.argmin(score)])


def contracts(
    interface: Interface,
    whole: Interface,
    seed: Callable[..., Any] = nearest,
    *,
    goal: str,
    problem: str,
    runner: Callable[..., Any],
    vocabulary: Vocabulary,
    varied: Sequence[tuple[Callable[..., Any] | Body, str]],
    leaving: str = "",
    asked: str = "",
) -> tuple[Contract, Contract]:
    """Return the contracts of programs that choose the next customer of a group, or of all.

    Parameters
    ----------
    interface, whole
        The interfaces of programs that rebuild a group, and of those that build a solution.
    seed
        The seed program, which goes to the nearest candidate.
    goal, problem
        Description of the problem in whole sentences, without an existing solution and
        with one.
    runner, vocabulary, varied
        As in :class:`~specahd.core.contract.Contract`; ``varied`` are for groups.
    leaving
        Words for what the seed does in addition.
    asked
        Words for what programs choose in addition.
    """
    append = Contract.of(
        seed,
        interface=interface,
        id="append",
        level=Level.LOWER,
        idea=f"Visit the customer with the least distance from here{leaving}.",
        task=f"{problem}Write the function that decides HOW to rebuild a group: it is asked again "
        f"and again where the current route goes on{asked}.",
        runner=runner,
        vocabulary=vocabulary,
        varied=varied,
    )
    construct = append.variant(
        seed,
        whole,
        id="construct",
        task=f"{goal}Write the function that builds a complete solution from nothing: it is asked "
        f"again and again where the current route goes on{asked}. An instance has one region, all "
        "of its customers.",
    )
    return append, construct


def by_hand(
    *rows: tuple[str, str, str], answer: str = _NEAREST, leaving: str = ""
) -> tuple[tuple[Body, str], ...]:
    """Return programs by hand, each with its idea; each is shown and varied by itself.

    Parameters
    ----------
    rows
        Names of the programs, statements that set ``score``, and ideas without a full stop.
    answer
        Statements after those.
    leaving
        Words for what these do in addition.
    """
    return tuple((Body(name, lines + answer), f"{idea}{leaving}.") for name, lines, idea in rows)
