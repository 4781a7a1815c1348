"""The checkers of vehicles against corruptions, judged by slow ones that share nothing with it."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offered import problem
from problems import corruptions
from problems.corruptions import drop, empty, join, swap, unknown
from specahd.problems.cvrp.instance import CVRPInstance, read
from specahd.problems.sdvrp.deliveries import Delivery
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention


def way(instance, start, end):
    """Return a distance in whole units, or in tenths, by integer arithmetic alone."""
    across, along = (int(x) for x in instance.coords[start] - instance.coords[end])
    square = across**2 + along**2
    if instance.convention is Convention.DIMACS:
        return isqrt(square)
    return (isqrt(4 * square) + 1) // 2


def reference_cost(instance, solution):
    total = 0
    for route in solution:
        nodes = [stop.customer if isinstance(stop, Delivery) else stop for stop in route]
        total += sum(way(instance, *ends) for ends in pairwise([0, *nodes, 0]))
    return total / 10 if instance.convention is Convention.DIMACS else total


def reference(instance, solution):
    """Count the violations by kind, one customer and one route at a time."""
    judge = of_deliveries if isinstance(instance, SDVRPInstance) else of_visits
    kinds = judge(instance, solution)
    nodes = [stop[0] if isinstance(stop, tuple) else stop for route in solution for stop in route]
    kinds["empty_route"] = sum(len(route) == 0 for route in solution)
    kinds["depot_inside"] = nodes.count(0)
    kinds["unknown_customer"] = sum(not 0 <= node <= instance.size for node in nodes)
    return +kinds


def of_visits(instance, solution):
    """Judge routes of customers, times in rational numbers."""
    kinds = Counter()
    visits = Counter(node for route in solution for node in route)
    customers = range(1, instance.size + 1)
    for customer in customers:
        kinds["missing_customer"] += visits[customer] == 0
        kinds["duplicated_customer"] += visits[customer] > 1
    windows = getattr(instance, "windows", None)
    for route in solution:
        known = [node for node in route if node in customers]
        kinds["capacity"] += sum(int(instance.demands[node]) for node in known) > instance.capacity
        if windows is None:
            continue
        time = Fraction(windows.ready[0])
        for before, node in pairwise([0, *known]):
            time = max(time + way(instance, before, node), Fraction(windows.ready[node]))
            kinds["late"] += time > Fraction(windows.due[node])
            time += Fraction(windows.service[node])
        if known:
            time += way(instance, known[-1], 0)
        kinds["late_return"] += time > Fraction(windows.due[0])
    return kinds


def of_deliveries(instance, solution):
    kinds = Counter()
    customers = range(1, instance.size + 1)
    everywhere = [stop for route in solution for stop in route]
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
    return kinds


def checked(instance, solution):
    name = type(instance).__name__.removesuffix("Instance").lower()
    return import_module(f"specahd.problems.{name}.checker").check(instance, solution)


def cost(instance, solution):
    name = type(instance).__name__.removesuffix("Instance").lower()
    return import_module(f"specahd.problems.{name}.checker").cost(instance, solution)


def kinds_of(instance, solution):
    return Counter(violation.kind for violation in checked(instance, solution))


def details(instance, solution):
    return [violation.detail for violation in checked(instance, solution)]


def random_instance(name, rng, convention=Convention.EUC_2D):
    customers = int(rng.integers(1 if name == "sdvrp" else 5, 40))
    coords = rng.integers(0, 100, (customers + 1, 2)).astype(float)
    capacity = int(rng.integers(9, 30))
    if name == "sdvrp":
        demands = np.concatenate(([0], rng.integers(1, 25, customers)))
        return SDVRPInstance("random", coords, demands, capacity)
    demands = np.concatenate(([0], rng.integers(0, 9, customers)))
    if name == "cvrp":
        return CVRPInstance("random", coords, demands, capacity)
    away = np.ceil(np.hypot(*(coords - coords[0]).T))
    service = rng.integers(0, 9, customers + 1)
    service[0] = 0
    closing = int(2 * away.max() + 8 + rng.integers(0, 200))
    ready = rng.integers(0, closing - service - 2 * away + 1)
    due = np.minimum(
        np.maximum(ready, away) + rng.integers(0, 60, customers + 1), closing - service - away
    )
    ready[0], due[0] = 0, closing
    unit = 10 if convention is Convention.DIMACS else 1
    windows = TimeWindows(*(unit * times.astype(float) for times in (ready, due, service)))
    return VRPTWInstance(
        "random", unit * coords, demands, capacity, windows=windows, convention=convention
    )


def insert(routes, rng, node):
    corruptions.insert(routes, rng, Delivery(node, int(rng.integers(1, 4))))


def duplicate(routes, rng, size):
    insert(routes, rng, int(rng.integers(1, size + 1)))


def depot_inside(routes, rng, size):
    insert(routes, rng, 0)


def stranger(routes, rng, size):
    insert(routes, rng, unknown(rng, size))


def anywhere(routes, rng):
    """Return a route, and the position of one of its stops; None when it is empty."""
    route = routes[rng.integers(len(routes))]
    return route, int(rng.integers(len(route))) if route else None


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


OF_DELIVERIES = [
    drop, duplicate, extra, swap, join, change, move_units, depot_inside, stranger, empty,
]  # fmt: skip
SHARED = {"empty_route", "depot_inside", "unknown_customer", "missing_customer", "capacity"}
OWN = {
    "cvrp": {"duplicated_customer"},
    "sdvrp": {"quantity", "repeated_visit", "demand"},
    "vrptw": {"duplicated_customer", "late", "late_return"},
}


@pytest.mark.parametrize(
    ("name", "convention", "baseline"),
    [
        ("cvrp", Convention.EUC_2D, "savings"),
        ("vrptw", Convention.EUC_2D, "nearest"),
        ("vrptw", Convention.DIMACS, "insertion"),
        ("sdvrp", Convention.EUC_2D, "nearest"),
        ("sdvrp", Convention.EUC_2D, "unsplit"),
    ],
)
def test_thousands_of_corruptions(name, convention, baseline):
    spoilers = OF_DELIVERIES if name == "sdvrp" else corruptions.CORRUPTIONS
    seen = Counter()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        instance = random_instance(name, rng, convention)
        feasible = problem(name).baseline(instance, baseline)
        assert checked(instance, feasible) == ()
        assert reference(instance, feasible) == {}
        assert cost(instance, feasible) == reference_cost(instance, feasible)
        for _ in range(25):
            routes = [list(route) for route in feasible]
            for corruption in rng.choice(spoilers, size=rng.integers(1, 4)):
                corruption(routes, rng, instance.size)
            corrupt = tuple(map(tuple, routes))
            found = kinds_of(instance, corrupt)
            assert found == reference(instance, corrupt), corrupt
            seen += found
    # Every kind was put to the test.
    assert set(seen) == SHARED | OWN[name]


STOPS = {
    "cvrp": st.integers(-1, 7),
    "sdvrp": st.builds(Delivery, st.integers(-1, 7), st.integers(-2, 9)),
}


@pytest.mark.parametrize("name", STOPS)
@given(st.data())
def test_any_routes(name, data):
    routes = st.lists(st.lists(STOPS[name], max_size=6).map(tuple), max_size=6).map(tuple)
    solution = data.draw(routes)
    demands = np.array([0, 1, 2, 3, 4, 9 if name == "sdvrp" else 5])
    kinds = {"cvrp": CVRPInstance, "sdvrp": SDVRPInstance}
    instance = kinds[name]("x", np.zeros((6, 2)), demands, 6)
    assert kinds_of(instance, solution) == reference(instance, solution)


@pytest.mark.parametrize("seed", range(3))
def test_windows_one_unit_too_narrow(seed):
    """Each start of service, and each return, is allowed to the last unit and no further."""
    instance = random_instance("vrptw", np.random.default_rng(seed), Convention.DIMACS)
    windows = instance.windows
    for route in problem("vrptw").baseline(instance):
        time = windows.ready[0]
        for before, node in pairwise([0, *route, 0]):
            time = max(time + way(instance, before, node), windows.ready[node])
            for late in (0, 1):
                due = windows.due.copy()
                due[node] = time - late
                narrow = TimeWindows(windows.ready, due, windows.service)
                kinds = set(kinds_of(replace(instance, windows=narrow), (route,)))
                assert ("late_return" if node == 0 else "late") in kinds or not late
                assert late or kinds <= {"missing_customer"}
            time += windows.service[node]


@pytest.fixture
def square():
    """Customers 1 to 3 with demands 4, 12 and 3 at three corners; the depot at the fourth."""
    coords = np.array([[0, 0], [10, 0], [10, 10], [0, 10]], float)
    return SDVRPInstance("square", coords, np.array([0, 4, 12, 3]), 10)


def test_violations_say_what_is_wrong(data, square, line):
    assert details(read(data / "tiny.vrp"), ((1, 5, 0), (), (2, 2, 9))) == [
        "Route 2 is empty.",
        "The depot stands inside a route.",
        "Customer 9 does not exist.",
        "Customer 3 is not visited.",
        "Customer 4 is not visited.",
        "Customer 2 is visited 2 times.",
        "Route 1 carries 14, more than 10.",
    ]
    stops = [(1, 5), (2, 6), (1, 1)], [], [(0, 3), (9, 1), (2, 0), (1, -2)]
    assert details(square, tuple(tuple(Delivery(*x) for x in route) for route in stops)) == [
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
    assert details(line, ((3, 4), (1, 2))) == [
        "Customer 4 on route 1 is served at 75, after 55.",
        "Route 1 is back at 120, after 100.",
    ]


def test_cost_by_hand(data, square, line):
    assert cost(read(data / "tiny.vrp"), ((1, 3), (2, 4), (5,))) == 206
    assert cost(read(data / "tiny-explicit.vrp"), ((1, 2), (3,))) == 3 + 5 + 4 + 8 + 8
    assert cost(line, ((1, 2), (3,), (4,))) == 40 + 60 + 80
    # DIMACS: the coordinates are held in tenths of what costs are told in.
    assert cost(replace(line, convention=Convention.DIMACS), ((1, 2), (3,))) == 4 + 6
    split = ((Delivery(1, 4), Delivery(2, 6)), (Delivery(2, 6), Delivery(3, 3)))
    assert checked(square, split) == ()
    assert cost(square, split) == 10 + 10 + 14 + 14 + 10 + 10
    for instance in (read(data / "tiny.vrp"), line, square):
        assert cost(instance, ()) == 0


def test_a_vehicle_leaves_when_the_depot_opens(line):
    ready = line.windows.ready.copy()
    # Customer 1 is reached at 81 then, and closes at 80.
    ready[0] = 71.0
    opened = replace(line, windows=TimeWindows(ready, line.windows.due, line.windows.service))
    assert kinds_of(opened, ((1,),))["late"] == 1


def test_a_unit_lost_and_a_unit_too_many_do_not_cancel(square):
    solution = ((Delivery(1, 3), Delivery(2, 7)), (Delivery(2, 6), Delivery(3, 3)))
    assert kinds_of(square, solution) == {"demand": 2}


@pytest.mark.parametrize("quantity", [4.0, 3.5, True, np.int64(4), float("nan"), "4"])
def test_a_quantity_that_is_no_integer_is_refused(square, quantity):
    rest = ((Delivery(2, 10),), (Delivery(2, 2), Delivery(3, 3)))
    assert checked(square, ((Delivery(1, 4),), *rest)) == ()
    kinds = kinds_of(square, ((Delivery(1, quantity),), *rest))
    assert kinds == {"quantity": 1, "demand": 1}


def test_none_stands_for_the_whole_demand(square):
    rest = ((Delivery(2, 10),), (Delivery(2, 2), Delivery(3, None)))
    assert checked(square, ((Delivery(1, None),), *rest)) == ()
    twice = ((Delivery(1, None),), (Delivery(1, None),), *rest)
    assert kinds_of(square, twice) == {"demand": 1}
    overloaded = kinds_of(square, ((Delivery(1, None), Delivery(2, None)),))
    assert overloaded == {"capacity": 1, "missing_customer": 1}


def test_sums_beyond_64_bits_are_exact(square):
    huge = 2**63
    solution = tuple((Delivery(1, quantity),) for quantity in (huge, huge, 4))
    assert f"Customer 1 receives {2 * huge + 4} of 4." in details(square, solution)
