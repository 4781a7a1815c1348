"""The distances of an instance: a matrix, or its substitute on large instances.

Imports NumPy and the standard library only: the child computes distances in the same way
as the trusted side. Kernels take a matrix, or coordinates and a code
(:data:`specahd.routing.kernels.distances.Distances`).
"""

import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from specahd.routing.base import FloatArray
from specahd.routing.geometry import Convention, distances

LARGEST_MATRIX = 20_000
"""Most nodes of an instance with coordinates whose distances are stored as a matrix.

This matrix takes 3.2 GB; no public instance of the paper has more than 10,000 customers.
"""

Layout = Mapping[str, tuple[type[np.generic], tuple[int, ...]]]

MATRIX, CONVENTION = "distance_matrix", "convention"
"""Names of arrays in a shared block: it has the matrix, or the convention beside ``coords``."""
DURATIONS = "durations"
"""Name of the array of travel times, where ways differ from ways back or from times."""
PRICES, SHIFTS, LIMITS = "type_prices", "type_shifts", "type_limits"
"""Names of the arrays of types of vehicles: what each way costs with each type, in an array of the
shape (types, n + 1, n + 1), those from and to the depot being from its start and to its end; when
its vehicles leave, and are back at the latest; and its capacity and number."""
TYPE_TIMES = "type_times"
"""Name of the array of times from the start of each type to each node, and from each node to its
end, in an array of the shape (types, 2, n + 1)."""
LENGTHS, TYPE_LENGTHS, LONGEST = "lengths", "type_lengths", "longest_routes"
"""Names of the arrays where routes are limited beside windows: distances of all ways, those from
the start and to the end of each type, as :data:`TYPE_TIMES`, and the longest distance and duration
of a route of each type, of the shape (types, 2)."""
DIRECTED = "directed_neighbours"
"""Name of the array with the nearest nodes in each direction, of a tour on directed ways."""

_CONVENTIONS = tuple(Convention)
_MOST_ENTRIES = 1 << 25
"""Most entries of a part that is returned as one array: 256 MiB."""


class NoWholeMatrix(TypeError):
    """A program requested more of the distances than fits into one array."""


def is_computed(nodes: int, matrix: FloatArray | None) -> bool:
    """Return whether the distances among that many nodes are computed on demand.

    Parameters
    ----------
    matrix
        The matrix of the instance's file, if it has one.
    """
    return matrix is None and nodes > LARGEST_MATRIX


def layout(nodes: int, matrix: FloatArray | None) -> Layout:
    """Return the layout of an instance's distances in the shared block."""
    if is_computed(nodes, matrix):
        return {CONVENTION: (np.int64, (1,))}
    return {MATRIX: (np.float64, (nodes, nodes))}


def code_of(convention: Convention) -> int:
    """Return the number that stands for a convention in shared blocks and kernels."""
    return _CONVENTIONS.index(convention)


def of_block(arrays: Mapping[str, NDArray[Any]]) -> "FloatArray | ComputedDistances":
    """Return the distances among the nodes of a shared block, as programs receive them."""
    if MATRIX in arrays:
        return arrays[MATRIX]
    coords = arrays["coords"]
    return ComputedDistances(coords, coords, _CONVENTIONS[arrays[CONVENTION][0]])


class ComputedDistances(NDArrayOperatorsMixin):
    """A substitute for a distance matrix that computes parts of it on demand, never the whole.

    Every part equals the array that a matrix would give, to the last bit. A slice of both
    axes that is too large for one array is such a substitute again. An operation on the
    whole, such as arithmetic, raises :class:`NoWholeMatrix`.

    Parameters
    ----------
    rows, columns
        Points, shapes (n, 2) and (m, 2).
    """

    __slots__ = ("_columns", "_convention", "_rows")

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, rows: FloatArray, columns: FloatArray, convention: Convention) -> None:
        self._rows = rows
        self._columns = columns
        self._convention = convention

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"distances of shape {self.shape}"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._rows), len(self._columns)

    @property
    def size(self) -> int:
        return len(self._rows) * len(self._columns)

    @property
    def T(self) -> "ComputedDistances":
        return ComputedDistances(self._columns, self._rows, self._convention)

    def __getitem__(self, key: Any) -> Any:
        key = key if isinstance(key, tuple) else (key,)
        if len(key) > 2 or any(index is None or index is Ellipsis for index in key):
            raise NoWholeMatrix("Expected an index of rows and one of columns at most.")
        first, second = (*key, slice(None))[:2]
        rows, columns = self._rows[first], self._columns[second]
        # NumPy pairs two arrays of indices, and combines each index with all of a slice.
        if isinstance(first, slice) or isinstance(second, slice):
            if rows.ndim == columns.ndim == 2 and len(rows) * len(columns) > _MOST_ENTRIES:
                return ComputedDistances(rows, columns, self._convention)
            rows = rows.reshape(*rows.shape[:-1], *[1] * (columns.ndim - 1), 2)
        if math.prod(np.broadcast_shapes(rows.shape, columns.shape)) > 2 * _MOST_ENTRIES:
            self._refuse()
        measured: Any = distances(rows, columns, self._convention)[()]
        return measured

    def __getattr__(self, name: str) -> Any:
        # Other attributes of arrays raise NoWholeMatrix; lookups by Python itself do not.
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._refuse()

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        self._refuse()

    def __array_function__(self, *_: Any, **__: Any) -> Any:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NoWholeMatrix(
            f"distance_matrix of {len(self):,} nodes is too large for one array, "
            "expected a program that takes rows or other parts of it."
        )
