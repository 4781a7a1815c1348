"""Solutions to start from: files of any solver, our own files, solutions, and lists of routes."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from numbers import Integral
from pathlib import Path
from typing import Any

from specahd.api.solutions import Solution
from specahd.core.display import spreadsheet_cell
from specahd.core.errors import ConfigError, FileError
from specahd.repair.cases import Case, case_of_file, case_of_solution
from specahd.routing.base import AnyProblem
from specahd.routing.formats.rows import cells_of
from specahd.routing.formats.text import read_text
from specahd.routing.formats.vrplib import LARGEST

Incumbent = str | Path | Solution | Sequence[Any]
"""A file with a solution, a solution, or its routes, as :func:`incumbent_case` takes them."""

_NAME = "the incumbent"
_FORMS = "a file, a solution, or a list of routes, each a list of customers"


def incumbent_case(problem: AnyProblem, instance: Any, incumbent: Incumbent) -> Case:
    """Return the case of an instance with the solution to start from.

    Parameters
    ----------
    incumbent
        A ``.sol`` or ``.tour`` file of any solver; a ``.csv``, ``.geojson`` or ``.json`` file that
        specahd wrote; a solution; or a list of routes. A route is a list of stops, with or without
        the depot at its ends. A stop is a node's number, or its name as text; for SDVRP a pair of
        it and the quantity. A tour may also be the list of its nodes.

    Raises
    ------
    FileError
        A file cannot be read, or the solution does not solve the instance.
    ConfigError
        The incumbent has none of these forms, or names a stop that the instance lacks.

    Warns
    -----
    FileWarning
        Its cost differs from the one that its file states.
    """
    if isinstance(incumbent, Solution):
        return case_of_solution(problem, instance, incumbent.data, _NAME)
    if isinstance(incumbent, str | Path):
        path = Path(incumbent)
        if path.suffix not in _READERS:
            return case_of_file(problem, instance, path)
        try:
            routes, cost = _READERS[path.suffix](path)
            solution = problem.solution_of(_nodes(instance, routes, parts=problem.splits))
        except ConfigError as error:
            reason = str(error)
            raise FileError(f"{path}: {reason[:1].lower()}{reason[1:]}") from None
        return case_of_solution(problem, instance, solution, str(path), cost)
    if not isinstance(incumbent, Iterable):
        raise ConfigError(f"Expected the incumbent as {_FORMS}, got {type(incumbent).__name__}.")
    given = list(incumbent)
    routes = given if any(map(_is_list, given)) else [given]
    solution = problem.solution_of(_nodes(instance, routes))
    return case_of_solution(problem, instance, solution, _NAME)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _nodes(instance: Any, routes: Sequence[Any], *, parts: bool = True) -> list[list[Any]]:
    """Return routes of nodes, or of nodes with quantities, without the depot at the ends.

    Routes without a stop are left out.

    Parameters
    ----------
    parts
        Whether quantities matter; if not, they are left out.
    """
    labels = getattr(instance, "labels", None)
    sites = getattr(instance, "sites", instance)
    names = [] if labels is None else [labels.name(node) for node in range(len(sites.coords))]
    apart = {0}
    if sites is not instance:
        apart.update(range(len(instance.coords), len(sites.coords)))
    known = {name: node for node, name in enumerate(names)}
    # In a spreadsheet some names have a quote before them.
    known = {**{str(spreadsheet_cell(name)): node for name, node in known.items()}, **known}

    def node(stop: Any) -> int:
        if isinstance(stop, str) and stop in known:
            return known[stop]
        if _is_whole(stop):
            return int(stop)
        raise ConfigError(
            f"Expected stops of {instance.name} by their numbers, or by their names as text, got "
            f"{stop!r:.60}."
        )

    def visit(stop: Any) -> Any:
        if not _is_list(stop):
            return node(stop)
        pair = list(stop)
        if parts and len(pair) == 2 and (pair[1] is None or _is_whole(pair[1])):
            return node(pair[0]), None if pair[1] is None else int(pair[1])
        if not parts and len(pair) == 2:
            return node(pair[0])
        raise ConfigError(f"Expected pairs of a stop and a whole quantity, got {stop!r:.60}.")

    found = []
    for route in routes:
        if not _is_list(route):
            raise ConfigError(f"Expected the incumbent as {_FORMS}, got the route {route!r:.60}.")
        stops = [visit(stop) for stop in route]
        ends = [stop[0] if isinstance(stop, tuple) else stop for stop in stops]
        first = 1 if ends[:1] and ends[0] in apart else 0
        last = len(stops) - (1 if len(stops) > 1 and ends[-1] in apart else 0)
        if stops[first:last]:
            found.append(stops[first:last])
    return found


def _is_whole(value: Any) -> bool:
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) <= LARGEST
    )


def _read_table(path: Path) -> tuple[list[Any], None]:
    lines = [cells for _, cells in cells_of(path, read_text(path))]
    header = lines[0] if lines else []
    return _of_visits([dict(zip(header, cells, strict=False)) for cells in lines[1:]]), None


def _read_record(path: Path) -> tuple[list[Any], float | None]:
    content = _json(path)
    routes, cost = content.get("routes"), content.get("cost")
    if not isinstance(routes, list):
        raise ConfigError("Expected the list 'routes', as specahd solve writes it.")
    return routes, cost if isinstance(cost, int | float) else None


def _read_map(path: Path) -> tuple[list[Any], None]:
    features = _json(path).get("features")
    found = features if isinstance(features, list) else []
    rows = [one.get("properties") for one in found if isinstance(one, dict)]
    return _of_visits([row for row in rows if isinstance(row, dict) and "order" in row]), None


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ConfigError("Expected a JSON object, as specahd solve writes it.")
    return content


def _of_visits(rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the routes of an itinerary: stops by name, with quantities where it states some."""
    if not rows or not all({"vehicle", "name"} <= row.keys() for row in rows):
        raise ConfigError(
            "Expected the columns vehicle, order and name, as specahd solve out=NAME.csv writes "
            "them."
        )
    return [
        [(row["name"], _quantity(row.get("quantity"))) for row in visits]
        for vehicle, visits in groupby(rows, key=lambda row: row["vehicle"])
        # A stop that is left out has no vehicle.
        if vehicle != ""
    ]


def _quantity(value: Any) -> Any:
    """Return a quantity of an itinerary as an integer, if it is one."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value or None


_READERS = {".csv": _read_table, ".json": _read_record, ".geojson": _read_map}
"""Functions that return the routes in a file that specahd wrote, and the cost that it states."""
