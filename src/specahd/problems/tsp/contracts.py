"""The contracts of TSP, with the vocabularies and programs by hand of the operator ``append``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specahd.core.contract import Contract
from specahd.core.interface import Body
from specahd.core.program import Level
from specahd.core.vocabulary import Constant, Vocabulary, body, rule
from specahd.engine import seeds, select_groups, select_position, tour_vocabulary
from specahd.engine.interfaces import TOUR_GROUPS, TOUR_POSITIONS
from specahd.problems.tsp import construct, interfaces
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles.next_customer import HERE, by_hand, nearest, scores

_EVENLY = """
    count = len(route)
    size = min(count, max(4, int(SHARE * max_segment_size)))
    step = max(size - 1, count // max_segments)
    segments = [np.roll(route, -start)[:size] for start in range(0, count - size + 1, step)]
    return segments[:max_segments]
"""
_WINDOWS = """
    count = len(route)
    size = min(count, max(4, int(SHARE * max_segment_size)))
    places = (np.arange(count)[:, None] + np.arange(size)) % count
    legs = distance_matrix[route, np.roll(route, -1)]
    previous = np.roll(legs, 1)
    scale = legs.mean() + 1e-09
    across = distance_matrix[route[:, None], route[places]]
    near = across[:, 1:].min(axis=1)
    bypass = previous + legs - distance_matrix[np.roll(route, 1), np.roll(route, -1)]
    exchange = legs[:, None] + legs[places] - across - np.roll(across, -1, axis=0)
    knot = np.maximum(exchange[:, 1:-1].max(axis=1), 0.0)
    shift = bypass[:, None] + legs[places] - across - np.roll(across, -1, axis=1)
    stray = np.maximum(shift[:, 1:-1].max(axis=1), 0.0)
    x = coords[route, 0]
    y = coords[route, 1]
    reach = np.hypot(x - x.mean(), y - y.mean())
    walked = np.hypot(x - np.roll(x, 1), y - np.roll(y, 1))
    skipped = np.hypot(x - np.roll(x, 2), y - np.roll(y, 2))
    bend = 1.0 - skipped / (walked + np.roll(walked, 1) + 1e-09)
    length = legs[places[:, :-1]].sum(axis=1)
    direct = across[:, -1]
    extent = np.ptp(x[places], axis=1) + np.ptp(y[places], axis=1)
"""
_RANKED = """
    worth = WORTH
    segments = []
    for _ in range(max_segments):
        start = int(np.argmax(worth))
        if worth[start] == -np.inf:
            break
        segments.append(route[places[start]])
        worth[(start + np.arange(2 - size, size - 1)) % count] = -np.inf
    return segments
"""


def upper_vocabulary() -> Vocabulary:
    """Return the vocabulary of programs that cut runs out of a tour."""
    size = ", each {SHARE} of the allowed size"
    return Vocabulary(
        productions=(
            body("take runs at even intervals" + size, 0.5, _EVENLY),
            body("take disjoint runs in order of decreasing {WORTH}" + size, 5, _WINDOWS, _RANKED),
            rule("worth", "TRAIT[places].mean(axis=1)", "mean {TRAIT}", 4),
            rule("worth", "TRAIT[places].max(axis=1)", "largest {TRAIT}"),
            rule("worth", "TRAIT[places].std(axis=1)", "variation of {TRAIT}", 1.5),
            rule("worth", "length / (direct + scale)", "detour of the run"),
            rule("worth", "length / (extent + scale)", "length over extent of the run"),
            rule("worth", "direct / (size * scale)", "distance between the ends", 0.5),
            rule("worth", "extent / (size * scale)", "extent of the run", 0.5),
            rule("worth", "-1.0 * WORTH", "minus {WORTH}", 0.7),
            rule("worth", "WORTH + WEIGHT * WORTH2", "{WORTH} plus {WEIGHT} times {WORTH2}", 2),
            rule("worth", "WORTH - WEIGHT * WORTH2", "{WORTH} minus {WEIGHT} times {WORTH2}", 1.5),
            rule("worth", "WORTH * WORTH2", "{WORTH} times {WORTH2}", 1.5),
            rule("trait", "legs / scale", "step to the next city", 1.5),
            rule("trait", "np.abs(legs - previous) / scale", "change of step", 0.7),
            rule("trait", "(legs - near) / scale", "excess of the step over the nearest city", 1.5),
            rule("trait", "legs / (near + scale)", "step relative to the nearest city"),
            rule("trait", "near / scale", "distance of the nearest city", 0.7),
            rule("trait", "bypass / scale", "detour for a city's sake", 1.5),
            rule("trait", "knot / scale", "saving by turning a piece round", 2),
            rule("trait", "stray / scale", "saving by moving a city", 2),
            rule("trait", "1.0 * (knot > WEIGHT * scale)", "whether turning saves {WEIGHT} steps"),
            rule(
                "trait", "1.0 * (legs > WEIGHT * scale)", "whether the step exceeds {WEIGHT} steps"
            ),
            rule("trait", "np.roll(bend, -1)", "sharpness of turns", 0.7),
            rule("trait", "reach / (reach.mean() + 1e-09)", "distance from the centre", 0.5),
            rule("trait", "np.minimum(TRAIT, WEIGHT)", "{TRAIT} up to {WEIGHT}", 0.7),
            rule("trait", "TRAIT * TRAIT2", "{TRAIT} times {TRAIT2}"),
            rule("trait", "TRAIT + WEIGHT * TRAIT2", "{TRAIT} plus {WEIGHT} times {TRAIT2}", 1.5),
            rule("trait", "TRAIT - WEIGHT * TRAIT2", "{TRAIT} minus {WEIGHT} times {TRAIT2}"),
        ),
        constants=(
            Constant("share", 0.15, 1.0, log=True),
            Constant("weight", 0.1, 6.0, log=True),
        ),
    )


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
    return np.array(stops[1:-1])
"""


def lower_vocabulary() -> Vocabulary:
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
            *scores("usual steps", 1.5, 2.5, 1.0, 1.5, 1.0, 1.5, 0.7, 0.7, 0.7),
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


def shifted_runs(
    route: IntArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take runs of the allowed size that begin half a run later than the tour does."""
    count = len(route)
    size = min(count, max(4, max_segment_size))
    turned = np.roll(route, -(size // 2))
    step = max(size - 1, count // max_segments)
    runs = [np.roll(turned, -start)[:size] for start in range(0, count - size + 1, step)]
    return runs[:max_segments]


def longest_legs(
    route: IntArray, distance_matrix: FloatArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take runs of the allowed size around the longest legs."""
    count = len(route)
    size = min(count, max(4, max_segment_size))
    legs = distance_matrix[route, np.roll(route, -1)].copy()
    runs: list[IntArray] = []
    while len(runs) < max_segments:
        middle = int(np.argmax(legs))
        if legs[middle] < 0.0:
            break
        places = (middle - size // 2 + np.arange(size)) % count
        runs.append(route[places])
        legs[(middle + np.arange(-size, size)) % count] = -1.0
    return runs


def crossing_legs(
    route: IntArray, distance_matrix: FloatArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take short runs where turning a piece round would save most."""
    count = len(route)
    size = min(count, max(4, max_segment_size), 40)
    places = (np.arange(count)[:, None] + np.arange(size)) % count
    legs = distance_matrix[route, np.roll(route, -1)]
    across = distance_matrix[route[:, None], route[places]]
    saved = legs[:, None] + legs[places] - across - np.roll(across, -1, axis=0)
    worth = saved[:, 1:-1].max(axis=1)
    runs: list[IntArray] = []
    while len(runs) < max_segments:
        start = int(np.argmax(worth))
        if worth[start] == -np.inf:
            break
        runs.append(route[(start - 2 + np.arange(size)) % count])
        worth[(start + np.arange(2 - size, size - 1)) % count] = -np.inf
    return runs


_VARIED_SEGMENTS = (
    (shifted_runs, "Take runs of the allowed size that begin half a run later."),
    (longest_legs, "Take runs of the allowed size around the longest legs of the tour."),
    (crossing_legs, "Take runs of up to 40 nodes where turning a piece round would save most."),
)
"""The functions, each with its idea."""


def planned_path(
    current_node: int,
    destination_node: int,
    unvisited_nodes: IntArray,
    distance_matrix: FloatArray,
) -> IntArray:
    """Plan the path by farthest insertion, then by 2-opt and moves of up to three nodes."""
    d = distance_matrix
    walk = np.array([current_node, destination_node])
    left = unvisited_nodes
    near = np.minimum(d[left, current_node], d[left, destination_node])
    while len(left) > 0:
        pick = int(np.argmax(near))
        node = left[pick]
        price = d[walk[:-1], node] + d[node, walk[1:]] - d[walk[:-1], walk[1:]]
        walk = np.insert(walk, int(np.argmin(price)) + 1, node)
        left = np.delete(left, pick)
        near = np.minimum(np.delete(near, pick), d[left, node])
    for _ in range(4 * len(walk)):
        ahead, behind = walk[:-1], walk[1:]
        legs = d[ahead, behind]
        count = len(legs)
        turn = legs[:, None] + legs[None, :] - d[ahead][:, ahead] - d[behind][:, behind]
        table = np.where(np.triu(np.ones((count, count)), 1) > 0.0, turn, 0.0)
        place = int(np.argmax(table))
        best = table[place // count, place % count]
        i, j = place // count + 1, place % count + 1
        changed = np.concatenate((walk[:i], walk[i:j][::-1], walk[j:]))
        for size in (1, 2, 3):
            starts = np.arange(1, count - size + 1)
            if len(starts) == 0:
                break
            first, last = walk[starts], walk[starts + size - 1]
            gone = (
                legs[starts - 1]
                + legs[starts + size - 1]
                - d[walk[starts - 1], walk[starts + size]]
            )
            price = d[first][:, ahead] + d[last][:, behind] - legs[None, :]
            other = d[last][:, ahead] + d[first][:, behind] - legs[None, :]
            saved = gone[:, None] - np.minimum(price, other)
            apart = np.arange(count)[None, :] - starts[:, None]
            saved = np.where((apart < -1) | (apart > size - 1), saved, 0.0)
            place = int(np.argmax(saved))
            row, leg = place // count, place % count
            if saved[row, leg] > best + 1e-9:
                best = saved[row, leg]
                start = int(starts[row])
                piece = walk[start : start + size]
                if other[row, leg] < price[row, leg]:
                    piece = piece[::-1]
                rest = np.concatenate((walk[:start], walk[start + size :]))
                spot = leg + 1 if leg < start else leg + 1 - size
                changed = np.concatenate((rest[:spot], piece, rest[spot:]))
        if best <= 1e-9:
            break
        walk = changed
    return walk[1:-1]


_THERE = "there = distance_matrix[destination_node, unvisited_nodes]\n"
_APART = (
    "between = distance_matrix[unvisited_nodes][:, unvisited_nodes]\n"
    "apart = between.sum(axis=1) / len(unvisited_nodes)\n"
)
_VISIT = "Visit the city with the least distance from here minus"
_VARIED_NODES: Sequence[tuple[Callable[..., Any] | Body, str]] = (
    (
        planned_path,
        "Plan the path by inserting the farthest node where the detour is least, and improve it by "
        "turning pieces and moving up to three nodes while one of these saves.",
    ),
    *by_hand(
        (
            "far_from_end",
            HERE + _THERE + "score = here - 0.3 * there\n",
            f"{_VISIT} 0.3 times distance to the destination",
        ),
        (
            "outer_nodes",
            HERE + _APART + "score = here - 0.3 * apart\n",
            f"{_VISIT} 0.3 times mean distance to the other candidates",
        ),
        (
            "outer_nodes_from_end",
            HERE + _THERE + _APART + "score = here - 0.2 * apart - 0.2 * there\n",
            f"{_VISIT} 0.2 times mean distance to the other candidates minus 0.2 times distance to "
            "the destination",
        ),
    ),
)


def even_segments(
    route: IntArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take runs at even intervals."""
    count = len(route)
    size = min(count, max(4, int(1.0 * max_segment_size)))
    step = max(size - 1, count // max_segments)
    segments = [np.roll(route, -start)[:size] for start in range(0, count - size + 1, step)]
    return segments[:max_segments]


_GOAL = (
    "Symmetric travelling salesman problem: one closed tour visits every node exactly once, at the "
    "least total distance. "
)
_PROBLEM = _GOAL + (
    "A tour exists already; runs of consecutive nodes are taken out and rebuilt one at a time "
    "between their two fixed end nodes. "
)

TOUR_SEGMENTS = Contract.of(
    even_segments,
    interface=interfaces.TOUR_SEGMENTS,
    id="tour_segments",
    level=Level.UPPER,
    idea="Take runs at even intervals, each 1 of the allowed size.",
    task=_PROBLEM
    + "Write the function that looks at the instance and its tour and decides WHERE to repair: "
    "which runs to rebuild. Good runs are those that save most together; the rest of the "
    "tour stays as it is.",
    runner=construct.propose,
    vocabulary=upper_vocabulary(),
    varied=_VARIED_SEGMENTS,
)
APPEND = Contract.of(
    nearest,
    interface=interfaces.NEXT_NODE,
    id="append",
    level=Level.LOWER,
    idea="Visit the city with the least distance from here.",
    task=_PROBLEM
    + "Write the function that decides HOW to rebuild a run: it is asked again and again where "
    "the path goes on.",
    runner=construct.rebuild,
    vocabulary=lower_vocabulary(),
    varied=_VARIED_NODES,
)
CONSTRUCT = APPEND.variant(
    nearest,
    interfaces.FROM_NOTHING,
    id="construct",
    task=_GOAL
    + "Write the function that builds a tour from nothing: it is asked again and again where the "
    "tour goes on. An instance has one region, the closed tour.",
)

ORDERED_GROUPS = select_groups.contract(
    TOUR_GROUPS,
    seeds.nearest_nodes,
    goal=_GOAL,
    runner="specahd.problems.tsp.engine:GROUPS",
    vocabulary=tour_vocabulary.groups(),
    words=tour_vocabulary.WORDS,
    others=[tour_vocabulary.NEIGHBOURING_STRINGS],
)
INSERTION = select_position.contract(
    TOUR_POSITIONS,
    goal=_GOAL,
    runner="specahd.problems.tsp.engine:POSITIONS",
    vocabulary=tour_vocabulary.positions(),
    words=tour_vocabulary.WORDS,
    others=[tour_vocabulary.GREEDY],
)
