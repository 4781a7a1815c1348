import numpy as np

from routing.formats.good_files import NUMBERS
from specahd.routing.formats import sdvrp
from specahd.routing.geometry import Convention


def test_reads_the_sets_numbers(tmp_path):
    path = tmp_path / "square.sd"
    path.write_text(NUMBERS)
    found = sdvrp.read(path)
    assert (found.name, found.capacity, found.convention) == ("square", 10, Convention.EUC_2D)
    assert found.demands.tolist() == [0, 4, 25, 3]
    assert found.coords.tolist() == [[0, 0], [1000, 0], [0, -7.5], [10, 10]]
    assert not np.signbit(found.coords[2, 0])
    assert found.matrix is None
    # One customer is enough.
    path.write_text("1 10 25 0 0 3 4")
    assert sdvrp.read(path).demands.tolist() == [0, 25]
