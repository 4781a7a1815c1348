import numpy as np
import pytest

from routing.formats.good_files import SOLOMON
from specahd.core.errors import FileError
from specahd.routing.formats import solomon
from specahd.routing.geometry import Convention


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(SOLOMON)
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


def test_without_its_name_a_file_has_that_of_the_file(path):
    path.write_text(SOLOMON.removeprefix("X101\n"))
    data = solomon.read(path, Convention.DIMACS)
    assert (data.name, data.demands.tolist()) == ("x", [0, 10, 30, 10])
    # Whether a set has so many customers is seen as well.
    other = path.rename(path.with_name("C101.txt"))
    with pytest.raises(FileError, match="expected 25 or 50 or 100 in C101"):
        solomon.read(other, Convention.DIMACS)


def test_what_is_recognised(path, data):
    assert solomon.is_solomon(path)
    assert not solomon.is_solomon(data / "tiny.vrp")
    # Line ends of Windows, and lower case.
    path.write_bytes(SOLOMON.lower().replace("\n", "\r\n").encode())
    assert solomon.is_solomon(path)
    assert solomon.read(path, Convention.DIMACS).demands.tolist() == [0, 10, 30, 10]
    path.write_text(SOLOMON.removeprefix("X101\n"))
    assert solomon.is_solomon(path)
    path.write_text("")
    assert not solomon.is_solomon(path)


def test_first_customers(path):
    for customers, name in ((1, "X101.1"), (2, "X101.2"), (3, "X101")):
        data = solomon.read(path, Convention.DIMACS, customers)
        assert data.name == name
        assert data.demands.tolist() == [0, 10, 30, 10][: customers + 1]
        assert len(data.coords) == len(data.windows.due) == customers + 1
    for customers in (0, 4):
        with pytest.raises(FileError, match="CUSTOMER holds 3 customers"):
            solomon.read(path, Convention.DIMACS, customers)
