"""The checker against corruptions, judged by a slow checker that shares nothing with it."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.corruptions import CORRUPTIONS
from specahd.problems.vrptw.checker import check, cost
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention


def way(instance, start, end):
    """Return a distance in whole units, or in tenths, by integer arithmetic alone."""
    across, along = (int(x) for x in instance.coords[start] - instance.coords[end])
    square = across**2 + along**2
    if instance.convention is Convention.DIMACS:
        return isqrt(square)
    return (isqrt(4 * square) + 1) // 2


def reference(instance, solution):
    """Count the violations by kind, one customer at a time, in rational numbers."""
    kinds = Counter()
    visits = Counter(node for route in solution for node in route)
    customers = range(1, instance.size + 1)
    for customer in customers:
        kinds["missing_customer"] += visits[customer] == 0
        kinds["duplicated_customer"] += visits[customer] > 1
    windows = instance.windows
    for route in solution:
        kinds["empty_route"] += len(route) == 0
        kinds["depot_inside"] += route.count(0)
        kinds["unknown_customer"] += sum(node != 0 and node not in customers for node in route)
        known = [node for node in route if node in customers]
        kinds["capacity"] += sum(int(instance.demands[node]) for node in known) > instance.capacity
        time = Fraction(windows.ready[0])
        for before, node in pairwise([0, *known]):
            time = max(time + way(instance, before, node), Fraction(windows.ready[node]))
            kinds["late"] += time > Fraction(windows.due[node])
            time += Fraction(windows.service[node])
        if known:
            time += way(instance, known[-1], 0)
        kinds["late_return"] += time > Fraction(windows.due[0])
    return +kinds


def reference_cost(instance, solution):
    ways = (pairwise([0, *route, 0]) for route in solution)
    total = sum(way(instance, start, end) for legs in ways for start, end in legs)
    return total / 10 if instance.convention is Convention.DIMACS else total


def random_instance(rng, convention=Convention.EUC_2D):
    customers = int(rng.integers(5, 40))
    coords = rng.integers(0, 100, (customers + 1, 2)).astype(float)
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
    return VRPTWInstance(
        name="random",
        coords=unit * coords,
        demands=np.concatenate(([0], rng.integers(0, 9, customers))),
        capacity=int(rng.integers(9, 30)),
        windows=TimeWindows(*(unit * times.astype(float) for times in (ready, due, service))),
        convention=convention,
    )


@pytest.mark.parametrize("convention", [Convention.EUC_2D, Convention.DIMACS])
@pytest.mark.parametrize("seed", range(10))
def test_thousands_of_corruptions(convention, seed):
    rng = np.random.default_rng(seed)
    problem = VRPTW()
    seen = Counter()
    for _ in range(10):
        instance = random_instance(rng, convention)
        for name in ("nearest", "insertion"):
            feasible = problem.baseline(instance, name)
            assert check(instance, feasible) == ()
            assert reference(instance, feasible) == {}
            assert cost(instance, feasible) == reference_cost(instance, feasible)
            for _ in range(15):
                routes = [list(route) for route in feasible]
                for corruption in rng.choice(CORRUPTIONS, size=rng.integers(1, 4)):
                    corruption(routes, rng, instance.size)
                corrupt = tuple(map(tuple, routes))
                found = Counter(violation.kind for violation in check(instance, corrupt))
                assert found == reference(instance, corrupt), corrupt
                seen += found
    # Every kind was put to the test.
    assert {"late", "late_return", "capacity", "missing_customer", "duplicated_customer"} <= set(
        seen
    )


@pytest.mark.parametrize("seed", range(5))
def test_windows_one_unit_too_narrow(seed):
    """Each start of service, and each return, is allowed to the last unit and no further."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, Convention.DIMACS)
    solution = VRPTW().baseline(instance)
    windows = instance.windows
    for route in solution:
        time = windows.ready[0]
        for before, node in pairwise([0, *route, 0]):
            time = max(time + way(instance, before, node), windows.ready[node])
            for late in (0, 1):
                due = windows.due.copy()
                due[node] = time - late
                tight = VRPTWInstance(
                    name="tight",
                    coords=instance.coords,
                    demands=instance.demands,
                    capacity=instance.capacity,
                    windows=TimeWindows(windows.ready, due, windows.service),
                    convention=Convention.DIMACS,
                )
                kinds = {violation.kind for violation in check(tight, (route,))}
                assert ("late_return" if node == 0 else "late") in kinds or not late
                assert late or kinds <= {"missing_customer"}
            time += windows.service[node]


@given(st.lists(st.lists(st.integers(-1, 7), max_size=6).map(tuple), max_size=6).map(tuple))
def test_any_routes(solution):
    coords = np.array([(0, 0), (3, 4), (0, 9), (8, 0), (5, 5), (1, 1.0)])
    windows = TimeWindows(
        np.array([0, 7.0, 0, 10, 0, 20]), np.array([40, 9.0, 15, 12, 30, 21]), np.full(6, 2.0)
    )
    instance = VRPTWInstance("x", coords, np.array([0, 1, 2, 3, 4, 5]), 6, windows=windows)
    found = Counter(violation.kind for violation in check(instance, solution))
    assert found == reference(instance, solution)


def test_violations_say_what_is_wrong(line):
    assert check(line, ((1, 2), (4,), (3,))) == ()
    violations = check(line, ((4, 3), (2, 1, 2, 9), (), (0,)))
    assert [violation.detail for violation in violations] == [
        "Route 3 is empty.",
        "The depot stands inside a route.",
        "Customer 9 does not exist.",
        "Customer 2 is visited 2 times.",
        "Route 2 carries 8, more than 7.",
        "Customer 2 on route 2 is served at 60, after 50.",
    ]
    assert [violation.detail for violation in check(line, ((3, 4), (1, 2)))] == [
        "Customer 4 on route 1 is served at 75, after 55.",
        "Route 1 is back at 120, after 100.",
    ]
    assert [v.kind for v in check(line, ((1, 4, 2), (3,)))] == ["capacity", "late"]


def test_a_return_after_closing_time(line):
    windows = TimeWindows(line.windows.ready, line.windows.due - [6.0, 0, 0, 0, 0], np.full(5, 5.0))
    early = VRPTWInstance("early", line.coords, line.demands, 7, windows=windows)
    assert [v.detail for v in check(early, ((1,), (2,), (3,), (4,)))] == [
        "Route 3 is back at 95, after 94."
    ]


def test_cost_by_hand(line):
    assert cost(line, ((1, 2), (3,), (4,))) == 40 + 60 + 80
    assert cost(line, ()) == 0


def test_a_vehicle_leaves_when_the_depot_opens(line):
    ready = line.windows.ready.copy()
    # Customer 1 is reached at 81 then, and closes at 80.
    ready[0] = 71.0
    windows = TimeWindows(ready, line.windows.due, line.windows.service)
    opened = VRPTWInstance("late", line.coords, line.demands, 7, windows=windows)
    assert [v.detail for v in check(opened, ((1,),))][-1] == (
        "Customer 1 on route 1 is served at 81, after 80."
    )


def test_costs_are_told_in_the_unit_of_the_file(line):
    # DIMACS: the coordinates are held in tenths of it.
    tenths = replace(line, convention=Convention.DIMACS)
    assert cost(line, ((1, 2), (3,))) == 40 + 60
    assert cost(tenths, ((1, 2), (3,))) == 4 + 6
