import subprocess
import sys

import numpy as np
import pytest

from specahd.core.errors import InvalidAnswer
from specahd.problems.vrptw.checker import check
from specahd.problems.vrptw.construct import propose, rebuild
from specahd.problems.vrptw.contracts import APPEND, CUSTOMER_GROUPS
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.base import Region
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention, distances
from specahd.routing.groups import concatenated
from specahd.sandbox.definition import define

generate_customer_groups = define(CUSTOMER_GROUPS.seed.source, "generate_customer_groups")
select_next_node = define(APPEND.seed.source, "select_next_node")

PROBLEM = VRPTW()


def block(instance):
    made = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in PROBLEM.layout(instance).items()
    }
    PROBLEM.fill(instance, made)
    for array in made.values():
        array.flags.writeable = False
    return made


@pytest.fixture
def arrays(line):
    return block(line)


def region(*nodes):
    return [np.array(nodes, dtype=np.int64)]


def incumbent(routes, max_regions=8, max_size=50):
    return [*concatenated(routes), np.array([max_regions, max_size], dtype=np.int64)]


def test_nearest_by_hand(arrays):
    answer = rebuild(select_next_node, arrays, region(1, 2, 3, 4))
    [route], fallbacks = answer.arrays, answer.fallbacks
    # 1 at 10, 2 at 30 (after waiting), 3 at 60 (after waiting); then nobody has time.
    assert route.tolist() == [1, 2, 3, 0, 4]
    assert fallbacks == 0
    assert route.dtype == np.int64


def test_indices_are_local(arrays):
    [route] = rebuild(select_next_node, arrays, region(3, 4)).arrays
    assert route.tolist() == [1, 0, 2]


def test_the_program_sees_exactly_the_feasible_customers(arrays):
    seen = []

    def program(current, depot, unvisited, rest, time, demands, ready, due, service, distances):
        seen.append((current, depot, unvisited.tolist(), rest, time))
        assert type(rest) is int
        assert type(time) is float
        assert demands.tolist() == [0, 2, 3, 2, 4]
        assert ready.tolist() == [0, 0, 30, 60, 0]
        assert due.tolist() == [100, 80, 50, 60, 55]
        assert service.tolist() == [0, 5, 5, 5, 5]
        assert distances.shape == (5, 5)
        given = (unvisited, demands, ready, due, service, distances)
        assert not any(array.flags.writeable for array in given)
        return int(unvisited[0])

    [route] = rebuild(program, arrays, region(1, 2, 3, 4)).arrays
    assert route.tolist() == [1, 2, 3, 0, 4]
    assert seen == [
        (0, 0, [1, 2, 3, 4], 7, 0.0),
        # Left at 15; 4 is reached at 45 and leaves time to be back at 90.
        (1, 0, [2, 3, 4], 5, 15.0),
        # Left at 35; 4 is reached at 55 sharp, is too heavy.
        (2, 0, [3], 2, 35.0),
        (0, 0, [4], 7, 0.0),
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, [[1, 2, 3, 4], [2, 3, 4]]),
        # Reached at 45 from customer 1: in time at 45, late at 44.
        ({"due": (4, 45)}, [[1, 2, 3, 4], [2, 3, 4]]),
        ({"due": (4, 44)}, [[1, 2, 3, 4], [2, 3]]),
        # Served at 60, left at 65, back at 95.
        ({"due": (0, 95)}, [[1, 2, 3, 4], [2, 3, 4]]),
        ({"due": (0, 94)}, [[1, 2, 4], [2, 4]]),
        # Vehicles leave at 12, customer 1 at 27; then 4 is reached at 57.
        ({"ready": (0, 12)}, [[1, 2, 3, 4], [2, 3]]),
    ],
)
def test_capacity_windows_and_return_decide_what_is_feasible(line, change, expected):
    times = {name: getattr(line.windows, name).copy() for name in ("ready", "due", "service")}
    for name, (node, time) in change.items():
        times[name][node] = time
    instance = VRPTWInstance("x", line.coords, line.demands, 99, windows=TimeWindows(**times))
    seen = []

    def program(current, depot, unvisited, *_):
        if len(seen) < 2:
            seen.append(unvisited.tolist())
        return int(unvisited[0])

    try:
        rebuild(program, block(instance), region(1, 2, 3, 4))
    except InvalidAnswer:
        # Customer 3 cannot be served at all when the depot closes at 94.
        assert change == {"due": (0, 94)}
    assert seen == expected


def test_the_depot_closes_a_route_but_is_unavailable_on_an_empty_one(arrays):
    answer = rebuild(lambda current, depot, *_: depot, arrays, region(1, 2, 3))
    [route], fallbacks = answer.arrays, answer.fallbacks
    assert route.tolist() == [1, 0, 2, 0, 3]
    assert fallbacks == 3


@pytest.mark.parametrize("answer", [-1, 5, 10**30, np.int64(7)])
def test_an_unavailable_answer_falls_back_to_the_nearest(arrays, answer):
    answer = rebuild(lambda *_: answer, arrays, region(1, 2, 3, 4))
    [route], fallbacks = answer.arrays, answer.fallbacks
    assert route.tolist() == [1, 2, 3, 0, 4]
    assert fallbacks == 4


def test_visited_heavy_and_late_customers_are_unavailable(arrays):
    answer = rebuild(lambda *_: 3, arrays, region(1, 2, 3, 4))
    [route], fallbacks = answer.arrays, answer.fallbacks
    # Behind 3, served at 60 and left at 65, nobody is in time.
    assert route.tolist() == [3, 0, 1, 2, 0, 4]
    assert fallbacks == 3


