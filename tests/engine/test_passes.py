"""The compiled passes of all problems: exact costs, the same bytes again, nothing hostile taken.

What differs by problem is in test_routes, test_tours, test_split_passes and test_timed_passes.
"""

from dataclasses import replace

import numpy as np
import pytest
from cases import Place, at_distances, place_of, tour, translated, unmoved_runs
from cases import split as split_instance

from specahd.engine import changes, links, passes, route_ends, seeds, strings, tour_strings
from specahd.engine.orders import Order, Report
from specahd.engine.random import state_of, uniform
from specahd.engine.searches import FLEET
from specahd.engine.state import PRIZES
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.problem import TSP
from specahd.routing.distances import CONVENTION, MATRIX
from specahd.routing.kernels.distances import CODES
from specahd.routing.vehicles.instance import VehicleInstance

NAMES = ["cvrp", "tsp", "sdvrp", "vrptw"]
ALL = pytest.mark.parametrize("name", NAMES)


def test_orders_and_reports_come_back():
    order = Order(7, 100, 1.5, 8, 50, 0.25, 0.5, 30.0, 0.1, (2, 0), True, 3, 0.004)
    report = Report(1, 2, 3, 4, 5, 6, 7, 8, 9, 7.5, 0.1)
    assert Order.decode(order.encode()) == order
    assert Report.decode(report.encode()) == report


@pytest.mark.parametrize(
    ("name", "groups", "position", "share"),
    [
        ("cvrp", strings.adjacent_strings, strings.greedy_with_blinks, 0.6),
        ("cvrp", strings.route_removal, strings.greedy_with_blinks, 0.6),
        ("cvrp", strings.nearest_customers, strings.greedy_with_blinks, 0.6),
        ("cvrp", route_ends.strings_and_ends, strings.greedy_with_blinks, 0.6),
        ("tsp", tour_strings.neighbouring_strings, tour_strings.greedy_with_blinks, 0.3),
        ("tsp", seeds.nearest_nodes, seeds.least_detour, 0.3),
        ("sdvrp", strings.adjacent_strings, strings.greedy_in_parts, 0.8),
        ("sdvrp", strings.adjacent_strings, seeds.least_detour_per_unit, 0.8),
    ],
)
def test_hand_written_programs_improve_and_stay_feasible(name, groups, position, share):
    place = place_of(name)
    upper, _ = translated(place.groups, groups)
    _, lower = translated(place.positions, position)
    report, found = place.slice(upper, lower)
    assert place.matches_the_checker(report, found)
    assert report.best < share * place.cost(place.start)
    assert 3000 <= report.repairs < 3200
    assert report.invalid_positions == 0


@ALL
def test_the_same_seed_gives_the_same_bytes(name):
    first, second, other = (place_of(name).slice(seed=seed, exchanges=20) for seed in (3, 3, 4))
    assert first[0] == second[0] != other[0]
    assert all((one == another).all() for one, another in zip(first[1], second[1], strict=True))


@ALL
def test_computed_distances_act_like_a_matrix(name):
    place = place_of(name)
    computed = {field: array for field, array in place.block.items() if field != MATRIX}
    measure = getattr(place.instance, "measure", place.instance.convention)
    computed[CONVENTION] = np.array([CODES[measure]])
    report, found = place.slice(block=computed, repairs=1000)
    expected, routes = place.slice(repairs=1000)
    assert report == expected
    assert all((one == another).all() for one, another in zip(found, routes, strict=True))


@ALL
def test_a_group_that_is_too_dear_is_given_up_and_every_bit_restored(name):
    place = place_of(name)
    arrays = at_distances(place.block, np.sqrt(place.block[MATRIX] + 0.1))
    report, _ = place.slice(block=arrays)
    state = place.search._state
    used = np.arange(len(state.nodes))
    if name != "tsp":
        used = np.flatnonzero(state.nodes[:, links.ROUTE] >= 0)

    def kept():
        """Return the bits of the solution, but for what nodes off all routes are left with."""
        own = {"sdvrp": ("heads", "left"), "vrptw": ("start", "latest")}.get(name, ())
        arrays = [state.nodes[used], state.edges[used], state.route_loads, state.costs]
        arrays += [state.integers[changes.FREE], *(getattr(state.own, each) for each in own)]
        return [array.tobytes() for array in arrays]

    before = kept()
    everywhere = place.upper_of("return np.argsort(noise[:len(preceding) - 1])[:20] + 1")
    worst = place.lower_of("return int(np.argmax(detours))")
    later, found = place.resume(everywhere, worst, repairs=500, temperature=0.0, groups=1)
    assert (later.kept, found) == (report.kept, [])
    assert kept() == before
    assert 0 < later.repairs - report.repairs < 0.8 * 20 * (later.passes - report.passes)


