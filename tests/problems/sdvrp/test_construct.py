import numpy as np
import pytest

from specahd.core.errors import InvalidAnswer
from specahd.problems.sdvrp.construct import most_stops, rebuild
from specahd.problems.sdvrp.contracts import APPEND, DELIVERY_GROUPS
from specahd.routing.vehicles.propose import propose
from specahd.sandbox.definition import define

generate_delivery_groups = define(DELIVERY_GROUPS.seed.source, "generate_delivery_groups")
select_next_delivery = define(APPEND.seed.source, "select_next_delivery")


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
    """Customers 1 to 4 at 10, 20, 30 and 40 on a line from the depot; 4 outweighs a vehicle."""
    return arrays([(10 * i, 0) for i in range(5)], [0, 2, 4, 3, 7], 5)


def region(*nodes):
    return [np.array(nodes, dtype=np.int64)]


def incumbent(routes, quantities, max_regions=8, max_size=50):
    return [
        np.array([len(route) for route in routes], dtype=np.int64),
        np.array([node for route in routes for node in route], dtype=np.int64),
        np.array([quantity for route in quantities for quantity in route], dtype=np.int64),
        np.array([max_regions, max_size], dtype=np.int64),
    ]


def test_nearest_by_hand(line):
    answer = rebuild(select_next_delivery, line, region(1, 2, 3, 4))
    route, quantities = answer.arrays
    fallbacks = answer.fallbacks
    assert route.tolist() == [1, 2, 0, 2, 3, 4, 0, 4, 0, 4]
    assert quantities.tolist() == [2, 3, 0, 1, 3, 1, 0, 5, 0, 1]
    assert fallbacks == 0
    assert {array.dtype for array in (route, quantities)} == {np.dtype(np.int64)}


def test_indices_are_local(line):
    answer = rebuild(select_next_delivery, line, region(2, 4))
    route, quantities = answer.arrays
    assert route.tolist() == [1, 2, 0, 2, 0, 2]
    assert quantities.tolist() == [4, 1, 0, 5, 0, 1]


def test_the_program_sees_exactly_what_customers_lack(line):
    seen = []

    def program(current, depot, unvisited, rest, residuals, distances):
        seen.append((current, depot, unvisited.tolist(), rest, residuals.tolist()))
        assert distances.shape == (4, 4)
        assert not any(array.flags.writeable for array in (unvisited, residuals, distances))
        return int(unvisited[-1]), 3

    answer = rebuild(program, line, region(1, 2, 4))

    route, quantities = answer.arrays

    fallbacks = answer.fallbacks
    assert route.tolist() == [3, 3, 0, 3, 2, 0, 2, 1]
    assert quantities.tolist() == [3, 2, 0, 2, 3, 0, 1, 2]
    # It asked for 3 where only 2, 2, 1 and 2 were left of the vehicle or the demand.
    assert fallbacks == 4
    assert seen == [
        (0, 0, [1, 2, 3], 5, [0, 2, 4, 7]),
        (3, 0, [1, 2, 3], 2, [0, 2, 4, 4]),
        (0, 0, [1, 2, 3], 5, [0, 2, 4, 2]),
        (3, 0, [1, 2], 3, [0, 2, 4, 0]),
        (0, 0, [1, 2], 5, [0, 2, 1, 0]),
        (2, 0, [1], 4, [0, 2, 0, 0]),
    ]


def test_the_depot_closes_a_route_but_is_unavailable_on_an_empty_one(line):
    def homesick(current, depot, unvisited, rest, residuals, distances):
        return depot, None

    answer = rebuild(homesick, line, region(1, 3))

    route, quantities = answer.arrays

    fallbacks = answer.fallbacks
    assert route.tolist() == [1, 0, 2]
    assert quantities.tolist() == [2, 0, 3]
    assert fallbacks == 2


@pytest.mark.parametrize("customer", [-1, 5, 10**30, np.int64(7)])
def test_an_unavailable_customer_falls_back_to_the_nearest_and_all_that_fits(line, customer):
    answer = rebuild(lambda *_: (customer, 1), line, region(1, 2, 3))
    route, quantities = answer.arrays
    fallbacks = answer.fallbacks
    assert route.tolist() == [1, 2, 0, 2, 3]
    assert quantities.tolist() == [2, 3, 0, 1, 3]
    assert fallbacks == 4


@pytest.mark.parametrize("quantity", [0, -1, 6, 10**30, np.int64(-(2**62))])
def test_an_unavailable_quantity_falls_back_to_all_that_fits(line, quantity):
    program = lambda *state: (int(state[2][-1]), quantity)  # noqa: E731
    answer = rebuild(program, line, region(1, 2, 3))
    route, quantities = answer.arrays
    fallbacks = answer.fallbacks
    assert route.tolist() == [3, 2, 0, 2, 1]
    assert quantities.tolist() == [3, 2, 0, 2, 2]
    assert fallbacks == 4


