import numpy as np
import pytest

from routing.formats.refusals import assert_refused
from specahd.core.errors import FileError
from specahd.routing.formats import sdvrp, vrplib
from specahd.routing.geometry import Convention

NUMBERS = "3 10\n4 25 3 \n0 0\n 1000      0\n-0 -7.5\n1e1\n+10\n"


def written(tmp_path, text, name="square.sd"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_reads_the_sets_numbers(tmp_path):
    found = sdvrp.read(written(tmp_path, NUMBERS))
    assert (found.name, found.capacity, found.convention) == ("square", 10, Convention.EUC_2D)
    assert found.demands.tolist() == [0, 4, 25, 3]
    assert found.coords.tolist() == [[0, 0], [1000, 0], [0, -7.5], [10, 10]]
    assert not np.signbit(found.coords[2, 0])
    assert found.weights is None


def test_one_customer_is_enough(tmp_path):
    assert sdvrp.read(written(tmp_path, "1 10 25 0 0 3 4")).demands.tolist() == [0, 25]


def test_text_reads_back(data, tmp_path):
    text = (data / "tiny.vrp").read_text().replace("TYPE: CVRP", "TYPE: SDVRP")
    first = sdvrp.read(written(tmp_path, text, "tiny.vrp"))
    assert first.demands.tolist() == [0, 4, 5, 6, 1, 10]
    again = sdvrp.read(written(tmp_path, sdvrp.dumps(first), "copy.vrp"))
    for field in ("name", "comment", "capacity", "convention"):
        assert getattr(first, field) == getattr(again, field)
    for field in ("coords", "demands"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    assert "TYPE : SDVRP" in sdvrp.dumps(first)
    with pytest.raises(FileError, match="TYPE is 'SDVRP', expected CVRP"):
        vrplib.read(tmp_path / "copy.vrp")


TORN = {
    "no customer": ("3 10", "0 10", "the number of customers is 0, expected an integer in"),
    "half a customer": ("3 10", "2.5 10", "the number of customers is 2.5"),
    "zero capacity": ("3 10", "3 0", "the capacity is 0, expected an integer in"),
    "capacity not a number": ("3 10", "3 nan", "the capacity is nan"),
    "negative demand": ("25", "-25", "the demand of customer 2 is -25, expected an integer in"),
    "no demand": ("25", "0", "the demand of customer 2 is 0"),
    "fractional demand": ("25", "2.5", "the demand of customer 2 is 2.5"),
    "nan demand": ("25", "nan", "the demand of customer 2 is nan"),
    "huge demand": ("25", "1e12", "the demand of customer 2 is 1e+12"),
    "nan coordinate": ("-7.5", "nan", "customer 2 is at (-0, nan), expected each to be a number"),
    "infinite coordinate": ("0 0", "0 inf", "the depot is at (0, inf)"),
    "huge coordinate": ("1000", "1e200", "customer 1 is at (1e+200, 0)"),
    "a word": ("1000", "1OOO", "holds '1OOO', expected numbers only"),
    "torn": ("+10", "", "holds 12 numbers, expected 13"),
    "a number too many": ("+10", "10 10", "holds 14 numbers, expected 13"),
    "more customers than numbers": ("3 10", "2000000000 10", "holds 13 numbers, expected"),
    "only one number": (NUMBERS, "3", "the capacity is missing"),
}


@pytest.mark.parametrize("case", TORN)
def test_malformed_numbers_are_named_in_one_sentence(tmp_path, case):
    assert_refused(sdvrp.read, tmp_path / "x", NUMBERS, *TORN[case])


def test_every_torn_file_is_refused(tmp_path):
    for end in range(len(NUMBERS.split())):
        path = written(tmp_path, " ".join(NUMBERS.split()[:end]))
        with pytest.raises(FileError):
            sdvrp.read(path)


def test_malformed_text(data, tmp_path):
    text = (data / "tiny.vrp").read_text()
    expected = "TYPE is 'CVRP', expected SDVRP"
    assert_refused(sdvrp.read, tmp_path / "x", text, "CVRP", "CVRP", expected)
    text = text.replace("TYPE: CVRP", "TYPE: SDVRP")
    expected = "gives a customer the demand 0, expected an integer in [1"
    assert_refused(sdvrp.read, tmp_path / "x", text, "2 5\n", "2 0\n", expected)
