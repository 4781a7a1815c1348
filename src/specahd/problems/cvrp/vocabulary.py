"""What CVRP programs are composed of when no language model writes them.

Two typed grammars over the arguments of the two contracts. A root template
lists everything its parts may look at; a program keeps only the lines it uses.
Weights keep fresh samples broad: most are mediocre, and a good one needs
several choices that fit together, so that variation has something to find.
"""

import re
import textwrap

from specahd.core.contract import Constant, Production, Vocabulary

_SYNONYMS = {
    "FIRST": "score",
    "NEXT": "score",
    "OTHER": "score",
    "EITHER": "close",
    "OTHERTRAIT": "trait",
    "OTHERGAP": "gap",
    "OTHERURGENCY": "urgency",
}


def _rule(makes: str, template: str, phrase: str, weight: float = 1.0) -> Production:
    """Return a production whose holes are the words in capitals, which name their types."""
    words = re.findall(r"\b[A-Z]{2,}\b", template)
    holes = {word: _SYNONYMS.get(word, word.lower()) for word in words}
    return Production(makes, template, phrase, holes, weight)


def _program(phrase: str, weight: float, *parts: str) -> Production:
    template = textwrap.dedent("\n".join(part.strip("\n").rstrip() for part in parts))
    return _rule("program", template, phrase, weight)


# How to repair: which customer next. A `length` is a distance per candidate, a
# `share` a number in [0, 1] per candidate, a `phase` one number in [0, 1].

_CANDIDATES = """
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    back = distance_matrix[current_node, depot]
    size = demands[unvisited_nodes]
    scale = home.mean() + 1e-09
    detour = np.maximum(here + home - back, 0.0)
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    apart = between.mean(axis=1)
    second = min(1, len(unvisited_nodes) - 1)
    lonely = np.partition(between, second, axis=1)[:, second]
    tight = min(1.0, size.mean() / max(rest_capacity, 1))
    roomy = min(1.0, rest_capacity / max(size.sum(), 1))
    away = back / (back + scale)
    served = 1.0 - len(unvisited_nodes) / len(demands)
"""
_SCORE = "    score = SCORE"
_SCORES = """
    if current_node == depot:
        score = FIRST
    else:
        score = NEXT
"""
_CHOICE = "    return int(unvisited_nodes[np.argmin(score)])"
_CLOSING = """
    best = np.argmin(score)
    if current_node != depot and CLOSE:
        return depot
    return int(unvisited_nodes[best])
"""


