"""The arrays of a vehicle problem's shared block that its programs see."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.geometry import Convention
from specahd.routing.kernels.distances import fill_distance_matrix


def layout(nodes: int) -> dict[str, tuple[type[np.generic], tuple[int, ...]]]:
    """Return dtype and shape of each array for an instance of so many nodes, the depot included."""
    return {
        "coords": (np.float64, (nodes, 2)),
        "demands": (np.int64, (nodes,)),
        "capacity": (np.int64, (1,)),
        "distance_matrix": (np.float64, (nodes, nodes)),
    }


def fill(
    arrays: Mapping[str, NDArray[Any]],
    coords: FloatArray,
    demands: IntArray,
    capacity: int,
    convention: Convention,
    matrix: FloatArray | None,
) -> None:
    """Write an instance into its arrays, without a second n x n array."""
    arrays["coords"][:] = coords
    arrays["demands"][:] = demands
    arrays["capacity"][:] = capacity
    if matrix is None:
        fill_distance_matrix(coords, convention, arrays["distance_matrix"])
    else:
        arrays["distance_matrix"][:] = matrix