def open_routes(state):
    """Return how many routes have customers; as many terminals are free as the rest allows."""
    first = len(state.nodes) - len(state.free)
    empty = state.nodes[first:, links.BEHIND] == np.arange(first, len(state.nodes))
    free = state.free[: state.integers[changes.FREE]]
    assert len(set(free.tolist())) == len(free)
    assert empty[free].all()
    return len(empty) - int(empty.sum())


@pytest.mark.parametrize("name", ["cvrp", "vrptw"])
@pytest.mark.parametrize("more", [0, 2, 1_000_000])
def test_no_more_routes_are_open_than_the_fleet_has(name, more):
    place = place_of(name)
    _, found = place.slice()
    most = len(place.solution(found)) + more
    block = {**place.block, FLEET: np.array([most])}
    # The last position is that on a new route, if there is one.
    newest = place.lower_of("return len(detours) - 1")
    everywhere = place.upper_of("return np.argsort(noise[:len(preceding) - 1])[:20] + 1")
    for upper in (place.upper, everywhere):
        report, _ = place.slice(upper, newest, block=block, routes=found, temperature=1e6)
        state = place.search._state
        used = open_routes(state)
        # There is room for a vehicle for each customer, and for those that a group empties.
        assert state.integers[changes.FREE] == min(most, len(state.free)) - used
        current = place.problem.unflat(place.instance, [place.search.current_routes()])
        assert place.problem.check(place.instance, current) == ()
        assert report.kept > 0


@pytest.mark.parametrize("name", ["cvrp", "vrptw"])
def test_customers_are_left_out_at_their_prizes_and_every_bit_is_restored(name):
    place = place_of(name)
    rng = np.random.default_rng(2)
    size = place.instance.size
    prizes = rng.integers(0, 600, size + 1).astype(float)
    prizes[:2] = 0.0, np.inf
    place.instance = replace(place.instance, prizes=prizes / place.parts)
    block = {**place.block, PRIZES: prizes}
    report, found = place.slice(block=block, exchanges=20, temperature=5.0, repairs=20_000)
    assert place.matches_the_checker(report, found)
    served = {node for route in place.solution(found) for node in route}
    assert 1 in served
    assert 5 < len(served) < size - 5
    assert report.best < 0.8 * place.cost(place.start)
    state = place.search._state
    off = np.flatnonzero(state.nodes[1 : size + 1, links.ROUTE] < 0) + 1
    assert not set(off.tolist()) & set(place.search.current_routes().tolist())
    current = place.problem.unflat(place.instance, [place.search.current_routes()])
    assert place.problem.check(place.instance, current) == ()
    assert state.costs[changes.CURRENT] == place.cost(current)
    place.resume(place.upper_of("return np.zeros(0, np.int64)"), block=block)
    assert (state.upper_inputs[changes.ROUTE_OF, off] == links.OUT).all()
    assert not state.upper_inputs[[changes.PRECEDING, changes.FOLLOWING]][:, off].any()


def test_a_fleet_leaves_out_as_few_as_it_can():
    """Three vehicles of three unit demands, ten customers."""
    coords = np.array([[0, 0], *([10 * k, 5] for k in range(1, 11))], float)
    instance = VehicleInstance("few", coords, np.array([0, *[1] * 10]), 3)
    place = Place(CVRP(), instance, start=((1, 2, 3), (4,), (5,)))
    place.instance = replace(instance, prizes=np.full(11, 1e4))
    block = {**place.block, FLEET: np.array([3]), PRIZES: place.instance.prizes}
    report, found = place.slice(block=block, repairs=20_000)
    assert place.matches_the_checker(report, found)
    assert sum(map(len, place.solution(found))) == 9
    # The farthest one; a price that rose is not in the cost.
    assert report.best == place.cost(((1, 2, 3), (4, 5, 6), (7, 8, 9)))


def test_prices_of_customers_left_out_begin_anew_in_each_part_and_end_as_given():
    coords = np.array([[0, 0], [10, 0], [20, 0], [30, 0]], float)
    instance = VehicleInstance("few", coords, np.array([0, 1, 1, 1]), 2)
    place = Place(CVRP(), instance, start=((1, 2),))
    place.instance = replace(instance, prizes=np.full(4, 1e4))
    block = {**place.block, FLEET: np.array([1]), PRIZES: place.instance.prizes}
    place.slice(block=block, repairs=10)
    search = place.search
    state, left_out = search._state, 1 + int(np.argmin(search._state.nodes[1:4, links.ROUTE]))
    state.prizes[:], state.integers[changes.PART] = changes.first_prizes(search._instance), 0
    found = []
    for now in (0.01, 0.09, 0.1, 0.11, 0.5):
        changes.raise_prizes(state, search._instance, now)
        found.append(state.prizes[left_out])
    assert found == pytest.approx([61.2, 62.4, 60.0, 61.2, 1e4])


