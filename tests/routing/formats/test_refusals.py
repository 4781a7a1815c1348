"""Instances and tours in which one thing is wrong; tests/problems/*/described.py has the others.

What every problem refuses alike is tested once, by tests/contracts/test_bad_input.py.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from routing.formats.good_files import NUMBERS, PLANE, SOLOMON, TOUR, WINDOWS
from specahd.core.errors import FileError
from specahd.routing.formats import sdvrp, solomon, tsplib, vrplib
from specahd.routing.formats.ranges import Range
from specahd.routing.geometry import Convention

DATA = Path(__file__).parents[2] / "data"
TINY = (DATA / "tiny.vrp").read_text()
EXPLICIT = (DATA / "tiny-explicit.vrp").read_text()
read_windows = partial(vrplib.read, kind=vrplib.TIMED)
read_solomon = partial(solomon.read, convention=Convention.DIMACS)

CASES = {
    (vrplib.read, TINY): [
        ("\n2 40  0", "\n9 40 0", "NODE_COORD_SECTION holds node 3 out of order"),
        ("CAPACITY : 10", "CAPACITY : ten", "CAPACITY is 'ten'"),
        ("DEPOT_SECTION", "DEMAND_SECTION", "DEMAND_SECTION occurs twice"),
        # Python reads both as numbers.
        ("CAPACITY : 10", "CAPACITY : 1_0", "CAPACITY is '1_0'"),
        ("\n2 40  0", "\n2 ٤٠ 0", "NODE_COORD_SECTION holds '٤٠'"),
        (
            "CAPACITY",
            "NODE_COORD_TYPE : THREED_COORDS\nCAPACITY",
            "NODE_COORD_TYPE is 'THREED_COORDS', expected TWOD_COORDS or NO_COORDS",
        ),
    ],
    (vrplib.read, EXPLICIT): [
        # Before any array of that size is made.
        ("DIMENSION : 4", "DIMENSION : 2000000000", "EDGE_WEIGHT_SECTION holds 6 numbers"),
        ("LOWER_ROW", "FULL_MATRIX", "EDGE_WEIGHT_SECTION holds 6 numbers, expected 16"),
    ],
    (read_windows, WINDOWS): [
        ("1 55 60", "1 55 nan", "TIME_WINDOW_SECTION holds 'nan', expected numbers"),
        ("1 55 60", "1 55 1764226800", "from one midnight on: subtract its Unix seconds, 17642"),
        ("7\n2 0\n", "7\n2 3\n", "SERVICE_TIME_SECTION gives the depot 2"),
        ("CAPACITY", "SERVICE_TIME : 3\nCAPACITY", "SERVICE_TIME_SECTION both occur"),
    ],
    (sdvrp.read, NUMBERS): [
        ("0 0", "0 inf", "the depot is at (0, inf)"),
        ("1000", "1OOO", "holds '1OOO'"),
        ("1000", "1_000", "holds '1_000'"),
        ("+10", "10 10", "holds 14 numbers, expected 13"),
    ],
    (read_solomon, SOLOMON): [
        ("CUSTOMER\n", "", "expected the lines NAME, VEHICLE"),
        ("         200", " 1.5", "CAPACITY is 1.5"),
        ("912", "9l2", "line 11 is '1      45"),
        (
            "967",
            "1764226800123",
            "DUE DATE of customer 1 is 1.7642268e+12, expected times from one midnight on: "
            "subtract its Unix milliseconds, 1764201600000 for this time, from all of them",
        ),
        ("912", "9_12", "line 11 is '1      45"),
        (
            "    2      45.5       70         30        825        870.5       90\n",
            "",
            "line 12 holds CUST NO. 3, expected 2",
        ),
        (" 0          0       1236", " 3 0 1236", "DEMAND of the depot is 3"),
        ("1236          0", "1236 7", "SERVICE TIME of the depot is 7"),
        ("912", "-1", "READY TIME of customer 1 is -1"),
        ("967", "nan", "line 11 is '1      45"),
        ("967         90", "967 -9", "SERVICE TIME of customer 1 is -9"),
    ],
    (tsplib.read, PLANE): [
        ("NODE", "FIXED_EDGES_SECTION\n1 4 2\n-1\nNODE", "FIXED_EDGES_SECTION holds 3 nodes"),
        ("NODE", "FIXED_EDGES_SECTION\n1 4\n4 6\n-1\nNODE", "FIXED_EDGES_SECTION holds node 6"),
        # A ring, a star, and a node beside itself.
        ("NODE", "FIXED_EDGES_SECTION\n1 4\n4 2\n2 1\n-1\nNODE", "joins nodes 2 and 1"),
        ("NODE", "FIXED_EDGES_SECTION\n1 4\n1 2\n1 3\n-1\nNODE", "joins nodes 1 and 3"),
        ("NODE", "FIXED_EDGES_SECTION\n2 2\n-1\nNODE", "joins nodes 2 and 2"),
    ],
    (tsplib.read_tour, TOUR): [
        ("-1\nEOF\n", "", "TOUR_SECTION has no end"),
        ("3\n-1", "-1", "TOUR_SECTION holds 3 nodes, expected 4"),
        ("2 4", "0 4", "TOUR_SECTION holds 0"),
        ("2 4", "2.5 4", "TOUR_SECTION holds 2.5"),
        ("2 4", "2 99999999999", "TOUR_SECTION holds 1e+11"),
        ("TYPE : TOUR", "TYPE : TSP", "TYPE is 'TSP'"),
        ("TOUR_SECTION\n2 4\n1\n3\n-1\n", "", "TOUR_SECTION is missing"),
    ],
}


@pytest.mark.parametrize(
    ("read", "text", "old", "new", "words"),
    [(*good, *case) for good, cases in CASES.items() for case in cases],
)
def test_one_sentence_names_the_file_and_what_is_wrong(tmp_path, read, text, old, new, words):
    path = tmp_path / "x"
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileError) as caught:
        read(path)
    sentence = str(caught.value)
    assert words in sentence
    assert sentence.startswith(f"{path}: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("read", "text", "end"),
    [
        # A depot section without its end is whole: some publishers leave the -1 out.
        (vrplib.read, TINY, "3\n\t-1\nEOF"),
        (read_solomon, SOLOMON, "967"),
        (sdvrp.read, NUMBERS, "+10"),
        (tsplib.read, PLANE, "-7"),
    ],
)
def test_every_torn_file_is_refused(tmp_path, read, text, end):
    path = tmp_path / "torn"
    whole = text.index(end)
    for size in (*range(0, whole - 40, 9), *range(max(0, whole - 40), whole)):
        path.write_text(text[:size])
        with pytest.raises(FileError):
            read(path)


@pytest.mark.parametrize(
    ("value", "number", "integer"),
    [
        *((0, True, True), (2.5, True, False), (3, True, True), (-1e-9, False, False)),
        *((3.0001, False, False), (np.nan, False, False), (np.inf, False, False)),
    ],
)
def test_one_number_and_many_are_judged_alike(value, number, integer):
    for accepted, expected in ((Range(0, 3), number), (Range(0, 3, integer=True), integer)):
        assert (value in accepted) is expected
        assert accepted.outside([1.0, value, 1.0, value]) == ([] if expected else [1, 3])