def test_a_customer_that_lacks_nothing_is_unavailable(line):
    fallbacks = rebuild(lambda *_: (1, 1), line, region(1, 2)).fallbacks
    # 1 takes a unit twice; then 2 gets 3 and, from the next vehicle, 1.
    assert fallbacks == 2


def test_a_tie_falls_back_to_the_lowest_index():
    square = arrays([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)], [0, 1, 1, 1, 1], 1)
    answer = rebuild(lambda *_: (-1, 1), square, region(1, 2, 3, 4))
    route, _ = answer.arrays
    assert route.tolist() == [1, 0, 2, 0, 3, 0, 4]


@pytest.mark.parametrize("wrong", [True, np.bool_(True), 1.0, np.float64(1), None, "1", [1]])
def test_what_is_no_integer_fails_in_either_place(line, wrong):
    with pytest.raises(InvalidAnswer, match="Expected an integer"):
        rebuild(lambda *_: (wrong, 1), line, region(1, 2))
    with pytest.raises(InvalidAnswer, match="Expected an integer"):
        rebuild(lambda *_: (1, wrong), line, region(1, 2))


@pytest.mark.parametrize("answer", [1, None, (1,), (1, 1, 1), (), "11", np.array([1, 1]), {1: 2}])
def test_what_is_no_pair_fails(line, answer):
    with pytest.raises(InvalidAnswer, match="Expected a customer and a quantity"):
        rebuild(lambda *_: answer, line, region(1, 2))


def test_a_list_of_two_is_a_pair(line):
    answer = rebuild(lambda *_: [1, np.int64(2)], line, region(1))
    route, quantities = answer.arrays
    fallbacks = answer.fallbacks
    assert [route.tolist(), quantities.tolist(), fallbacks] == [[1], [2], 0]


def test_crumbs_of_a_large_demand_fail_instead_of_going_on_for_ever():
    heavy = arrays([(0, 0), (1, 0)], [0, 10**9], 10**9)
    with pytest.raises(InvalidAnswer, match=f"More than {most_stops(1, 10**9, 10**9)} stops"):
        rebuild(lambda *_: (1, 1), heavy, region(1))
    answer = rebuild(select_next_delivery, heavy, region(1))
    route, _ = answer.arrays
    assert route.tolist() == [1]


def test_crumbs_of_a_small_demand_are_a_bad_answer_but_an_answer():
    light = arrays([(0, 0), (1, 0)], [0, 400], 400)
    answer = rebuild(lambda *_: (1, 1), light, region(1))
    route, quantities = answer.arrays
    fallbacks = answer.fallbacks
    assert (len(route), quantities.sum(), fallbacks) == (400, 400, 0)


def test_the_upper_program_sees_the_incumbent(line):
    def program(routes, deliveries, coords, demands, capacity, distances, max_groups, max_size):
        assert isinstance(routes, list)
        assert [route.tolist() for route in routes] == [[2, 1], [2, 3], [4], [4]]
        assert [given.tolist() for given in deliveries] == [[3, 2], [1, 3], [5], [2]]
        assert not any(array.flags.writeable for array in (*routes, *deliveries))
        assert all(array.dtype == np.int64 for array in (*routes, *deliveries))
        assert (capacity, max_groups, max_size) == (5, 3, 4)
        assert len(coords) == len(demands) == len(distances) == 5
        return [routes[0], (3, np.int64(4)), [4]]

    inputs = incumbent([[2, 1], [2, 3], [4], [4]], [[3, 2], [1, 3], [5], [2]], 3, 4)
    lengths, values = propose(program, line, inputs).arrays
    assert lengths.tolist() == [2, 2, 1]
    assert values.tolist() == [2, 1, 3, 4, 4]


@pytest.mark.parametrize("answer", [None, 3, "12", {1: 2}, [1, 2], [[1], None], np.ones((2, 2))])
def test_no_list_of_sequences_is_malformed(line, answer):
    lengths, values = propose(lambda *_: answer, line, incumbent([[1]], [[2]])).arrays
    assert lengths.tolist() == [-1]
    assert values.tolist() == []


def test_a_flood_fails(line):
    inputs = incumbent([[1]], [[2]])
    with pytest.raises(InvalidAnswer, match="groups of"):
        propose(lambda *_: [[1] * 1_061], line, inputs)
    assert propose(lambda *_: [[1] * 1_060], line, inputs).arrays[0].tolist() == [1_060]


def test_the_seed_joins_consecutive_whole_routes(line):
    inputs = incumbent([[2, 1], [2, 3], [4], [4]], [[3, 2], [1, 3], [5], [2]], max_size=3)
    lengths, values = propose(generate_delivery_groups, line, inputs).arrays
    assert lengths.tolist() == [2, 3, 1]
    assert values.tolist() == [2, 1, 2, 3, 4, 4]
