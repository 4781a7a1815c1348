import pytest

from offered import problem
from specahd.core.errors import FileError
from specahd.routing.formats.tsplib import dumps_tour


def test_solution_files(tmp_path):
    """The first node is the depot of the one route of a .sol file."""
    tsp, path, tour = problem("tsp"), tmp_path / "x.sol", tmp_path / "x.tour"
    path.write_text(tsp.solution_files("x", (3, 1, 0, 4, 2), 31.0)[".sol"])
    assert path.read_text() == "Route #1: 4 2 3 1\nCost 31\n"
    assert tsp.read_solution(path) == ((0, 4, 2, 3, 1), 31.0)
    path.write_text("Route #1: 4 2\nRoute #2: 3 1\nCost 31\n")
    with pytest.raises(FileError, match="2 routes"):
        tsp.read_solution(path)
    tour.write_text(dumps_tour((3, 1, 0, 4, 2), "x"))
    assert tsp.read_solution(tour) == ((3, 1, 0, 4, 2), None)
