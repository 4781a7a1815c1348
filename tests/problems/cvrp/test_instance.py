import pytest

from specahd.core.errors import FileError
from specahd.problems.cvrp.instance import read


def test_reads_an_instance(data):
    tiny = read(data / "tiny.vrp")
    assert (tiny.name, tiny.size, tiny.coords_from_scaling) == ("tiny", 5, False)
    with pytest.raises(ValueError, match="read-only"):
        tiny.coords[0, 0] = 1.0


def test_demand_above_capacity_is_refused(data, tmp_path):
    path = tmp_path / "heavy.vrp"
    path.write_text((data / "tiny.vrp").read_text().replace("6 10\n", "6 11\n"))
    with pytest.raises(FileError, match="holds the demand 11, expected at most CAPACITY 10"):
        read(path)