def lower() -> Vocabulary:
    """Return the vocabulary of ``select_next_node``."""
    once = "visit the customer with the least {SCORE}"
    twice = "open a route at the customer with the least {FIRST}, go on to the least {NEXT}"
    until = ", and return to the depot early if {CLOSE}"
    return Vocabulary(
        productions=(
            _program(once, 3, _CANDIDATES, _SCORE, _CHOICE),
            _program(once + until, 1, _CANDIDATES, _SCORE, _CLOSING),
            _program(twice, 1, _CANDIDATES, _SCORES, _CHOICE),
            _program(twice + until, 0.7, _CANDIDATES, _SCORES, _CLOSING),
            _rule("score", "here", "distance from here", 0.8),
            _rule("score", "LENGTH", "{LENGTH}", 0.4),
            _rule("score", "-LENGTH", "minus {LENGTH}", 0.2),
            _rule("score", "SCORE + WEIGHT * LENGTH", "{SCORE} plus {WEIGHT} times {LENGTH}", 2),
            _rule("score", "SCORE - WEIGHT * LENGTH", "{SCORE} minus {WEIGHT} times {LENGTH}", 2),
            _rule(
                "score",
                "SCORE + WEIGHT * PHASE * LENGTH",
                "{SCORE} plus {WEIGHT} times {PHASE} times {LENGTH}",
            ),
            _rule(
                "score",
                "SCORE - WEIGHT * PHASE * LENGTH",
                "{SCORE} minus {WEIGHT} times {PHASE} times {LENGTH}",
            ),
            _rule(
                "score",
                "SCORE + WEIGHT * scale * SHARE",
                "{SCORE} plus {WEIGHT} mean depot distances times {SHARE}",
            ),
            _rule(
                "score",
                "SCORE - WEIGHT * scale * SHARE",
                "{SCORE} minus {WEIGHT} mean depot distances times {SHARE}",
            ),
            _rule(
                "score",
                "SCORE + 1000000.0 * (here > WIDTH * here.min())",
                "{SCORE} among those at most {WIDTH} times as far as the nearest",
                0.7,
            ),
            _rule(
                "score",
                "SCORE if PHASE > THRESHOLD else OTHER",
                "{SCORE} while {PHASE} exceeds {THRESHOLD} and {OTHER} otherwise",
                0.7,
            ),
            _rule(
                "score",
                "SCORE * (1.0 + WEIGHT * SHARE)",
                "{SCORE} stretched by {WEIGHT} times {SHARE}",
                0.7,
            ),
            _rule("length", "here", "distance from here"),
            _rule("length", "home", "distance to the depot"),
            _rule("length", "apart", "mean distance to the other candidates"),
            _rule("length", "lonely", "distance to the nearest other candidate"),
            _rule("length", "between.max(axis=1)", "distance to the farthest other candidate"),
            _rule("length", "detour", "detour on the way to the depot"),
            _rule("length", "np.abs(home - back)", "change of distance to the depot"),
            _rule(
                "length",
                "np.sqrt(here * home)",
                "geometric mean of the distances from here and to the depot",
            ),
            _rule(
                "length",
                "np.minimum(here, home)",
                "lesser of the distances from here and to the depot",
            ),
            _rule(
                "length",
                "np.maximum(here, home)",
                "greater of the distances from here and to the depot",
            ),
            _rule("length", "here ** 2 / scale", "squared distance from here"),
            _rule("length", "home ** 2 / scale", "squared distance to the depot"),
            _rule("share", "size / max(size.max(), 1)", "the relative demand"),
            _rule(
                "share",
                "size / max(rest_capacity, 1)",
                "the part of the remaining capacity it takes",
            ),
            _rule("share", "LENGTH / (LENGTH + scale)", "the saturated {LENGTH}"),
            _rule(
                "share",
                "np.argsort(np.argsort(LENGTH)) / len(unvisited_nodes)",
                "the rank of {LENGTH}",
                0.7,
            ),
            _rule("share", "SHARE ** POWER", "{SHARE} to the power of {POWER}", 0.5),
            _rule("share", "PHASE * SHARE", "{PHASE} times {SHARE}", 0.5),
            _rule("phase", "tight", "the mean share of the remaining capacity a candidate takes"),
            _rule("phase", "roomy", "the share of the waiting demand that still fits"),
            _rule("phase", "away", "the relative distance of the vehicle from the depot"),
            _rule("phase", "served", "the share of customers no longer waiting", 0.7),
            _rule("phase", "1.0 - PHASE", "one minus {PHASE}"),
            _rule("phase", "PHASE ** POWER", "{PHASE} to the power of {POWER}", 0.7),
            _rule(
                "close",
                "here[best] > RATIO * back",
                "the next customer is {RATIO} times as far as the depot",
            ),
            _rule(
                "close",
                "detour[best] > RATIO * home[best]",
                "the detour to it exceeds {RATIO} times its depot distance",
            ),
            _rule("close", "PHASE > THRESHOLD", "{PHASE} exceeds {THRESHOLD}"),
            _rule("close", "CLOSE and EITHER", "both {CLOSE} and {EITHER}", 1.5),
            _rule("close", "CLOSE or EITHER", "either {CLOSE} or {EITHER}", 0.5),
        ),
        constants=(
            Constant("weight", 0.2, 6.0, log=True),
            Constant("width", 1.05, 4.0),
            Constant("threshold", 0.02, 0.98),
            Constant("power", 0.25, 4.0, log=True),
            Constant("ratio", 0.3, 6.0, log=True),
        ),
    )


# Where to repair: which customers together. A `trait` is a number per route
# around 1, a `gap` the distance of every route from the chosen one.

