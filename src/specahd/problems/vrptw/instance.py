"""VRPTW instances and their files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray
from specahd.routing.formats import solomon, vrplib
from specahd.routing.formats.vrplib import TIMED, TimeWindows, VRPLIBData
from specahd.routing.geometry import Convention, distances
from specahd.routing.vehicles.instance import VehicleInstance

TENTHS = 10
"""Number of parts of a file's unit; a DIMACS instance is stored in these parts."""


@dataclass(frozen=True, eq=False)
class VRPTWInstance(VehicleInstance):
    """One VRPTW instance; every demand is from 0 to ``capacity``.

    Travel times equal distances. A vehicle that arrives before a window opens
    waits. Each customer can be served by a route of its own.

    A DIMACS instance (distances rounded down to tenths) is stored in tenths:
    coordinates and times are ten times those of the file, distances are rounded
    down to integers. With integral times its arithmetic is then exact, and so
    is that of EUC_2D. No sum depends on the order of its terms, and no service is
    late because of a rounding error.

    Parameters
    ----------
    windows
        Time windows and service times, in the unit of distances.
    """

    windows: TimeWindows = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for array in (self.windows.ready, self.windows.due, self.windows.service):
            array.flags.writeable = False

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        windows = self.windows
        return {
            "ready_times": windows.ready,
            "due_times": windows.due,
            "service_times": windows.service,
        }

    @property
    def parts(self) -> int:
        """Number of units of ``coords``, times and distances in one unit of the file."""
        return _parts(self.convention)

    @property
    def measure(self) -> Convention:
        return Convention.FLOOR_2D if self.convention is Convention.DIMACS else self.convention


def read(
    path: Path, convention: Convention = Convention.DIMACS, customers: int | None = None
) -> VRPTWInstance:
    """Read a VRPLIB file of TYPE VRPTW, or one in Solomon's format; its content decides.

    Parameters
    ----------
    convention
        How distances are measured if the file does not define it: in Solomon's format,
        and for EUC_2D in files of LKH's collection (see :func:`vrplib.read`).
    customers
        Number of customers to take from a file in Solomon's format; None takes all.

    Raises
    ------
    FileError
        The file is missing, incomplete, or describes no valid instance.
    """
    if solomon.is_solomon(path):
        data = solomon.read(path, convention, customers)
    else:
        data = vrplib.read(path, TIMED, convention)
    return from_vrplib(data, path)


def from_vrplib(data: VRPLIBData, path: Path) -> VRPTWInstance:
    """Return the instance that a file describes.

    Raises
    ------
    FileError
        The instance is not valid.
    """
    heavy = np.flatnonzero(data.demands > data.capacity)
    if heavy.size:
        raise FileError(
            f"{path}: DEMAND of customer {heavy[0]} is {data.demands[heavy[0]]}, "
            f"expected at most CAPACITY {data.capacity}."
        )
    assert data.windows is not None  # both readers set them
    instance = _instance(data, data.windows)
    late = np.flatnonzero(~_reachable(instance))
    if late.size:
        opens, closes = data.windows.ready[late[0]], data.windows.due[late[0]]
        raise FileError(
            f"{path}: TIME_WINDOW of customer {late[0]} is {opens:g} to {closes:g}, expected "
            "one in which a vehicle can come from the depot, serve, and be back before it closes."
        )
    return instance


def _instance(data: VRPLIBData, windows: TimeWindows) -> VRPTWInstance:
    """Return the instance of a file, converted to the instance's unit."""
    parts = _parts(data.convention)
    return VRPTWInstance.of(
        replace(data, coords=None if data.coords is None else parts * data.coords),
        windows=replace(
            windows,
            ready=parts * windows.ready,
            due=parts * windows.due,
            service=parts * windows.service,
        ),
    )


def _reachable(instance: VRPTWInstance) -> NDArray[np.bool_]:
    """Return, per node, whether a vehicle that serves only this node is in time."""
    windows = instance.windows
    if instance.matrix is not None:
        travel = instance.matrix[0]
    else:
        travel = distances(instance.coords[0], instance.coords, instance.measure)
    start = np.maximum(windows.ready[0] + travel, windows.ready)
    returns = start + windows.service + travel
    in_time: NDArray[np.bool_] = (start <= windows.due) & (returns <= windows.due[0])
    return in_time


def dumps(instance: VRPTWInstance) -> str:
    """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
    data, windows, parts = instance.data(), instance.windows, instance.parts
    return vrplib.dumps(
        replace(
            data,
            coords=None if data.coords is None else data.coords / parts,
            windows=TimeWindows(
                windows.ready / parts, windows.due / parts, windows.service / parts
            ),
        )
    )


def _parts(convention: Convention) -> int:
    return TENTHS if convention is Convention.DIMACS else 1
