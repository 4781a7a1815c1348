"""Passes over split deliveries: all is delivered at every step, costs exact, the same again."""

from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pytest
from cases import block_of, translated

from specahd.engine import changes, deliveries, links, seeds, strings
from specahd.engine.orders import Order, Report
from specahd.problems.sdvrp import runners as sdvrp
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.problems.sdvrp.problem import SDVRP
from specahd.routing.kernels.distances import CODES

UPPER = (
    "preceding following route_of neighbours neighbour_distances depot_distances removal_gains "
    "demands capacity exposures noise progress max_groups max_size"
)
LOWER = "detours distances rests quantities noise demand depot_distance capacity progress"
PROBLEM = SDVRP(baseline="nearest")


def instance_of(seed, size, demands, capacity, side=1000):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(*demands, size + 1)
    drawn[0] = 0
    coords = rng.integers(0, side, (size + 1, 2)).astype(float)
    return SDVRPInstance("parts", coords, drawn, capacity)


@pytest.fixture(scope="module")
def upper():
    return translated(sdvrp.GROUPS, strings.adjacent_strings)


@pytest.fixture(scope="module", autouse=True)
def lower():
    """The number of the hand-written program; that of the seed function is one higher."""
    held = sdvrp.POSITIONS.translated
    number = 0 if held is None else len(held)
    translated(sdvrp.POSITIONS, strings.greedy_in_parts)
    translated(sdvrp.POSITIONS, seeds.least_detour_per_unit)
    return number


@pytest.fixture(scope="module")
def instance():
    """One whose demands are up to one and a half times the capacity."""
    return instance_of(4, 40, (1, 76), 50)


@pytest.fixture(scope="module")
def block(instance):
    return block_of(PROBLEM, instance)


def search(program, block, instance, lower, repairs=3000, seed=0, temperature=50.0, start=None):
    start = PROBLEM.baseline(instance) if start is None else start
    most = min(30, instance.size)
    order = Order(seed, repairs, 0.0, 1, most, 0.0, 1.0, temperature, 0.05 * temperature, (lower,))
    inputs = [order.encode(), *PROBLEM.flat(instance, start)]
    answer = sdvrp.GROUPS(program, block, inputs)
    said, *routes = answer.arrays
    return Report.decode(said), PROBLEM.unflat(instance, routes) if routes else start


@pytest.mark.parametrize("number", [0, 1])
def test_solutions_are_feasible_and_cost_what_is_said(number, upper, block, instance, lower):
    report, solution = search(upper, block, instance, lower + number)
    assert PROBLEM.check(instance, solution) == ()
    assert report.best == PROBLEM.cost(instance, solution)
    assert report.best < PROBLEM.cost(instance, PROBLEM.baseline(instance))
    assert report.mended == 0
    assert report.repairs >= 3000


def test_the_same_seed_gives_the_same_solution(upper, block, instance, lower):
    first, second, other = (search(upper, block, instance, lower, seed=each) for each in (3, 3, 4))
    assert first == second
    assert first[1] != other[1]


def test_computed_distances_act_like_a_matrix(upper, block, instance, lower):
    computed = {name: array for name, array in block.items() if name != "distance_matrix"}
    computed["convention"] = np.array([CODES[instance.convention]])
    expected = search(upper, block, instance, lower, repairs=500)
    assert search(upper, computed, instance, lower, repairs=500) == expected


