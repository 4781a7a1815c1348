"""SDVRP instances and their files."""

from dataclasses import dataclass
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats import sdvrp
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.vehicles.instance import VehicleInstance

MOST_LOADS = 200_000
"""Maximum number of loads of all demands together; a solution has a route for each load."""


@dataclass(frozen=True, eq=False)
class SDVRPInstance(VehicleInstance):
    """One SDVRP instance; every demand is at least 1 and may exceed ``capacity``."""


def read(path: Path) -> SDVRPInstance:
    """Read a VRPLIB file of TYPE SDVRP, or a file of the classical sets, which has numbers only.

    Raises
    ------
    FileError
        The file is missing, incomplete, or describes no valid instance.
    """
    return from_vrplib(sdvrp.read(path), path)


def from_vrplib(data: VRPLIBData, path: Path) -> SDVRPInstance:
    """Return the instance that a file describes.

    Raises
    ------
    FileError
        The instance is not valid.
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
