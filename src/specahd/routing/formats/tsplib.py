"""TSPLIB text files of travelling salesman problems: instances and tours.

Reference: G. Reinelt, TSPLIB 95, University of Heidelberg, 1995.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray
from specahd.routing.formats.matrix import is_directed, read_matrix
from specahd.routing.formats.ranges import Range
from specahd.routing.formats.sections import Layout, Sections
from specahd.routing.formats.vrplib import (
    LARGEST,
    STATED,
    coordinates,
    distance_lines,
    warn_of_rounding,
)
from specahd.routing.geometry import Convention

DIRECTED = "ATSP"
"""The TYPE of files whose ways may differ from the ways back."""
_INSTANCE = Layout(
    types=("TSP", DIRECTED),
    sections=(
        "NODE_COORD_SECTION",
        "EDGE_WEIGHT_SECTION",
        "FIXED_EDGES_SECTION",
        "DISPLAY_DATA_SECTION",
    ),
)
_TOUR = Layout(types=("TOUR",), sections=("TOUR_SECTION",))


@dataclass(frozen=True, slots=True)
class TSPLIBData:
    """The content of a file; node i of the file is node i - 1 here.

    Parameters
    ----------
    coords
        Shape (n, 2); None when an EXPLICIT file gives none. Those of GEO are
        latitudes and longitudes in degrees and minutes (DDD.MM).
    matrix
        Distances of EXPLICIT files only, from row to column, shape (n, n); symmetric unless the
        TYPE is ATSP.
    fixed_edges
        Pairs of nodes that must be neighbours in the tour.
    """

    name: str
    comment: str
    convention: Convention
    coords: FloatArray | None
    matrix: FloatArray | None
    fixed_edges: tuple[tuple[int, int], ...] = ()


def read(path: Path) -> TSPLIBData:
    """Read a file whose TYPE is ``TSP`` or ``ATSP``.

    DISPLAY_DATA_SECTION is ignored: it holds the positions of the nodes on a
    drawing, which do not affect distances.

    Raises
    ------
    FileError
        The file is missing, truncated, not text, or violates the format.

    Warns
    -----
    FileWarning
        Rounding changes distances much.
    """
    sections = Sections(path, _INSTANCE)
    dimension = sections.integer("DIMENSION", 1, LARGEST)
    if dimension < 3:
        raise sections.error(f"DIMENSION is {dimension}, expected at least 3")
    convention = sections.choice("EDGE_WEIGHT_TYPE", {name.value: name for name in Convention})
    weights = read_matrix(sections, dimension, convention)
    directed = sections.kind == DIRECTED
    if weights is not None and not directed:
        _refuse_directed(weights, path)
    if directed and "FIXED_EDGES_SECTION" in sections:
        raise sections.error(f"FIXED_EDGES_SECTION stands in an {DIRECTED}, expected TYPE TSP")
    coords = None
    if weights is None or "NODE_COORD_SECTION" in sections:
        coords = coordinates(sections, dimension)
    warn_of_rounding(path, coords, convention, STATED)
    return TSPLIBData(
        name=sections.fields.get("NAME") or path.stem,
        comment=sections.fields.get("COMMENT", "").strip('"'),
        convention=convention,
        coords=coords,
        matrix=weights,
        fixed_edges=(
            _fixed_edges(sections, dimension) if "FIXED_EDGES_SECTION" in sections else ()
        ),
    )


def _fixed_edges(sections: Sections, dimension: int) -> tuple[tuple[int, int], ...]:
    numbers = sections.read_numbers("FIXED_EDGES_SECTION")
    ends = numbers[:-1] if numbers.size and numbers[-1] == -1 else numbers
    wrong = Range(1, dimension, integer=True).outside(ends)
    if wrong or ends.size % 2:
        found = f"node {ends[wrong[0]]:g}" if wrong else f"{ends.size} nodes"
        raise sections.error(
            f"FIXED_EDGES_SECTION holds {found}, expected pairs of nodes from 1 to {dimension}"
        )
    pairs = (ends.astype(np.int64) - 1).reshape(-1, 2).tolist()
    _refuse_no_paths(sections, pairs)
    return tuple((start, end) for start, end in pairs)


def _refuse_no_paths(sections: Sections, pairs: list[list[int]]) -> None:
    """Refuse fixed edges that do not form paths, since no tour can contain them."""
    ends: dict[int, int] = {}
    degrees: Counter[int] = Counter()
    for start, end in pairs:
        degrees.update((start, end))
        # The other ends of the paths that end at these nodes.
        first, last = ends.get(start, start), ends.get(end, end)
        if max(degrees[start], degrees[end]) > 2 or first == end:
            raise sections.error(
                f"FIXED_EDGES_SECTION joins nodes {start + 1} and {end + 1}, "
                "expected edges that make paths"
            )
        ends[first], ends[last] = last, first


def dumps(data: TSPLIBData) -> str:
    """Return the text that :func:`read` and other tools read back."""
    lines = [f"NAME : {data.name}"]
    if data.comment:
        lines.append(f"COMMENT : {data.comment}")
    points = data.coords if data.matrix is None else data.matrix
    size = 0 if points is None else len(points)
    kind = DIRECTED if is_directed(data.matrix) else "TSP"
    lines += [f"TYPE : {kind}", f"DIMENSION : {size}", f"EDGE_WEIGHT_TYPE : {data.convention}"]
    lines += distance_lines(data.matrix, data.coords)
    if data.fixed_edges:
        lines.append("FIXED_EDGES_SECTION")
        lines += [f"{start + 1} {end + 1}" for start, end in data.fixed_edges]
        lines.append("-1")
    return "\n".join([*lines, "EOF"]) + "\n"


def read_tour(path: Path) -> tuple[int, ...]:
    """Return the nodes of a ``.tour`` file in order, numbered from 0.

    The checker tests whether they are a solution.

    Raises
    ------
    FileError
        The file is missing, not text, truncated, or not a tour.
    """
    sections = Sections(path, _TOUR)
    numbers = sections.read_numbers("TOUR_SECTION")
    if numbers.size < 2 or numbers[-1] != -1:
        raise sections.error("TOUR_SECTION has no end, expected nodes and then -1")
    nodes = numbers[:-1]
    for place in Range(1, LARGEST, integer=True).outside(nodes):
        raise sections.error(f"TOUR_SECTION holds {nodes[place]:g}, expected nodes from 1 on")
    if "DIMENSION" in sections.fields:
        dimension = sections.integer("DIMENSION", 1, LARGEST)
        if nodes.size != dimension:
            raise sections.error(
                f"TOUR_SECTION holds {nodes.size} nodes, expected {dimension} (DIMENSION)"
            )
    return tuple((nodes.astype(np.int64) - 1).tolist())


def dumps_tour(tour: Sequence[int], name: str, comment: str = "") -> str:
    """Return the text of a ``.tour`` file that :func:`read_tour` reads back."""
    lines = [f"NAME : {name}"]
    if comment:
        lines.append(f"COMMENT : {comment}")
    lines += ["TYPE : TOUR", f"DIMENSION : {len(tour)}", "TOUR_SECTION"]
    lines += [str(node + 1) for node in tour]
    return "\n".join([*lines, "-1", "EOF"]) + "\n"


def _refuse_directed(matrix: FloatArray, path: Path) -> None:
    """Refuse ways that differ from the ways back."""
    for start, end in np.argwhere(matrix != matrix.T).tolist():
        way, back = (f"{each:.15g}" for each in (matrix[start, end], matrix[end, start]))
        raise FileError(
            f"{path}: the way from stop {start + 1} to stop {end + 1} is {way}, expected {back} as "
            f"the way back for TYPE : TSP, or TYPE : {DIRECTED} (docs/limits.md: how to make ways "
            "equal)."
        )
