import re

import numpy as np
import pytest
import pyvrp
from pyvrp.stop import MaxIterations

from specahd.core.errors import FileError
from specahd.routing.formats import sol


def test_reads_and_writes(data, tmp_path):
    routes, cost = sol.read(data / "tiny.sol")
    assert (routes, cost) == (((1, 3), (2, 4), (5,)), 206.0)
    assert sol.dumps(routes, cost) == (data / "tiny.sol").read_text()
    path = tmp_path / "x.sol"
    path.write_text(sol.dumps(routes, 206.25))
    assert sol.read(path) == (routes, 206.25)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("route 1 : 2 1 \r\n\r\ncost: 5.5\r\n", (((2, 1),), 5.5)),
        ("Route #1: 1\n", (((1,),), None)),
        ("Route #1:\nRoute #2: 1\n", (((), (1,)), None)),
        ("Route #1: 1\nCost 5\nOptimal: True\nTime 3.25\nComment: by hand\n", (((1,),), 5.0)),
        ("Instance name: X\nDate: 2020-01-02\nSolution\nRoute 1 : 1\n", (((1,),), None)),
    ],
)
def test_accepted_spellings(tmp_path, text, expected):
    path = tmp_path / "x.sol"
    path.write_text(text)
    assert sol.read(path) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no route"),
        ("Cost 5\n", "holds no route"),
        ("Route #1: 1 x\n", "line 1 holds 'x', expected customer numbers"),
        ("Route #1: 1 2.5\n", "line 1 holds '2.5'"),
        ("Route #1: 99999999999999999999\n", "expected customer numbers"),
        ("Route #1: 1\nCost e\n", "states the cost 'e'"),
        ("Route #1: 1\nute #2: 2\n", "line 2 is 'ute #2: 2', expected"),
        ("Route #1: 1\nRoute: 2\n", "line 2 is 'Route: 2', expected"),
        ("Route #1: 1\nCost: five\n", "line 2 is 'Cost: five', expected"),
        ("Route #1: 1\n0 3 2 0\n", "line 2 is '0 3 2 0', expected"),
        ("Route #1: C0 D0 C1\n", "line 1 holds 'D0', expected customer numbers"),
        ("Route #1: 1 | 2\n", "line 1 holds '|', expected customer numbers"),
        ("\0\1\2", "got binary data"),
    ],
)
def test_malformed_solution(tmp_path, text, message):
    path = tmp_path / "x.sol"
    path.write_text(text)
    with pytest.raises(FileError, match=re.escape(message)):
        sol.read(path)


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
    path = tmp_path / "x.sol"
    for text in (str(result.best), str(result)):
        path.write_text(text)
        assert sol.read(path) == (expected, None)


@pytest.mark.parametrize("name", ["tiny.vrp", "tiny-explicit.vrp"])
def test_an_instance_is_named_as_what_it_is(data, name):
    with pytest.raises(FileError) as caught:
        sol.read(data / name)
    assert str(caught.value) == (
        f"{data / name}: TYPE is 'CVRP', expected lines 'Route #k: customers' "
        "(problem=cvrp reads it, as instance=FILE)."
    )


def written(tmp_path, text):
    path = tmp_path / "x.sol"
    path.write_text(text)
    return path


ROUTES = ((3, 1, 2), (3,))
SOLUTION = """Route #1: 3 1 2
Route #2: 3
Cost 206
Delivery #1: 10 4 7
Delivery #2: 5
"""


def test_solutions_are_written_and_read_back(tmp_path):
    text = sol.dumps_deliveries(ROUTES, ((10, 4, 7), (5,)), 206)
    assert text == SOLUTION
    path = written(tmp_path, text)
    assert sol.read_deliveries(path) == (ROUTES, ((10, 4, 7), (5,)), 206.0)


def test_a_plain_solution_has_no_quantities(data, tmp_path):
    routes, quantities, cost = sol.read_deliveries(data / "tiny.sol")
    assert (routes, cost) == sol.read(data / "tiny.sol")
    assert quantities == ((None, None), (None, None), (None,))
    assert sol.dumps_deliveries(routes, quantities, cost) == (data / "tiny.sol").read_text()


def test_whole_demands_and_stated_quantities_mix(tmp_path):
    quantities = ((None, 4, None), (5,))
    path = written(tmp_path, sol.dumps_deliveries(ROUTES, quantities, 1.5))
    assert "Delivery #1: * 4 *" in path.read_text()
    assert sol.read_deliveries(path) == (ROUTES, quantities, 1.5)


def test_accepted_spellings_of_deliveries(tmp_path):
    text = "route 1 : 2 1 \r\n\r\ndelivery 1 :  4 -5\r\ncost: 5.5\r\nRoute 2:\nDelivery 2:\n"
    assert sol.read_deliveries(written(tmp_path, text)) == (((2, 1), ()), ((4, -5), ()), 5.5)


def test_deliveries_belong_to_the_routes_of_their_numbers(tmp_path):
    text = "Route #2: 3 1 2\nDelivery #7: 5\nRoute #7: 3\nDelivery #2: 10 4 7\n"
    assert sol.read_deliveries(written(tmp_path, text)) == (ROUTES, ((10, 4, 7), (5,)), None)


def test_whole_demands_may_be_repeated_where_nothing_is_split(tmp_path):
    path = written(tmp_path, "Route #1: 3 1\nRoute #2: 2\nDelivery #1: 10 4\nDelivery #2: *\n")
    assert sol.read(path, np.array([0, 4, 7, 10])) == (((3, 1), (2,)), None)
    for demands, expected in (
        (np.array([0, 5, 7, 10]), "5"),
        (np.array([0]), r"\*"),
        (None, r"\*"),
    ):
        who = 1 if expected == "5" else 3
        with pytest.raises(
            FileError, match=rf"customer {who} the quantity \d+, expected {expected},"
        ):
            sol.read(path, demands)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SOLUTION, "", "holds no route"),
        ("Route", "Rute", "line 1 is 'Rute #1: 3 1 2', expected 'Route #k: customers'"),
        ("3 1 2", "3 x 2", "line 1 holds 'x', expected customer numbers"),
        ("10 4 7", "10 4.5 7", "line 4 holds '4.5', expected whole quantities"),
        ("10 4 7", "10 4", "Delivery #1 holds 2 quantities, expected 3"),
        ("Delivery #2: 5\n", "", "Delivery #2 holds 0 quantities, expected 1"),
        ("10 4 7\nDelivery #2: 5", "10 4\nDelivery #2: 5 7", "Delivery #1 holds 2 quantities"),
        (
            "Delivery #2: 5",
            "Delivery #2: 5\nDelivery #3: 1",
            "holds 0 lines 'Route #3', expected one",
        ),
        ("Delivery #2: 5", "Delivery #1: 5", "line 5 is a second Delivery #1, expected one"),
        ("Route #2", "Route #1", "holds 2 lines 'Route #1', expected one for each line"),
        ("Cost 206", "Cost e", "line 3 states the cost 'e'"),
        ("10 4 7", "99999999999 4 7", "expected whole quantities"),
    ],
)
def test_malformed_deliveries(tmp_path, old, new, message):
    assert old in SOLUTION
    path = written(tmp_path, SOLUTION.replace(old, new, 1))
    with pytest.raises(FileError, match=message) as caught:
        sol.read_deliveries(path)
    assert str(caught.value).startswith(f"{path}: ")