def test_a_route_that_a_group_empties_may_be_opened_again_for_it():
    """All others are full."""
    coords = np.array([[0, 0], [10, 0], [20, 0], [0, 10], [0, 20]], float)
    instance = VehicleInstance("full", coords, np.array([0, 1, 1, 1, 1]), 2)
    place = Place(CVRP(), instance, start=((1, 2), (3, 4)))
    block = {**place.block, FLEET: np.array([2])}
    first = place.upper_of("return np.arange(1, 3)")
    report, _ = place.slice(first, block=block, repairs=40, groups=1)
    assert report.kept > 10
    assert open_routes(place.search._state) == 2
    assert place.search._state.integers[changes.FREE] == 0


def test_a_route_that_a_group_leaves_empty_is_free_once():
    coords = np.array([[0, 0], [10, 0], [20, 0], [30, 0]], float)
    instance = VehicleInstance("room", coords, np.array([0, 1, 1, 1]), 3)
    place = Place(CVRP(), instance, start=((1, 2), (3,)))
    block = {**place.block, FLEET: np.array([2])}
    upper, lower = (
        place.upper_of("return np.arange(3, 4)"),
        place.lower_of("return len(detours) * 0"),
    )
    report, _ = place.slice(upper, lower, block=block, repairs=1, groups=1)
    assert report.kept == 1
    assert open_routes(place.search._state) == 1
    assert place.search._state.integers[changes.FREE] == 1


@pytest.mark.parametrize(
    ("name", "answer", "wrong"),
    [
        ("cvrp", "len(detours) * 0 - 1", True),
        ("cvrp", "len(detours) + 10**9", True),
        ("cvrp", "int(1 / (demand - demand))", True),
        ("cvrp", "len(detours) * 0", False),
        ("tsp", "len(detours)", True),
        ("tsp", "int(1 / (progress - progress))", True),
        ("tsp", "int(len(detours) - 1)", False),
        ("sdvrp", "len(detours)", True),
        ("sdvrp", "int(detours[len(detours)])", True),
        ("sdvrp", "len(detours) - 1", False),
        # As many parts as there can be.
        ("sdvrp", "int(np.argmin(quantities))", False),
        ("sdvrp", "int(np.argmax(detours / quantities))", False),
    ],
)
def test_whatever_lower_programs_answer_the_solution_is_feasible(name, answer, wrong):
    place = place_of(name)
    lower = place.lower_of(f"return {answer}")
    report, found = place.slice(lower=lower, repairs=1000, temperature=1e6)
    assert place.matches_the_checker(report, found)
    assert report.kept > 0
    if wrong and name == "sdvrp":
        # A customer may be asked for again, part by part.
        assert report.invalid_positions >= report.repairs
    else:
        assert report.invalid_positions == wrong * report.repairs


@pytest.mark.parametrize(
    "answer",
    [
        "preceding + 1",
        "np.full(5000, 3)",
        "np.arange(-40, 5000)",
        "np.array([1, 1, 0, 0, 0, 1, 2, 61, 62, 2**62, -(2**62)])",
    ],
)
def test_hostile_answers_of_upper_programs_are_dropped(answer):
    place = place_of("cvrp")
    report, found = place.slice(place.upper_of(f"return {answer}"), repairs=500)
    assert report.invalid_customers > 0
    assert report.repairs >= 500
    assert place.matches_the_checker(report, found)


@pytest.mark.parametrize("answer", ["demands[:0].copy()", "demands[10**6 + demands]"])
def test_a_program_that_names_nobody_ends_the_slice(answer):
    place = place_of("cvrp")
    report, found = place.slice(place.upper_of(f"return {answer}"), repairs=500)
    assert (report.repairs, report.passes, found) == (0, passes.EMPTY_PASSES, [])


@pytest.mark.parametrize("name", ["tsp", "sdvrp"])
def test_groups_are_named_as_a_pass_reads_them(name):
    place = place_of(name)
    last = len(place.block["neighbours"]) - 1
    named = [3, 1, 7, 9, 3, 0, -4, 10**9, 0, 5, last + 1, last, 0, 2, 0, 6]
    upper = place.upper_of(f"return np.array({named})")
    sizes, members = place.proposed(upper, Order.asking(0, 3, 3, 0.5))
    assert (sizes, members) == ([3, 2, 1], [3, 1, 7, 5, last, 2])


