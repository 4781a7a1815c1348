import numpy as np
import pytest
import vrplib as other_reader

from routing.formats.refusals import assert_refused
from specahd.core.errors import FileError
from specahd.routing.formats import solomon
from specahd.routing.geometry import Convention

TEXT = """X101

VEHICLE
NUMBER     CAPACITY
  25         200

CUSTOMER
CUST NO.   XCOORD.    YCOORD.    DEMAND   READY TIME   DUE DATE   SERVICE   TIME

    0      40         50          0          0       1236          0
    1      45         68         10        912        967         90
    2      45.5       70         30        825        870.5       90
    3      42         66         10         65        146         90
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(TEXT)
    return path


def test_by_hand(path):
    data = solomon.read(path, Convention.DIMACS)
    assert (data.name, data.capacity, data.convention) == ("X101", 200, Convention.DIMACS)
    assert data.coords.tolist() == [[40, 50], [45, 68], [45.5, 70], [42, 66]]
    assert data.demands.tolist() == [0, 10, 30, 10]
    assert data.demands.dtype == np.int64
    assert data.windows.ready.tolist() == [0, 912, 825, 65]
    assert data.windows.due.tolist() == [1236, 967, 870.5, 146]
    assert data.windows.service.tolist() == [0, 90, 90, 90]


def test_another_reader_agrees(path):
    # It reads integers only.
    path.write_text(TEXT.replace(".5", ""))
    data = solomon.read(path, Convention.EXACT_2D)
    theirs = other_reader.read_instance(path, instance_format="solomon")
    np.testing.assert_array_equal(theirs["node_coord"], data.coords)
    np.testing.assert_array_equal(theirs["demand"], data.demands)
    np.testing.assert_array_equal(theirs["time_window"][:, 0], data.windows.ready)
    np.testing.assert_array_equal(theirs["time_window"][:, 1], data.windows.due)
    np.testing.assert_array_equal(theirs["service_time"], data.windows.service)
    assert theirs["capacity"] == data.capacity


def test_windows_line_ends_and_lower_case(path):
    path.write_bytes(TEXT.lower().replace("\n", "\r\n").encode())
    assert solomon.is_solomon(path)
    assert solomon.read(path, Convention.DIMACS).demands.tolist() == [0, 10, 30, 10]


@pytest.mark.parametrize(("customers", "name"), [(1, "X101.1"), (2, "X101.2"), (3, "X101")])
def test_first_customers(path, customers, name):
    data = solomon.read(path, Convention.DIMACS, customers)
    assert data.name == name
    assert data.demands.tolist() == [0, 10, 30, 10][: customers + 1]
    assert len(data.coords) == len(data.windows.due) == customers + 1


@pytest.mark.parametrize("customers", [0, 4])
def test_more_customers_than_there_are(path, customers):
    with pytest.raises(FileError, match="CUSTOMER holds 3 customers, expected at least the"):
        solomon.read(path, Convention.DIMACS, customers)


def test_what_is_recognised(path, data):
    assert solomon.is_solomon(path)
    assert not solomon.is_solomon(data / "tiny.vrp")
    path.write_text("")
    assert not solomon.is_solomon(path)


TORN = {
    "no vehicle": ("VEHICLE\n", "", "expected the lines NAME, VEHICLE"),
    "no header": ("NUMBER     CAPACITY\n", "", "expected the lines NAME, VEHICLE"),
    "no customer section": ("CUSTOMER\n", "", "expected the lines NAME, VEHICLE"),
    "one number": ("  25         200", "25", "line 5 is '25', expected 2 numbers"),
    "zero capacity": ("         200", " 0", "CAPACITY is 0, expected an integer in"),
    "fractional capacity": ("         200", " 1.5", "CAPACITY is 1.5, expected an integer in"),
    "nan capacity": ("         200", " nan", "CAPACITY is nan, expected an integer in"),
    "six columns": ("912        967         90", "912 967", ", expected 7 numbers"),
    "word": ("912", "9l2", ", expected 7 numbers"),
    "row missing": (
        "    2      45.5       70         30        825        870.5       90\n",
        "",
        "line 12 holds CUST NO. 3, expected 2",
    ),
    "row twice": ("    2      45.5", "    1      45.5", "line 12 holds CUST NO. 1, expected 2"),
    "negative demand": (" 10        912", " -10 912", "DEMAND of customer 1 is -10, expected an"),
    "fractional demand": (" 10        912", " 0.5 912", "DEMAND of customer 1 is 0.5, expected"),
    "depot demand": (
        " 0          0       1236",
        " 3 0 1236",
        "DEMAND of the depot is 3, expected 0",
    ),
    "depot service": ("1236          0", "1236 7", "SERVICE TIME of the depot is 7, expected 0"),
    "nan time": ("912", "nan", "READY TIME of customer 1 is nan, expected a number in"),
    "nan due": ("967", "nan", "DUE DATE of customer 1 is nan, expected a number in"),
    "negative ready": ("912", "-1", "READY TIME of customer 1 is -1, expected a number in"),
    "closes first": ("967", "911", "DUE DATE of customer 1 is 911, expected a number in"),
    "negative service": ("967         90", "967 -9", "SERVICE TIME of customer 1 is -9, expected"),
    "nan coordinate": ("45         68", "nan 68", "XCOORD. of customer 1 is nan, expected"),
    "huge coordinate": ("45         68", "45 1e10", "YCOORD. of customer 1 is 1e+10, expected"),
}


@pytest.mark.parametrize("case", TORN)
def test_malformed_file_is_named_in_one_sentence(path, case):
    assert_refused(lambda path: solomon.read(path, Convention.DIMACS), path, TEXT, *TORN[case])


def test_no_customer(path):
    path.write_text(TEXT[: TEXT.index("    1 ")])
    with pytest.raises(FileError, match="CUSTOMER holds 1 rows, expected at least 2"):
        solomon.read(path, Convention.DIMACS)


def test_every_file_torn_before_its_second_row_is_refused(path):
    for end in range(TEXT.index("    1 ") + 40):
        path.write_text(TEXT[:end])
        with pytest.raises(FileError):
            solomon.read(path, Convention.DIMACS)
