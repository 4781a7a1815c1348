import numpy as np
import pytest

from specahd.core.errors import InvalidAnswer
from specahd.problems.cvrp.construct import rebuild
from specahd.problems.cvrp.contracts import APPEND, CUSTOMER_GROUPS
from specahd.routing.answers import UNUSABLE
from specahd.routing.vehicles.propose import propose
from specahd.sandbox.definition import define

generate_customer_groups = define(CUSTOMER_GROUPS.seed.source, "generate_customer_groups")
select_next_node = define(APPEND.seed.source, "select_next_node")


def arrays(coords, demands, capacity):
    coords = np.array(coords, dtype=float)
    gaps = coords[:, None] - coords[None]
    made = {
        "coords": coords,
        "demands": np.array(demands, dtype=np.int64),
        "capacity": np.array([capacity], dtype=np.int64),
        "distance_matrix": np.hypot(gaps[..., 0], gaps[..., 1]),
    }
    for array in made.values():
        array.flags.writeable = False
    return made


@pytest.fixture
def line():
    """Customers 1 to 5 at 10, 20, 30, 40 and 50 on a line from the depot."""
    return arrays([(10 * i, 0) for i in range(6)], [0, 2, 3, 2, 4, 1], 5)


def region(*nodes):
    return [np.array(nodes, dtype=np.int64)]


def incumbent(routes, max_regions=8, max_size=50):
    return [
        np.array([len(route) for route in routes], dtype=np.int64),
        np.array([node for route in routes for node in route], dtype=np.int64),
        np.array([max_regions, max_size], dtype=np.int64),
    ]


def test_nearest_by_hand(line):
    answer = rebuild(select_next_node, line, region(1, 2, 3, 4, 5))
    [route], fallbacks = answer.arrays, answer.fallbacks
    assert route.tolist() == [1, 2, 0, 3, 5, 0, 4]
    assert fallbacks == 0
    assert route.dtype == np.int64


def test_indices_are_local(line):
    [route] = rebuild(select_next_node, line, region(2, 4, 5)).arrays
    assert route.tolist() == [1, 3, 0, 2]


def test_the_program_sees_exactly_the_feasible_customers(line):
    seen = []

    def program(current, depot, unvisited, rest, demands, distances):
        seen.append((current, depot, unvisited.tolist(), rest))
        assert demands.tolist() == [0, 2, 3, 2, 4, 1]
        assert distances.shape == (6, 6)
        assert not any(array.flags.writeable for array in (unvisited, demands, distances))
        return int(unvisited[0])

    [route] = rebuild(program, line, region(1, 2, 3, 4, 5)).arrays
    assert route.tolist() == [1, 2, 0, 3, 5, 0, 4]
    assert seen == [
        (0, 0, [1, 2, 3, 4, 5], 5),
        (1, 0, [2, 3, 5], 3),
        (0, 0, [3, 4, 5], 5),
        (3, 0, [5], 3),
        (0, 0, [4], 5),
    ]


def test_the_depot_closes_a_route_but_is_unavailable_on_an_empty_one(line):
    def homesick(current, depot, unvisited, rest, demands, distances):
        return depot

    answer = rebuild(homesick, line, region(1, 2, 3))

    [route], fallbacks = answer.arrays, answer.fallbacks
    assert route.tolist() == [1, 0, 2, 0, 3]
    assert fallbacks == 3


@pytest.mark.parametrize("answer", [-1, 6, 10**30, np.int64(7)])
def test_an_unavailable_answer_falls_back_to_the_nearest(line, answer):
    answer = rebuild(lambda *_: answer, line, region(1, 2, 3, 4, 5))
    [route], fallbacks = answer.arrays, answer.fallbacks
    assert route.tolist() == [1, 2, 0, 3, 5, 0, 4]
    assert fallbacks == 5


