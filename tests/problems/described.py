"""What the suites are told of a problem: how its files look, how to spoil them, and its pools.

Every problem has a ``described.py`` of its own with one ``DESCRIBED``: in ``tests/problems/NAME``,
or beside the code of a problem that a user adds.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from offered import PROBLEMS

POINTS = [(50, 50), (0, 0), (100, 0), (100, 100), (0, 100)]
"""A square and its middle, the depot first."""


def spoilt(pattern, replacement):
    """Return a function that replaces the one place of a file that a pattern finds."""

    def spoil(text):
        changed, times = re.subn(pattern, replacement, text, count=1, flags=re.DOTALL)
        assert times == 1
        return changed.encode()

    return spoil


def torn(section):
    """Return a function that ends a file one line into a section."""
    return lambda text: re.match(rf".*{section}\n[^\n]*\n", text, re.DOTALL)[0].encode()


@dataclass(frozen=True)
class Description:
    """One problem.

    Parameters
    ----------
    type
        What TYPE says in its files.
    least, size
        The fewest nodes of a file, and the size of that instance.
    text
        Returns a file of the first nodes of ``POINTS``.
    spoilt
        By what is wrong: how such a file of five nodes is spoilt, the field or section that the
        sentence names, and what else it says.
    pools
        docs/reference/pools.md: how many instances each has, and their sizes: the least and the
        largest (a tuple), or all of them (a set).
    formats
        Good files in other formats; of each how it is spoilt, and what the sentence says.
    alike
        Other files that are read.
    neutral
        Fields that change nothing.
    limits
        Fields that limit the vehicles, which the instance keeps.
    """

    type: str
    least: int
    size: int
    text: Callable[[int], str]
    spoilt: Mapping[str, tuple]
    pools: Mapping[str, tuple]
    formats: Mapping[str, Sequence[tuple]] = field(default_factory=dict)
    alike: Sequence[str] = ()
    neutral: Sequence[str] = ()
    limits: Sequence[str] = ()


def described(name) -> Description:
    """Return the description of a problem, found by its name alone."""
    home = "problems." if name in PROBLEMS else ""
    return import_module(f"{home}{name}.described").DESCRIBED


def text_of(kind, nodes, *sections):
    """Return a file of a few nodes: the fields, the coordinates, and further lines."""
    lines = [f"NAME : few\nTYPE : {kind}\nDIMENSION : {nodes}\nEDGE_WEIGHT_TYPE : EUC_2D"]
    points = [f"{node} {x} {y}" for node, (x, y) in enumerate(POINTS[:nodes], 1)]
    fields = [line for line in sections if " : " in line]
    others = [line for line in sections if " : " not in line]
    return "\n".join([*lines, *fields, "NODE_COORD_SECTION", *points, *others, "EOF"]) + "\n"


def vehicle_text(kind, nodes, *sections):
    """Return a file of a depot and a few customers, with further lines before the depot's."""
    demands = [f"{node} {4 if node > 1 else 0}" for node in range(1, nodes + 1)]
    depot = "DEPOT_SECTION\n1\n-1"
    return text_of(kind, nodes, "CAPACITY : 10", "DEMAND_SECTION", *demands, *sections, depot)


EVERY = {
    "weights beside coordinates": (
        spoilt("EOF", "EDGE_WEIGHT_SECTION\n1 2 3\nEOF"),
        "EDGE_WEIGHT_SECTION beside EDGE_WEIGHT_TYPE EUC_2D, expected EXPLICIT",
    ),
    "NaN coordinate": (spoilt("\n3 100 0", "\n3 nan 0"), "NODE_COORD_SECTION", "nan"),
    "infinite coordinate": (spoilt("\n3 100 0", "\n3 100 -inf"), "NODE_COORD_SECTION", "-inf"),
    "huge coordinate": (spoilt("\n3 100 0", "\n3 1e300 0"), "NODE_COORD_SECTION", "[-1e9, 1e9]"),
    "word for a coordinate": (spoilt("\n3 100 0", "\n3 0x1 0"), "NODE_COORD_SECTION", "0x1"),
    "a node twice": (spoilt("\n3 100 0", "\n2 100 0"), "NODE_COORD_SECTION", "twice"),
    "a dimension too large": (
        spoilt("DIMENSION : 5", "DIMENSION : 6"), "NODE_COORD_SECTION", "DIMENSION 6",
    ),
    "a dimension too small": (
        spoilt("DIMENSION : 5", "DIMENSION : 4"), "NODE_COORD_SECTION", "DIMENSION 4",
    ),
    "an absurd dimension": (
        spoilt("DIMENSION : 5", "DIMENSION : 9999999999"), "DIMENSION", "9999999999",
    ),
    "no node": (spoilt("DIMENSION : 5", "DIMENSION : 0"), "DIMENSION", "0"),
    "no dimension": (spoilt("DIMENSION : 5\n", ""), "DIMENSION", "missing"),
    "an unknown distance": (spoilt("EUC_2D", "TAXI"), "EDGE_WEIGHT_TYPE", "TAXI"),
    "another problem": (spoilt("TYPE : [A-Z]+", "TYPE : HCP"), "TYPE", "HCP"),
    "a field twice": (spoilt("TYPE : ", "TYPE : X\nTYPE : "), "TYPE", "twice"),
    "torn in the coordinates": (torn("NODE_COORD_SECTION"), "NODE_COORD_SECTION", "15"),
    "torn before them": (spoilt("DIMENSION.*", ""), "DIMENSION", "missing"),
    "torn within a line": (spoilt("MENSION.*", ""), "line 3", "'DI'"),
    "empty": (lambda text: b"", "TYPE", "missing"),
    "binary": (lambda text: bytes(range(256)), "text", ""),
    "UTF-16 without a mark": (lambda text: text.encode("utf-16-le"), "text", ""),
}  # fmt: skip
"""What is refused in the files of every problem."""

VEHICLE = {
    "a negative demand": (spoilt("\n2 4", "\n2 -4"), "DEMAND_SECTION", "-4"),
    "half a demand": (spoilt("\n2 4", "\n2 3.5"), "DEMAND_SECTION", "3.5"),
    "NaN demand": (spoilt("\n2 4", "\n2 nan"), "DEMAND_SECTION", "nan"),
    "demand of the depot": (spoilt("\n1 0\n2 4", "\n1 1\n2 4"), "DEMAND_SECTION", "depot"),
    "zero capacity": (spoilt("CAPACITY : 10", "CAPACITY : 0"), "CAPACITY", "[1, "),
    "negative capacity": (spoilt("CAPACITY : 10", "CAPACITY : -1"), "CAPACITY", "[1, "),
    "no capacity": (spoilt("CAPACITY : 10\n", ""), "CAPACITY", "missing"),
    "a depot that is not there": (spoilt("SECTION\n1\n-1", "SECTION\n6\n-1"), "DEPOT", "1 to 5"),
    "torn in the demands": (torn("DEMAND_SECTION"), "DEMAND_SECTION", "10"),
    "torn before the depot": (spoilt("DEPOT_SECTION.*", ""), "DEPOT_SECTION", "missing"),
}
"""What is refused besides where there are a depot and vehicles."""
