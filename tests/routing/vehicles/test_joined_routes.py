"""Routes are joined where that costs nothing and where every rule permits it."""

import pytest

from specahd import api

DEMANDS = (4, 3, 3, 4, 3, 3, 2, 2)
ALONE = tuple((customer,) for customer in range(1, 9))


def read(tmp_path, columns, rows, **options):
    text = "\n".join([columns, *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "stops.csv").write_text(text + "\n")
    return api.read(tmp_path / "stops.csv", capacity=10, **options)


def fewer(instance, solution):
    """Return the solution with fewer vehicles, which is feasible and costs no more."""
    problem, data = instance.problem, instance.data
    cost = problem.cost(data, solution)
    found = problem.fewer_vehicles(data, solution, cost)
    assert problem.check(data, found) == ()
    assert problem.cost(data, found) <= cost
    return found


@pytest.mark.parametrize("split", [False, True])
def test_stops_at_the_place_of_the_depot_share_vehicles(tmp_path, split):
    rows = [(0, 0, ""), *((0, 0, demand) for demand in DEMANDS)]
    instance = read(tmp_path, "x,y,demand", rows, split=split)
    assert len(fewer(instance, instance.problem.trivial_solution(instance.data))) == 3


def test_windows_decide_the_order_and_who_may_share(tmp_path):
    due = (1, 1, 1, 9, 9, 9, 2, 2)
    stops = [(0, 0, demand, last, 1) for demand, last in zip(DEMANDS, due, strict=True)]
    instance = read(tmp_path, "x,y,demand,due,service", [(0, 0, "", 20, ""), *stops])
    assert fewer(instance, ALONE) == ((1, 4, 7), (2, 3, 5), (6, 8))
    # The lighter route comes first.
    pair = [(0, 0, 4, 9, 1), (0, 0, 2, 0.5, 1)]
    instance = read(tmp_path, "x,y,demand,due,service", [(0, 0, "", 20, ""), *pair])
    assert fewer(instance, ((1,), (2,))) == ((2, 1),)
    late = [(0, 0, 1, 0.5, 1)] * 8
    instance = read(tmp_path, "x,y,demand,due,service", [(0, 0, "", 20, ""), *late])
    assert fewer(instance, ALONE) == ALONE


def test_a_route_is_turned_where_its_start_meets_another_start(tmp_path):
    rows = [(0, 0, ""), (0, 1, 2), (5, 6, 2), (0, -1, 2), (7, -5, 2)]
    instance = read(tmp_path, "x,y,demand", rows)
    assert fewer(instance, ((1, 2), (3, 4))) == ((4, 3, 1, 2),)


def test_what_does_not_fit_or_costs_more_stays(tmp_path):
    rows = [(0, 0, ""), (0, 1, 2), (0, -1, 9)]
    instance = read(tmp_path, "x,y,demand", rows)
    assert fewer(instance, ((1,), (2,))) == ((1,), (2,))
    (tmp_path / "km.csv").write_text("0,1,1\n1,0,3\n1,3,0\n")
    rows = [("a", ""), ("b", 2), ("c", 2)]
    dear = read(tmp_path, "name,demand", rows, matrix=tmp_path / "km.csv")
    assert fewer(dear, ((1,), (2,))) == ((1,), (2,))