def test_visited_and_too_heavy_customers_are_unavailable(line):
    fallbacks = rebuild(lambda *_: 4, line, region(1, 2, 3, 4, 5)).fallbacks
    # 4 is chosen once; 5 fits behind it, and 4 is gone ever after.
    assert fallbacks == 4


def test_a_tie_falls_back_to_the_lowest_index():
    square = arrays([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)], [0, 1, 1, 1, 1], 1)
    [route] = rebuild(lambda *_: -1, square, region(1, 2, 3, 4)).arrays
    assert route.tolist() == [1, 0, 2, 0, 3, 0, 4]


@pytest.mark.parametrize(
    "answer", [True, np.bool_(True), 1.0, np.float64(1), None, "1", np.array(1)]
)
def test_an_answer_that_is_no_integer_fails(line, answer):
    with pytest.raises(InvalidAnswer, match="Expected an integer"):
        rebuild(lambda *_: answer, line, region(1, 2))


def test_a_customer_that_fits_no_vehicle_fails_instead_of_looping():
    with pytest.raises(InvalidAnswer, match="outweighs"):
        rebuild(select_next_node, arrays([(0, 0), (1, 0)], [0, 9], 5), region(1))


def test_the_upper_program_sees_the_incumbent(line):
    def program(routes, coords, demands, capacity, distances, max_groups, max_size):
        assert isinstance(routes, list)
        assert [route.tolist() for route in routes] == [[2, 1], [3], [5, 4]]
        assert not any(route.flags.writeable for route in routes)
        assert all(route.dtype == np.int64 for route in routes)
        assert (capacity, max_groups, max_size) == (5, 3, 4)
        assert len(coords) == len(demands) == len(distances) == 6
        return [routes[0], (3, np.int64(5)), [4]]

    lengths, values = propose(program, line, incumbent([[2, 1], [], [3], [5, 4]], 3, 4)).arrays
    assert lengths.tolist() == [2, 2, 1]
    assert values.tolist() == [2, 1, 3, 5, 4]
    assert lengths.dtype == values.dtype == np.int64


@pytest.mark.parametrize(
    "answer",
    [None, 3, "12", {1: 2}, [1, 2], [[1], None], ["12"], np.ones((2, 2)), [np.ones((1, 1))]],
)
def test_no_list_of_sequences_is_malformed(line, answer):
    lengths, values = propose(lambda *_: answer, line, incumbent([[1, 2]])).arrays
    assert lengths.tolist() == [-1]
    assert values.tolist() == []


def test_entries_that_are_no_integers_are_marked(line):
    answer = [[1, 2.0, 2.5, None, True, "3", float("nan"), float("inf"), 2**63, [4], np.float64(3)]]
    _, values = propose(lambda *_: answer, line, incumbent([[1, 2]])).arrays
    assert values.tolist() == [1, 2, *[UNUSABLE] * 8, 3]


@pytest.mark.parametrize("answer", [[[]] * 10_001, [[1] * 1_061]])
def test_a_flood_fails(line, answer):
    with pytest.raises(InvalidAnswer, match="groups of"):
        propose(lambda *_: answer, line, incumbent([[1, 2]]))


def test_an_answer_just_below_the_flood_passes(line):
    lengths, _ = propose(lambda *_: [[1] * 1_060, []], line, incumbent([[1, 2]])).arrays
    assert lengths.tolist() == [1_060, 0]


def test_the_seed_joins_consecutive_whole_routes(line):
    lengths, values = propose(
        generate_customer_groups, line, incumbent([[2, 1], [3], [5, 4]], max_size=3)
    ).arrays
    assert lengths.tolist() == [3, 2]
    assert values.tolist() == [2, 1, 3, 5, 4]


def test_the_seed_cuts_a_route_that_is_too_long_and_keeps_to_the_budget(line):
    lengths, values = propose(
        generate_customer_groups, line, incumbent([[2, 1, 3], [5, 4]], max_regions=1, max_size=2)
    ).arrays
    assert lengths.tolist() == [2]
    assert values.tolist() == [2, 1]
