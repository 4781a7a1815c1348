"""Vocabulary and contract of upper programs that choose ordered groups of customers.

All compositions compile. A ``key`` is a number computed for the customer ``node``; an ``amount`` is
the number of customers of a group.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from specahd.core.contract import Contract
from specahd.core.interface import Interface
from specahd.core.program import Level, Tier
from specahd.core.vocabulary import Constant, Production, Vocabulary, body, body_of, rule
from specahd.engine import interfaces, route_ends, seeds, strings
from specahd.programs.language import COMPILED_RULES

STANDING = (
    "A feasible solution exists already; again and again some of its customers leave their routes "
    "and are inserted again, one after the other. "
)
"""Text of a task that follows the goal of the problem."""
_PACE = (
    "It is called at the start of every pass, until the insertions of an instance are spent, and "
    "sees each time what its groups have become. Where it raises, the pass has no groups; a "
    "program that takes too long on any instance is discarded. Later instances have thousands of "
    "customers, and as many passes as time allows."
)
_ROUTE = "take the route of a customer drawn at random"
_NEAR_SOME = "take up to 15 customers nearest to one drawn at random, {CHANCE} of them left out"
HAND_WRITTEN = (
    (strings.route_removal, "Take the route of a customer drawn at random."),
    (
        strings.nearest_customers,
        "Take up to 15 customers nearest to one drawn at random, 0.2 of them left out.",
    ),
    (
        strings.adjacent_strings,
        "Take strings of up to 10 stops, 10 stops on average, out of the routes near one drawn at "
        "random, a gap in each with probability 0.5, at most 40 stops; insert them in order of "
        "chance, minus demand, minus distance to the depot or distance to the depot.",
    ),
)
"""Programs that a search begins with, and their ideas; the strongest last."""
STRINGS_AND_ENDS = (
    route_ends.strings_and_ends,
    "Take strings of up to 10 stops out of the routes near one drawn at random, or in 0.4 of all "
    "groups whole ends of two to four of these routes, 12 stops and up to 20 more; insert them in "
    "order of chance, minus demand, minus distance to the depot or distance to the depot.",
)
"""Another such program and its idea, for routes of which any part may be exchanged."""
_ORDER_HOLES = {
    "noise[draw + (7 * member + 5) % 32]": "RANK",
    "-float(demands[node])": "RANK2",
    "= -depot_distances[node]": "= RANK3",
    "= depot_distances[node]": "= RANK4",
}
_STRINGS_HOLES = {
    "mean = 10.0": "mean = MEAN",
    "min(10.0, stops)": "min(LONGEST, stops)",
    "min(max_size, 40)": "min(max_size, MOST)",
    "< 0.5": "< CHANCE",
    **_ORDER_HOLES,
}
_ENDS_HOLES = {
    "min(10.0, stops)": "min(LONGEST, stops)",
    "ends = noise[draw + 31] < 0.4": "ends = noise[draw + 31] < CHANCE",
    "12 + int(noise[draw + 30] * 20.0)": "COUNT + int(noise[draw + 30] * COUNT2)",
    **_ORDER_HOLES,
}
_DRAWN = "seed = 1 + int(noise[draw] * customers)"
BEST_OF_SOME = """seed = 1
    lowest = np.inf
    for trial in range(COUNT):
        node = 1 + int(noise[(draw + 29 * trial) % len(noise)] * customers)
        value = KEY
        if value < lowest:
            lowest = value
            seed = node"""
"""Code that replaces the customer drawn at random, with the holes COUNT and KEY."""
_STRINGS_WORDS = (
    "take strings of up to {LONGEST} stops, {MEAN} stops on average, out of the routes near one ",
    ", a gap in each with probability {CHANCE}, at most {MOST} stops; insert them in order of "
    "{RANK}, {RANK2}, {RANK3} or {RANK4}",
)
ENDS = body_of(
    route_ends.strings_and_ends,
    "take strings of up to {LONGEST} stops out of the routes near one drawn at random, or in "
    "{CHANCE} of all groups whole ends of two to four of these routes, {COUNT} stops and up to "
    "{COUNT2} more; insert them in order of {RANK}, {RANK2}, {RANK3} or {RANK4}",
    4,
    _ENDS_HOLES,
)
"""Production of :data:`STRINGS_AND_ENDS`."""
_OF_ROUTES = MappingProxyType(
    {
        "sized": "demands",
        "met": "\n    met = np.zeros(route_of.max() + 1, np.int64)",
        "known": " or met[route_of[middle]] == group + 1",
        "meet": "\n            met[route_of[middle]] = group + 1",
    }
)
"""Parts of templates that concern routes: an array with an entry per customer, and the code that
allows a group only one string of each route."""
_NEAREST = """
    n = len({sized}) - 1
    size = min(COUNT, max_size)
    groups = np.zeros(max_groups * (size + 1), np.int64)
    count = 0
    for group in range(max_groups):
        seed = 1 + int(noise[group] * n)
        groups[count] = seed
        count += 1
        for near in range(min(size - 1, neighbours.shape[1])):
            groups[count] = neighbours[seed, near]
            count += 1
        count += 1
    return groups
