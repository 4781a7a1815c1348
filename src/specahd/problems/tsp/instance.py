"""TSP instances, tours, and the generated pools (the paper, appendix C; docs/reference/pools.md).

For the pools only integers are drawn, and all further arithmetic is in integers, so a seed
gives the same bytes on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats import kinds, sol, tsplib
from specahd.routing.formats.matrix import either_way, is_directed
from specahd.routing.formats.text import read_text
from specahd.routing.formats.tsplib import TSPLIBData
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.generation import LAYOUTS, Slot, instances
from specahd.routing.geometry import Convention, classical_scaling, root_mean_square_radius
from specahd.routing.labels import Labels

Solution = tuple[int, ...]
"""A tour: every node once, in order; from the last node it returns to the first."""


@dataclass(frozen=True, eq=False)
class TSPInstance:
    """One instance of 3 or more nodes, numbered from 0.

    Parameters
    ----------
    name
        The file's NAME.
    coords
        Shape (n, 2).
    convention
        How distances are measured.
    matrix
        Distances of an EXPLICIT instance from row to column, shape (n, n); else None.
    coords_from_scaling
        Whether the file has distances only; ``coords`` are then computed from them.
    fixed_edges
        Pairs of nodes that must be neighbours in the tour.
    labels
        Names and units that results are reported in.
    """

    name: str
    coords: FloatArray
    convention: Convention = Convention.EUC_2D
    matrix: FloatArray | None = None
    coords_from_scaling: bool = False
    fixed_edges: tuple[tuple[int, int], ...] = ()
    comment: str = ""
    labels: Labels = field(default_factory=partial(Labels, first=1))

    def __post_init__(self) -> None:
        for array in (self.coords, self.matrix):
            if array is not None:
                array.flags.writeable = False

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.coords)

    @cached_property
    def directed(self) -> bool:
        """Whether ways differ from the ways back."""
        return is_directed(self.matrix)

    @cached_property
    def centre(self) -> FloatArray:
        """Mean of all nodes, shape (2,)."""
        return np.asarray(self.coords.mean(axis=0))

    @cached_property
    def spread(self) -> float:
        """Root mean square distance of all nodes from their centre."""
        return root_mean_square_radius(self.coords)


def read(path: Path) -> TSPInstance:
    """Read a TSPLIB file.

    Raises
    ------
    FileError
        The file is missing, incomplete, or describes no valid instance.
    """
    data = tsplib.read(path)
    return replace(_instance(data), fixed_edges=data.fixed_edges)


def from_vrplib(data: VRPLIBData, path: Path) -> TSPInstance:
    """Return the instance that a table of stops describes.

    Raises
    ------
    FileError
        The table has fewer than 3 stops.
    """
    if len(data.demands) < 3:
        raise FileError(f"{path}: holds {len(data.demands)} stops, expected at least 3.")
    return replace(_instance(data), labels=data.labels)


def _instance(data: TSPLIBData | VRPLIBData) -> TSPInstance:
    """Return the instance of a file; missing coordinates come from multidimensional scaling."""
    scaled = data.coords is None
    coords = data.coords
    if coords is None:
        assert data.matrix is not None  # the reader sets one or the other
        coords = classical_scaling(either_way(data.matrix))
    return TSPInstance(
        name=data.name,
        coords=coords,
        convention=data.convention,
        matrix=data.matrix,
        coords_from_scaling=scaled,
        comment=data.comment,
    )


def dumps(instance: TSPInstance) -> str:
    """Return the TSPLIB text of an instance; coordinates from scaling are left out."""
    return tsplib.dumps(
        tsplib.TSPLIBData(
            name=instance.name,
            comment=instance.comment,
            convention=instance.convention,
            coords=None if instance.coords_from_scaling else instance.coords,
            matrix=instance.matrix,
            fixed_edges=instance.fixed_edges,
        )
    )


def read_tour(path: Path) -> tuple[Solution, float | None]:
    """Read a TSPLIB tour, or a ``.sol`` file of one route that leaves from node 0.

    A ``.sol`` file numbers the nodes as the instances here do, from 0, and
    leaves 0 out; a ``.tour`` file numbers them from 1 and states no cost.

    Raises
    ------
    FileError
        The file is missing, incomplete, or not a tour.
    """
    if kinds.identify(read_text(path)) is kinds.TYPES["TOUR"]:
        return tsplib.read_tour(path), None
    routes, cost = sol.read(path)
    if len(routes) != 1:
        raise FileError(f"{path}: holds {len(routes)} routes, expected one.")
    return (0, *routes[0]), cost


def dumps_tour(solution: Solution, cost: float) -> str:
    """Return the text of a ``.sol`` file for :func:`read_tour`; the tour starts at node 0."""
    return sol.dumps([from_zero(solution)], cost)


def from_zero(solution: Solution) -> tuple[int, ...]:
    """Return the nodes of a tour in the order in which they follow node 0."""
    first = solution.index(0)
    return (*solution[first + 1 :], *solution[:first])


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
    return instances("tsp", pool, seed, _SERIALS, _drawn)


def _drawn(rng: np.random.Generator, slot: Slot) -> TSPInstance:
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
