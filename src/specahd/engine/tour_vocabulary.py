"""The vocabulary of programs for closed tours: that of routes, where it applies.

A production stays unless it looks at routes, loads or the depot, or speaks of routes.
"""

import re
from dataclasses import replace
from types import MappingProxyType

from specahd.core.interface import Interface
from specahd.core.vocabulary import Production, Vocabulary, body_of, rule
from specahd.engine import interfaces, select_groups, select_position, tour_strings
from specahd.engine.select_groups import BEST_OF_SOME, substitute_terms

WORDS = MappingProxyType(
    {
        "leave their routes": "leave the tour",
        " of which route": "",
        "of the nearest routes": "that pass near it",
        "stop": "node",
        "customer": "node",
    }
)
"""What is said of a tour, by what is said of routes."""
NEIGHBOURING_STRINGS = (
    tour_strings.neighbouring_strings,
    "Take strings of up to 6 nodes that pass near one drawn at random, at most 19 nodes; insert "
    "them in a drawn order.",
)
GREEDY = (tour_strings.greedy_with_blinks, select_position.GREEDY_OVERLOOKING)
"""Programs that a search begins with, and their ideas."""
_STRINGS = (
    "take strings of up to {LONGEST} nodes that pass near one ",
    ", at most {MOST} nodes; insert them in a drawn order",
)
_STRINGS_HOLES = {"longest = 6.0": "longest = LONGEST", "min(max_size, 19)": "min(max_size, MOST)"}
_DRAWN = "seed = 1 + int(noise[draw] * (nodes - 1))"
_OF_GROUPS = (
    body_of(tour_strings.neighbouring_strings, "drawn at random".join(_STRINGS), 4, _STRINGS_HOLES),
    body_of(
        tour_strings.neighbouring_strings,
        "with the least {KEY} of {COUNT}".join(_STRINGS),
        4,
        {**_STRINGS_HOLES, _DRAWN: BEST_OF_SOME.replace("customers", "(nodes - 1)")},
    ),
)
_OF_POSITIONS = (
    select_position.greedy(tour_strings.greedy_with_blinks),
    rule("score", "SCORE - WEIGHT * edges", "{SCORE} minus {WEIGHT} times the edge that is opened"),
    rule(
        "value",
        "VALUE + WEIGHT * removal_gain * SHARE",
        "{VALUE} plus {WEIGHT} gains of removal times {SHARE}",
    ),
    rule(
        "value",
        "VALUE - WEIGHT * removal_gain * SHARE",
        "{VALUE} minus {WEIGHT} gains of removal times {SHARE}",
    ),
    rule("length", "edges[position]", "the edge that is opened", 2),
    rule(
        "share",
        "distances[position] / (distances[position] + edges[position] + 1e-09)",
        "the way there against the edge that is opened",
    ),
    rule(
        "share",
        "detours[position] / (detours[position] + removal_gain + 1e-09)",
        "the detour against the gain of removal",
    ),
    rule(
        "phase",
        "removal_gain / (removal_gain + distances[0] + 1e-09)",
        "the gain of removal against the way to the nearest node",
    ),
)


def groups() -> Vocabulary:
    """Return the vocabulary of programs that choose ordered groups of nodes."""
    words = {"sized": "preceding", "met": "", "known": "", "meet": ""}
    vocabulary = select_groups.vocabulary(_OF_GROUPS, words)
    return _on_tour(vocabulary, interfaces.GROUPS, interfaces.TOUR_GROUPS)


def positions() -> Vocabulary:
    """Return the vocabulary of programs that choose a position."""
    vocabulary = select_position.vocabulary(_OF_POSITIONS)
    return _on_tour(vocabulary, interfaces.POSITIONS, interfaces.TOUR_POSITIONS)


def _on_tour(vocabulary: Vocabulary, routed: Interface, tour: Interface) -> Vocabulary:
    """Return the productions of a vocabulary for routes that need arguments of tours only."""
    absent = set(routed.names).difference(tour.names)
    found = [_reworded(production) for production in vocabulary.productions]
    kept = [
        production
        for production in found
        if absent.isdisjoint(re.findall(r"\w+", production.template))
        and "route" not in production.phrase
    ]
    used = {vocabulary.root} | {kind for production in kept for kind in production.holes.values()}
    return Vocabulary(
        tuple(production for production in kept if production.makes in used),
        tuple(constant for constant in vocabulary.constants if constant.makes in used),
    )


def _reworded(production: Production) -> Production:
    """Return a production of routes as it reads on a tour."""
    template, phrase = (
        substitute_terms(production.template, WORDS),
        substitute_terms(production.phrase, WORDS),
    )
    return replace(production, template=template, phrase=phrase)