"""
_SEEDS = """
    n = len({sized}) - 1
    groups = np.zeros(max_groups * (max_size + 1), np.int64)
    taken = np.zeros(n + 1, np.int64){met}
    count = 0
    for group in range(max_groups):
        size = max(1, min(max_size, AMOUNT))
        start = count
        seed = 0
        least = np.inf
        for trial in range(COUNT):
            node = 1 + int(noise[(group * COUNT + trial) % len(noise)] * n)
            value = KEY
            if taken[node] == 0 and value < least:
                seed = node
                least = value
        if seed == 0:
            continue
"""
_NEAR = """
        for near in range(-1, neighbours.shape[1]):
            if count - start >= size:
                break
            middle = seed
            if near >= 0:
                middle = neighbours[seed, near]
"""
_CLOSE = """
            if taken[middle] > 0 or (near >= 0 and noise[(group + 7 * near) % len(noise)] < CHANCE):
                continue
            groups[count] = middle
            taken[middle] = 1
            count += 1
"""
_STRINGS = """
            if taken[middle] > 0{known}:
                continue{meet}
            left = min(size - count + start, LENGTH)
            node = middle
            for step in range(int(noise[(group + 11 * near + 11) % len(noise)] * left)):
                if preceding[node] == 0:
                    break
                node = preceding[node]
            while left > 0 and node > 0:
                if taken[node] == 0:
                    groups[count] = node
                    taken[node] = 1
                    count += 1
                left -= 1
                node = following[node]
"""
_ORDER = """
        keys = np.zeros(count - start)
        for index in range(count - start):
            node = groups[start + index]
            key = KEY2
            place = index
            while place > 0 and keys[place - 1] > key:
                keys[place] = keys[place - 1]
                groups[start + place] = groups[start + place - 1]
                place -= 1
            keys[place] = key
            groups[start + place] = node
"""
_END = """
        count += 1
    return groups
