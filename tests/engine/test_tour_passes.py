"""The compiled passes over a closed tour: exact lengths, exact undoing, nothing hostile taken."""

from itertools import permutations

import numpy as np
import pytest
from cases import block_of, program_of, translated

from specahd.engine import changes, links, passes, programs, seeds, tour_strings, tours
from specahd.engine.orders import Order, Report
from specahd.engine.state import Instance, Scratch
from specahd.problems.tsp import runners as tsp
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.routing.kernels.distances import CODES

UPPER = (
    "preceding following neighbours neighbour_distances removal_gains exposures noise progress "
    "max_groups max_size"
)
LOWER = "detours distances edges noise removal_gain progress"


def instance_of(size, seed):
    rng = np.random.default_rng(seed)
    return TSPInstance("small", rng.integers(0, 1000, (size, 2)).astype(float))


@pytest.fixture(scope="module")
def instance():
    return instance_of(60, 5)


@pytest.fixture(scope="module")
def block(instance):
    return block_of(TSP(), instance)


@pytest.fixture(scope="module")
def upper():
    return translated(tsp.GROUPS, tour_strings.neighbouring_strings)


@pytest.fixture(scope="module", autouse=True)
def lower():
    """The only lower program but those that tests add; its number."""
    held = tsp.POSITIONS.translated
    number = 0 if held is None else len(held)
    translated(tsp.POSITIONS, tour_strings.greedy_with_blinks)
    return number


def search(program, block, lower=0, repairs=3000, seed=0, temperature=20.0):
    start = np.arange(1, len(block["coords"]))
    order = Order(seed, repairs, 0.0, 4, 30, 0.0, 1.0, temperature, 0.05 * temperature, (lower,))
    answer = tsp.GROUPS(program, block, [order.encode(), start])
    return Report.decode(answer.arrays[0]), answer


def is_true(report, answer, instance):
    """Say whether a report claims what the checker finds."""
    problem, tour = TSP(), (0, *answer.arrays[1].tolist())
    return not problem.check(instance, tour) and report.best == problem.cost(instance, tour)


@pytest.mark.parametrize(
    ("groups", "position"),
    [
        (tour_strings.neighbouring_strings, tour_strings.greedy_with_blinks),
        (seeds.nearest_nodes, seeds.least_detour),
    ],
)
def test_written_programs_improve_and_stay_feasible(groups, position, block, instance):
    program = translated(tsp.GROUPS, groups)
    number = len(tsp.POSITIONS.translated)
    translated(tsp.POSITIONS, position)
    report, answer = search(program, block, number)
    assert is_true(report, answer, instance)
    assert report.best < 0.3 * TSP().cost(instance, tuple(range(instance.size)))
    assert 3000 <= report.repairs < 3200
    assert report.mended == 0


@pytest.mark.parametrize(("size", "seed"), [(3, 1), (4, 1), (5, 2), (8, 3), (8, 4)])
def test_small_tours_become_shortest(size, seed, upper, lower):
    instance = instance_of(size, seed)
    cost = TSP().cost
    shortest = min(cost(instance, (0, *order)) for order in permutations(range(1, size)))
    report, answer = search(
        upper, block_of(TSP(), instance), lower, repairs=2000, temperature=200.0
    )
    assert report.best == shortest
    if len(answer.arrays) > 1:
        assert is_true(report, answer, instance)


def test_the_same_seed_gives_the_same_bytes(block, upper, lower):
    first, second, other = (search(upper, block, lower, seed=seed)[1].arrays for seed in (3, 3, 4))
    assert all((one == another).all() for one, another in zip(first, second, strict=True))
    assert (first[0] != other[0]).any()


def test_computed_distances_act_like_a_matrix(block, instance, upper, lower):
    computed = {name: array for name, array in block.items() if name != "distance_matrix"}
    computed["convention"] = np.array([CODES[instance.convention]])
    _, answer = search(upper, computed, lower)
    _, expected = search(upper, block, lower)
    for one, another in zip(answer.arrays, expected.arrays, strict=True):
        assert (one == another).all()


