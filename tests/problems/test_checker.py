"""The checkers against corruptions, judged by slow ones that share nothing with them."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offered import problem
from problems import corruptions
from problems.corruptions import depot_inside, drop, duplicate, empty, join, stranger, swap
from problems.instances import HEAP, instance_of, line, plan, random_instance
from specahd.problems.tsp.instance import TSPInstance
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.routes import Delivery


def way(instance, start, end):
    """Return a distance in whole units, or in tenths, by integer arithmetic alone."""
    across, along = (int(x) for x in instance.coords[start] - instance.coords[end])
    square = across**2 + along**2
    if instance.convention is Convention.DIMACS:
        return isqrt(square)
    return (isqrt(4 * square) + 1) // 2


def reference_cost(instance, solution):
    if isinstance(instance, TSPInstance):
        return sum(way(instance, *ends) for ends in pairwise([*solution, solution[0]]))
    total = 0
    for route in solution:
        nodes = [stop.customer if isinstance(stop, Delivery) else stop for stop in route]
        total += sum(way(instance, *ends) for ends in pairwise([0, *nodes, 0]))
    return total / 10 if instance.convention is Convention.DIMACS else total


def reference(instance, solution):
    """Count the violations by kind, one customer and one route at a time."""
    if isinstance(instance, TSPInstance):
        return +of_nodes(instance, solution)
    judge = of_deliveries if instance.splits else of_visits
    kinds = judge(instance, solution)
    nodes = [stop[0] if isinstance(stop, tuple) else stop for route in solution for stop in route]
    kinds["empty_route"] = sum(len(route) == 0 for route in solution)
    kinds["depot_inside"] = nodes.count(0)
    kinds["unknown_customer"] = sum(not 0 <= node <= instance.size for node in nodes)
    return +kinds


def of_nodes(instance, tour):
    kinds = Counter(unknown_node=sum(not 0 <= node < instance.size for node in tour))
    for node in range(instance.size):
        kinds["missing_node"] += tour.count(node) == 0
        kinds["duplicated_node"] += tour.count(node) > 1
    return kinds


def of_visits(instance, solution):
    """Judge routes of customers, times in rational numbers."""
    kinds = Counter()
    visits = Counter(node for route in solution for node in route)
    customers = range(1, instance.size + 1)
    for customer in customers:
        kinds["missing_customer"] += visits[customer] == 0
        kinds["duplicated_customer"] += visits[customer] > 1
    windows = instance.windows
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


def problem_of(instance):
    return problem("tsp" if isinstance(instance, TSPInstance) else "cvrp")


def checked(instance, solution):
    return problem_of(instance).check(instance, solution)


def cost(instance, solution):
    return problem_of(instance).cost(instance, solution)


def kinds_of(instance, solution):
    return Counter(violation.kind for violation in checked(instance, solution))


def details(instance, solution):
    """Return the kinds of the violations and the numbers that their sentences name."""
    return [
        (violation.kind, *map(int, re.findall(r"-?\d+", violation.detail)))
        for violation in checked(instance, solution)
    ]


def anywhere(routes, rng):
    """Return a route, and the position of one of its stops; None when it is empty."""
    route = routes[rng.integers(len(routes))]
    return route, int(rng.integers(len(route))) if route else None


def extra(routes, rng, size, stop):
    route, place = anywhere(routes, rng)
    if place is not None:
        routes.append([route[place]])


def change(routes, rng, size, stop):
    route, place = anywhere(routes, rng)
    if place is not None:
        quantity = int(rng.choice([-5, -1, 0, 1, 2, 9, 2**40, -(2**40)]))
        route[place] = Delivery(route[place].customer, quantity)


def move_units(routes, rng, size, stop):
    """Take a unit from one stop and give it to another, often of another customer."""
    (first, i), (second, j) = anywhere(routes, rng), anywhere(routes, rng)
    if i is not None and j is not None:
        first[i] = first[i]._replace(quantity=first[i].quantity - 1)
        second[j] = second[j]._replace(quantity=second[j].quantity + 1)


OF_DELIVERIES = [
    drop, duplicate, extra, swap, join, change, move_units, depot_inside, stranger, empty,
]  # fmt: skip
SPOILERS = {"tsp": corruptions.OF_A_TOUR, "sdvrp": OF_DELIVERIES}
SHARED = {"empty_route", "depot_inside", "unknown_customer", "missing_customer", "capacity"}
KINDS = {
    "cvrp": SHARED | {"duplicated_customer"},
    "sdvrp": SHARED | {"quantity", "repeated_visit", "demand"},
    "tsp": {"unknown_node", "missing_node", "duplicated_node"},
    "vrptw": SHARED | {"duplicated_customer", "late", "late_return"},
}


@pytest.mark.parametrize("name", KINDS)
def test_thousands_of_corruptions(name):
    spoilers = SPOILERS.get(name, corruptions.CORRUPTIONS)
    seen = Counter()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        convention = Convention.DIMACS if name == "vrptw" else Convention.EUC_2D
        instance = random_instance(name, rng, convention)
        last = instance.size - (name == "tsp")

        def stop(node, name=name, rng=rng):
            return Delivery(node, int(rng.integers(1, 4))) if name == "sdvrp" else node

        feasible = problem(name).baseline(instance, "nearest")
        assert checked(instance, feasible) == ()
        assert reference(instance, feasible) == {}
        assert cost(instance, feasible) == reference_cost(instance, feasible)
        for _ in range(25):
            routes = [list(route) for route in ([feasible] if name == "tsp" else feasible)]
            for corruption in rng.choice(spoilers, size=rng.integers(1, 4)):
                corruption(routes, rng, last, stop)
            corrupt = tuple(routes[0] if name == "tsp" else map(tuple, routes))
            found = kinds_of(instance, corrupt)
            assert found == reference(instance, corrupt), corrupt
            seen += found
    # Every kind was put to the test.
    assert set(seen) == KINDS[name]


def routes_of(stop):
    return st.lists(st.lists(stop, max_size=6).map(tuple), max_size=6).map(tuple)


STOPS = {
    "tsp": st.lists(st.integers(-1, 6), max_size=8).map(tuple),
    "cvrp": routes_of(st.integers(-1, 7)),
    "sdvrp": routes_of(st.builds(Delivery, st.integers(-1, 7), st.integers(-2, 9))),
}


@pytest.mark.parametrize("name", STOPS)
@given(st.data())
def test_any_routes(name, data):
    solution = data.draw(STOPS[name])
    demands = [0, 1, 2, 3, 4, 9 if name == "sdvrp" else 5]
    instance = instance_of(name, np.zeros((6, 2)), demands, 6)
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


SQUARE = instance_of("sdvrp", [[0, 0], [10, 0], [10, 10], [0, 10]], [0, 4, 12, 3])
"""Customers 1 to 3 with demands 4, 12 and 3 at three corners; the depot at the fourth."""


def test_violations_name_what_is_wrong(data):
    """Nodes of a tour are numbered from 1, as in its file."""
    assert details(instance_of("tsp", HEAP), (0, 1, 1, 7)) == [
        ("unknown_node", 8), ("missing_node", 3), ("missing_node", 4), ("duplicated_node", 2, 2),
    ]  # fmt: skip
    tiny = problem("cvrp").read(data / "tiny.vrp")
    assert details(tiny, ((1, 5, 0), (), (2, 2, 9))) == [
        ("empty_route", 2), ("depot_inside",), ("unknown_customer", 9), ("missing_customer", 3),
        ("missing_customer", 4), ("duplicated_customer", 2, 2), ("capacity", 1, 14, 10),
    ]  # fmt: skip
    stops = plan([(1, 5), (2, 6), (1, 1)], [], [(0, 3), (9, 1), (2, 0), (1, -2)])
    assert details(SQUARE, stops) == [
        ("empty_route", 2), ("depot_inside",), ("unknown_customer", 9), ("quantity", 3, 0, 2),
        ("quantity", 3, -2, 1), ("missing_customer", 3), ("repeated_visit", 1, 1),
        ("demand", 1, 6, 4), ("demand", 2, 6, 12), ("capacity", 1, 12, 10),
    ]  # fmt: skip
    assert details(line("vrptw"), ((3, 4), (1, 2))) == [
        ("late", 4, 1, 75, 55), ("late_return", 1, 120, 100),
    ]  # fmt: skip


def test_cost_by_hand(data):
    read, timed = problem("cvrp").read, line("vrptw")
    assert cost(read(data / "tiny.vrp"), ((1, 3), (2, 4), (5,))) == 206
    assert cost(read(data / "tiny-explicit.vrp"), ((1, 2), (3,))) == 3 + 5 + 4 + 8 + 8
    assert cost(timed, ((1, 2), (3,), (4,))) == 40 + 60 + 80
    # DIMACS: the coordinates are held in tenths of what costs are told in.
    assert cost(replace(timed, convention=Convention.DIMACS), ((1, 2), (3,))) == 4 + 6
    split = plan([(1, 4), (2, 6)], [(2, 6), (3, 3)])
    assert checked(SQUARE, split) == ()
    assert cost(SQUARE, split) == 10 + 10 + 14 + 14 + 10 + 10
    triangle = instance_of("tsp", [[0, 0], [3, 4], [0, 4]])
    assert cost(triangle, (0, 1, 2)) == 12
    matrix = np.array([[0, 7, 1], [7, 0, 2], [1, 2, 0]], float)
    assert cost(replace(triangle, convention=Convention.EXPLICIT, matrix=matrix), (2, 0, 1)) == 10
    for instance in (read(data / "tiny.vrp"), timed, SQUARE, triangle):
        assert cost(instance, ()) == 0


@pytest.mark.parametrize(
    ("edge", "broken"), [((1, 2), 0), ((2, 1), 0), ((3, 0), 0), ((0, 3), 0), ((0, 2), 1)]
)
def test_a_fixed_edge_may_be_driven_either_way(edge, broken):
    instance = instance_of("tsp", HEAP, fixed_edges=(edge,))
    assert kinds_of(instance, (0, 1, 2, 3))["fixed_edge"] == broken


def test_a_vehicle_leaves_when_the_depot_opens():
    # Customer 1 is reached at 81 then, and closes at 80.
    opened = line("vrptw", ready=np.array([71.0, 0, 30, 60, 0]))
    assert kinds_of(opened, ((1,),))["late"] == 1


@pytest.mark.parametrize("quantity", [4.0, 3.5, True, np.int64(4), float("nan"), "4"])
def test_a_quantity_that_is_no_integer_is_refused(quantity):
    rest = plan([(2, 10)], [(2, 2), (3, 3)])
    assert checked(SQUARE, (*plan([(1, 4)]), *rest)) == ()
    kinds = kinds_of(SQUARE, (*plan([(1, quantity)]), *rest))
    assert kinds == {"quantity": 1, "demand": 1}


def test_none_stands_for_the_whole_demand():
    rest = plan([(2, 10)], [(2, 2), (3, None)])
    whole = plan([(1, None)])
    assert checked(SQUARE, (*whole, *rest)) == ()
    assert kinds_of(SQUARE, (*whole, *whole, *rest)) == {"demand": 1}
    overloaded = kinds_of(SQUARE, plan([(1, None), (2, None)]))
    assert overloaded == {"capacity": 1, "missing_customer": 1}


def test_sums_beyond_64_bits_are_exact():
    huge = 2**63
    solution = plan(*([(1, quantity)] for quantity in (huge, huge, 4)))
    assert ("demand", 1, 2 * huge + 4, 4) in details(SQUARE, solution)
