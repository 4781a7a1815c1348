"""The checker against corruptions, judged by a slow checker that shares nothing with it."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import corruptions
from problems.corruptions import drop, empty, join, swap, unknown
from specahd.problems.sdvrp.checker import check, cost
from specahd.problems.sdvrp.deliveries import Delivery
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.problems.sdvrp.problem import SDVRP


def reference(instance, solution):
    """Count the violations by kind, one customer and one route at a time."""
    kinds = Counter()
    customers = list(range(1, instance.size + 1))
    kinds["empty_route"] = sum(len(route) == 0 for route in solution)
    everywhere = [stop for route in solution for stop in route]
    kinds["depot_inside"] = sum(node == 0 for node, _ in everywhere)
    kinds["unknown_customer"] = sum(node != 0 and node not in customers for node, _ in everywhere)
    kinds["quantity"] = sum(node in customers and not quantity > 0 for node, quantity in everywhere)
    for route in solution:
        units = 0
        for customer in customers:
            given = [quantity for node, quantity in route if node == customer]
            kinds["repeated_visit"] += max(0, len(given) - 1)
            units += sum(quantity for quantity in given if quantity > 0)
        kinds["capacity"] += units > instance.capacity
    for customer in customers:
        given = [quantity for node, quantity in everywhere if node == customer]
        if not given:
            kinds["missing_customer"] += 1
        elif sum(quantity for quantity in given if quantity > 0) != instance.demands[customer]:
            kinds["demand"] += 1
    return +kinds


def reference_cost(instance, solution):
    total = 0
    for route in solution:
        stops = [0, *(customer for customer, _ in route), 0]
        for start, end in pairwise(stops):
            across, along = instance.coords[start] - instance.coords[end]
            total += int((across * across + along * along) ** 0.5 + 0.5)
    return total


def kinds_of(instance, solution):
    return Counter(violation.kind for violation in check(instance, solution))


def random_instance(rng):
    customers = int(rng.integers(1, 30))
    return SDVRPInstance(
        name="random",
        coords=rng.integers(0, 100, (customers + 1, 2)).astype(float),
        demands=np.concatenate(([0], rng.integers(1, 25, customers))),
        capacity=int(rng.integers(6, 30)),
    )


def anywhere(routes, rng):
    """Return a route, and the position of one of its stops; None when it is empty."""
    route = routes[rng.integers(len(routes))]
    return route, int(rng.integers(len(route))) if route else None


def duplicate(routes, rng, size):
    insert(routes, rng, int(rng.integers(1, size + 1)))


def extra(routes, rng, size):
    route, place = anywhere(routes, rng)
    if place is not None:
        routes.append([route[place]])


def change(routes, rng, size):
    route, place = anywhere(routes, rng)
    if place is not None:
        quantity = int(rng.choice([-5, -1, 0, 1, 2, 9, 2**40, -(2**40)]))
        route[place] = Delivery(route[place].customer, quantity)


def move_units(routes, rng, size):
    """Take a unit from one stop and give it to another, often of another customer."""
    (first, i), (second, j) = anywhere(routes, rng), anywhere(routes, rng)
    if i is not None and j is not None:
        first[i] = first[i]._replace(quantity=first[i].quantity - 1)
        second[j] = second[j]._replace(quantity=second[j].quantity + 1)


def depot_inside(routes, rng, size):
    insert(routes, rng, 0)


def stranger(routes, rng, size):
    insert(routes, rng, unknown(rng, size))


def insert(routes, rng, node):
    corruptions.insert(routes, rng, Delivery(node, int(rng.integers(1, 4))))


CORRUPTIONS = [
    drop, duplicate, extra, swap, join, change, move_units, depot_inside, stranger, empty,
]  # fmt: skip


@pytest.mark.parametrize("baseline", ["nearest", "unsplit"])
@pytest.mark.parametrize("seed", range(12))
def test_thousands_of_corruptions(seed, baseline):
    rng = np.random.default_rng(seed)
    problem = SDVRP(baseline)
    refused = 0
    for _ in range(10):
        instance = random_instance(rng)
        feasible = problem.baseline(instance)
        assert check(instance, feasible) == ()
        assert reference(instance, feasible) == {}
        assert cost(instance, feasible) == reference_cost(instance, feasible)
        for _ in range(25):
            routes = [list(route) for route in feasible]
            for corruption in rng.choice(CORRUPTIONS, size=rng.integers(1, 4)):
                corruption(routes, rng, instance.size)
            corrupt = tuple(map(tuple, routes))
            found = kinds_of(instance, corrupt)
            assert found == reference(instance, corrupt), corrupt
            refused += bool(found)
    assert refused > 150


STOPS = st.builds(Delivery, st.integers(-1, 7), st.integers(-2, 9))


@given(st.lists(st.lists(STOPS, max_size=6).map(tuple), max_size=6).map(tuple))
def test_any_deliveries(solution):
    instance = SDVRPInstance("x", np.zeros((6, 2)), np.array([0, 1, 2, 3, 4, 9]), 6)
    assert kinds_of(instance, solution) == reference(instance, solution)


@pytest.fixture
def square():
    """Customers 1 to 3 with demands 4, 12 and 3 at three corners; the depot at the fourth."""
    coords = np.array([[0, 0], [10, 0], [10, 10], [0, 10]], float)
    return SDVRPInstance("square", coords, np.array([0, 4, 12, 3]), 10)


def test_a_demand_beyond_the_capacity_is_split_by_hand(square):
    solution = (
        (Delivery(1, 4), Delivery(2, 6)),
        (Delivery(2, 6), Delivery(3, 3)),
    )
    assert check(square, solution) == ()
    assert cost(square, solution) == 10 + 10 + 14 + 14 + 10 + 10
    assert cost(square, ()) == 0


def test_violations_say_what_is_wrong(square):
    solution = (
        (Delivery(1, 5), Delivery(2, 6), Delivery(1, 1)),
        (),
        (Delivery(0, 3), Delivery(9, 1), Delivery(2, 0), Delivery(1, -2)),
    )
    assert [violation.detail for violation in check(square, solution)] == [
        "Route 1 visits customer 1 more than once.",
        "Route 1 carries 12, more than 10.",
        "Route 2 is empty.",
        "The depot stands inside a route.",
        "Customer 9 does not exist.",
        "Route 3 delivers 0 to customer 2.",
        "Route 3 delivers -2 to customer 1.",
        "Customer 1 receives 6 of 4.",
        "Customer 2 receives 6 of 12.",
        "Customer 3 is not visited.",
    ]


def test_a_unit_lost_and_a_unit_too_many_do_not_cancel(square):
    solution = ((Delivery(1, 3), Delivery(2, 7)), (Delivery(2, 6), Delivery(3, 3)))
    assert [violation.kind for violation in check(square, solution)] == ["demand", "demand"]


@pytest.mark.parametrize("quantity", [4.0, 3.5, True, np.int64(4), float("nan"), "4"])
def test_a_quantity_that_is_no_integer_is_refused(square, quantity):
    rest = ((Delivery(2, 10),), (Delivery(2, 2), Delivery(3, 3)))
    assert check(square, ((Delivery(1, 4),), *rest)) == ()
    kinds = kinds_of(square, ((Delivery(1, quantity),), *rest))
    assert kinds == {"quantity": 1, "demand": 1}


def test_none_stands_for_the_whole_demand(square):
    rest = ((Delivery(2, 10),), (Delivery(2, 2), Delivery(3, None)))
    assert check(square, ((Delivery(1, None),), *rest)) == ()
    twice = ((Delivery(1, None),), (Delivery(1, None),), *rest)
    assert kinds_of(square, twice) == {"demand": 1}
    assert kinds_of(square, ((Delivery(1, None), Delivery(2, None)),)) == {
        "capacity": 1,
        "missing_customer": 1,
    }


def test_sums_beyond_64_bits_are_exact(square):
    huge = 2**63
    solution = tuple((Delivery(1, quantity),) for quantity in (huge, huge, 4))
    details = [violation.detail for violation in check(square, solution)]
    assert f"Customer 1 receives {2 * huge + 4} of 4." in details


def test_the_bound_is_each_customers_share_of_its_round_trips():
    coords = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 10.0]])
    instance = SDVRPInstance("two", coords, np.array([0, 6, 15]), 10)
    # 6/10 of 2 x 5 and 15/10 of 2 x 10.
    assert SDVRP().lower_bound(instance) == pytest.approx(6 + 30)
    assert cost(instance, SDVRP().baseline(instance, "nearest")) >= 36
