"""Files of split-delivery instances.

They are VRPLIB text of TYPE SDVRP, or the plain numbers of the
classical sets (Belenguer, Martinez and Mota 2000; Chen, Golden and Wasil 2007;
Archetti, Speranza and Savelsbergh 2008): the number of customers N and the
capacity Q, N demands, then the positions of the depot and of the N customers.
Distances of these sets are Euclidean, rounded to the nearest integer.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats import kinds, vrplib
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.text import read_text
from specahd.routing.formats.vrplib import COORDINATE, LARGEST, STATED, VRPLIBData, warn_of_rounding
from specahd.routing.geometry import Convention

_AMOUNT = Range(1, LARGEST, integer=True)


def read(path: Path) -> VRPLIBData:
    """Read an instance in either form; a file that begins with numbers is of a classical set.

    Raises
    ------
    FileError
        The file is missing, truncated, not text, or violates the format. A
        customer without demand is not allowed.
    """
    text = read_text(path)
    if kinds.identify(text) is kinds.NUMBERS:
        return _read_numbers(path, text.split())
    data = vrplib.read(path, vrplib.SPLIT)
    if (data.demands[1:] == 0).any():
        raise FileError(
            f"{path}: DEMAND_SECTION gives a customer the demand 0, expected {_AMOUNT}."
        )
    return data


def _read_numbers(path: Path, words: Sequence[str]) -> VRPLIBData:
    numbers = _floats(path, words)
    customers = int(_integers(path, "the number of customers", numbers[:1])[0])
    capacity = int(_integers(path, "the capacity", numbers[1:2])[0])
    expected = 2 + customers + 2 * (customers + 1)
    if len(numbers) != expected:
        raise FileError(
            f"{path}: holds {len(numbers)} numbers, expected {expected} (2, then {customers} "
            f"demands, then the coordinates of {customers + 1} nodes)."
        )
    coords = _coords(path, numbers[2 + customers :].reshape(-1, 2))
    warn_of_rounding(path, coords, Convention.EUC_2D, f"TYPE : SDVRP with {STATED}")
    demands = _integers(path, "the demand of customer {}", numbers[2 : 2 + customers])
    return VRPLIBData(
        name=path.stem,
        capacity=capacity,
        convention=Convention.EUC_2D,
        coords=coords,
        demands=np.concatenate((np.zeros(1, np.int64), demands)),
        splits=True,
    )


def _floats(path: Path, words: Sequence[str]) -> FloatArray:
    numbers = np.fromiter(map(number_of, words), np.float64, len(words))
    for place in np.flatnonzero(np.isnan(numbers)).tolist():
        raise FileError(f"{path}: holds {words[place][:40]!r}, expected numbers only.")
    return numbers


def _integers(path: Path, what: str, numbers: FloatArray) -> IntArray:
    if not len(numbers):
        raise FileError(f"{path}: {what} is missing.")
    for place in _AMOUNT.outside(numbers):
        raise FileError(
            f"{path}: {what.format(place + 1)} is {numbers[place]:g}, expected {_AMOUNT}."
        )
    return numbers.astype(np.int64)


def _coords(path: Path, coords: FloatArray) -> FloatArray:
    for place in COORDINATE.outside(coords):
        x, y = coords[place]
        node = f"customer {place}" if place else "the depot"
        raise FileError(f"{path}: {node} is at ({x:g}, {y:g}), expected each to be {COORDINATE}.")
    # Some files write -0.
    return coords + 0.0