def optimum(instance, block):
    """Return the least cost of all solutions: of every choice of routes that deliver all.

    Routes deliver all if none of the sets of customers lacks more than those that come to it carry.
    """
    matrix, customers = block["distance_matrix"], range(1, instance.size + 1)
    sets = [set(some) for size in customers for some in combinations(customers, size)]
    needed = [-(-instance.demands[list(some)].sum() // instance.capacity) for some in sets]
    lengths = [
        min(
            sum(matrix[pair] for pair in zip((0, *order), (*order, 0), strict=True))
            for order in permutations(some)
        )
        for some in sets
    ]
    return min(
        sum(lengths[route] for route in routes)
        for count in range(1, instance.size + 1)
        for routes in combinations_with_replacement(range(len(sets)), count)
        if all(
            sum(bool(sets[route] & some) for route in routes) >= need
            for some, need in zip(sets, needed, strict=True)
        )
    )


@pytest.mark.parametrize("seed", range(6))
def test_tiny_instances_are_solved_to_the_optimum(seed, upper, lower):
    instance = instance_of(seed, 4, (4, 10), 10)
    block = block_of(PROBLEM, instance)
    report, solution = search(upper, block, instance, lower, repairs=3000, temperature=300.0)
    assert PROBLEM.check(instance, solution) == ()
    assert report.best == optimum(instance, block)


def test_the_state_is_what_was_counted(upper, block, instance, lower):
    """After annealing, hot to the end: lists, loads, deliveries and what upper programs see."""
    search(upper, block, instance, lower, temperature=2000.0)
    held = sdvrp.GROUPS._search
    state = held._state
    owners, quantities, heads, more, spare, left, *_ = state.own
    nodes, edges, matrix, size = state.nodes, state.edges, block["distance_matrix"], instance.size
    last = len(more) - 1
    chains = {customer: [] for customer in range(1, size + 1)}
    for customer, chain in chains.items():
        node = heads[customer]
        while node:
            chain.append(int(node))
            node = more[node]
        assert (owners[chain] == customer).all()
        assert quantities[chain].sum() == held._instance.demands[customer]
        # No route stops at a customer twice.
        assert len(set(nodes[chain, links.ROUTE].tolist())) == len(chain)
    used = [node for chain in chains.values() for node in chain]
    assert sorted([*used, *spare[: left[0]].tolist()]) == list(range(1, last + 1))
    assert len(used) > size
    routes = nodes[used, links.ROUTE]
    assert (
        np.bincount(routes, quantities[used], len(state.route_loads)) == state.route_loads
    ).all()
    assert state.route_loads.max() <= instance.capacity
    free = state.free[: state.integers[changes.FREE]].tolist()
    assert sorted([*free, *set(routes.tolist())]) == list(range(len(state.route_loads)))
    both = np.array([*used, *range(last + 1, len(nodes))])
    behind = nodes[both, links.BEHIND]
    assert (nodes[behind, links.BEFORE] == both).all()
    assert (edges[both, links.BEHIND] == matrix[owners[both], owners[behind]]).all()
    assert (edges[behind, links.BEFORE] == edges[both, links.BEHIND]).all()
    assert state.costs[changes.CURRENT] == edges[both, links.BEHIND].sum()
    deliveries.show(state, held._instance)
    shown = state.upper_inputs[:, 1:]
    first = heads[1:]
    assert (shown[changes.PRECEDING] == owners[nodes[first, links.BEFORE]]).all()
    assert (shown[changes.FOLLOWING] == owners[nodes[first, links.BEHIND]]).all()
    assert (shown[changes.ROUTE_OF] == nodes[first, links.ROUTE]).all()
    for customer, chain in chains.items():
        ends = owners[nodes[chain, links.BEFORE]], owners[nodes[chain, links.BEHIND]]
        assert state.gains[customer] == edges[chain, :2].sum() - matrix[ends].sum()


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("len(detours) * 0 - 1", True),
        ("len(detours)", True),
        ("int(detours[len(detours)])", True),
        ("len(detours) - 1", False),
        # As many parts as there can be.
        ("int(np.argmin(quantities))", False),
        ("int(np.argmax(detours / quantities))", False),
    ],
)
def test_whatever_lower_programs_answer_all_is_delivered(
    answer, wrong, upper, block, instance, lower
):
    number = len(sdvrp.POSITIONS.translated)
    source = f"def choose({', '.join(LOWER.split())}):\n    return {answer}\n"
    sdvrp.POSITIONS.translate(source, "choose")
    report, solution = search(upper, block, instance, number, repairs=1000, temperature=1e6)
    # A customer may be asked for again, part by part.
    assert (report.mended >= report.repairs) == wrong
    assert wrong or report.mended == 0
    assert report.kept > 0
    assert PROBLEM.check(instance, solution) == ()
    assert report.best == PROBLEM.cost(instance, solution)


def test_groups_are_named_as_a_pass_reads_them(block, instance):
    answer = "return np.array([3, 1, 7, 9, 3, 0, -4, 10**9, 0, 5, 41, 40, 0, 2, 0, 6])"
    source = f"def choose({', '.join(UPPER.split())}):\n    {answer}\n"
    program = sdvrp.GROUPS.translate(source, "choose")
    inputs = [
        Order.asking(0, 3, 3, 0.5).encode(),
        *PROBLEM.flat(instance, PROBLEM.baseline(instance)),
    ]
    lengths, customers = sdvrp.GROUPS(program, block, inputs).arrays
    assert (lengths.tolist(), customers.tolist()) == ([3, 2, 1], [3, 1, 7, 5, 40, 2])


