"""The generated pools (the paper, appendix C; docs/reference/pools.md).

Only integers are drawn, and all further arithmetic is in integers, so a seed
gives the same bytes on every machine.
"""

from collections.abc import Iterator

import numpy as np

from specahd.problems.tsp.instance import TSPInstance
from specahd.routing.base import IntArray
from specahd.routing.generation import Slot, instances
from specahd.routing.vehicles.layouts import LAYOUTS

SIDE = 10_000
"""Coordinates are integers in [0, SIDE], fine enough for 1,000 cities in clusters."""

_SERIALS = {
    "lower_train": range(128),
    "upper_train": range(300, 360),
    "selection": range(400, 460),
    "validation": range(500, 560),
}
# Each number of clusters with each spread: the largest of four uniform offsets
# whose sum has a standard deviation of 0.03 or 0.07 of the side.
_CLUSTERS = ((3, 260), (3, 606), (10, 260), (10, 606))
_VALIDATION_SIZES = (200, 500, 800, 1000)
_VALIDATION_FAMILIES = ("ring", "corridor", "mixed")


def generate(pool: str, seed: int) -> Iterator[TSPInstance]:
    """Yield the instances of a pool in order.

    A name like ``tsp-clustered-n150-s2024017`` states the spatial family, the
    number of cities and 1000 times the seed plus a serial number that no two
    instances of the pools share.

    Parameters
    ----------
    pool
        ``lower_train`` holds 4 x 32 clustered instances of 10 to 200 cities;
        ``upper_train`` and ``selection`` have 200 to 1,000 cities in the same
        four kinds of clusters, and every fifth is uniform; ``validation``
        has 200 to 1,000 cities in other families.
    seed
        As for :func:`~specahd.routing.generation.instances`, which lists the exceptions.
    """
    return instances("tsp", pool, seed, _SERIALS, _instance)


def _instance(rng: np.random.Generator, slot: Slot) -> TSPInstance:
    family, points = _cities(rng, slot.pool, slot.number)
    return TSPInstance(
        name=slot.name(family, len(points)),
        coords=points.astype(np.float64),
        comment=slot.comment,
    )


def _cities(rng: np.random.Generator, pool: str, number: int) -> tuple[str, IntArray]:
    """Return the spatial family and the cities of one instance."""
    if pool == "lower_train":
        return "clustered", _clustered(rng, int(rng.integers(10, 201)), *_CLUSTERS[number // 32])
    if pool == "validation":
        family = _VALIDATION_FAMILIES[number % 3]
        return family, _refined(rng, family, _VALIDATION_SIZES[number // 15])
    count = int(rng.integers(200, 1001))
    if number % 5 == 4:
        return "uniform", _refined(rng, "uniform", count)
    return "clustered", _clustered(rng, count, *_CLUSTERS[number % 5])


def _clustered(rng: np.random.Generator, count: int, clusters: int, offset: int) -> IntArray:
    """Return bell-shaped clusters; a sum of four uniforms is nearly normal."""
    centres = rng.integers(SIDE // 10, SIDE - SIDE // 10 + 1, size=(clusters, 2))
    chosen = centres[rng.integers(clusters, size=count)]
    offsets = rng.integers(-offset, offset + 1, size=(4, count, 2)).sum(axis=0)
    points: IntArray = np.clip(chosen + offsets, 0, SIDE)
    return points


def _refined(rng: np.random.Generator, family: str, count: int) -> IntArray:
    """Return a layout of the vehicle problems with one more digit in each coordinate."""
    points: IntArray = 10 * LAYOUTS[family](rng, count) + rng.integers(0, 10, size=(count, 2))
    return np.minimum(points, SIDE)
