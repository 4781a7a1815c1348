"""EXPLICIT edge weights: the matrix layouts of TSPLIB."""

from collections.abc import Callable
from typing import Any

import numpy as np

from specahd.routing.base import FloatArray
from specahd.routing.formats.ranges import Range
from specahd.routing.formats.sections import Sections
from specahd.routing.geometry import Convention


def _full(size: int) -> tuple[Any, Any]:
    rows, columns = np.divmod(np.arange(size * size), size)
    return rows, columns


def _upper(size: int) -> tuple[Any, Any]:
    return np.triu_indices(size, 1)


def _lower(size: int) -> tuple[Any, Any]:
    return np.tril_indices(size, -1)


# A column-wise triangle is the other triangle row by row.
LAYOUTS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "FULL_MATRIX": _full,
    "UPPER_ROW": _upper,
    "LOWER_COL": _upper,
    "LOWER_ROW": _lower,
    "UPPER_COL": _lower,
    "UPPER_DIAG_ROW": np.triu_indices,
    "LOWER_DIAG_COL": np.triu_indices,
    "LOWER_DIAG_ROW": np.tril_indices,
    "UPPER_DIAG_COL": np.tril_indices,
}
"""Indices of the entries in reading order, by EDGE_WEIGHT_FORMAT."""


DISTANCE = Range(0, 1e9)
"""Range of distances, in which squares and sums stay finite and exact."""


def read_matrix(sections: Sections, size: int, convention: Convention) -> FloatArray | None:
    """Return the symmetric matrix of EDGE_WEIGHT_SECTION with a diagonal of zeros.

    Parameters
    ----------
    size
        Number of nodes.
    convention
        How the file measures distances.

    Returns
    -------
    Shape (size, size); None unless the file is EXPLICIT.

    Raises
    ------
    FileError
        The layout is unknown, entries are missing, negative or not finite, a
        full matrix is not symmetric, or there are entries and the file is not
        EXPLICIT.
    """
    if convention is not Convention.EXPLICIT:
        if "EDGE_WEIGHT_SECTION" in sections:
            raise sections.error(
                "holds EDGE_WEIGHT_SECTION beside EDGE_WEIGHT_TYPE "
                f"{sections.fields['EDGE_WEIGHT_TYPE'].upper()}, expected EXPLICIT"
            )
        return None
    layout = sections.choice("EDGE_WEIGHT_FORMAT", {name: name for name in LAYOUTS})
    numbers = sections.read_numbers("EDGE_WEIGHT_SECTION")
    expected = size * (size + (1 if "DIAG" in layout else -1)) // 2
    if layout == "FULL_MATRIX":
        expected = size * size
    # This check precedes any array of that size: a broken file may state any DIMENSION.
    if numbers.size != expected:
        raise sections.error(
            f"EDGE_WEIGHT_SECTION holds {numbers.size} numbers, expected {expected} "
            f"({layout}, DIMENSION {size})"
        )
    rows, columns = LAYOUTS[layout](size)
    for place in DISTANCE.outside(numbers):
        raise sections.error(f"EDGE_WEIGHT_SECTION holds {numbers[place]:g}, expected {DISTANCE}")
    matrix = np.zeros((size, size))
    matrix[rows, columns] = numbers
    if layout != "FULL_MATRIX":
        matrix[columns, rows] = numbers
    elif not np.array_equal(matrix, matrix.T):
        raise sections.error(
            "EDGE_WEIGHT_SECTION is not symmetric, expected equal ways back (docs/limits.md: how "
            "to make ways equal)"
        )
    np.fill_diagonal(matrix, 0.0)
    return matrix
