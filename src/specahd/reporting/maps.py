"""What drawings of routes have in common: colours of routes, and the names that have room."""

from collections.abc import Iterator, Sequence
from math import atan2
from statistics import mean

from specahd.core.display import visible

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, distinguishable for colour-blind people."""
_LONGEST_NAME = 24

Point = Sequence[float]


def around_depot(coords: Sequence[Point], routes: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the rank of each route that has stops, by its direction from node 0.

    Routes of neighbouring ranks are neighbours, and should look different.
    """

    def direction(place: int) -> float:
        across, along = (mean(coords[node][axis] for node in routes[place]) for axis in (0, 1))
        return atan2(along - coords[0][1], across - coords[0][0])

    ordered = sorted((place for place, route in enumerate(routes) if route), key=direction)
    return {place: rank for rank, place in enumerate(ordered)}


def names_with_room(
    coords: Sequence[Point], names: Sequence[str], size: float, scale: float
) -> Iterator[tuple[Point, str, bool]]:
    """Yield places, their names, and whether these stand on the left; a long name is shortened.

    Names at one place are one text. One that would cover a text before it is left out.

    Parameters
    ----------
    size
        Height of the letters.
    scale
        Number of these units in a unit of the coordinates.
    """
    places: dict[tuple[float, float], list[str]] = {}
    for (x, y), name in zip(coords, names, strict=True):
        places.setdefault((x, y), []).append(visible(name))
    left, right = min(x for x, _ in places), max(x for x, _ in places)
    taken: list[tuple[float, float, float]] = []
    for (x, y), found in places.items():
        text = ", ".join(found)
        text = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        width = 0.6 * size * len(text)
        turned = x > left + 0.75 * (right - left)
        start, base = scale * x + (-4 - width if turned else 4), scale * y
        if any(
            start < end and begin < start + width and abs(base - other) < size
            for begin, end, other in taken
        ):
            continue
        taken.append((start, start + width, base))
        yield (x, y), text, turned
