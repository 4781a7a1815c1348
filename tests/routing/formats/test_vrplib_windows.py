import numpy as np
import pytest

from routing.formats.refusals import assert_refused
from specahd.core.errors import FileError
from specahd.routing.formats import vrplib
from specahd.routing.formats.vrplib import TIMED

TEXT = """NAME : windows
TYPE : VRPTW
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 30 40
3 0 5
DEMAND_SECTION
1 4
2 0
3 6
SERVICE_TIME_SECTION
1 7
2 0
3 0.5
TIME_WINDOW_SECTION
1 55 60
2 0 200
3 10 90.25
DEPOT_SECTION
2
-1
EOF
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "windows.vrp"
    path.write_text(TEXT)
    return path


def test_windows_follow_the_depot_to_the_front(path):
    data = vrplib.read(path, TIMED)
    assert data.coords.tolist() == [[30, 40], [0, 0], [0, 5]]
    assert data.demands.tolist() == [0, 4, 6]
    assert data.windows.ready.tolist() == [0, 55, 10]
    assert data.windows.due.tolist() == [200, 60, 90.25]
    assert data.windows.service.tolist() == [0, 7, 0.5]


def test_text_reads_back(path):
    first = vrplib.read(path, TIMED)
    path.write_text(vrplib.dumps(first))
    second = vrplib.read(path, TIMED)
    for field in ("ready", "due", "service"):
        np.testing.assert_array_equal(getattr(first.windows, field), getattr(second.windows, field))
    assert vrplib.dumps(second) == vrplib.dumps(first)


def test_a_file_of_the_other_type_is_refused(path, data):
    with pytest.raises(FileError, match="TYPE is 'VRPTW', expected CVRP"):
        vrplib.read(path)
    with pytest.raises(FileError, match="TYPE is 'CVRP', expected VRPTW"):
        vrplib.read(data / "tiny.vrp", TIMED)


TORN = {
    "no windows": ("TIME_WINDOW_SECTION\n1 55 60\n2 0 200\n3 10 90.25\n", "", "SECTION is missing"),
    "no service": ("SERVICE_TIME_SECTION\n1 7\n2 0\n3 0.5\n", "", "SECTION is missing"),
    "torn windows": ("3 10 90.25\n", "", "TIME_WINDOW_SECTION holds 6 numbers, expected 9"),
    "closes first": ("1 55 60", "1 61 60", "opens node 1 at 61 and closes it at 60, expected 0 <="),
    "opens early": ("1 55 60", "1 -1 60", "opens node 1 at -1 and closes it at 60, expected 0 <="),
    "nan": ("1 55 60", "1 55 nan", "opens node 1 at 55 and closes it at nan, expected 0 <="),
    "never closes": ("1 55 60", "1 55 inf", "closes it at inf, expected 0 <="),
    "negative service": ("1 7", "1 -7", "gives node 1 the service time -7, expected a number in"),
    "nan service": ("1 7", "1 nan", "gives node 1 the service time nan, expected a number in"),
    "depot service": ("7\n2 0\n", "7\n2 3\n", "gives the depot 2 the service time 3, expected 0"),
    "uniform service": (
        "CAPACITY",
        "SERVICE_TIME : 3\nCAPACITY",
        "both occur, expected one",
    ),
}


@pytest.mark.parametrize("case", TORN)
def test_malformed_file_is_named_in_one_sentence(path, case):
    assert_refused(lambda path: vrplib.read(path, TIMED), path, TEXT, *TORN[case])