def test_who_names_groups_sees_the_solution():
    """Behind 1 and 4 comes the depot, which stands between two groups."""
    source = f"def choose({', '.join(UPPER.split())}):\n    return following[1:] * 1\n"
    program = sdvrp.GROUPS.translate(source, "choose")
    instance = instance_of(2, 4, (9, 10), 50)
    routes = np.array([2, 4, 0, 3, 1]), np.array([9, 9, 0, 9, 9])
    inputs = [Order.asking(0, 9, 4, 0.0).encode(), *routes]
    lengths, customers = sdvrp.GROUPS(program, block_of(PROBLEM, instance), inputs).arrays
    assert (lengths.tolist(), customers.tolist()) == ([2], [4, 1])


def test_a_lower_program_alone_moves_the_given_group(block, instance, lower):
    program = translated(sdvrp.POSITIONS, strings.greedy_in_parts)
    start, group = PROBLEM.baseline(instance), (7, 3, 22)
    order = Order(1, 30, 0.0, 1, 3, 0.0, 0.0, 0.0, 0.0)
    inputs = [order.encode(), *PROBLEM.flat(instance, start), np.array(group)]
    said, *routes = sdvrp.POSITIONS(program, block, inputs).arrays
    report, solution = Report.decode(said), PROBLEM.unflat(instance, routes)
    assert report.repairs == 30
    assert report.best == PROBLEM.cost(instance, solution) < PROBLEM.cost(instance, start)
    assert PROBLEM.check(instance, solution) == ()
    assert others(solution, group) == others(start, group)


def others(solution, group):
    """Return what routes deliver to the rest, in no order of the routes."""
    left = (tuple(each for each in route if each.customer not in group) for route in solution)
    return sorted(route for route in left if route)


def test_a_group_that_needs_too_many_nodes_is_taken_back(upper, block, instance, lower):
    search(upper, block, instance, lower)
    held = sdvrp.GROUPS._search
    nodes, own = held._state.nodes, held._state.own
    own.left[0] = 0
    before = nodes.copy(), own.heads.copy()
    order = Order(0, 100, 0.0, 1, 30, 0.0, 1.0, 1e6, 1e6, (lower,))
    said = sdvrp.GROUPS(upper, block, [order.encode(), *(np.zeros(0, np.int64),) * 2]).arrays[0]
    assert Report.decode(said).repairs > 0
    assert (nodes[:, :2] == before[0][:, :2]).all()
    assert (own.heads == before[1]).all()


def test_whole_loads_to_one_customer_stay_apart(upper, lower):
    """A demand of ten thousand loads costs a repair no more than one of two."""
    few = instance_of(1, 12, (1, 20), 10)
    demands = few.demands.copy()
    demands[3] = 100_007
    instance = SDVRPInstance("loads", few.coords, demands, 10)
    block = block_of(PROBLEM, instance)
    start = PROBLEM.baseline(instance)
    report, solution = search(upper, block, instance, lower)
    assert PROBLEM.check(instance, solution) == ()
    assert PROBLEM.cost(instance, solution) < PROBLEM.cost(instance, start)
    held = sdvrp.GROUPS._search
    assert held._instance.demands[3] == 17
    apart = len(held._direct) * 2 * block["distance_matrix"][0, 3]
    others = sum(2 * block["distance_matrix"][0, each] for each in held._direct if each != 3)
    assert others == 0
    assert report.best + apart == PROBLEM.cost(instance, solution)


@pytest.mark.parametrize(
    ("routes", "given"),
    [
        ([], []),
        ([1, 2, 3], [5, 5]),
        ([1, 2, 3], [5, 5, 4]),
        ([1, 2, 0, 2, 3, 3], [5, 1, 0, 4, 6, -1]),
        ([1, 2, 4], [5, 5, 5]),
    ],
)
def test_deliveries_that_are_no_solution_are_refused(routes, given):
    demands, matrix = np.array([0, 5, 5, 5]), np.ones((4, 4))
    arrays = np.array(routes, np.int64), np.array(given, np.int64)
    with pytest.raises(ValueError, match="Expected"):
        deliveries.state_for(*arrays, matrix, demands, 10, 0)
