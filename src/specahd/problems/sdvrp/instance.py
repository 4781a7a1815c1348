"""SDVRP instances and their files."""

from dataclasses import dataclass
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats import sdvrp
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.vehicles.instance import VehicleInstance

MOST_LOADS = 200_000
"""Most vehicle loads that all demands together may take: a solution has a route for each."""


@dataclass(frozen=True, eq=False)
class SDVRPInstance(VehicleInstance):
    """One instance; every demand is at least 1 and may exceed ``capacity``."""


def read(path: Path) -> SDVRPInstance:
    """Read a VRPLIB file of TYPE SDVRP, or one in the plain numbers of the classical sets.

    Raises
    ------
    FileError
        The file is missing, torn, or describes no valid instance.
    """
    return from_vrplib(sdvrp.read(path), path)


def from_vrplib(data: VRPLIBData, path: Path) -> SDVRPInstance:
    """Return the instance that a file describes.

    Raises
    ------
    FileError
        It is no valid one.
    """
    loads = int(data.demands.sum()) // data.capacity
    if loads > MOST_LOADS:
        raise FileError(
            f"{path}: its demands take {loads} loads of the capacity {data.capacity}, "
            f"expected at most {MOST_LOADS}."
        )
    return SDVRPInstance.of(data)


def dumps(instance: SDVRPInstance) -> str:
    """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
    return sdvrp.dumps(instance.data())