def test_the_state_is_what_was_counted(block, instance, upper, lower):
    """Length, edges and what upper programs see, after annealing, against the instance."""
    search(upper, block, lower, temperature=200.0)
    state, matrix = tsp.GROUPS._search._state, block["distance_matrix"]
    nodes = np.arange(instance.size)
    before, behind = state.nodes[:, links.BEFORE], state.nodes[:, links.BEHIND]
    assert (before[behind] == nodes).all()
    assert (state.edges == matrix[nodes, behind]).all()
    assert state.costs[changes.CURRENT] == state.edges.sum()
    assert sorted(tours.flat_tour(behind.copy()).tolist()) == nodes[1:].tolist()
    tours.show(state, tsp.GROUPS._search._instance)
    assert (state.upper_inputs[changes.PRECEDING] == before).all()
    assert (state.upper_inputs[changes.FOLLOWING] == behind).all()
    assert (state.gains == state.edges + state.edges[before] - matrix[before, behind]).all()
    assert state.upper_inputs[changes.EXPOSURES, 0] == 0
    assert (state.upper_inputs[changes.EXPOSURES, 1:] > 0).all()


def room(block, matrix, columns):
    """Return an instance of these distances, and room for groups and positions."""
    near = block["neighbours"], block["neighbour_distances"]
    nobody = np.zeros(0, np.int64)
    found, before = np.zeros((6, columns)), np.zeros(columns, np.int64)
    log = np.zeros((40, 3), np.int32), np.zeros((40, 3))
    given = Instance(matrix, *near, np.zeros(0), nobody, 0)
    return given, Scratch(nobody, *log, found, before, np.zeros(0))


def test_undo_restores_every_bit(block, instance):
    rng = np.random.default_rng(1)
    matrix, size = np.sqrt(block["distance_matrix"] + 0.1), instance.size
    state = tours.state_for(1 + rng.permutation(size - 1), matrix, 10, 0)
    given, scratch = room(block, matrix, 1)
    nodes, edges = state.nodes, state.edges
    for _ in range(50):
        kept = nodes.copy(), edges.copy()
        group = 1 + rng.permutation(size - 1)[: rng.integers(1, 20)]
        line = 0
        for node in group.tolist():
            line, _ = tours.remove(state, given, scratch, line, node, 0.0)
        for line, node in enumerate(group.tolist(), start=len(group)):
            ahead = int(rng.choice(np.flatnonzero(nodes[:, links.BEHIND] >= 0)))
            ways = matrix[ahead, node], matrix[node, nodes[ahead, links.BEHIND]]
            (
                scratch.before[0],
                scratch.found[[programs.DISTANCE_BEFORE, programs.DISTANCE_BEHIND], 0],
            ) = ahead, ways
            tours.insert(state, given, scratch, line, node, 1, 0, False, 0.0)
        assert (nodes != kept[0]).any()
        tours.undo(state, given, scratch, len(group), 2 * len(group))
        assert (nodes == kept[0]).all()
        assert (edges.view(np.int64) == kept[1].view(np.int64)).all()


def test_positions_are_the_gaps_next_to_neighbours_each_once(block, instance):
    matrix, size, near = block["distance_matrix"], instance.size, block["neighbours"]
    state = tours.state_for(np.arange(1, size), matrix, 10, 0)
    given, scratch = room(block, matrix, 21)
    found, before = scratch.found[:4], scratch.before
    tours.remove(state, given, scratch, 0, 30, 0.0)
    count = tours.find_positions(state, given, scratch, 30, 1, np.inf)
    ahead, behind = before[:count], state.nodes[before[:count], links.BEHIND]
    around = set(near[30, :10].tolist())
    gaps = {(node, int(state.nodes[node, links.BEHIND])) for node in range(size) if node != 30}
    expected = {gap for gap in gaps if around & set(gap)}
    assert sorted(zip(ahead.tolist(), behind.tolist(), strict=True)) == sorted(expected)
    there, back, edge = matrix[ahead, 30], matrix[30, behind], matrix[ahead, behind]
    assert (found[:, :count] == [there + back - edge, there, back, edge]).all()


def test_without_neighbours_on_the_tour_a_node_comes_behind_the_first(block, upper, lower):
    """All nodes leave at once: the first that is inserted has no neighbour there."""
    everybody = program_of("choose", UPPER, "return np.arange(1, len(preceding))")
    program = tsp.GROUPS.translate(everybody, "choose")
    instance = instance_of(20, 8)
    report, answer = search(program, block_of(TSP(), instance), lower, repairs=19)
    assert report.repairs == 19
    assert is_true(report, answer, instance)


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("return len(detours) * 0 - 1", True),
        ("return len(detours)", True),
        ("return int(1 / (progress - progress))", True),
        ("return int(len(detours) - 1)", False),
    ],
)
def test_hostile_answers_of_lower_programs_are_mended(body, wrong, block, instance, upper, lower):
    number = len(tsp.POSITIONS.translated)
    tsp.POSITIONS.translate(program_of("choose", LOWER, body), "choose")
    report, answer = search(upper, block, number, repairs=1000)
    assert report.mended == (report.repairs if wrong else 0)
    if len(answer.arrays) > 1:
        assert is_true(report, answer, instance)


