"""Distance matrices: EXPLICIT edge weights in the layouts of TSPLIB, and CSV.

A CSV file has a row of numbers for each stop, optionally with the stops' names.

::

    ,depot,north,south
    depot,0,3,4
    north,3,0,5
    south,4,5,0

The names may be in the first line only. NumPy's files (``.npy``), arrays and the answers of road
services (``.json``) have no names.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, islice
from math import isnan
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import FileError
from specahd.core.memory_limit import require_memory
from specahd.routing.base import FloatArray
from specahd.routing.formats import kinds, road_services
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.road_services import DISTANCES, DURATIONS, NO_WAY
from specahd.routing.formats.rows import DecimalCommas, Row, cells_of, lines_of
from specahd.routing.formats.sections import Sections
from specahd.routing.formats.text import read_regular_file, read_text
from specahd.routing.geometry import Convention

DISTANCE = Range(0, 1e9)
"""Range of distances, in which squares and sums stay finite and exact."""
_NUMPY, _JSON = ".npy", ".json"
_LONGEST_HEADER = 1000
"""Most bytes of a NumPy file's header; that of a matrix has 128."""
# NumPy reads the header as a Python literal.
_MALFORMED = (ValueError, OverflowError, TypeError, SyntaxError, TokenError, MemoryError)


def read(path: Path) -> tuple[FloatArray, Sequence[str] | None]:
    """Return the matrix of a file, from row to column, and the names of its rows if it has them.

    Raises
    ------
    FileError
        The file is missing, not text, or no matrix of distances.
    NotEnoughMemory
        A matrix in a NumPy file does not fit into memory.
    """
    if path.suffix == _NUMPY:
        return matrix_from_array(_mapped(path), str(path)), None
    text = read_text(path)
    kinds.refuse_other(path, text, [kinds.MATRIX], "a distance matrix")
    _, sign, _ = lines_of(text)
    _refuse_blanks(path, text, sign)
    lines = ((line, _without_blank_end(cells)) for line, cells in cells_of(path, text))
    begin = list(islice(lines, 2))
    names: Sequence[str] = ()
    heading, column = None, 0
    if begin and _is_heading(begin[0][1]):
        (heading, names), *begin = begin
        # If the first column holds the names too, distances begin in column 1.
        column = 0 if _stands_alone(names, begin) else 1
        names = names[column:]
    rows: list[Row] = []
    found: list[FloatArray] = []
    commas = DecimalCommas()
    plain = "_" not in text and text.isascii() and (sign == "," or "," not in text)
    for place, (line, cells) in enumerate(chain(begin, lines)):
        row = Row(path, line, {})
        if column and place < len(names) and cells[0] != names[place]:
            expected = f"{names[place][:40]!r} as the first line"
            raise row.error(f"the name {cells[0][:40]!r}", expected)
        rows.append(row)
        found.append(_distances(row, cells, column, commas, plain))
    commas.check_consistent()
    size = len(rows)
    if heading is not None and len(names) != size:
        expected = f"{size}, one for each row below"
        raise Row(path, heading, {}).error(f"{len(names)} names", expected)
    _expect_stops(str(path), size)
    for row, values in zip(rows, found, strict=True):
        if len(values) != size:
            raise row.error(f"{len(values)} distances", f"{size}, one for each row")
    matrix = np.stack(found)
    _expect_distances(matrix, lambda place, *words: rows[place].error(*words))
    return matrix, names or None


def read_ways(
    path: Path, wanted: str
) -> tuple[FloatArray, Sequence[str] | None, FloatArray | None]:
    """Return what :func:`read` does, and the durations beside distances in a service's answer.

    Parameters
    ----------
    wanted
        Which matrix of an answer of a road service, ``distances`` or ``durations``.

    Raises
    ------
    FileError
        The file is missing, not text, or has no such matrix.
    """
    if path.suffix != _JSON:
        return *read(path), None
    found = road_services.read(path, DISTANCE)
    if wanted not in found:
        raise FileError(
            f"{path}: holds no {wanted}, expected them (OSRM: annotations=duration,distance; "
            'OpenRouteService: "metrics": ["distance", "duration"]).'
        )
    _expect_stops(str(path), len(found[wanted]))
    for matrix in found.values():
        _expect_distances(
            matrix,
            lambda place, holds, expected: FileError(
                f"{path}: row {place + 1} holds {holds}, expected {expected}."
            ),
        )
    return found[wanted], None, found.get(DURATIONS) if wanted == DISTANCES else None


