"""Tours as files: read CVRPLIB's ``.sol`` and TSPLIB's ``.tour``, and write ``.sol``."""

from pathlib import Path

from specahd.core.errors import FileError
from specahd.problems.tsp.instance import Solution
from specahd.routing.formats import kinds, sol, tsplib
from specahd.routing.formats.text import read_text


def read(path: Path) -> tuple[Solution, float | None]:
    """Read a TSPLIB tour, or a ``.sol`` file of one route that leaves from node 0.

    A ``.sol`` file numbers the nodes as the instances here do, from 0, and
    leaves 0 out; a ``.tour`` file numbers them from 1 and states no cost.

    Raises
    ------
    FileError
        The file is missing, incomplete, or not a tour.
    """
    if kinds.identify(read_text(path)) is kinds.TYPES["TOUR"]:
        return tsplib.read_tour(path), None
    routes, cost = sol.read(path)
    if len(routes) != 1:
        raise FileError(f"{path}: holds {len(routes)} routes, expected one.")
    return (0, *routes[0]), cost


def dumps(solution: Solution, cost: float) -> str:
    """Return the text of a ``.sol`` file that :func:`read` can read; the tour starts at node 0."""
    return sol.dumps([from_zero(solution)], cost)


def from_zero(solution: Solution) -> tuple[int, ...]:
    """Return the nodes of a tour in the order in which they follow node 0."""
    first = solution.index(0)
    return (*solution[first + 1 :], *solution[:first])
