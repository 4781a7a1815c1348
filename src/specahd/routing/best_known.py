"""Best-known values of public instances: ``bks.csv`` in the folder of the public sets.

A value is compared with a cost only if both measure distances in the same way.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError
from specahd.routing.base import AnyProblem, PublicSet
from specahd.routing.formats.text import read_text
from specahd.routing.geometry import Convention

FILE = "bks.csv"
Row = Mapping[str, str]
_COLUMNS = ("set", "name", "bks", "convention", "verified_cost", "note")
_WORDS: Mapping[Convention | None, str] = {
    Convention.EUC_2D: "euc2d-rounded",
    Convention.CEIL_2D: "ceil2d",
    Convention.GEO: "tsplib-geo",
    Convention.ATT: "tsplib-att",
    Convention.EXPLICIT: "explicit-matrix",
    Convention.DIMACS: "dimacs-trunc1 (distance only",
    Convention.EXACT_2D: "float (distance only",
}
"""Beginning of the ``convention`` column for each way to measure distances."""
_FEWER = "_25_50"
"""Suffix of the name of a set whose instances are cut to their first customers."""


@dataclass(frozen=True, slots=True)
class BestKnown:
    """A published value.

    Parameters
    ----------
    group
        The set, as in bks.csv.
    convention
        The convention, as in bks.csv.
    comparable
        Whether the instance is measured in this convention here.
    """

    group: str
    value: float
    convention: str
    comparable: bool

    def gap(self, cost: float | None) -> float | None:
        """Return the excess of a cost relative to the value; None if they are not comparable."""
        return cost / self.value - 1.0 if self.comparable and cost is not None else None


def published_fields(
    known: BestKnown | None, cost: float | None, baseline_cost: float
) -> dict[str, Any]:
    """Return the fields of a row on the published value; None where there is no value."""
    return {
        "set": None if known is None else known.group,
        "best_known": None if known is None else known.value,
        "best_known_convention": None if known is None else known.convention,
        "gap": None if known is None else known.gap(cost),
        "baseline_gap": None if known is None else known.gap(baseline_cost),
    }


def read_table(path: Path) -> list[Row]:
    """Read bks.csv.

    Raises
    ------
    FileError
        The file is not a table of values.
    """
    rows = csv.DictReader(read_text(path).splitlines(), restval="")
    try:
        missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise FileError(f"{path}: the column {missing[0]} is missing, expected a table.")
        return list(rows)
    except csv.Error as error:
        raise FileError(f"{path}: expected a table of values ({error}).") from None


def row_of(public: PublicSet, stem: str, published: list[Row]) -> Row | None:
    """Return the row of an instance of a set, ignoring case, in which file names differ."""
    for row in published:
        same = row["name"].upper() == stem.upper() and row["set"].partition("/")[0] == public.name
        if same and row["convention"].startswith(public.convention):
            return row
    return None


def best_known(problem: AnyProblem, instance: Any, path: Path) -> BestKnown | None:
    """Return the published value of an instance of a public set, None if there is none.

    There is none for limits and prices of vehicles that somebody has added.

    Parameters
    ----------
    path
        The instance file, in a folder with the set's name; bks.csv lies beside that folder.

    Raises
    ------
    FileError
        bks.csv is not a table of values.
    """
    if getattr(instance, "limited", False):
        return None
    path = path.resolve()
    # At most two levels, as in sdvrp/SET-1/SD1.txt.
    root = next((one for one in path.parents[1:3] if (one / FILE).is_file()), None)
    if root is None:
        return None
    folder, name = path.relative_to(root).parent.as_posix(), path.stem
    if customers := getattr(problem, "customers", None):
        folder, name = f"{folder}{_FEWER}", f"{name}.{customers}"
    same_name = _by_name(root / FILE).get(name.upper(), ())
    rows = [row for row in same_name if folder in (row["set"], row["set"].partition("/")[0])]
    words = _WORDS.get(getattr(instance, "convention", None))
    ours = [row for row in rows if words and row["convention"].startswith(words)]
    public = next((one for one in problem.public_sets if one.name == folder.split("/")[0]), None)
    expected = "" if public is None else public.convention
    same_convention = [row for row in rows if row["convention"].startswith(expected)]
    for row in (*ours, *same_convention):
        try:
            return BestKnown(row["set"], float(row["bks"]), row["convention"], bool(ours))
        except ValueError:
            raise FileError(f"{root / FILE}: the value of {name} is no number.") from None
    return None


@cache
def _by_name(path: Path) -> Mapping[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in read_table(path):
        rows.setdefault(row["name"].upper(), []).append(row)
    return rows
