"""Solution files: routes and cost as in CVRPLIB, and the deliveries of each route.

::

    Route #1: 3 1 2
    Route #2: 3
    Cost 206
    Delivery #1: 10 4 7
    Delivery #2: 5

Lines ``Delivery`` are an extension of this package for split deliveries; each belongs to the
route of the same number. Programs that read only routes and cost can read the file too. PyVRP's
printed solutions are read as well: there ``C0`` is the first customer, and a summary precedes the
routes. Other lines must be notes on the solution, like ``Optimal: True`` or ``Time 3.2``.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.base import IntArray
from specahd.routing.formats import kinds
from specahd.routing.formats.ranges import number_of
from specahd.routing.formats.text import read_text
from specahd.routing.formats.vrplib import LARGEST, format_number

Routes = tuple[tuple[int, ...], ...]
Quantities = tuple[tuple[int | None, ...], ...]
"""The deliveries of each route at its stops; None stands for the whole demand."""

WHOLE = "*"
"""The word in a file for the whole demand of a stop."""
# No repetition directly follows another: backtracking on a long line would take very long.
_ROW = re.compile(r"(route|delivery)\s*(?:#\s*)?(\d{1,10})\s*:(.*)", re.IGNORECASE | re.ASCII)
_COST = re.compile(r"cost(?:\s*:)?\s*([0-9.eE+-]+)", re.IGNORECASE)
# A note has no digit before its colon, so that a misspelt route is not accepted as a note.
_NOTE = re.compile(
    r"(?!cost|route|delivery)[#\s]*[a-z][a-z _-]*:.*|(optimal|time|comment)\s.*", re.IGNORECASE
)
_HEADING = re.compile(r"solution( results)?|routes|[=-]+", re.IGNORECASE)
_CUSTOMER = re.compile(r"-?\d{1,10}|C\d{1,10}", re.ASCII)
_QUANTITY = re.compile(r"-?\d{1,10}", re.ASCII)


def read(path: Path, demands: IntArray | None = None) -> tuple[Routes, float | None]:
    """Return the routes as the file numbers their customers, and the cost that it states.

    The routes may be infeasible: the checker tests whether they are a solution.

    Parameters
    ----------
    demands
        Demands of the depot and the customers, shape (n + 1,). Lines ``Delivery`` may hold only
        these quantities and ``*``. None allows ``*`` only.

    Raises
    ------
    FileError
        The file is missing, not text, or holds no route, an unknown line, or
        deliveries that do not match the routes or are not whole demands.
    """
    routes, quantities, cost = read_deliveries(path)
    whole = {} if demands is None else dict(enumerate(demands.tolist()))
    for route, given in zip(routes, quantities, strict=True):
        for customer, quantity in zip(route, given, strict=True):
            if quantity is not None and quantity != whole.get(customer):
                raise FileError(
                    f"{path}: a line 'Delivery #k' gives customer {customer} the quantity "
                    f"{quantity}, expected {whole.get(customer, WHOLE)}, its whole demand: only "
                    f"{kinds.TYPES['SDVRP'].option} splits deliveries."
                )
    return routes, cost


def read_deliveries(path: Path) -> tuple[Routes, Quantities, float | None]:
    """Read routes and cost as :func:`read` does, and the deliveries, by default whole demands.

    Raises
    ------
    FileError
        As :func:`read` does.
    """
    text = read_text(path)
    kinds.refuse_other(path, text, [kinds.ROUTES], "lines 'Route #k: customers'")
    routes: list[tuple[int, ...]] = []
    numbers: list[int] = []
    quantities: dict[int, tuple[int | None, ...]] = {}
    cost: float | None = None
    for line_number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if row := _ROW.fullmatch(line):
            route_number, words = int(row[2]), row[3].split()
            if row[1].lower() == "route":
                # Some tools write the depot at both ends.
                if len(words) > 2 and words[0] == words[-1] == "0":
                    words = words[1:-1]
                routes.append(tuple(_customer(path, line_number, word) for word in words))
                numbers.append(route_number)
            elif route_number in quantities:
                raise FileError(
                    f"{path}: line {line_number} is a second Delivery #{route_number}, "
                    "expected one for each route."
                )
            else:
                quantities[route_number] = tuple(
                    _quantity(path, line_number, word) for word in words
                )
        elif stated := _COST.fullmatch(line):
            cost = _cost(path, line_number, stated[1])
        elif line and _NOTE.fullmatch(line) is None and _HEADING.fullmatch(line) is None:
            raise FileError(
                f"{path}: line {line_number} is {line[:40]!r}, expected 'Route #k: customers', "
                "'Cost value' or 'Delivery #k: quantities'."
            )
    if not routes:
        raise FileError(f"{path}: holds no route, expected lines 'Route #k: customers'.")
    if not quantities:
        return tuple(routes), tuple((None,) * len(route) for route in routes), cost
    return tuple(routes), _matched(path, numbers, routes, quantities), cost


def _matched(
    path: Path,
    numbers: Sequence[int],
    routes: Sequence[Sequence[int]],
    quantities: Mapping[int, tuple[int | None, ...]],
) -> Quantities:
    """Return the deliveries of each route, from its line ``Delivery``."""
    counts = Counter(numbers)
    for place in (*numbers, *quantities):
        if counts[place] != 1:
            raise FileError(
                f"{path}: holds {counts[place]} lines 'Route #{place}', "
                "expected one for each line 'Delivery #k'."
            )
    for place, route in zip(numbers, routes, strict=True):
        given = quantities.get(place, ())
        if len(route) != len(given):
            raise FileError(
                f"{path}: Delivery #{place} holds {len(given)} quantities, "
                f"expected {len(route)}, one for each stop of Route #{place}."
            )
    return tuple(quantities.get(place, ()) for place in numbers)


def _customer(path: Path, line: int, word: str) -> int:
    if _CUSTOMER.fullmatch(word) is None or abs(int(word.removeprefix("C"))) >= LARGEST:
        raise FileError(f"{path}: line {line} holds {word[:40]!r}, expected customer numbers.")
    # PyVRP counts its clients from 0.
    return int(word[1:]) + 1 if word.startswith("C") else int(word)


def _quantity(path: Path, line: int, word: str) -> int | None:
    if word == WHOLE:
        return None
    if _QUANTITY.fullmatch(word) is None or abs(int(word)) > LARGEST:
        raise FileError(
            f"{path}: line {line} holds {word[:40]!r}, expected whole quantities or {WHOLE}."
        )
    return int(word)


def _cost(path: Path, line: int, word: str) -> float:
    cost = number_of(word)
    if isnan(cost):
        raise FileError(f"{path}: line {line} states the cost {word[:40]!r}, expected a number.")
    return cost


def dumps(routes: Sequence[Sequence[int]], cost: float) -> str:
    """Return the text of a file that :func:`read` reads back."""
    lines = [
        f"Route #{index}: {' '.join(map(str, route))}"
        for index, route in enumerate(routes, start=1)
    ]
    return "\n".join([*lines, f"Cost {format_number(float(cost))}"]) + "\n"


def dumps_deliveries(
    routes: Sequence[Sequence[int]], quantities: Sequence[Sequence[int | None]], cost: float
) -> str:
    """Return the text of a file that :func:`read_deliveries` reads back."""
    text = dumps(routes, cost)
    if all(quantity is None for row in quantities for quantity in row):
        return text
    lines = [
        f"Delivery #{index}: {' '.join(WHOLE if q is None else str(q) for q in row)}"
        for index, row in enumerate(quantities, start=1)
    ]
    return text + "\n".join(lines) + "\n"
