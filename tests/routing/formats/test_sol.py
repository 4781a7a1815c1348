"""Solution files; tests/contracts/test_bad_input.py has what all problems read and refuse alike."""

import re

import pytest
import pyvrp
from pyvrp.stop import MaxIterations

from specahd.core.errors import FileError
from specahd.routing.formats import sol

ROUTES = ((3, 1, 2), (3,))
SOLUTION = """Route #1: 3 1 2
Route #2: 3
Cost 206
Delivery #1: 10 4 7
Delivery #2: 5
"""


def written(tmp_path, text):
    path = tmp_path / "x.sol"
    path.write_text(text)
    return path


def test_a_plain_solution_has_no_quantities(data):
    routes, cost = sol.read(data / "tiny.sol")
    assert (routes, cost) == (((1, 3), (2, 4), (5,)), 206.0)
    whole = ((None, None), (None, None), (None,))
    assert sol.read_deliveries(data / "tiny.sol") == (routes, whole, cost)
    for text in (sol.dumps(routes, cost), sol.dumps_deliveries(routes, whole, cost)):
        assert text == (data / "tiny.sol").read_text()


def test_solutions_are_written_and_read_back(tmp_path):
    assert sol.dumps_deliveries(ROUTES, ((10, 4, 7), (5,)), 206) == SOLUTION
    # A star stands for the whole demand.
    quantities = ((None, 4, None), (5,))
    path = written(tmp_path, sol.dumps_deliveries(ROUTES, quantities, 206.25))
    assert "Delivery #1: * 4 *\n" in path.read_text()
    assert sol.read_deliveries(path) == (ROUTES, quantities, 206.25)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("route 1 : 2 1 \r\n\r\ncost: 5.5\r\nRoute #2:\n", (((2, 1), ()), ((None, None), ()), 5.5)),
        (
            "Instance name: X\nDate: 2020-01-02\nSolution\nRoute 1 : 1\nTime 3.25\n",
            (((1,),), ((None,),), None),
        ),
        (
            "route 1 : 2 1 \ndelivery 1 :  4 -5\nRoute 2:\nDelivery 2:\n",
            (((2, 1), ()), ((4, -5), ()), None),
        ),
        # The depot at both ends.
        ("Route #1: 0 2 1 0\nRoute #2: 0 3 0\n", (((2, 1), (3,)), ((None, None), (None,)), None)),
        # Deliveries belong to the routes of their numbers.
        (
            "Route #2: 3 1 2\nDelivery #7: 5\nRoute #7: 3\nDelivery #2: 10 4 7\n",
            (ROUTES, ((10, 4, 7), (5,)), None),
        ),
    ],
)
def test_accepted_spellings(tmp_path, text, expected):
    assert sol.read_deliveries(written(tmp_path, text)) == expected


def test_routes_as_pyvrp_prints_them(tmp_path):
    model = pyvrp.Model()
    places = [model.add_location(x, x * x) for x in range(6)]
    model.add_depot(places[0])
    for place in places[1:]:
        model.add_client(place, delivery=[2])
    model.add_vehicle_type(3, capacity=[4])
    for one in places:
        for other in places:
            model.add_edge(one, other, abs(one.x - other.x) + abs(one.y - other.y))
    result = model.solve(MaxIterations(10), display=False)
    expected = tuple(
        tuple(activity.idx + 1 for activity in route if activity.is_client())
        for route in result.best.routes()
    )
    assert sorted(sum(expected, ())) == [1, 2, 3, 4, 5]
    for text in (str(result.best), str(result)):
        assert sol.read(written(tmp_path, text)) == (expected, None)


def test_an_instance_is_named_as_what_it_is(data):
    with pytest.raises(FileError, match=r"TYPE is 'CVRP', .*problem=cvrp .*instance=FILE"):
        sol.read(data / "tiny.vrp")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("3 1 2", "3 99999999999 2", "line 1 holds '99999999999'"),
        ("Route #2", "Route", "line 2 is 'Route: 3'"),
        ("Cost 206", "Cost: five", "line 3 is 'Cost: five'"),
        ("Cost 206", "Cost e", "line 3 states the cost 'e'"),
        ("10 4 7", "10 4.5 7", "line 4 holds '4.5'"),
        ("10 4 7", "99999999999 4 7", "line 4 holds '99999999999'"),
        ("10 4 7", "10 4", "Delivery #1 holds 2 quantities, expected 3"),
        ("Delivery #2: 5\n", "", "Delivery #2 holds 0 quantities, expected 1"),
        ("Delivery #2: 5", "Delivery #2: 5\nDelivery #3: 1", "holds 0 lines 'Route #3'"),
        ("Delivery #2: 5", "Delivery #1: 5", "line 5 is a second Delivery #1"),
        ("Route #2", "Route #1", "holds 2 lines 'Route #1'"),
    ],
)
def test_malformed_solutions(tmp_path, old, new, words):
    assert old in SOLUTION
    path = written(tmp_path, SOLUTION.replace(old, new, 1))
    with pytest.raises(FileError, match=f"^{re.escape(f'{path}: {words}')}"):
        sol.read_deliveries(path)