def matrix_from_array(array: NDArray[np.generic], name: str) -> FloatArray:
    """Return an array as a matrix of distances; it may be the array itself.

    Parameters
    ----------
    name
        Name at the beginning of messages.

    Raises
    ------
    FileError
        The array is not a matrix of distances.
    NotEnoughMemory
        The copy of the array that a problem needs does not fit into memory.
    """
    if array.dtype.kind not in "iuf" or array.ndim != 2 or len(set(array.shape)) != 1:
        raise FileError(
            f"{name}: holds an array of shape {array.shape} of {array.dtype}, "
            "expected numbers in as many rows as columns."
        )
    _expect_stops(name, len(array))
    require_memory(8 * array.size, f"The distance matrix of {name} needs")
    matrix = np.asarray(array, np.float64)

    def error(place: int, holds: str, expected: str) -> FileError:
        return FileError(f"{name}: row {place + 1} holds {holds}, expected {expected}.")

    for place, values in enumerate(matrix):
        for column in DISTANCE.outside(values):
            holds = f"the distance {values[column]:g} in column {column + 1}"
            raise error(place, holds, str(DISTANCE))
    _expect_distances(matrix, error)
    return matrix


def _mapped(path: Path) -> NDArray[np.generic]:
    """Return the memory-mapped array of a NumPy file."""
    read_regular_file(path)
    try:
        return np.lib.format.open_memmap(path, mode="r", max_header_size=_LONGEST_HEADER)
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    except _MALFORMED as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise FileError(f"{path}: expected an array that NumPy has saved ({reason}).") from None


def _refuse_blanks(path: Path, text: str, sign: str | None) -> None:
    line, first = next(lines_of(text)[0], (0, ""))
    if sign is None and len(first.split()) > 1:
        raise FileError(
            f"{path}: line {line} separates its distances by blanks, "
            "expected commas, semicolons or tabs."
        )


def _without_blank_end(cells: list[str]) -> list[str]:
    while not cells[-1]:
        cells.pop()
    return cells


def _is_heading(cells: Sequence[str]) -> bool:
    corner = kinds.column_of(cells[0])
    return not _numeric(cells[1:]) or corner in ("", "name")


def _numeric(cells: Sequence[str]) -> bool:
    return not any(isnan(number_of(cell.replace(",", "."))) for cell in cells)


def _stands_alone(head: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Return whether the names are in the first line only, not in the first column too."""
    if kinds.column_of(head[0]) in ("", "name") or not rows:
        return False
    _, cells = rows[0]
    return _numeric(cells) and len(cells) == len(head) and cells[0] != head[1]


def _distances(
    row: Row, cells: Sequence[str], start: int, commas: DecimalCommas, plain: bool
) -> FloatArray:
    """Return the numbers of a row from column ``start`` on; ``plain`` tries a fast way first."""
    values = None
    if plain:
        with suppress(ValueError):
            values = np.array(list(map(float, cells[start:])))
    if values is None:
        values = np.array([number_of(commas.read(row, "distance", cell)) for cell in cells[start:]])
    for column in DISTANCE.outside(values):
        column += start
        holds = f"the distance {cells[column][:40]!r} in column {column + 1}"
        raise row.error(holds, str(DISTANCE))
    return values


def _expect_stops(name: str, size: int) -> None:
    if size < 3:
        raise FileError(f"{name}: holds {size} rows of distances, expected at least 3.")


def _expect_distances(matrix: FloatArray, error: Callable[[int, str, str], FileError]) -> None:
    """Refuse a distance from a stop to itself that is not 0."""
    for place in np.flatnonzero(matrix.diagonal()).tolist():
        raise error(place, f"{matrix[place, place]:g} from a stop to itself", "0")


def is_directed(matrix: FloatArray | None) -> bool:
    """Return whether ways differ from the ways back; not without a matrix."""
    return matrix is not None and not np.array_equal(matrix, matrix.T)


def either_way(matrix: FloatArray) -> FloatArray:
    """Return the shorter of each way and the way back; where there is neither, the longest way."""
    longest = matrix[matrix < NO_WAY].max()
    shorter: FloatArray = np.minimum(np.minimum(matrix, matrix.T), longest)
    return shorter


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


def read_matrix(sections: Sections, size: int, convention: Convention) -> FloatArray | None:
    """Return the matrix of EDGE_WEIGHT_SECTION with a diagonal of zeros.

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
        The layout is unknown, entries are missing, negative or not finite, or
        there are entries and the file is not EXPLICIT.
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
    # TSPLIB's files hold anything there.
    numbers[rows == columns] = 0.0
    for place in DISTANCE.outside(numbers):
        raise sections.error(f"EDGE_WEIGHT_SECTION holds {numbers[place]:g}, expected {DISTANCE}")
    matrix = np.zeros((size, size))
    matrix[rows, columns] = numbers
    if layout != "FULL_MATRIX":
        matrix[columns, rows] = numbers
    return matrix