_ROUTES = """
    sizes = np.array([len(route) for route in routes])
    flat = np.concatenate(routes)
    starts = np.cumsum(sizes) - sizes
    ends = starts + sizes - 1
    owner = np.repeat(np.arange(len(routes)), sizes)
    loads = np.add.reduceat(demands[flat], starts)
    depot_distance = distance_matrix[0][flat]
    stems = depot_distance[starts] + depot_distance[ends]
    legs = np.where(np.isin(np.arange(len(flat)), ends), 0.0, distance_matrix[flat, np.roll(flat, -1)])
    costs = stems + np.add.reduceat(legs, starts)
    longest = np.maximum.reduceat(legs, starts)
    radius = np.maximum.reduceat(depot_distance, starts)
    x = np.bincount(owner, weights=coords[flat, 0]) / sizes
    y = np.bincount(owner, weights=coords[flat, 1]) / sizes
    angle = np.arctan2(y - coords[0, 1], x - coords[0, 0])
    reach = np.hypot(x - coords[0, 0], y - coords[0, 1])
    scale = depot_distance.mean() + 1e-09
"""
_NEIGHBOURS = """
        near = distance_matrix[routes[seed]].min(axis=0)[flat]
        far = distance_matrix[routes[seed]].mean(axis=0)[flat]
        centre_gap = np.hypot(x - x[seed], y - y[seed])
        nearest_gap = np.minimum.reduceat(near, starts)
        mean_gap = np.add.reduceat(far, starts) / sizes
        turn = np.pi - np.abs(np.pi - np.abs(angle - angle[seed]))
"""
_CONSECUTIVE = """
    limit = max(2, int(SHARE * max_size))
    groups = [[]]
    for index in ORDER:
        route = routes[index][:max_size]
        if groups[-1] and len(groups[-1]) + len(route) > limit:
            groups.append([])
        groups[-1].extend(route)
    return groups[:max_groups]
"""
_SEEDED = (
    """
    limit = max(2, int(SHARE * max_size))
    free = np.ones(len(routes), dtype=bool)
    groups = []
    for seed in ORDER:
        if len(groups) == max_groups:
            break
        if not free[seed]:
            continue
        free[seed] = False
        group = list(routes[seed][:max_size])
        members = 1
    """,
    _NEIGHBOURS,
    """
        for index in np.argsort(GAP, kind='stable'):
            if members == COUNT or len(group) >= limit:
                break
            if free[index] and len(group) + sizes[index] <= limit:
                group.extend(routes[index])
                free[index] = False
                members += 1
        groups.append(group)
    return groups
    """,
)
_CHAINED = (
    """
    limit = max(2, int(SHARE * max_size))
    free = np.ones(len(routes), dtype=bool)
    groups = []
    for first in ORDER:
        if len(groups) == max_groups:
            break
        if not free[first]:
            continue
        seed = first
        free[seed] = False
        group = list(routes[seed][:max_size])
        closeness = np.full(len(routes), np.inf)
        for _ in range(COUNT - 1):
    """,
    _NEIGHBOURS.replace("\n", "\n    "),
    """
            closeness = np.minimum(closeness, GAP)
            fits = free & (len(group) + sizes <= limit)
            if not fits.any():
                break
            seed = int(np.argmin(np.where(fits, closeness, np.inf)))
            free[seed] = False
            group.extend(routes[seed])
        groups.append(group)
    return groups
    """,
)
_CUSTOMERS = """
    limit = max(2, int(SHARE * max_size))
    before = np.where(np.isin(np.arange(len(flat)), starts), 0, np.roll(flat, 1))
    after = np.where(np.isin(np.arange(len(flat)), ends), 0, np.roll(flat, -1))
    saving = distance_matrix[before, flat] + distance_matrix[flat, after] - distance_matrix[before, after]
    urgency = URGENCY
    waiting = np.ones(len(flat), dtype=bool)
    groups = []
    for _ in range(max_groups):
        if not waiting.any():
            break
        middle = int(np.argmax(np.where(waiting, urgency, -np.inf)))
        pull = distance_matrix[flat[middle], flat] - WEIGHT * scale * (owner == owner[middle])
        chosen = np.argsort(np.where(waiting, pull, np.inf), kind='stable')[:limit]
        chosen = chosen[waiting[chosen]]
        groups.append(list(flat[chosen]))
        waiting[chosen] = False
    return groups
"""


