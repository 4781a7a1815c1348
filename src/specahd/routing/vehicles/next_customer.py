"""What vehicle problems' lower programs that choose the next customer are composed of.

A ``length`` is a distance per candidate, a ``share`` a number in [0, 1] per
candidate, a ``phase`` one number in [0, 1]. A root template lists everything
its parts may look at; a program keeps only the lines that it uses.
"""

from collections.abc import Sequence

from specahd.core.vocabulary import Constant, Production, Vocabulary, body, rule

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
        score = SCORE
    else:
        score = SCORE2
"""
_CHOICE = "    return int(unvisited_nodes[np.argmin(score)])"
_CLOSING = """
    best = np.argmin(score)
    if current_node != depot and CLOSE:
        return depot
    return int(unvisited_nodes[best])
"""
_RULES = (
    rule("score", "here", "distance from here", 0.8),
    rule("score", "LENGTH", "{LENGTH}", 0.4),
    rule("score", "-LENGTH", "minus {LENGTH}", 0.2),
    rule("score", "SCORE + WEIGHT * LENGTH", "{SCORE} plus {WEIGHT} times {LENGTH}", 2),
    rule("score", "SCORE - WEIGHT * LENGTH", "{SCORE} minus {WEIGHT} times {LENGTH}", 2),
    rule(
        "score",
        "SCORE + WEIGHT * PHASE * LENGTH",
        "{SCORE} plus {WEIGHT} times {PHASE} times {LENGTH}",
    ),
    rule(
        "score",
        "SCORE - WEIGHT * PHASE * LENGTH",
        "{SCORE} minus {WEIGHT} times {PHASE} times {LENGTH}",
    ),
    rule(
        "score",
        "SCORE + WEIGHT * scale * SHARE",
        "{SCORE} plus {WEIGHT} mean depot distances times {SHARE}",
    ),
    rule(
        "score",
        "SCORE - WEIGHT * scale * SHARE",
        "{SCORE} minus {WEIGHT} mean depot distances times {SHARE}",
    ),
    rule(
        "score",
        "SCORE + 1000000.0 * (here > WIDTH * here.min())",
        "{SCORE} among those at most {WIDTH} times as far as the nearest",
        0.7,
    ),
    rule(
        "score",
        "SCORE if PHASE > THRESHOLD else SCORE2",
        "{SCORE} while {PHASE} exceeds {THRESHOLD} and {SCORE2} otherwise",
        0.7,
    ),
    rule(
        "score",
        "SCORE * (1.0 + WEIGHT * SHARE)",
        "{SCORE} stretched by {WEIGHT} times {SHARE}",
        0.7,
    ),
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
    rule(
        "length",
        "np.minimum(here, home)",
        "lesser of the distances from here and to the depot",
    ),
    rule(
        "length",
        "np.maximum(here, home)",
        "greater of the distances from here and to the depot",
    ),
    rule("length", "here ** 2 / scale", "squared distance from here"),
    rule("length", "home ** 2 / scale", "squared distance to the depot"),
    rule("share", "size / max(size.max(), 1)", "the relative demand"),
    rule(
        "share",
        "size / max(rest_capacity, 1)",
        "the part of the remaining capacity it takes",
    ),
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


def vocabulary(lines: str = "", rules: Sequence[Production] = ()) -> Vocabulary:
    """Return the vocabulary of programs that choose the next customer.

    Parameters
    ----------
    lines
        Statements after the shared ones, indented alike: what a problem's own
        rules may look at.
    rules
        A problem's own productions.
    """
    once = "visit the customer with the least {SCORE}"
    twice = "open a route at the customer with the least {SCORE}, go on to the least {SCORE2}"
    until = ", and return to the depot early if {CLOSE}"
    return Vocabulary(
        productions=(
            body(once, 3, _CANDIDATES, lines, _SCORE, _CHOICE),
            body(once + until, 1, _CANDIDATES, lines, _SCORE, _CLOSING),
            body(twice, 1, _CANDIDATES, lines, _SCORES, _CHOICE),
            body(twice + until, 0.7, _CANDIDATES, lines, _SCORES, _CLOSING),
            *_RULES,
            *rules,
        ),
        constants=_CONSTANTS,
    )
