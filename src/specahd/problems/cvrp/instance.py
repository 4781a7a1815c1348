"""CVRP instances and their files."""

from dataclasses import dataclass
from pathlib import Path

from specahd.routing.formats import vrplib
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.instance import VehicleInstance


@dataclass(frozen=True, eq=False)
class CVRPInstance(VehicleInstance):
    """One CVRP instance; every demand is from 0 to ``capacity``."""


def read(path: Path, euclidean: Convention = Convention.EUC_2D) -> CVRPInstance:
    """Read a VRPLIB file.

    Parameters
    ----------
    euclidean
        Convention for files with EUC_2D: EUC_2D itself, or EXACT_2D.

    Raises
    ------
    FileError
        The file is missing, incomplete, or describes no valid instance.
    """
    return from_vrplib(vrplib.read(path, euclidean=euclidean), path)


def from_vrplib(data: VRPLIBData, path: Path) -> CVRPInstance:
    """Return the instance that a file describes; its reader has checked it."""
    return CVRPInstance.of(data)


def dumps(instance: CVRPInstance) -> str:
    """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
    return vrplib.dumps(instance.data())