def test_a_tie_falls_back_to_the_lowest_index():
    coords = np.array([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)], float)
    wide = TimeWindows(np.zeros(5), np.full(5, 9.0), np.zeros(5))
    square = VRPTWInstance("square", coords, np.array([0, 1, 1, 1, 1]), 1, windows=wide)
    [route] = rebuild(lambda *_: -1, block(square), region(1, 2, 3, 4)).arrays
    assert route.tolist() == [1, 0, 2, 0, 3, 0, 4]


@pytest.mark.parametrize(
    "answer", [True, np.bool_(True), 1.0, np.float64(1), None, "1", np.array(1)]
)
def test_an_answer_that_is_no_integer_fails(arrays, answer):
    with pytest.raises(InvalidAnswer, match="Expected an integer"):
        rebuild(lambda *_: answer, arrays, region(1, 2))


@pytest.mark.parametrize(("demand", "due"), [(9, 50.0), (1, 0.5)])
def test_a_customer_that_nobody_can_serve_fails_instead_of_looping(demand, due):
    windows = TimeWindows(np.zeros(2), np.array([99, due]), np.zeros(2))
    coords = np.array([(0, 0), (1.0, 0)])
    instance = VRPTWInstance("x", coords, np.array([0, demand]), 5, windows=windows)
    with pytest.raises(InvalidAnswer, match="by a vehicle of its own"):
        rebuild(select_next_node, block(instance), region(1))


@pytest.mark.parametrize(
    "convention", [Convention.DIMACS, Convention.EXACT_2D, Convention.EUC_2D, Convention.ATT]
)
def test_any_program_builds_what_the_checker_accepts(convention):
    """Feasible to the last bit, though windows close at the very sums of random numbers."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 40))
        coords = rng.integers(0, 900, (size + 1, 2)) / (1 if seed % 2 else 7)
        away = distances(coords[0], coords, Convention.EXACT_2D) + 1.0
        service = np.concatenate(([0.0], rng.random(size) * 30))
        ready = rng.random(size + 1) * 900
        start = np.maximum(away, ready)
        closing = (start + service + away).max()
        due = np.minimum(start + rng.choice([0.0, 40, 900], size + 1), closing - service - away)
        # Where a rounding error would make it unreachable.
        due = np.maximum(due, start)
        ready[0], due[0] = 0.0, closing + 1e-6
        instance = VRPTWInstance(
            "x",
            coords,
            np.concatenate(([0], rng.integers(0, 9, size))),
            30,
            windows=TimeWindows(ready, due, service),
            convention=convention,
        )
        answers = rng.integers(-1, size + 1, 10_000).tolist()
        chosen = Region(tuple(range(1, size + 1)))
        inputs = PROBLEM.operator.inputs(instance, (), chosen)
        output = rebuild(lambda *_: answers.pop(), block(instance), inputs).arrays
        merged = PROBLEM.operator.merge(instance, (chosen.nodes,), chosen, output)
        assert check(instance, merged) == ()


def test_the_seed_rebuilds_the_nearest_baseline():
    for instance in list(PROBLEM.generate("validation", 5))[:6]:
        everybody = np.arange(1, instance.size + 1)
        answer = rebuild(select_next_node, block(instance), [everybody])
        [route], fallbacks = answer.arrays, answer.fallbacks
        routes = np.split(route, np.flatnonzero(route == 0))
        found = tuple(tuple(part[part > 0].tolist()) for part in routes)
        assert found == PROBLEM.baseline(instance, "nearest")
        assert fallbacks == 0


def test_the_upper_program_sees_the_incumbent(arrays):
    def program(routes, coords, demands, capacity, ready, due, service, distances, *budget):
        assert isinstance(routes, list)
        assert [route.tolist() for route in routes] == [[2, 1], [3], [4]]
        assert not any(route.flags.writeable for route in routes)
        assert (capacity, *budget) == (7, 3, 4)
        assert ready.tolist() == [0, 0, 30, 60, 0]
        assert due.tolist() == [100, 80, 50, 60, 55]
        assert service.tolist() == [0, 5, 5, 5, 5]
        assert len(coords) == len(demands) == len(distances) == 5
        return [routes[0], (3, np.int64(4)), [4]]

    lengths, values = propose(program, arrays, incumbent([[2, 1], [], [3], [4]], 3, 4)).arrays
    assert lengths.tolist() == [2, 2, 1]
    assert values.tolist() == [2, 1, 3, 4, 4]
    assert lengths.dtype == values.dtype == np.int64


@pytest.mark.parametrize("answer", [None, 3, "12", [1, 2], [[1], None], np.ones((2, 2))])
def test_no_list_of_sequences_is_malformed(arrays, answer):
    lengths, values = propose(lambda *_: answer, arrays, incumbent([[1, 2]])).arrays
    assert lengths.tolist() == [-1]
    assert values.tolist() == []


def test_a_flood_fails(arrays):
    with pytest.raises(InvalidAnswer, match="groups of"):
        propose(lambda *_: [[1] * 1_051], arrays, incumbent([[1, 2]]))


def test_the_seed_joins_consecutive_whole_routes(arrays):
    lengths, values = propose(
        generate_customer_groups, arrays, incumbent([[2, 1], [3], [4]], max_size=3)
    ).arrays
    assert lengths.tolist() == [3, 1]
    assert values.tolist() == [2, 1, 3, 4]


def test_a_child_pays_for_no_more_than_numpy():
    code = (
        "import sys, specahd.problems.vrptw.construct\n"
        "print({'numba', 'scipy', 'pyvrp'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "set()\n"
