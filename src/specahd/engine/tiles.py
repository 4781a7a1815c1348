"""Tiles: the routes of a solution in disjoint parts, so that several processes can repair them.

A tile has whole routes that lie near each other. Where tiles meet, customers cannot change to a
route of the other side, so that each time other routes meet: the directions of cuts are drawn.
"""

import math
from collections.abc import Sequence

import numpy as np

from specahd.routing.base import FloatArray, IntArray

LEAST_CUSTOMERS = 500
"""Fewer are no work for a process of its own."""

_CUSTOMERS_PER_SLICE, _DISTANCES_PER_SLICE = 20_000, 2_500_000
"""Making their tiles, or copying a tile's, takes a twentieth of a slice or so."""


def tile_count(customers: int, workers: int) -> int:
    """Return how many of the workers that are asked for have work."""
    return max(1, min(workers, customers // LEAST_CUSTOMERS))


def slice_count(customers: int, workers: int, matrix: bool) -> int:
    """Return how many slices a round has: as many as its tiles are worth.

    Parameters
    ----------
    matrix
        Whether the distances between a tile's customers are copied.
    """
    copied = (customers // workers) ** 2 if matrix else 0
    return 1 + customers // _CUSTOMERS_PER_SLICE + copied // _DISTANCES_PER_SLICE


def tiles(
    routes: IntArray, coords: FloatArray, count: int, generator: np.random.Generator
) -> list[IntArray]:
    """Part the routes of a solution into tiles of about as many customers.

    All routes are cut in two by a line of a drawn direction through the middles of their
    customers, and each part again, until there are enough.

    Parameters
    ----------
    routes
        Customers, with a 0 behind each route.
    coords
        Shape (n + 1, 2).
    count
        How many tiles are wanted; there are fewer where there are too few routes.

    Returns
    -------
    In the same form as ``routes``, which they are together; none is empty.
    """
    ends = routes == 0
    route_of = np.cumsum(ends) - ends
    customers, owners = routes[~ends], route_of[~ends]
    sizes = np.bincount(owners)
    sums = [np.bincount(owners, weights=axis) for axis in coords[customers].T]
    tile_of = np.zeros(len(sizes), np.int64)
    _cut(np.arange(len(sizes)), np.stack(sums) / sizes, sizes, range(count), tile_of, generator)
    parts = (routes[tile_of[route_of] == tile] for tile in range(count))
    return [part for part in parts if len(part)]


def _cut(
    chosen: IntArray,
    centres: FloatArray,
    sizes: IntArray,
    tile_numbers: range,
    tile_of: IntArray,
    generator: np.random.Generator,
) -> None:
    """Write to ``tile_of`` which of the numbers each of the chosen routes has."""
    if len(tile_numbers) == 1:
        tile_of[chosen] = tile_numbers[0]
        return
    angle = generator.uniform(0.0, 2.0 * math.pi)
    along = math.cos(angle) * centres[0, chosen] + math.sin(angle) * centres[1, chosen]
    ranked = chosen[np.argsort(along, kind="stable")]
    half = len(tile_numbers) // 2
    # A route belongs where its middle customer is.
    middles = np.cumsum(sizes[ranked]) - sizes[ranked] / 2
    place = int(np.searchsorted(middles, sizes[chosen].sum() * half / len(tile_numbers)))
    for part, part_numbers in (
        (ranked[:place], tile_numbers[:half]),
        (ranked[place:], tile_numbers[half:]),
    ):
        _cut(part, centres, sizes, part_numbers, tile_of, generator)


def portions(amount: int, sizes: Sequence[int]) -> list[int]:
    """Divide a number among tiles by how many customers they have; each gets 1 at least."""
    ends = np.cumsum(sizes)
    shares = np.diff(amount * ends // ends[-1], prepend=0)
    return [max(1, int(share)) for share in shares]