"""
_FROM = "take {AMOUNT} customers around the one of {COUNT} with the least {KEY}: "
_LAST = "; insert them in order of {KEY2}"


def _bodies(words: Mapping[str, str]) -> tuple[Production, ...]:
    nearest, begun, chains = (text.format(**words) for text in (_NEAREST, _SEEDS, _STRINGS))
    taken = {
        "those nearest, one in {CHANCE} left out": _CLOSE,
        "strings of {LENGTH} customers of the nearest routes": chains,
    }
    some = {"< 0.2": "< CHANCE", "len(demands)": f"len({words['sized']})"}
    return (
        body("take the {COUNT} customers nearest to one drawn at random", 0.5, nearest),
        body_of(strings.route_removal, _ROUTE, 0.3, {}),
        body_of(strings.nearest_customers, _NEAR_SOME, 0.5, some),
        body_of(
            strings.adjacent_strings, "drawn at random".join(_STRINGS_WORDS), 4, _STRINGS_HOLES
        ),
        body_of(
            strings.adjacent_strings,
            "with the least {KEY} of {COUNT}".join(_STRINGS_WORDS),
            4,
            {**_STRINGS_HOLES, _DRAWN: BEST_OF_SOME},
        ),
        *(
            body(f"{_FROM}{said_of}", weight, begun, _NEAR, lines, _END)
            for weight, (said_of, lines) in zip((1, 2), taken.items(), strict=True)
        ),
        *(
            body(f"{_FROM}{said_of}{_LAST}", weight, begun, _NEAR, lines, _ORDER, _END)
            for weight, (said_of, lines) in zip((2, 4), taken.items(), strict=True)
        ),
    )


_RULES = (
    rule("amount", "COUNT", "{COUNT}"),
    rule("amount", "1 + int(noise[-1 - group] * COUNT)", "up to {COUNT}", 2),
    rule("length", "COUNT", "{COUNT}"),
    rule("length", "1 + int(noise[(group + near + 1) % len(noise)] * COUNT)", "up to {COUNT}", 2),
    rule("key", "noise[node % len(noise)]", "chance", 2),
    rule("rank", "noise[draw + (7 * member + 5) % 32]", "chance", 1.5),
    rule("rank", "KEY", "{KEY}", 3),
    rule("key", "-float(demands[node])", "minus demand", 1.5),
    rule("key", "float(demands[node])", "demand", 0.5),
    rule("key", "float(exposures[node])", "number of earlier groups"),
    rule("key", "-removal_gains[node]", "minus gain of removal"),
    rule("key", "removal_gains[node]", "gain of removal", 0.5),
    rule(
        "key",
        "-removal_gains[node] / (neighbour_distances[node, 0] + 1e-09)",
        "minus gain of removal against the distance of the nearest customer",
    ),
    rule("key", "neighbour_distances[node, 0]", "distance of the nearest customer", 0.7),
    rule("key", "-neighbour_distances[node, -1]", "minus distance of the farthest neighbour", 0.7),
    rule("key", "depot_distances[node]", "distance to the depot"),
    rule("key", "-depot_distances[node]", "minus distance to the depot"),
    rule("key", "(1.0 if preceding[node] == 0 else 0.0)", "whether it is first on its route", 0.4),
    rule("key", "KEY + WEIGHT * KEY2", "{KEY} plus {WEIGHT} times {KEY2}"),
    rule("key", "KEY * KEY2", "{KEY} times {KEY2}", 0.5),
    rule(
        "key",
        "KEY if noise[-50 - group] < CHANCE else KEY2",
        "{KEY} in {CHANCE} of all groups and {KEY2} otherwise",
        1.5,
    ),
)
_CONSTANTS = (
    # At most 18 strings, for which the hand-written program has room.
    Constant("mean", 2.0, 14.0),
    Constant("longest", 2.5, 30.0),
    Constant("most", 6, 40, integer=True),
    Constant("count", 2, 30, log=True, integer=True),
    Constant("chance", 0.02, 0.98),
    Constant("weight", 0.05, 6.0, log=True),
)


def vocabulary(
    rules: Sequence[Production] = (), words: Mapping[str, str] = _OF_ROUTES
) -> Vocabulary:
    """Return the vocabulary of programs that choose ordered groups.

    Parameters
    ----------
    rules
        A problem's own productions.
    words
        The values of the placeholders in the templates of bodies.
    """
    return Vocabulary((*_bodies(words), *_RULES, *rules), _CONSTANTS)


def substitute_terms(text: str, words: Mapping[str, str]) -> str:
    """Return a text about routes with each key of ``words`` replaced by its value."""
    for word, instead in words.items():
        text = text.replace(word, instead)
    return text


def contract(
    interface: Interface = interfaces.GROUPS,
    seed: Callable[..., Any] = seeds.nearest_customers,
    *,
    goal: str,
    vocabulary: Vocabulary,
    runner: str,
    words: Mapping[str, str] = MappingProxyType({}),
    others: Sequence[tuple[Callable[..., Any], str]] = HAND_WRITTEN,
) -> Contract:
    """Return the contract of programs that choose ordered groups.

    Parameters
    ----------
    interface
        The interface of the programs: their arguments and their answer.
    seed
        The seed function.
    goal
        The description of the problem, in whole sentences.
    runner
        The engine of the problem.
    words
        The replacements of words for a problem without routes (:func:`substitute_terms`).
    vocabulary, others
        As in :meth:`~specahd.core.contract.Contract.of`.
    """
    return Contract.of(
        seed,
        interface=interface,
        id="ordered_groups",
        level=Level.UPPER,
        idea=substitute_terms("Take the 10 customers nearest to one drawn at random.", words),
        task=goal
        + substitute_terms(
            f"{STANDING}Write the function that looks at the solution and decides WHERE to "
            "repair: which groups of customers leave their routes, and in which order the "
            "customers of a group are inserted again. It is asked again and again, about the "
            "solution as it then is.",
            words,
        ),
        runner=runner,
        vocabulary=vocabulary,
        tier=Tier.COMPILED,
        rules=(*COMPILED_RULES, substitute_terms(_PACE, words)),
        others=others,
    )
