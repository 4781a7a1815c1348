"""What the loop of every problem makes of a lower program's answers."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from offered import PROBLEMS, arrays_of, contract_of, problem
from problems.instances import HEAP, LINES, TIMES, VEHICLES, instance_of, line
from problems.samples import defined
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Level
from specahd.problems.tsp.construct import rebuild as rebuild_path
from specahd.routing.base import Region
from specahd.routing.geometry import Convention
from specahd.routing.problem import ACTIONS
from specahd.routing.vehicles.runners import most_stops, rebuild, rebuild_split

SEEDS = {name: contract_of(name, Level.LOWER) for name in PROBLEMS}
SEEDS = {name: defined(contract, contract.seed.source) for name, contract in SEEDS.items()}
HUGE = 10**30
REBUILD = {"cvrp": rebuild, "sdvrp": rebuild_split, "tsp": rebuild_path, "vrptw": rebuild}


def rebuilt(name, program, nodes, instance=None, planned=1):
    """Return what the loop answers, as lists, and how often it answered for the program."""
    arrays = arrays_of(problem(name), instance or line(name))
    answer = REBUILD[name](program, arrays, [np.array(nodes), np.array([planned])])
    assert {array.dtype for array in answer.arrays} == {np.dtype(np.int64)}
    return (*(array.tolist() for array in answer.arrays), answer.fallbacks)


@pytest.mark.parametrize(
    ("name", "nodes", "answers", "expected"),
    [
        ("cvrp", [1, 2, 3, 4, 5], [-1, 6, HUGE, np.int64(7)], ([1, 2, 0, 3, 5, 0, 4], 5)),
        # What is answered is an index into the region.
        ("cvrp", [2, 4, 5], [-1], ([1, 3, 0, 2], 3)),
        # 4 is chosen once; 5 fits behind it, and 4 is gone ever after.
        ("cvrp", [1, 2, 3, 4, 5], [4], ([4, 5, 0, 1, 2, 0, 3], 4)),
        # The depot closes a route, but is unavailable on an empty one.
        ("cvrp", [1, 2, 3], [0], ([1, 0, 2, 0, 3], 3)),
        ("vrptw", [1, 2, 3, 4], [-1, 5, HUGE, np.int64(7)], ([1, 2, 3, 0, 4], 4)),
        ("vrptw", [3, 4], [-1], ([1, 0, 2], 2)),
        # Behind 3, served at 60 and left at 65, nobody is in time.
        ("vrptw", [1, 2, 3, 4], [3], ([3, 0, 1, 2, 0, 4], 3)),
        ("vrptw", [1, 2, 3], [0], ([1, 0, 2, 0, 3], 3)),
        # The end anchor is no answer either.
        ("tsp", [0, 1, 2, 3, 4, 5], [-1, 0, 5, HUGE, np.int64(7)], ([1, 2, 3, 4], 4)),
        # From 20: 10 and then 0 are nearest, then 40 and 50.
        ("tsp", [2, 0, 1, 4, 5, 3], [-1], ([2, 1, 3, 4], 4)),
        # Chosen once, then ties between 2 and 4 go to the lower index.
        ("tsp", [0, 1, 2, 3, 4, 5], [3], ([3, 2, 1, 4], 3)),
        (
            "sdvrp", [1, 2, 3], [(customer, 1) for customer in (-1, 5, HUGE, np.int64(7))],
            ([1, 2, 0, 2, 3], [2, 3, 0, 1, 3], 4),
        ),
        ("sdvrp", [1, 3], [(0, None)], ([1, 0, 2], [2, 0, 3], 2)),
        # 1 takes a unit twice; then 2 gets 3 and, from the next vehicle, 1.
        ("sdvrp", [1, 2], [(1, 1)], ([1, 1, 2, 0, 2], [1, 1, 3, 0, 1], 2)),
        ("sdvrp", [1], [[1, np.int64(2)]], ([1], [2], 0)),
    ],
)  # fmt: skip
def test_what_is_unavailable_falls_back_to_the_nearest(name, nodes, answers, expected):
    for answer in answers:
        assert rebuilt(name, lambda *_, answer=answer: answer, nodes) == expected


@pytest.mark.parametrize("quantity", [0, -1, 6, HUGE, np.int64(-(2**62))])
def test_an_unavailable_quantity_falls_back_to_all_that_fits(quantity):
    found = rebuilt("sdvrp", lambda *state: (int(state[2][-1]), quantity), [1, 2, 3])
    assert found == ([3, 2, 0, 2, 1], [3, 2, 0, 2, 2], 4)


@pytest.mark.parametrize("name", VEHICLES)
def test_a_tie_falls_back_to_the_lowest_index(name):
    square = instance_of(name, [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)], capacity=1)
    answer = (-1, 1) if name == "sdvrp" else -1
    route, *_ = rebuilt(name, lambda *_: answer, [1, 2, 3, 4], square)
    assert route == [1, 0, 2, 0, 3, 0, 4]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("wrong", [True, np.bool_(True), 1.0, np.float64(1), None, "1", (1,), {1}])
def test_an_answer_that_is_no_integer_fails(name, wrong):
    answers = ((wrong, 1), (1, wrong)) if name == "sdvrp" else (wrong,)
    for answer in answers:
        # Also as an action of a plan, as soon as it is its turn.
        for given in (answer, [answer], [action(name, 1), answer]):
            with pytest.raises(InvalidAnswer, match=r"Expected an integer|Expected a customer"):
                rebuilt(name, lambda *_, given=given: given, [1, 2, 3, 4])


@pytest.mark.parametrize("answer", [1, None, (1,), (1, 1, 1), (), "11", [], {1: 2}, range(2)])
def test_what_is_no_pair_fails(answer):
    for given in (answer, [(1, 1), answer]):
        with pytest.raises(InvalidAnswer, match="Expected a customer and a quantity"):
            rebuilt("sdvrp", lambda *_, given=given: given, [1, 2])


def action(name, node, quantity=1):
    """Return an action as programs answer it."""
    return (node, quantity) if name == "sdvrp" else node


@pytest.mark.parametrize(
    ("name", "nodes", "plans", "asked", "expected"),
    [
        # All at once; a route in which nobody fits is closed with or without the depot.
        ("cvrp", [1, 2, 3, 4, 5], [[1, 2, 0, 3, 5, 0, 4]], [0], ([1, 2, 0, 3, 5, 0, 4], 0)),
        ("cvrp", [1, 2, 3, 4, 5], [np.array([1, 2, 3, 5, 4])], [0], ([1, 2, 0, 3, 5, 0, 4], 0)),
        ("cvrp", [1, 2, 3], [[1, 0, 2, 0, 3, 0, 1, 7]], [0], ([1, 0, 2, 0, 3], 0)),
        # Behind 1 there is no room for 4, and 1 and the second depot are gone.
        ("cvrp", [1, 2, 3, 4, 5], [[1, 4, 2], [2, 1], [0, 3], [5, 0, 0, 4], [4]], [0, 1, 0, 3, 0],
         ([1, 2, 0, 3, 5, 0, 4], 1)),
        # The depot is unavailable first, then the rest of its plan is dropped.
        ("cvrp", [1, 2, 3], [[0, 3], [HUGE, 3], [3]], [0, 1, 0], ([1, 2, 0, 3], 2)),
        ("vrptw", [1, 2, 3, 4], [np.array([1, 2, 3, 4], np.uint8)], [0], ([1, 2, 3, 0, 4], 0)),
        # Behind 3 nobody is in time, so its route is closed; behind 2, 4 is late.
        ("vrptw", [1, 2, 3, 4], [[3, 1, 2, 4]], [0], ([3, 0, 1, 2, 0, 4], 0)),
        ("vrptw", [1, 2, 3, 4], [[1, 2, 4, 3], [4, 3], [4]], [0, 2, 0], ([1, 2, 3, 0, 4], 1)),
        ("tsp", [0, 1, 2, 3, 4, 5], [[3, 2, 1, 4]], [0], ([3, 2, 1, 4], 0)),
        ("tsp", [0, 1, 2, 3, 4, 5], [[3, 3], [0, 1], [1, 5], np.array([4])], [0, 3, 2, 1],
         ([3, 2, 1, 4], 1)),
        ("sdvrp", [1, 2, 4], [[(3, 3), (3, 2), (3, 2), [2, 3], (1, 2), (2, 1)]], [0],
         ([3, 3, 0, 3, 2, 0, 1, 2], [3, 2, 0, 2, 3, 0, 2, 1], 0)),
        # 2 lacks 1 of the 2 behind the first pair; the array goes on.
        ("sdvrp", [1, 2], [((2, 3), (2, 2), (1, 1)), np.array([[2, 1], [0, 9], [1, 2]])], [0, 2],
         ([2, 2, 0, 1], [3, 1, 0, 2], 0)),
    ],
)  # fmt: skip
def test_a_plan_is_followed_as_far_as_it_is_available(name, nodes, plans, asked, expected):
    waiting, places = iter(plans), []

    def program(current, *_):
        places.append(current)
        return next(waiting)

    assert rebuilt(name, program, nodes) == expected
    assert places == asked


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_plan_needs_leave(name):
    for plan in ([action(name, 1)], np.array([action(name, 1)])):
        assert rebuilt(name, lambda *_, plan=plan: plan, [1, 2, 3])
        with pytest.raises(InvalidAnswer, match=r"Expected an integer|Expected a customer"):
            rebuilt(name, lambda *_, plan=plan: plan, [1, 2, 3], planned=0)


def test_programs_by_hand_that_plan_need_leave_too():
    forms = (type(problem("vrptw"))(actions=actions) for actions in ACTIONS)
    found = [{one.id for one in form.operator.contract.varied} for form in forms]
    assert found[0] - found[1] == {"lower-planned-insertion"}
    assert found[1] < found[0]


class Lying(list):
    """A list that says it has more than it has, and never comes to an end."""

    def __len__(self):
        return 10**9

    def __iter__(self):
        while True:
            yield 1


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "plan",
    [
        [], [[]], [[1]], [[[1, 1]]], np.array([]), np.zeros(0, int), np.zeros((0, 2), int),
        np.array([[1.0, 1.0]]), np.array([1.0]), np.array([True]), np.array([[True, True]]),
        np.array([1, 1], object), np.array(1), np.ones((1, 3), int), np.ones((1, 1, 2), int),
        np.array("1"), {1: 1}, (one for one in (1, 1)), iter([1]), range(1, 3), b"\x01\x01",
        Lying(), Lying([1, 1]),
    ],
)  # fmt: skip
def test_a_hostile_plan_fails(name, plan):
    with pytest.raises(InvalidAnswer, match=r"^Expected "):
        rebuilt(name, lambda *_: plan, [1, 2, 3])


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "plan", [lambda one: np.broadcast_to(one, (10**12, *np.shape(one))), lambda one: [one] * 10**6]
)
def test_of_a_huge_plan_only_what_is_available_is_read(name, plan):
    huge, calls = plan(action(name, 1)), []
    # The SDVRP delivers one unit after the other, as far as they go.
    rebuilt(name, lambda *_: calls.append(1) or huge, [1, 2, 3, 4])
    assert len(calls) < 9


@pytest.mark.parametrize(
    ("name", "demand", "due", "words"),
    [
        ("cvrp", 9, 99, "by a vehicle of its own"),
        ("vrptw", 9, 50, "by a vehicle of its own"),
        ("vrptw", 1, -1.0, "by a vehicle of its own"),
    ],
)
def test_a_customer_that_nobody_can_serve_fails_instead_of_looping(name, demand, due, words):
    due = np.array([99.0, due])
    with pytest.raises(InvalidAnswer, match=words):
        rebuilt(name, SEEDS[name], [1], instance_of(name, HEAP[:2], [0, demand], 5, due=due))


def test_crumbs_of_a_large_demand_fail_instead_of_going_on_for_ever():
    heavy = instance_of("sdvrp", HEAP[:2], [0, 10**9], 10**9)
    with pytest.raises(InvalidAnswer, match=f"More than {most_stops(1, 10**9, 10**9)} stops"):
        rebuilt("sdvrp", lambda *_: (1, 1), [1], heavy)
    assert rebuilt("sdvrp", SEEDS["sdvrp"], [1], heavy)[0] == [1]
    # Those of a small demand are a bad answer, but an answer.
    light = instance_of("sdvrp", HEAP[:2], [0, 400], 400)
    route, quantities, fallbacks = rebuilt("sdvrp", lambda *_: (1, 1), [1], light)
    assert (len(route), sum(quantities), fallbacks) == (400, 400, 0)


@pytest.mark.parametrize(
    ("name", "nodes", "answer", "states"),
    [
        # Current node, who waits, what the vehicle still holds, what customers lack.
        (
            "cvrp", [1, 2, 3, 4, 5], lambda waiting: int(waiting[0]),
            [(0, [1, 2, 3, 4, 5], 5), (1, [2, 3, 5], 3), (0, [3, 4, 5], 5), (3, [5], 3),
             (0, [4], 5)],
        ),
        (
            # It asks for 3 where only 2, 2, 1 and 2 are left of the vehicle or the demand.
            "sdvrp", [1, 2, 4], lambda waiting: (int(waiting[-1]), 3),
            [(0, [1, 2, 3], 5, [0, 2, 4, 7]), (3, [1, 2, 3], 2, [0, 2, 4, 4]),
             (0, [1, 2, 3], 5, [0, 2, 4, 2]), (3, [1, 2], 3, [0, 2, 4, 0]),
             (0, [1, 2], 5, [0, 2, 1, 0]), (2, [1], 4, [0, 2, 0, 0])],
        ),
        (
            # Left at 15; 4 is reached at 45. Left at 35; 4 is reached at 55 sharp, is too heavy.
            "vrptw", [1, 2, 3, 4], lambda waiting: int(waiting[0]),
            [(0, [1, 2, 3, 4], 7, 0.0), (1, [2, 3, 4], 5, 15.0), (2, [3], 2, 35.0),
             (0, [4], 7, 0.0)],
        ),
        # The closing anchor lies where node 3 does: a local index is no node.
        ("tsp", [2, 4, 1, 3, 3], lambda waiting: int(waiting[-1]),
         [(0, [1, 2, 3]), (3, [1, 2]), (2, [1])]),
    ],
)  # fmt: skip
def test_a_program_sees_exactly_what_is_feasible(name, nodes, answer, states):
    seen, names = [], contract_of(name, Level.LOWER).arguments

    def program(*given):
        told = dict(zip(names, given, strict=True))
        arrays = [value for value in given if isinstance(value, np.ndarray)]
        assert not any(array.flags.writeable for array in arrays)
        assert {type(value) for value in given} <= {int, float, np.ndarray}
        own = ("current_node", "unvisited_nodes", "rest_capacity", "current_time")
        shown = [told[each] for each in (*own, "residual_demands") if each in told]
        seen.append(tuple(x.tolist() if isinstance(x, np.ndarray) else x for x in shown))
        assert told["unvisited_nodes"].dtype == np.int64
        if name == "tsp":
            assert told["destination_node"] == 4
            assert told["distance_matrix"][0].tolist() == [0, 20, 10, 10, 10]
            assert told["distance_matrix"][4].tolist() == [10, 10, 20, 0, 0]
        else:
            assert told["depot"] == 0
            assert len(told["distance_matrix"]) == len(nodes) + 1
        if name == "vrptw":
            for field, times in TIMES.items():
                assert told[f"{field}_times"].tolist() == times.tolist()
        if "demands" in told:
            assert told["demands"].tolist() == LINES[name][0]
        return answer(told["unvisited_nodes"])

    found = rebuilt(name, program, nodes)
    assert seen == states
    expected = {
        "cvrp": ([1, 2, 0, 3, 5, 0, 4], 0),
        "sdvrp": ([3, 3, 0, 3, 2, 0, 2, 1], [3, 2, 0, 2, 3, 0, 1, 2], 4),
        "vrptw": ([1, 2, 3, 0, 4], 0),
        "tsp": ([3, 2, 1], 0),
    }
    assert found == expected[name]


def test_a_closed_tour_has_its_start_twice():
    def program(current, destination, unvisited, distances):
        assert destination == 6
        np.testing.assert_array_equal(distances[0], distances[6])
        return int(unvisited[np.argmin(distances[current, unvisited])])

    assert rebuilt("tsp", program, [3, 0, 1, 2, 4, 5, 3]) == ([3, 2, 1, 4, 5], 0)


@pytest.mark.parametrize(
    ("field", "node", "time", "expected"),
    [
        # Reached at 45 from customer 1: in time at 45, late at 44.
        ("due", 4, 45, [[1, 2, 3, 4], [2, 3, 4]]),
        ("due", 4, 44, [[1, 2, 3, 4], [2, 3]]),
        # Served at 60, left at 65, back at 95; else customer 3 cannot be served at all.
        ("due", 0, 95, [[1, 2, 3, 4], [2, 3, 4]]),
        ("due", 0, 94, [[1, 2, 4], [2, 4]]),
        # Vehicles leave at 12, customer 1 at 27; then 4 is reached at 57.
        ("ready", 0, 12, [[1, 2, 3, 4], [2, 3]]),
    ],
)
def test_windows_and_return_decide_what_is_feasible(field, node, time, expected):
    changed = TIMES[field].copy()
    changed[node] = time
    seen = []

    def program(current, depot, unvisited, *_):
        seen.append(unvisited.tolist())
        return int(unvisited[0])

    instance = replace(line("vrptw", **{field: changed}), capacity=99)
    try:
        rebuilt("vrptw", program, [1, 2, 3, 4], instance)
    except InvalidAnswer:
        assert time == 94
    assert seen[:2] == expected


def tight(name, rng, convention):
    """Return an instance whose windows close at the very sums of random numbers."""
    size = int(rng.integers(4, 40))
    coords = rng.integers(0, 900, (size + 1, 2)) / rng.choice([1, 7])
    away = np.hypot(*(coords - coords[0]).T) + 1.0
    service = np.append(0.0, rng.random(size) * 30)
    ready = rng.random(size + 1) * 900
    start = np.maximum(away, ready)
    closing = (start + service + away).max()
    due = np.minimum(start + rng.choice([0.0, 40, 900], size + 1), closing - service - away)
    # Where a rounding error would make it unreachable.
    due = np.maximum(due, start)
    ready[0], due[0] = 0.0, closing + 1e-6
    demands = np.append(0, rng.integers(1, 40 if name == "sdvrp" else 9, size))
    times = {"ready": ready, "due": due, "service": service}
    return instance_of(name, coords, demands, 30, convention=convention, **times)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "convention", [Convention.DIMACS, Convention.EXACT_2D, Convention.EUC_2D, Convention.ATT]
)
def test_any_program_builds_what_the_checker_accepts(name, convention):
    """Whatever a lower program answers, the solution stays feasible (Proposition 1)."""
    solved, replaced = problem(name), 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        instance = tight(name, rng, convention)
        solution = solved.baseline(instance, "nearest")
        size = int(rng.integers(4, instance.size + 1))
        chosen = rng.permutation(np.arange(1, instance.size + 1))[:size].tolist()
        if name == "tsp":
            # Now and then the whole tour, which begins and ends at one anchor.
            chosen = [*solution, solution[0]] if seed % 5 == 0 else solution[:size]
        region = Region(tuple(chosen))
        inputs = solved.operator.inputs(instance, solution, region)

        def program(*_, rng=rng, size=size):
            if rng.random() < 0.5:
                return action(name, rng.integers(-1, size + 1), rng.integers(-1, 32))
            return rng.integers(-1, 32, (9, 2) if name == "sdvrp" else 9) % (size + 2)

        *output, fallbacks = rebuilt(name, program, inputs[0], instance)
        replaced += fallbacks
        merged = solved.operator.merge(instance, solution, region, list(map(np.array, output)))
        assert solved.check(instance, merged) == ()
        # What was built is built again by one answer.
        plan, called = np.array(output).T if name == "sdvrp" else np.array(output[0]), []
        again = rebuilt(name, lambda *_: called.append(1) or plan, inputs[0], instance)
        assert (again, len(called)) == ((*output, 0), 1)
    assert replaced


def test_a_child_pays_for_no_more_than_numpy():
    modules = "specahd.problems.tsp.construct, specahd.routing.vehicles.runners"
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "numpy" in imported
    assert imported.isdisjoint({"numba", "scipy", "pyvrp", "hydra", "pandas"})
