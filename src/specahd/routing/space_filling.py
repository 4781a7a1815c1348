"""A space-filling curve through the plane: points that are near on it are near each other."""

import numpy as np

from specahd.routing.base import FloatArray, IntArray

LEVELS = 20
"""Levels of the curve, which passes through 2**20 columns of 2**20 cells each."""


def along_curve(coords: FloatArray) -> IntArray:
    """Return the positions of points along the Hilbert curve that fills their square.

    Parameters
    ----------
    coords
        Shape (n, 2).

    Returns
    -------
    Shape (n,): the position of each point's cell; all 0 if all points coincide.
    """
    corner = coords.min(axis=0)
    side = float((coords.max(axis=0) - corner).max())
    if side == 0.0:
        return np.zeros(len(coords), np.int64)
    cells = ((coords - corner) / side * (2**LEVELS - 1)).astype(np.int64)
    return hilbert_places(cells[:, 0], cells[:, 1], LEVELS)


def hilbert_places(columns: IntArray, rows: IntArray, levels: int) -> IntArray:
    """Return the position of each cell along the Hilbert curve that fills a square.

    Parameters
    ----------
    columns, rows
        Columns and rows of the cells, integers in [0, 2**levels).
    """
    places = np.zeros(len(columns), np.int64)
    for level in reversed(range(levels)):
        half = 1 << level
        right, upper = (columns >> level) & 1, (rows >> level) & 1
        places += half * half * ((3 * right) ^ upper)
        # Each quarter holds the same curve, mirrored or turned.
        mirrored = (upper == 0) & (right == 1)
        columns = np.where(mirrored, ~columns, columns) & (half - 1)
        rows = np.where(mirrored, ~rows, rows) & (half - 1)
        turned = upper == 0
        columns, rows = np.where(turned, rows, columns), np.where(turned, columns, rows)
    return places
