"""TSP instances and their files."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray
from specahd.routing.formats import tsplib
from specahd.routing.formats.tsplib import TSPLIBData
from specahd.routing.formats.vrplib import VRPLIBData
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
        Distances of an EXPLICIT instance, shape (n, n); else None.
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
    instance = _instance(data)
    return replace(instance, fixed_edges=data.fixed_edges)


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
        assert data.weights is not None  # the reader sets one or the other
        coords = classical_scaling(data.weights)
    return TSPInstance(
        name=data.name,
        coords=coords,
        convention=data.convention,
        matrix=data.weights,
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
            weights=instance.matrix,
            fixed_edges=instance.fixed_edges,
        )
    )
