import pytest

from offered import problem
from specahd.core.errors import FileError
from specahd.repair.cases import case_of_file
from specahd.routing.formats.sol import dumps_deliveries


def test_a_file_may_repeat_the_demands_of_its_instance(data, tmp_path):
    cvrp = problem("cvrp")
    tiny = cvrp.read(data / "tiny.vrp")
    routes, cost = cvrp.read_solution(data / "tiny.sol")
    path = tmp_path / "x.sol"
    given = [[int(tiny.demands[node]) for node in route] for route in routes]
    path.write_text(dumps_deliveries(routes, given, cost))
    assert "Delivery #1: " in path.read_text()
    assert case_of_file(cvrp, tiny, path).baseline == routes
    given[0][0] -= 1
    path.write_text(dumps_deliveries(routes, given, cost))
    with pytest.raises(FileError, match="'Delivery #k' gives customer 1 the quantity"):
        case_of_file(cvrp, tiny, path)
