"""Distance matrices as CSV: a row of numbers for each stop, perhaps with the stops' names.

::

    ,depot,north,south
    depot,0,3,4
    north,3,0,5
    south,4,5,0

The names may stand in the first line alone.
"""

from collections.abc import Sequence
from math import isnan
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray
from specahd.routing.formats import kinds
from specahd.routing.formats.rows import Row, lines_of, number, read_rows
from specahd.routing.formats.text import read_text
from specahd.routing.formats.weights import LONGEST


def read(path: Path) -> tuple[FloatArray, Sequence[str] | None]:
    """Return the symmetric matrix of a file, and the names of its rows if it has them.

    Raises
    ------
    FileError
        The file is missing, not text, or no symmetric matrix of distances.
    """
    text = read_text(path)
    kinds.refuse_other(path, text, [kinds.MATRIX], "a distance matrix")
    _refuse_blanks(path, text)
    rows = [(row, list(row.cells.values())) for row in read_rows(path, text)]
    names = None
    if rows and _is_heading(rows[0][1]):
        (line, head), *rows = rows
        rows, names = (rows, head) if _stands_alone(head, rows) else _without_names(head, rows)
        if len(names) != len(rows):
            raise line.error(f"{len(names)} names", f"{len(rows)}, one for each row below")
    size = len(rows)
    if size < 3:
        raise FileError(f"{path}: holds {size} rows of distances, expected at least 3.")
    matrix = np.empty((size, size))
    for place, (row, cells) in enumerate(rows):
        if len(cells) != size:
            raise row.error(f"{len(cells)} distances", f"{size}, one for each row")
        matrix[place] = [number(cell) for cell in cells]
        # Written so that nan is wrong too.
        wrong = np.flatnonzero(~((matrix[place] >= 0) & (matrix[place] <= LONGEST)))
        if wrong.size:
            raise row.error(f"the distance {cells[wrong[0]][:40]!r}", "a number in [0, 1e9]")
        if matrix[place, place] != 0:
            raise row.error(f"{matrix[place, place]:g} from a stop to itself", "0")
    _expect_symmetric(matrix, [row for row, _ in rows])
    return matrix, names


def _refuse_blanks(path: Path, text: str) -> None:
    lines, sign, _ = lines_of(text)
    line, first = next(lines, (0, ""))
    if sign is None and len(first.split()) > 1:
        raise FileError(
            f"{path}: line {line} separates its distances by blanks, "
            "expected commas, semicolons or tabs."
        )


def _is_heading(cells: Sequence[str]) -> bool:
    corner = kinds.column_of(cells[0])
    return any(isnan(number(cell)) for cell in cells[1:]) or corner in ("", "name")


def _stands_alone(head: Sequence[str], rows: Sequence[tuple[Row, list[str]]]) -> bool:
    """Say whether no column of names stands below a line of names."""
    if kinds.column_of(head[0]) in ("", "name") or not rows:
        return False
    _, cells = rows[0]
    numeric = not any(isnan(number(cell)) for cell in cells)
    return numeric and len(cells) == len(head) and cells[0] != head[1]


def _without_names(
    head: Sequence[str], rows: Sequence[tuple[Row, list[str]]]
) -> tuple[list[tuple[Row, list[str]]], Sequence[str]]:
    """Return the rows without the first column, and the names in it and in the first line."""
    names = head[1:]
    found = []
    for place, (row, (name, *cells)) in enumerate(rows):
        if place < len(names) and name != names[place]:
            raise row.error(f"the name {name[:40]!r}", f"{names[place][:40]!r} as the first line")
        found.append((row, cells))
    return found, names


def _expect_symmetric(matrix: FloatArray, rows: Sequence[Row]) -> None:
    one_way = np.argwhere(matrix != matrix.T)
    if one_way.size:
        here, there = one_way[0]
        raise rows[here].error(
            f"the distance {matrix[here, there]:g} to stop {there + 1}",
            f"{matrix[there, here]:g} as on the way back",
        )