@pytest.mark.parametrize(
    "body",
    [
        "return preceding + 1",
        "return np.full(5000, 3)",
        "return np.arange(-40, 5000)",
        "return np.array([1, 1, 0, 0, 0, 1, 2, 59, 60, 2**62, -(2**62)])",
    ],
)
def test_hostile_answers_of_upper_programs_are_dropped(body, block, instance, lower):
    program = tsp.GROUPS.translate(program_of("choose", UPPER, body), "choose")
    report, answer = search(program, block, lower, repairs=500)
    assert report.dropped > 0
    assert report.repairs >= 500
    if len(answer.arrays) > 1:
        assert is_true(report, answer, instance)


def test_groups_are_named_as_a_pass_reads_them(block):
    answer = "return np.array([3, 1, 7, 9, 3, 0, -4, 10**9, 0, 5, 60, 59, 0, 2, 0, 6])"
    program = tsp.GROUPS.translate(program_of("choose", UPPER, answer), "choose")
    inputs = [Order.asking(0, 3, 3, 0.5).encode(), np.arange(1, 60)]
    lengths, nodes = tsp.GROUPS(program, block, inputs).arrays
    assert (lengths.tolist(), nodes.tolist()) == ([3, 2, 1], [3, 1, 7, 5, 59, 2])


def test_who_names_groups_sees_the_tour():
    """Node 0, where the tour ends, stands between two groups."""
    source = program_of("choose", UPPER, "return following[1:] * 1")
    program = tsp.GROUPS.translate(source, "choose")
    inputs = [Order.asking(0, 9, 4, 0.0).encode(), np.array([3, 1, 4, 2])]
    lengths, nodes = tsp.GROUPS(program, block_of(TSP(), instance_of(5, 1)), inputs).arrays
    assert (lengths.tolist(), nodes.tolist()) == ([1, 2], [4, 1, 2])


def test_a_lower_program_alone_moves_the_given_group(block, instance):
    program = translated(tsp.POSITIONS, tour_strings.greedy_with_blinks)
    start, group = np.arange(1, 60), [7, 3, 22]
    order = Order(1, 30, 0.0, 1, 3, 0.0, 0.0, 0.0, 0.0)
    inputs = [order.encode(), start, np.array(group)]
    said, tour = tsp.POSITIONS(program, block, inputs).arrays
    report = Report.decode(said)
    cost = TSP().cost
    assert report.repairs == 30
    assert report.best == cost(instance, (0, *tour.tolist())) < cost(instance, tuple(range(60)))
    assert [node for node in tour if node not in group] == [*np.delete(start, np.array(group) - 1)]


def test_a_program_that_names_nobody_ends_the_slice(block, lower):
    source = program_of("choose", UPPER, "return preceding[:0].copy()")
    program = tsp.GROUPS.translate(source, "choose")
    report, answer = search(program, block, lower, repairs=500)
    assert (report.repairs, report.passes) == (0, passes.EMPTY_PASSES)
    assert len(answer.arrays) == 1


def test_a_group_is_given_up_once_it_is_too_dear(block, instance, upper, lower):
    _, answer = search(upper, block, lower)
    number = len(tsp.POSITIONS.translated)
    source = program_of("worst", LOWER, "return int(np.argmax(detours))")
    tsp.POSITIONS.translate(source, "worst")
    order = Order(0, 500, 0.0, 4, 30, 0.0, 1.0, 0.0, 0.0, (number,))
    report = Report.decode(tsp.GROUPS(upper, block, [order.encode(), answer.arrays[1]]).arrays[0])
    assert report.cost == report.best == TSP().cost(instance, (0, *answer.arrays[1].tolist()))
    # Groups of up to 19 nodes are given up before the last.
    assert report.repairs < 8 * 4 * report.passes


@pytest.mark.parametrize("tour", [[], [1, 2], [*range(1, 59), 58], [*range(1, 59), 60]])
def test_what_is_no_tour_is_refused(tour, block):
    with pytest.raises(ValueError, match="Expected each node from 1 to 59 once"):
        tours.state_for(np.array(tour, np.int64), block["distance_matrix"], 10, 0)
