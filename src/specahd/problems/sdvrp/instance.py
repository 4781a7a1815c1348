"""SDVRP instances and their files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats import sdvrp
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.geometry import Convention, classical_scaling, root_mean_square_radius

MOST_LOADS = 200_000
"""Most vehicle loads that all demands together may take: a solution has a route for each."""


@dataclass(frozen=True, eq=False)
class SDVRPInstance:
    """One instance: node 0 is the depot, nodes 1 to n are the customers.

    Parameters
    ----------
    name
        As the file's NAME says, or the file's own name.
    coords
        Shape (n + 1, 2).
    demands
        Shape (n + 1,); 0 at the depot, at least 1 elsewhere. May exceed ``capacity``.
    capacity
        Of each of any number of vehicles.
    convention
        How distances are measured.
    matrix
        Distances of an EXPLICIT instance, shape (n + 1, n + 1); else None.
    coords_from_scaling
        Whether the file gave distances only, and ``coords`` resemble them.
    """

    name: str
    coords: FloatArray
    demands: IntArray
    capacity: int
    convention: Convention = Convention.EUC_2D
    matrix: FloatArray | None = None
    coords_from_scaling: bool = False
    comment: str = ""

    def __post_init__(self) -> None:
        for array in (self.coords, self.demands, self.matrix):
            if array is not None:
                array.flags.writeable = False

    @property
    def size(self) -> int:
        """Number of customers."""
        return len(self.demands) - 1

    @cached_property
    def spread(self) -> float:
        """Root mean square distance of all nodes from their centre."""
        return root_mean_square_radius(self.coords)


def read(path: Path) -> SDVRPInstance:
    """Read a VRPLIB file of TYPE SDVRP, or one in the plain numbers of the classical sets.

    Raises
    ------
    FileError
        The file is missing, torn, or describes no valid instance.
    """
    data = sdvrp.read(path)
    loads = int(data.demands.sum()) // data.capacity
    if loads > MOST_LOADS:
        raise FileError(
            f"{path}: its demands take {loads} loads of the capacity {data.capacity}, "
            f"expected at most {MOST_LOADS}."
        )
    scaled = data.coords is None
    coords = data.coords
    if coords is None:
        assert data.weights is not None  # the reader gives one or the other
        coords = classical_scaling(data.weights)
    return SDVRPInstance(
        name=data.name,
        coords=coords,
        demands=data.demands,
        capacity=data.capacity,
        convention=data.convention,
        matrix=data.weights,
        coords_from_scaling=scaled,
        comment=data.comment,
    )


def dumps(instance: SDVRPInstance) -> str:
    """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
    return sdvrp.dumps(
        VRPLIBData(
            name=instance.name,
            comment=instance.comment,
            capacity=instance.capacity,
            convention=instance.convention,
            coords=None if instance.coords_from_scaling else instance.coords,
            weights=instance.matrix,
            demands=instance.demands,
        )
    )
