"""CVRPLIB solution files: ``Route #k: 3 1 2`` lines, then ``Cost 27591``."""

import re
from collections.abc import Sequence
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats.sections import read_text
from specahd.routing.formats.vrplib import LARGEST, number

Routes = tuple[tuple[int, ...], ...]

_ROUTE = re.compile(r"route\s*#?\s*\d+\s*:\s*(.*)", re.IGNORECASE)
_COST = re.compile(r"cost\s*:?\s*([0-9.eE+-]+)", re.IGNORECASE)
# What some files add of their cost.
_OPTIMAL = re.compile(r"optimal\s*:\s*\w+", re.IGNORECASE)
_CUSTOMER = re.compile(r"-?\d{1,10}")


def read(path: Path) -> tuple[Routes, float | None]:
    """Return the routes as the file numbers their customers, and the cost that it states.

    Whether the routes are a solution is the checker's business.

    Raises
    ------
    FileError
        The file is missing, not text, holds no route or a line that is neither.
    """
    routes: list[tuple[int, ...]] = []
    cost: float | None = None
    for line_number, line in enumerate(read_text(path).splitlines(), start=1):
        text = line.strip()
        if route := _ROUTE.fullmatch(text):
            routes.append(tuple(_customer(path, line_number, word) for word in route[1].split()))
        elif stated := _COST.fullmatch(text):
            cost = _cost(path, line_number, stated[1])
        elif text and _OPTIMAL.fullmatch(text) is None:
            raise FileError(
                f"{path}: line {line_number} is {text[:40]!r}, "
                f"expected 'Route #k: customers' or 'Cost value'."
            )
    if not routes:
        raise FileError(f"{path}: holds no route, expected lines 'Route #k: customers'.")
    return tuple(routes), cost


def _customer(path: Path, line: int, word: str) -> int:
    if _CUSTOMER.fullmatch(word) is None or abs(int(word)) > LARGEST:
        raise FileError(f"{path}: line {line} holds {word[:40]!r}, expected customer numbers.")
    return int(word)


def _cost(path: Path, line: int, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise FileError(f"{path}: line {line} states the cost {word[:40]!r}.") from None


def dumps(routes: Sequence[Sequence[int]], cost: float) -> str:
    """Return the text of a file that :func:`read` reads back."""
    lines = [
        f"Route #{index}: {' '.join(map(str, route))}"
        for index, route in enumerate(routes, start=1)
    ]
    return "\n".join([*lines, f"Cost {number(float(cost))}"]) + "\n"
