"""The vocabulary of upper programs that cut segments out of a tour.

A ``trait`` is a number per place of the tour around 1, a ``worth`` a number per
window: the run of a fixed number of places that begins at each place. A root
template lists everything its parts may look at; a program keeps only the lines
that it uses.
"""

from specahd.core.vocabulary import Constant, Vocabulary, body, rule

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


def vocabulary() -> Vocabulary:
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