@pytest.mark.parametrize(
    ("problem", "instance", "routes", "named"),
    [
        (TSP(), tour(5, 1), [[3, 1, 4, 2]], ([1, 2], [4, 1, 2])),
        # Behind 1 and 4 comes the depot, which stands between two groups.
        (SDVRP(), split_instance(2, 4, (9, 10), 50), [[2, 4, 0, 3, 1], [9, 9, 0, 9, 9]],
         ([2], [4, 1])),
    ],
    ids=["tsp", "sdvrp"],
)  # fmt: skip
def test_who_names_groups_sees_the_solution(problem, instance, routes, named):
    place = Place(problem, instance)
    upper = place.upper_of("return following[1:] * 1")
    routes = [np.array(each) for each in routes]
    assert tuple(place.proposed(upper, Order.asking(0, 9, 4, 0.0), routes)) == named


@ALL
@pytest.mark.parametrize("step_repairs", [0.0, 0.25])
def test_the_steps_of_an_upper_program_count_as_repairs(name, step_repairs):
    place = place_of(name)
    # Two groups of two; 5 steps of one loop and 5 * 3 of the other, or none before a return.
    upper = place.upper_of(
        "if progress >= 0.5:\n"
        "    return np.array([1, 2])\n"
        "for i in range(5):\n"
        "    j = 0\n"
        "    while j < 3:\n"
        "        j += 1\n"
        "return np.array([1, 2, 0, 3, 4, 0])"
    )
    order = Order(0, 1000, 0.0, 4, 9, 0.0, 0.4, 0.0, 0.0, (place.lower,), step_repairs=step_repairs)
    said = place.groups(upper, place.block, [order.encode(), *place.routes]).arrays[0]
    report = Report.decode(said)
    assert report.steps == 20 * report.passes
    assert report.groups == 2 * report.passes
    assert report.members == 4 * report.passes
    inserted = report.repairs - step_repairs * report.steps
    assert report.groups - 1 < inserted <= report.members
    assert 1000 <= report.repairs < 1010
    later = replace(order, progress=0.5, end_progress=0.9)
    said = place.groups(upper, place.block, [later.encode(), *place.routes]).arrays[0]
    assert (Report.decode(said).steps, Report.decode(said).work.steps) == (0, 0)


@ALL
def test_a_lower_program_alone_moves_the_given_group(name):
    place, group = place_of(name), [7, 3, 22]
    program, _ = translated(place.positions, place.positions._functions[0])
    order = Order(1, 30, 0.0, 1, 3, 0.0, 0.0, 0.0, 0.0)
    inputs = [order.encode(), *place.routes, np.array(group)]
    said, *found = place.positions(program, place.block, inputs).arrays
    report = Report.decode(said)
    # The last of a group are not inserted where it is given up.
    assert 30 <= report.repairs < 33
    assert place.matches_the_checker(report, found)
    assert report.best < place.cost(place.start)
    assert unmoved_runs(found, group) == unmoved_runs(place.routes, group)


def test_a_slice_goes_on_where_the_last_one_ended():
    place = place_of("cvrp")
    report, _ = place.slice()
    order = Order(0, 10**9, 0.05, 4, 30, 0.0, 1.0, 0.0, 0.0, (place.lower,))
    inputs = [order.encode(), np.zeros(0, np.int64)]
    said, *found = place.groups(place.upper, place.block, inputs).arrays
    later = Report.decode(said)
    assert later.repairs > report.repairs
    assert later.best <= report.best
    assert (later.best < report.best) == bool(found)


@pytest.mark.parametrize("name", ["cvrp", "tsp", "sdvrp"])
@pytest.mark.parametrize("wrong", ["no stop", "few stops", "one twice", "one unknown"])
def test_routes_that_are_no_solution_are_refused(name, wrong):
    place = place_of(name)
    stops, *given = place.routes
    stops = {
        "no stop": stops[:0],
        "few stops": stops[:2],
        "one twice": np.where(stops == 1, 2, stops),
        "one unknown": np.where(stops == 1, 99, stops),
    }[wrong]
    routes = [stops, *(array[: len(stops)] for array in given)]
    with pytest.raises(ValueError, match="Expected"):
        place.groups.search_for(place.block, routes, 0)


def test_random_numbers_fill_the_unit_interval():
    state = state_of(0)
    drawn = np.array([uniform(state) for _ in range(20_000)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.03
