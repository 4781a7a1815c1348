"""The vocabulary of lower programs that choose the next city of a path.

A ``length`` is a distance per candidate, a ``share`` a number in [0, 1] per
candidate, a ``phase`` one number in [0, 1], a ``guide`` a matrix of distances
between candidates that a look ahead follows. A root template lists everything
its parts may look at; a program keeps only the lines that it uses.
"""

from specahd.core.vocabulary import Constant, Vocabulary, body, rule

_CANDIDATES = """
    here = distance_matrix[current_node, unvisited_nodes]
    there = distance_matrix[unvisited_nodes, destination_node]
    back = distance_matrix[current_node, destination_node]
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    apart = between.mean(axis=1)
    second = min(1, len(unvisited_nodes) - 1)
    third = min(2, len(unvisited_nodes) - 1)
    lonely = np.partition(between, second, axis=1)[:, second]
    spare = np.partition(between, third, axis=1)[:, third]
    scale = lonely.mean() + 1e-09
    detour = np.maximum(here + there - back, 0.0)
    away = back / (back + here.mean() + 1e-09)
    left = len(unvisited_nodes) / len(distance_matrix)
    crowded = scale / (scale + here.min())
"""
_CHOICE = """
    score = SCORE
    return int(unvisited_nodes[np.argmin(score)])
"""
_AHEAD = """
    score = SCORE
    guide = GUIDE
    rows = np.arange(min(BREADTH, len(unvisited_nodes)))
    first = np.argsort(score, kind='stable')[:BREADTH]
    places = first
    open_places = np.ones((len(rows), len(unvisited_nodes)), dtype=bool)
    open_places[rows, places] = False
    price = here[places]
    for _ in range(min(DEPTH, len(unvisited_nodes) - 1)):
        following = np.where(open_places, guide[places], np.inf).argmin(axis=1)
        price = price + between[places, following]
        places = following
        open_places[rows, places] = False
    price = price + WEIGHT * there[places]
    return int(unvisited_nodes[first[np.argmin(price)]])
"""
_CHAIN = """
    score = SCORE
    guide = GUIDE
    place = int(np.argmin(score))
    chain = [place]
    waiting = np.ones(len(unvisited_nodes), dtype=bool)
    waiting[place] = False
    for _ in range(len(unvisited_nodes) - 1):
        place = int(np.argmin(np.where(waiting, guide[place], np.inf)))
        chain.append(place)
        waiting[place] = False
    inner = unvisited_nodes[np.array(chain)]
    stops = np.concatenate((np.array([current_node]), inner, np.array([destination_node])))
"""
_INSERTION = """
    score = SCORE
    stops = np.array([current_node, destination_node])
    for place in np.argsort(-score, kind='stable'):
        node = unvisited_nodes[place]
        reach = distance_matrix[stops, node]
        extra = reach[:-1] + reach[1:] - distance_matrix[stops[:-1], stops[1:]]
        spot = int(np.argmin(extra)) + 1
        stops = np.concatenate((stops[:spot], np.array([node]), stops[spot:]))
"""
_EXCHANGE = """
    span = distance_matrix[stops][:, stops]
    for _ in range(ROUNDS):
        steps = np.diagonal(span, 1)
        saving = np.triu(steps[:, None] + steps - span[:-1, :-1] - span[1:, 1:], 2)
        best = int(np.argmax(saving))
        low = best // len(steps)
        high = best % len(steps)
        if saving[low, high] <= 1e-09 * span.max():
            break
        turned = np.arange(len(stops))
        turned[low + 1:high + 1] = np.arange(high, low, -1)
        stops = stops[turned]
        span = span[turned][:, turned]
    return int(stops[1])
"""


