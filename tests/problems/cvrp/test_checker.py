"""The checker against corruptions, judged by a slow checker that shares nothing with it."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.corruptions import CORRUPTIONS
from specahd.problems.cvrp.checker import check, cost
from specahd.problems.cvrp.instance import CVRPInstance, read
from specahd.problems.cvrp.problem import CVRP


def reference(instance, solution):
    """Count the violations by kind, one customer at a time."""
    kinds = Counter()
    visits = Counter(node for route in solution for node in route)
    customers = range(1, instance.size + 1)
    for customer in customers:
        if visits[customer] == 0:
            kinds["missing_customer"] += 1
        if visits[customer] > 1:
            kinds["duplicated_customer"] += 1
    for route in solution:
        if len(route) == 0:
            kinds["empty_route"] += 1
        load = 0
        for node in route:
            if node == 0:
                kinds["depot_inside"] += 1
            elif node not in customers:
                kinds["unknown_customer"] += 1
            else:
                load += int(instance.demands[node])
        if load > instance.capacity:
            kinds["capacity"] += 1
    return kinds


def reference_cost(instance, solution):
    total = 0
    for route in solution:
        stops = [0, *route, 0]
        for start, end in pairwise(stops):
            across, along = instance.coords[start] - instance.coords[end]
            total += int((across * across + along * along) ** 0.5 + 0.5)
    return total


def random_instance(rng):
    customers = int(rng.integers(5, 40))
    return CVRPInstance(
        name="random",
        coords=rng.integers(0, 100, (customers + 1, 2)).astype(float),
        demands=np.concatenate(([0], rng.integers(0, 9, customers))),
        capacity=int(rng.integers(9, 30)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_thousands_of_corruptions(seed):
    rng = np.random.default_rng(seed)
    problem = CVRP()
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
            found = Counter(violation.kind for violation in check(instance, corrupt))
            assert found == reference(instance, corrupt), corrupt


@given(st.lists(st.lists(st.integers(-1, 7), max_size=6).map(tuple), max_size=6).map(tuple))
def test_any_routes(solution):
    instance = CVRPInstance("x", np.zeros((6, 2)), np.array([0, 1, 2, 3, 4, 5]), 6)
    found = Counter(violation.kind for violation in check(instance, solution))
    assert found == reference(instance, solution)


def test_violations_say_what_is_wrong(data):
    tiny = read(data / "tiny.vrp")
    violations = check(tiny, ((1, 5, 0), (), (2, 2, 9)))
    assert [violation.detail for violation in violations] == [
        "Route 2 is empty.",
        "The depot stands inside a route.",
        "Customer 9 does not exist.",
        "Customer 3 is not visited.",
        "Customer 4 is not visited.",
        "Customer 2 is visited 2 times.",
        "Route 1 carries 14, more than 10.",
    ]


def test_cost_by_hand(data):
    assert cost(read(data / "tiny.vrp"), ((1, 3), (2, 4), (5,))) == 206
    assert cost(read(data / "tiny-explicit.vrp"), ((1, 2), (3,))) == 3 + 5 + 4 + 8 + 8
    assert cost(read(data / "tiny.vrp"), ()) == 0


FULL = CVRPInstance("full", np.zeros((4, 2)), np.array([0, 2, 3, 4]), 5)


def test_a_route_may_be_full_and_no_fuller():
    assert check(FULL, ((1, 2), (3,))) == ()
    assert [violation.kind for violation in check(FULL, ((1, 3), (2,)))] == ["capacity"]
    # The full route of an infeasible solution is none of its faults.
    assert [violation.kind for violation in check(FULL, ((1, 2),))] == ["missing_customer"]


@pytest.mark.parametrize(
    ("solution", "kind"),
    [
        (((1, 2), (), (3,)), "empty_route"),
        (((1, 2), (3, 0)), "depot_inside"),
        (((1, 2), (3, 4)), "unknown_customer"),
        (((1, 2), (3, -1)), "unknown_customer"),
        (((1,), (2,), (3,), (1,)), "duplicated_customer"),
        (((1, 2),), "missing_customer"),
    ],
)
def test_a_feasible_solution_with_one_fault_is_refused(solution, kind):
    assert [violation.kind for violation in check(FULL, solution)] == [kind]
