"""Tiles: disjoint parts of the routes of a solution, so that several processes can repair them.

A tile has whole routes that lie near each other. Customers cannot move to a route of another tile.
So the directions of the cuts are drawn at random, and each time tiles meet at other routes.
"""

import math
from collections.abc import Sequence

import numpy as np

from specahd.routing.base import FloatArray, IntArray

LEAST_CUSTOMERS = 500
"""Minimum number of customers for a process of its own."""

_CUSTOMERS_PER_SLICE, _DISTANCES_PER_SLICE = 20_000, 2_500_000
"""Numbers of customers to divide into tiles, and of distances of a tile to copy, that take about a
twentieth of a slice."""


def tile_count(customers: int, workers: int) -> int:
    """Return the number of the requested workers that have work."""
    return max(1, min(workers, customers // LEAST_CUSTOMERS))


def slice_count(customers: int, workers: int, matrix: bool) -> int:
    """Return the number of slices of a round, which grows with the cost of making its tiles.

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
    """Divide the routes of a solution into tiles of about the same number of customers.

    A line of random direction divides the routes in two, by the centres of their customers. Each
    part is divided again until there are enough tiles.

    Parameters
    ----------
    routes
        Customers, with a 0 behind each route.
    coords
        Shape (n + 1, 2).
    count
        The requested number of tiles; there are fewer if there are too few routes.

    Returns
    -------
    The tiles, each in the form of ``routes``; together they are all routes, and none is empty.
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
    """Write the tile number of each chosen route to ``tile_of``."""
    if len(tile_numbers) == 1:
        tile_of[chosen] = tile_numbers[0]
        return
    angle = generator.uniform(0.0, 2.0 * math.pi)
    along = math.cos(angle) * centres[0, chosen] + math.sin(angle) * centres[1, chosen]
    ranked = chosen[np.argsort(along, kind="stable")]
    half = len(tile_numbers) // 2
    # A route belongs to the part in which its middle customer is.
    middles = np.cumsum(sizes[ranked]) - sizes[ranked] / 2
    place = int(np.searchsorted(middles, sizes[chosen].sum() * half / len(tile_numbers)))
    for part, part_numbers in (
        (ranked[:place], tile_numbers[:half]),
        (ranked[place:], tile_numbers[half:]),
    ):
        _cut(part, centres, sizes, part_numbers, tile_of, generator)


def portions(amount: int, sizes: Sequence[int]) -> list[int]:
    """Divide a number among tiles in proportion to their customers; each gets at least 1."""
    ends = np.cumsum(sizes)
    shares = np.diff(amount * ends // ends[-1], prepend=0)
    return [max(1, int(share)) for share in shares]
