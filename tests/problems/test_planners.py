"""Programs by hand that plan a whole region: what they answer is feasible and a local optimum."""

from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from specahd.problems.cvrp.contracts import planned_savings
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.baseline import nearest
from specahd.problems.sdvrp.contracts import planned_splits
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.contracts import planned_path
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Delivery

PROBLEM = CVRP()


def drawn(seed, size):
    rng = np.random.default_rng(seed)
    demands = rng.integers(1, 10, size + 1)
    demands[0] = 0
    coords = rng.integers(0, 1000, (size + 1, 2)).astype(float)
    found = VehicleInstance("drawn", coords, demands, 25)
    nodes = np.arange(size + 1)
    return found, found.between(nodes[:, None], nodes)


def strange(seed, size):
    """Return ways of drawn lengths, from which constructions leave much to improve."""
    ways = np.triu(np.random.default_rng(seed).integers(1, 1000, (size, size)), 1)
    return (ways + ways.T).astype(float)


def length(matrix, path):
    return sum(matrix[pair] for pair in pairwise(path))


def routes_of(plan):
    """Return the routes of a plan, which has the depot between two of them."""
    routes = [[]]
    for node in plan.tolist():
        if node:
            routes[-1].append(node)
        else:
            routes.append([])
    return [route for route in routes if route]


def neighbours(routes):
    """Yield routes in which a piece is turned, a customer is moved, or two tails are exchanged."""
    for place, route in enumerate(routes):
        others = routes[:place] + routes[place + 1 :]
        for i, j in product(range(len(route)), range(2, len(route) + 1)):
            yield [*others, route[:i] + route[i:j][::-1] + route[j:]]
        for i, node in enumerate(route):
            rest = route[:i] + route[i + 1 :]
            for k, other in enumerate([*others, rest]):
                kept = [each for m, each in enumerate([*others, rest]) if m != k]
                for spot in range(len(other) + 1):
                    yield [*kept, [*other[:spot], node, *other[spot:]]]
        for second in range(place + 1, len(routes)):
            kept = [each for m, each in enumerate(routes) if m not in (place, second)]
            other = routes[second]
            for i, j in product(range(len(route) + 1), range(len(other) + 1)):
                yield [*kept, route[:i] + other[j:], other[:j] + route[i:]]


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("capacity", [15, 25, 80])
def test_no_single_change_of_planned_routes_is_cheaper(seed, capacity):
    found = replace(drawn(seed, 14)[0], capacity=capacity)
    matrix = strange(seed, 15)
    customers = np.arange(1, found.size + 1)
    plan = planned_savings(0, 0, customers, found.capacity, found.demands, matrix)
    routes = routes_of(plan)
    cost = sum(length(matrix, [0, *route, 0]) for route in routes)
    assert PROBLEM.check(found, tuple(map(tuple, routes))) == ()
    changed = 0
    for each in neighbours(routes):
        kept = [route for route in each if route]
        if all(found.demands[route].sum() <= found.capacity for route in kept):
            changed += 1
            assert sum(length(matrix, [0, *route, 0]) for route in kept) >= cost
    assert changed > 100


@pytest.mark.parametrize("size", [1, 2, 60, 150])
def test_planned_routes_cost_no_more_than_savings(size):
    found, matrix = drawn(size, size)
    customers = np.arange(1, size + 1)
    plan = planned_savings(0, 0, customers, found.capacity, found.demands, matrix)
    routes = tuple(map(tuple, routes_of(plan)))
    assert PROBLEM.check(found, routes) == ()
    savings = PROBLEM.cost(found, PROBLEM.baseline(found, "savings"))
    assert PROBLEM.cost(found, routes) <= savings
    # Asked again on a route that has begun, it goes to the nearest.
    [again] = planned_savings(1, 0, customers[1:], 9, found.demands, matrix) if size > 1 else [0]
    assert size == 1 or again == customers[1:][matrix[1, customers[1:]].argmin()]


@pytest.mark.parametrize("size", [1, 2, 3, 4, *range(8, 20)])
def test_no_single_change_of_a_planned_path_is_shorter(size):
    matrix = strange(size, size + 2)
    inner = np.arange(1, size + 1)
    plan = planned_path(0, size + 1, inner, matrix).tolist()
    assert sorted(plan) == inner.tolist()
    shortest = length(matrix, [0, *plan, size + 1])
    for i, j in product(range(size), range(size + 1)):
        turned = plan[:i] + plan[i:j][::-1] + plan[j:] if i < j else plan
        assert length(matrix, [0, *turned, size + 1]) >= shortest
        if i < j <= i + 3:
            rest = plan[:i] + plan[j:]
            for spot, piece in product(range(len(rest) + 1), (plan[i:j], plan[i:j][::-1])):
                moved = rest[:spot] + piece + rest[spot:]
                assert length(matrix, [0, *moved, size + 1]) >= shortest


def deliveries_of(plan):
    """Return what each route of a plan delivers, by customer; each ends at the depot."""
    routes = [[]]
    for node, quantity in plan.tolist():
        if node:
            routes[-1].append((node, quantity))
        else:
            routes.append([])
    assert routes.pop() == []
    return routes


def entered(route, node, matrix):
    """Return the least length of a route that visits a node more, unless it does."""
    stops = [0, *route, 0]
    if node in route:
        return length(matrix, stops)
    return min(length(matrix, [*stops[:k], node, *stops[k:]]) for k in range(1, len(stops)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("capacity", [7, 15, 40])
def test_no_delivery_is_exchanged_for_a_part_of_a_larger_one_at_a_gain(seed, capacity):
    found, _ = drawn(seed, 20)
    matrix = strange(seed, 21)
    plan = planned_splits(0, 0, np.arange(1, 21), capacity, found.demands, matrix)
    routes = deliveries_of(plan)
    assert all(sum(quantity for _, quantity in route) == capacity for route in routes[:-1])
    tried = 0
    for giving, taking in permutations(routes, 2):
        first, second = ([node for node, _ in route] for route in (giving, taking))
        before = length(matrix, [0, *first, 0]) + length(matrix, [0, *second, 0])
        for (giver, large), (place, (mover, small)) in product(giving, enumerate(taking)):
            if small < large and giver != mover:
                rest = second[:place] + second[place + 1 :]
                instead = rest if giver in rest else [*rest[:place], giver, *rest[place:]]
                after = entered(first, mover, matrix) + length(matrix, [0, *instead, 0])
                assert after >= before
                tried += 1
    assert tried > 20


@pytest.mark.parametrize("size", [1, 2, 60, 150])
@pytest.mark.parametrize(("capacity", "share"), [(4, 1.0), (25, 0.97)])
def test_planned_deliveries_cost_less_than_those_to_the_nearest(size, capacity, share):
    found, matrix = drawn(size, size)
    found = replace(found, capacity=capacity, splits=True)
    customers = np.arange(1, size + 1)
    plan = planned_splits(0, 0, customers, capacity, found.demands, matrix)
    routes = tuple(tuple(Delivery(*pair) for pair in each) for each in deliveries_of(plan))
    solved = SDVRP()
    assert solved.check(found, routes) == ()
    most = solved.cost(found, nearest(found)) * (share if size > 2 else 1.0)
    assert solved.cost(found, routes) <= most
    # Asked again on a route that has begun, it goes to the nearest.
    if size > 1:
        [again] = planned_splits(1, 0, customers[1:], 3, found.demands, matrix)
        node = customers[1:][matrix[1, customers[1:]].argmin()]
        assert again.tolist() == [node, min(3, found.demands[node])]