def vocabulary() -> Vocabulary:
    """Return the vocabulary of programs that choose the next city."""
    mended = (
        ", turn pieces of it round up to {ROUNDS} times while that shortens it, and visit its "
        "first city"
    )
    return Vocabulary(
        productions=(
            body("visit the city with the least {SCORE}", 3, _CANDIDATES, _CHOICE),
            body(
                "of the {BREADTH} cities with the least {SCORE}, visit the one from which {DEPTH} "
                "steps to the least {GUIDE} cost least, with {WEIGHT} times the distance left then",
                2,
                _CANDIDATES,
                _AHEAD,
            ),
            body(
                "plan a path that begins with the least {SCORE} and goes on to the least {GUIDE}"
                + mended,
                1,
                _CANDIDATES,
                _CHAIN,
                _EXCHANGE,
            ),
            body(
                "plan a path by inserting the cities in order of decreasing {SCORE}, each where it "
                "costs least" + mended,
                1,
                _CANDIDATES,
                _INSERTION,
                _EXCHANGE,
            ),
            rule("score", "here", "distance from here", 1.5),
            rule("score", "LENGTH", "{LENGTH}", 0.3),
            rule("score", "SCORE + WEIGHT * LENGTH", "{SCORE} plus {WEIGHT} times {LENGTH}", 1.5),
            rule("score", "SCORE - WEIGHT * LENGTH", "{SCORE} minus {WEIGHT} times {LENGTH}", 2.5),
            rule(
                "score",
                "SCORE + WEIGHT * PHASE * LENGTH",
                "{SCORE} plus {WEIGHT} times {PHASE} times {LENGTH}",
            ),
            rule(
                "score",
                "SCORE - WEIGHT * PHASE * LENGTH",
                "{SCORE} minus {WEIGHT} times {PHASE} times {LENGTH}",
                1.5,
            ),
            rule(
                "score",
                "SCORE + WEIGHT * scale * SHARE",
                "{SCORE} plus {WEIGHT} usual steps times {SHARE}",
            ),
            rule(
                "score",
                "SCORE - WEIGHT * scale * SHARE",
                "{SCORE} minus {WEIGHT} usual steps times {SHARE}",
                1.5,
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
            rule("length", "here", "distance from here", 0.7),
            rule("length", "there", "distance to the destination", 2),
            rule("length", "lonely", "distance to the nearest other candidate", 1.5),
            rule("length", "spare", "distance to the second nearest other candidate"),
            rule("length", "spare - lonely", "regret between its two nearest candidates", 0.7),
            rule("length", "apart", "mean distance to the other candidates"),
            rule("length", "between.max(axis=1)", "distance to the farthest other candidate", 0.7),
            rule("length", "detour", "detour on the way to the destination"),
            rule("length", "np.maximum(back - there, 0.0)", "progress to the destination", 0.7),
            rule(
                "length",
                "np.minimum(lonely, there)",
                "distance to the nearest of what is left, the destination included",
                0.7,
            ),
            rule(
                "length",
                "np.maximum(here - lonely, 0.0)",
                "excess over the distance to the nearest other candidate",
                0.7,
            ),
            rule(
                "length",
                "np.sqrt(here * there)",
                "geometric mean of the distances from here and to the destination",
                0.5,
            ),
            rule("length", "here ** 2 / scale", "squared distance from here", 0.5),
            rule(
                "length", "there ** 2 / (apart.mean() + scale)", "squared distance to the end", 0.5
            ),
            rule(
                "share",
                "lonely / (here + lonely + 1e-09)",
                "the loneliness relative to the distance from here",
            ),
            rule(
                "share",
                "there / (there + back + 1e-09)",
                "the relative distance to the destination",
                0.7,
            ),
            rule("share", "LENGTH / (LENGTH + scale)", "the saturated {LENGTH}", 1.5),
            rule(
                "share",
                "np.argsort(np.argsort(LENGTH, kind='stable')) / len(unvisited_nodes)",
                "the rank of {LENGTH}",
                0.7,
            ),
            rule(
                "share",
                "1.0 * (LENGTH > back)",
                "whether {LENGTH} exceeds the way that is left",
                0.4,
            ),
            rule("share", "SHARE ** POWER", "{SHARE} to the power of {POWER}", 0.5),
            rule("share", "PHASE * SHARE", "{PHASE} times {SHARE}", 0.5),
            rule("phase", "left", "the share of cities still waiting", 1.5),
            rule("phase", "away", "the relative length of the way left"),
            rule("phase", "crowded", "the closeness of the nearest city", 0.7),
            rule("phase", "1.0 - PHASE", "one minus {PHASE}"),
            rule("phase", "PHASE ** POWER", "{PHASE} to the power of {POWER}", 0.7),
            rule("guide", "between", "distance", 2),
            rule("guide", "between + WEIGHT * LENGTH", "distance plus {WEIGHT} times {LENGTH}"),
            rule("guide", "between - WEIGHT * LENGTH", "distance minus {WEIGHT} times {LENGTH}", 2),
        ),
        constants=(
            Constant("weight", 0.05, 4.0, log=True),
            Constant("width", 1.05, 4.0),
            Constant("threshold", 0.02, 0.98),
            Constant("power", 0.25, 4.0, log=True),
            Constant("breadth", 2, 12, log=True, integer=True),
            Constant("depth", 2, 50, log=True, integer=True),
            Constant("rounds", 1, 40, log=True, integer=True),
        ),
    )