def upper() -> Vocabulary:
    """Return the vocabulary of ``generate_customer_groups``."""
    size = ", up to {SHARE} of the allowed size"
    grown = "take routes in order of {ORDER}, add to each the routes of least {GAP} "
    return Vocabulary(
        productions=(
            _program("join routes in order of {ORDER}" + size, 1, _ROUTES, _CONSECUTIVE),
            _program(grown + "from it, {COUNT} in all" + size, 2, _ROUTES, *_SEEDED),
            _program(
                grown + "from any joined so far, {COUNT} in all" + size, 2, _ROUTES, *_CHAINED
            ),
            _program(
                "gather around the customers with the largest {URGENCY} those nearest, as if {WEIGHT} "
                "mean depot distances nearer on the same route" + size,
                2,
                _ROUTES,
                _CUSTOMERS,
            ),
            _rule("order", "range(len(routes))", "appearance"),
            _rule("order", "np.argsort(TRAIT, kind='stable')", "increasing {TRAIT}", 2),
            _rule("order", "np.argsort(-TRAIT, kind='stable')", "decreasing {TRAIT}", 3),
            _rule("trait", "angle", "polar angle"),
            _rule("trait", "costs / costs.mean()", "cost"),
            _rule("trait", "costs / sizes / scale", "cost per customer"),
            _rule("trait", "costs / np.maximum(loads, 1) * capacity / scale", "cost per load"),
            _rule("trait", "costs / (2.0 * radius + 1e-09)", "detour"),
            _rule("trait", "loads / capacity", "fill"),
            _rule("trait", "stems / (costs + 1e-09)", "share of travel to and from the depot"),
            _rule("trait", "longest / scale", "longest leg between customers"),
            _rule("trait", "radius / scale", "distance of the farthest customer"),
            _rule("trait", "reach / scale", "distance of the centre from the depot"),
            _rule("trait", "sizes / sizes.mean()", "number of customers", 0.7),
            _rule(
                "trait",
                "TRAIT - WEIGHT * OTHERTRAIT",
                "{TRAIT} minus {WEIGHT} times {OTHERTRAIT}",
                1.0,
            ),
            _rule(
                "trait",
                "TRAIT + WEIGHT * OTHERTRAIT",
                "{TRAIT} plus {WEIGHT} times {OTHERTRAIT}",
                1.5,
            ),
            _rule("trait", "TRAIT * OTHERTRAIT", "{TRAIT} times {OTHERTRAIT}", 2),
            _rule("gap", "centre_gap", "distance of centres"),
            _rule("gap", "nearest_gap", "least distance of customers"),
            _rule("gap", "mean_gap", "mean distance of customers"),
            _rule("gap", "scale * turn", "difference of polar angle"),
            _rule(
                "gap", "np.abs(reach - reach[seed])", "difference in distance from the depot", 0.7
            ),
            _rule("gap", "scale * np.abs(TRAIT - TRAIT[seed])", "difference in {TRAIT}", 0.5),
            _rule("gap", "GAP + WEIGHT * OTHERGAP", "{GAP} plus {WEIGHT} times {OTHERGAP}", 3),
            _rule(
                "gap",
                "GAP + WEIGHT * scale * TRAIT",
                "{GAP} plus {WEIGHT} mean depot distances times {TRAIT}",
                1.5,
            ),
            _rule(
                "gap",
                "GAP - WEIGHT * scale * TRAIT",
                "{GAP} minus {WEIGHT} mean depot distances times {TRAIT}",
                1,
            ),
            _rule("gap", "GAP * OTHERGAP / scale", "{GAP} times {OTHERGAP}", 0.5),
            _rule("urgency", "depot_distance / scale", "distance to the depot"),
            _rule("urgency", "saving / scale", "detour for its sake"),
            _rule("urgency", "demands[flat] / demands[flat].max()", "demand"),
            _rule("urgency", "TRAIT[owner]", "{TRAIT} of its route"),
            _rule(
                "urgency",
                "URGENCY - WEIGHT * OTHERURGENCY",
                "{URGENCY} minus {WEIGHT} times {OTHERURGENCY}",
            ),
            _rule(
                "urgency",
                "URGENCY + WEIGHT * OTHERURGENCY",
                "{URGENCY} plus {WEIGHT} times {OTHERURGENCY}",
            ),
        ),
        constants=(
            Constant("share", 0.08, 1.0, log=True),
            Constant("count", 1, 24, log=True, integer=True),
            Constant("weight", 0.2, 6.0, log=True),
        ),
    )
