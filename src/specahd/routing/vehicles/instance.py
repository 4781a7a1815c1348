"""Instances of capacitated problems, and their creation from VRPLIB data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.geometry import Convention, classical_scaling, root_mean_square_radius
from specahd.routing.labels import Labels


@dataclass(frozen=True, eq=False)
class VehicleInstance:
    """One instance: node 0 is the depot, nodes 1 to n are the customers.

    Parameters
    ----------
    name
        The NAME in the file.
    coords
        Shape (n + 1, 2).
    demands
        Shape (n + 1,); 0 at the depot.
    capacity
        The capacity of each vehicle; their number is not limited.
    convention
        How distances are measured.
    matrix
        Distances of an EXPLICIT instance, shape (n + 1, n + 1); else None.
    coords_from_scaling
        Whether the file has distances only, and ``coords`` were computed from them.
    vehicles
        Number of vehicles that the file states, which is not a limit; None if it states none.
    labels
        Names and units that results are reported in.
    """

    name: str
    coords: FloatArray
    demands: IntArray
    capacity: int
    convention: Convention = Convention.EUC_2D
    matrix: FloatArray | None = None
    coords_from_scaling: bool = False
    comment: str = ""
    vehicles: int | None = None
    labels: Labels = field(default_factory=Labels)

    def __post_init__(self) -> None:
        for array in (self.coords, self.demands, self.matrix):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def of(cls, data: VRPLIBData, **more: Any) -> Self:
        """Create the instance of a file; missing coordinates come from multidimensional scaling.

        ``more`` holds the fields that a problem adds.
        """
        coords = data.coords
        if coords is None:
            assert data.weights is not None  # the readers give one or the other
            coords = classical_scaling(data.weights)
        return cls(
            name=data.name,
            coords=coords,
            demands=data.demands,
            capacity=data.capacity,
            convention=data.convention,
            matrix=data.weights,
            coords_from_scaling=data.coords is None,
            comment=data.comment,
            vehicles=data.vehicles,
            labels=data.labels,
            **more,
        )

    def data(self) -> VRPLIBData:
        """Return the content of this instance's file, without coordinates from scaling."""
        return VRPLIBData(
            name=self.name,
            comment=self.comment,
            capacity=self.capacity,
            convention=self.convention,
            coords=None if self.coords_from_scaling else self.coords,
            weights=self.matrix,
            demands=self.demands,
        )

    @property
    def size(self) -> int:
        """Number of customers."""
        return len(self.demands) - 1

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """Arrays that a problem adds to those that programs receive, by name, of any shapes."""
        return {}

    @property
    def measure(self) -> Convention:
        """The convention that computes distances from ``coords``."""
        return self.convention

    @cached_property
    def spread(self) -> float:
        """Root mean square distance of all nodes from their centre."""
        return root_mean_square_radius(self.coords)
