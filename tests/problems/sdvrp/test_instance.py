import numpy as np
import pytest

from specahd.core.errors import FileError
from specahd.problems.sdvrp.instance import dumps, read

NUMBERS = "3 10\n4 25 3\n0 0\n10 0\n10 10\n0 10\n"


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "square.sd"
    made.write_text(NUMBERS)
    return made


def test_reads_an_instance(path):
    square = read(path)
    assert (square.name, square.size, square.capacity) == ("square", 3, 10)
    assert (square.coords_from_scaling, square.matrix) == (False, None)
    assert square.demands.tolist() == [0, 4, 25, 3]
    with pytest.raises(ValueError, match="read-only"):
        square.coords[0, 0] = 1.0


def test_both_forms_are_one_instance(path, tmp_path):
    square = read(path)
    copy = tmp_path / "copy.vrp"
    copy.write_text(dumps(square))
    again = read(copy)
    assert (again.name, again.capacity, again.convention) == ("square", 10, square.convention)
    np.testing.assert_array_equal(again.coords, square.coords)
    np.testing.assert_array_equal(again.demands, square.demands)
    assert dumps(again) == dumps(square)


def test_more_loads_than_anyone_drives_are_refused(tmp_path):
    path = tmp_path / "huge.sd"
    path.write_text("1 1\n2000000000\n0 0\n1 1\n")
    with pytest.raises(FileError, match=r"demands take 2000000000 loads .* expected at most"):
        read(path)
