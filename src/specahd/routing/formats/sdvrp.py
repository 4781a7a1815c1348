"""Files of split-delivery instances and solutions.

Instances come as VRPLIB text of TYPE SDVRP, or as the plain numbers of the
classical sets (Belenguer, Martinez and Mota 2000; Chen, Golden and Wasil 2007;
Archetti, Speranza and Savelsbergh 2008): the number of customers N and the
capacity Q, N demands, then the positions of the depot and of the N customers.
Distances there are Euclidean, rounded to the nearest integer.

Solutions are CVRPLIB's, followed by what each route delivers at its stops::

    Route #1: 3 1 2
    Route #2: 3
    Cost 206
    Delivery #1: 10 4 7
    Delivery #2: 5

Readers that know routes and cost only find both where they expect them.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats import sol, vrplib
from specahd.routing.formats.sections import read_text
from specahd.routing.formats.vrplib import FARTHEST, LARGEST, VRPLIBData
from specahd.routing.geometry import Convention

TYPE = "SDVRP"
"""The TYPE of split-delivery files in VRPLIB text."""

Quantities = tuple[tuple[int | None, ...], ...]
"""What each route delivers at each of its stops; None stands for the whole demand."""

_NUMBER = re.compile(r"[+-]?(\d|\.\d|nan|inf)", re.IGNORECASE)
_LINE = re.compile(r"(route|delivery)\s*#?\s*\d+\s*:(.*)", re.IGNORECASE)
_COST = re.compile(r"cost\s*:?\s*([0-9.eE+-]+)", re.IGNORECASE)
_INTEGER = re.compile(r"-?\d{1,10}")
_WHOLE = "*"


def read(path: Path) -> VRPLIBData:
    """Read an instance in either form; a file that begins with a number is one of the sets'.

    Raises
    ------
    FileError
        The file is missing, torn, not text, or says what the format does not
        allow; a customer without demand is not allowed.
    """
    text = read_text(path)
    if _NUMBER.match(text.lstrip()) is not None:
        return _read_numbers(path, text.split())
    data = vrplib.read(path, TYPE)
    if (data.demands[1:] == 0).any():
        raise FileError(
            f"{path}: DEMAND_SECTION gives a customer the demand 0, "
            f"expected an integer in [1, {LARGEST}]."
        )
    return data


def dumps(data: VRPLIBData) -> str:
    """Return the VRPLIB text that :func:`read` reads back."""
    return vrplib.dumps(data, TYPE)


def _read_numbers(path: Path, words: Sequence[str]) -> VRPLIBData:
    numbers = _numbers(path, words)
    customers = int(_integers(path, "the number of customers", numbers[:1])[0])
    capacity = int(_integers(path, "the capacity", numbers[1:2])[0])
    expected = 2 + customers + 2 * (customers + 1)
    if len(numbers) != expected:
        raise FileError(
            f"{path}: holds {len(numbers)} numbers, expected {expected} (2, then {customers} "
            f"demands, then the coordinates of {customers + 1} nodes)."
        )
    demands = _integers(path, "the demand of customer {}", numbers[2 : 2 + customers])
    return VRPLIBData(
        name=path.stem,
        comment="",
        capacity=capacity,
        convention=Convention.EUC_2D,
        coords=_coords(path, numbers[2 + customers :].reshape(-1, 2)),
        weights=None,
        demands=np.concatenate((np.zeros(1, np.int64), demands)),
    )


def _numbers(path: Path, words: Sequence[str]) -> FloatArray:
    numbers = np.empty(len(words))
    for index, word in enumerate(words):
        try:
            numbers[index] = float(word)
        except ValueError:
            raise FileError(f"{path}: holds {word[:40]!r}, expected numbers only.") from None
    return numbers


def _integers(path: Path, what: str, numbers: FloatArray) -> IntArray:
    if not len(numbers):
        raise FileError(f"{path}: {what} is missing.")
    wrong = np.flatnonzero(
        ~((numbers >= 1) & (numbers <= LARGEST) & (np.floor(numbers) == numbers))
    )
    if wrong.size:
        raise FileError(
            f"{path}: {what.format(wrong[0] + 1)} is {numbers[wrong[0]]:g}, "
            f"expected an integer in [1, {LARGEST}]."
        )
    return numbers.astype(np.int64)


def _coords(path: Path, coords: FloatArray) -> FloatArray:
    wrong = np.flatnonzero(~(np.abs(coords) <= FARTHEST).all(axis=1))
    if wrong.size:
        x, y = coords[wrong[0]]
        node = f"customer {wrong[0]}" if wrong[0] else "the depot"
        raise FileError(
            f"{path}: {node} is at ({x:g}, {y:g}), expected coordinates in [-1e9, 1e9]."
        )
    # Some files write -0.
    return coords + 0.0


def read_solution(path: Path) -> tuple[sol.Routes, Quantities, float | None]:
    """Return the routes, what they deliver, and the cost that the file states.

    A file without deliveries is a plain one: every stop is given its whole
    demand. Whether the routes are a solution is the checker's business.

    Raises
    ------
    FileError
        The file is missing, not text, holds no route, a line that it should
        not, or deliveries that do not match the routes.
    """
    rows: dict[str, list[list[str]]] = {"route": [], "delivery": []}
    cost: float | None = None
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        text = line.strip()
        if found := _LINE.fullmatch(text):
            rows[found[1].lower()].append(found[2].split())
        elif stated := _COST.fullmatch(text):
            cost = _cost(path, number, stated[1])
        elif text:
            raise FileError(
                f"{path}: line {number} is {text[:40]!r}, expected 'Route #k: customers', "
                f"'Cost value' or 'Delivery #k: quantities'."
            )
    routes = tuple(tuple(_integer(path, "customer", word) for word in row) for row in rows["route"])
    if not routes:
        raise FileError(f"{path}: holds no route, expected lines 'Route #k: customers'.")
    if not rows["delivery"]:
        return routes, tuple((None,) * len(route) for route in routes), cost
    quantities = tuple(
        tuple(None if word == _WHOLE else _integer(path, "quantity", word) for word in row)
        for row in rows["delivery"]
    )
    for number, (route, row) in enumerate(zip_longest(routes, quantities, fillvalue=()), start=1):
        if len(route) != len(row):
            raise FileError(
                f"{path}: Delivery #{number} holds {len(row)} quantities, "
                f"expected {len(route)}, one for each stop of the route."
            )
    return routes, quantities, cost


def _cost(path: Path, line: int, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise FileError(f"{path}: line {line} states the cost {word[:40]!r}.") from None


def _integer(path: Path, what: str, word: str) -> int:
    if _INTEGER.fullmatch(word) is None or abs(int(word)) > LARGEST:
        raise FileError(f"{path}: holds the {what} {word[:40]!r}, expected an integer.")
    return int(word)


def dumps_solution(
    routes: Sequence[Sequence[int]], quantities: Sequence[Sequence[int | None]], cost: float
) -> str:
    """Return the text of a file that :func:`read_solution` reads back."""
    text = sol.dumps(routes, cost)
    if all(quantity is None for row in quantities for quantity in row):
        return text
    lines = [
        f"Delivery #{index}: {' '.join(_WHOLE if q is None else str(q) for q in row)}"
        for index, row in enumerate(quantities, start=1)
    ]
    return text + "\n".join(lines) + "\n"
