"""Answers of road services: the matrices of OSRM, OpenRouteService and Valhalla, as they come.

OSRM (``table``) and OpenRouteService (``matrix``) answer ``distances`` and ``durations``, each a
list of rows. Valhalla (``sources_to_targets``) answers the same two, or a list of rows of objects
with ``distance`` and ``time``. ``null`` is no way. Units are those of the answer.
"""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from specahd.core.errors import FileError
from specahd.core.plain import parse_json
from specahd.routing.base import FloatArray
from specahd.routing.formats.ranges import Range
from specahd.routing.formats.text import read_text

NO_WAY = 1e12
"""Entry of a matrix where there is no way."""
DISTANCES, DURATIONS = "distances", "durations"
_PAIRS = "sources_to_targets"
_KEYS = {DISTANCES: "distance", DURATIONS: "time"}
"""Names of the two in an object of Valhalla's."""


def read(path: Path, accepted: Range) -> Mapping[str, FloatArray]:
    """Return the matrices of an answer by their names; a way that one of them lacks is in none.

    Raises
    ------
    FileError
        The file is missing, no JSON, or has no square matrix of such numbers.
    """
    try:
        answer = parse_json(read_text(path).encode(), dict[str, Any])
    except ValueError as error:
        raise FileError(f"{path}: expected the JSON answer of a road service ({error}).") from None
    pairs = answer.get(_PAIRS)
    if isinstance(pairs, dict):
        answer = pairs
    elif isinstance(pairs, list):
        answer = {name: _entries(pairs, key) for name, key in _KEYS.items()}
    found = {
        name: _matrix(path, name, answer[name], accepted)
        for name in (DISTANCES, DURATIONS)
        if isinstance(answer.get(name), list)
    }
    if not found:
        told = str(answer.get("message") or answer.get("error") or "")[:80]
        raise FileError(
            f"{path}: holds neither distances nor durations{f' ({told})' * bool(told)}, expected "
            "the answer of OSRM (table), OpenRouteService (matrix) or Valhalla."
        )
    if len({len(matrix) for matrix in found.values()}) > 1:
        raise FileError(f"{path}: expected as many rows of durations as of distances.")
    missing = np.logical_or.reduce([np.isnan(matrix) for matrix in found.values()])
    np.fill_diagonal(missing, False)
    for matrix in found.values():
        matrix[np.isnan(matrix)] = 0.0
        matrix[missing] = NO_WAY
    return found


def _entries(rows: list[Any], key: str) -> list[Any]:
    """Return the entries of a name in rows of objects; what is no such object stays."""
    return [
        [each.get(key) if isinstance(each, dict) else each for each in row]
        if isinstance(row, list)
        else row
        for row in rows
    ]


def _matrix(path: Path, name: str, rows: list[Any], accepted: Range) -> FloatArray:
    """Return rows of numbers as an array, with nan for each null."""
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, list) or len(row) != len(rows):
            holds = f"{len(row)} entries" if isinstance(row, list) else f"{str(row)[:40]!r}"
            raise FileError(
                f"{path}: row {place} of {name} holds {holds}, expected {len(rows)}, one for each "
                "row."
            )
        for entry in row:
            number = type(entry) in (int, float) and entry in accepted
            if entry is not None and not number:
                raise FileError(
                    f"{path}: row {place} of {name} holds {str(entry)[:40]!r}, expected {accepted} "
                    "or null."
                )
    numbers = (np.nan if entry is None else float(entry) for entry in chain.from_iterable(rows))
    return np.fromiter(numbers, np.float64).reshape(len(rows), len(rows))
