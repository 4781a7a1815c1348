"""What the vocabularies of every problem make runs without a warning and answers of use."""

import textwrap

import numpy as np
import pytest

from offered import PROBLEMS, arrays_of, contract_of, problem
from problems.samples import defined, samples
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.llm.grammar import Grammar
from specahd.problems.tsp.construct import rebuild
from specahd.problems.tsp.instance import TSPInstance
from specahd.routing.base import Region
from specahd.routing.groups import concatenated, validate_groups

pytestmark = pytest.mark.filterwarnings("error")
MATRIX = np.array([[0, 5, 2, 2], [5, 0, 1, 1], [2, 1, 0, 9], [2, 1, 9, 0]], dtype=float)


def instance(size, seed, capacity=9, least=0):
    """Return what programs see of an instance, by the names of their parameters."""
    rng = generator(seed, "test")
    coords = rng.integers(0, 100, size=(size + 1, 2)).astype(float)
    # Two customers on one spot, and one at the depot.
    coords[2], coords[3] = coords[1], coords[0]
    demands = np.concatenate(([0], rng.integers(least, (1 + least) * capacity, size=size)))
    arrays = {
        "coords": coords,
        "demands": demands,
        "distance_matrix": distances(coords),
        "ready_times": rng.integers(0, 100, size=size + 1).astype(float),
        # Everybody is in time from every state below, as in every state that programs meet.
        "due_times": 250.0 + rng.integers(0, 50, size=size + 1),
        "service_times": np.full(size + 1, 5.0),
    }
    for name, value in (("ready_times", 0), ("due_times", 500), ("service_times", 0)):
        arrays[name][0] = value
    for array in arrays.values():
        array.flags.writeable = False
    return {**arrays, "capacity": capacity}


def distances(coords):
    gaps = coords[:, None] - coords[None]
    return np.floor(np.hypot(gaps[..., 0], gaps[..., 1]) + 0.5)


def programs(name, level):
    """Yield the sources of samples, and functions of what programs see by name."""
    contract = contract_of(name, level)
    for source in samples(name, level):
        program = defined(contract, source)
        yield (
            source,
            lambda program=program, **seen: program(*(seen[each] for each in contract.arguments)),
        )


@pytest.mark.parametrize("name", PROBLEMS)
def test_lower_samples_give_an_available_answer_in_every_state(name):
    seen = instance(12, seed=1, least=int(name == "sdvrp"))
    demands = seen["demands"]
    rng = generator(2, "test")
    states = [(0, [1], 1), (0, [1, 2, 3], 9), (1, [2, 3], 8), (3, [1, 2], 1), (5, [7], 3)]
    # A program may be where customers lack something still; a vehicle may be full elsewhere.
    states.append((5, [5], 3) if name == "sdvrp" else (3, [1, 2], 0))
    for _ in range(5):
        nodes = rng.permutation(np.arange(1, 12))
        states.append((int(nodes[0]), sorted(nodes[1:8].tolist()), int(rng.integers(1, 10))))
    for source, program in programs(name, Level.LOWER):
        for current, unvisited, rest in states:
            residuals = np.where(np.isin(np.arange(13), unvisited), demands, 0)
            answer = program(
                **seen, current_node=current, depot=0, destination_node=12, rest_capacity=rest,
                unvisited_nodes=np.array(unvisited), current_time=7.0 * current,
                residual_demands=residuals,
            )  # fmt: skip
            if name == "sdvrp":
                if isinstance(answer, np.ndarray):
                    answer = tuple(answer[0].tolist())
                assert type(answer) is tuple, source
                answer, quantity = answer
                assert type(quantity) is int, source
                assert not answer or 1 <= quantity <= min(residuals[answer], rest), source
            if isinstance(answer, np.ndarray):
                # A plan, whose first action is available.
                answer = int(answer[0])
            assert type(answer) is int, source
            at_depot = name != "tsp" and answer == 0
            assert current != 0 if at_depot else answer in unvisited, source


WHOLE = [
    [[1]],
    [[1, 2, 3]],
    [[3], [1, 2], [4, 5, 6], [12, 11, 10, 9, 8, 7]],
    [[node] for node in range(1, 13)],
    [list(range(1, 13))],
]
SPLIT = [
    [[1], [1], [1]],
    [[3], [1, 2], [2, 4, 5], [5, 6], [12, 11, 10, 9, 8, 7, 6]],
    [list(range(1, 13)), list(range(12, 0, -1))],
]


@pytest.mark.parametrize(
    ("name", "routes"),
    [(name, routes) for name in PROBLEMS if name != "tsp" for routes in WHOLE]
    + [("sdvrp", routes) for routes in SPLIT],
)
def test_upper_samples_propose_groups_that_the_validator_keeps(name, routes):
    visits = [node for route in routes for node in route]
    size, count, largest = max(visits), 3, 5
    seen = instance(max(size, 3), seed=3, least=int(name == "sdvrp"))
    deliveries = [np.ones(len(route), np.int64) for route in routes]
    for source, program in programs(name, Level.UPPER):
        groups = program(
            **seen, routes=list(map(np.array, routes)), deliveries=deliveries, max_groups=count,
            max_size=largest,
        )  # fmt: skip
        assert 1 <= len(groups) <= count, source
        entries = [int(node) for group in groups for node in group]
        # Customers that routes share may occur again: the validator drops them.
        assert routes in SPLIT or len(entries) == len(set(entries)), source
        assert all(1 <= node <= size for node in entries), source
        assert all(1 <= len(group) <= largest for group in groups), source
        kept = validate_groups(concatenated(groups), size, count, largest)
        assert all(rejection.reason == "empty" for rejection in kept.rejections), source


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_lower_seed_takes_the_nearest_and_the_lowest_index_on_ties(name):
    contract = contract_of(name, Level.LOWER)
    seed = defined(contract, contract.seed.source)
    seen = {
        "depot": 0, "destination_node": 3, "distance_matrix": MATRIX, "current_time": 0.0,
        "demands": np.ones(4, np.int64), "residual_demands": np.array([0, 4, 7, 3]),
        "ready_times": np.zeros(4), "due_times": np.full(4, 9.0), "service_times": np.zeros(4),
    }  # fmt: skip
    for current, unvisited, rest, expected in (
        (0, [1, 2, 3], 9, (2, 7)),
        # All that fits.
        (0, [1, 2, 3], 5, (2, 5)),
        (2, [1, 3], 9, (1, 4)),
    ):
        seen |= {"current_node": current, "rest_capacity": rest}
        seen["unvisited_nodes"] = np.array(unvisited)
        answer = seed(*(seen[each] for each in contract.arguments))
        assert answer == (expected if name == "sdvrp" else expected[0])


def test_the_schedule_of_the_upper_vocabulary_is_that_of_the_routes():
    """Its running maximum against one stop after another."""
    contract = contract_of("vrptw", Level.UPPER)
    body = contract.vocabulary.productions[0]
    lines = body.template.split("limit =")[0] + "return held, spare, spent"
    source = f"def probe({', '.join(contract.arguments)}):\n" + textwrap.indent(lines, "    ")
    scope = {"np": np}
    exec(compile(source, "probe", "exec"), scope)
    for seed in range(20):
        seen = instance(30, seed)
        ready, due, matrix = (seen[x] for x in ("ready_times", "due_times", "distance_matrix"))
        rng = generator(seed, "routes")
        order = rng.permutation(np.arange(1, 31))
        routes = np.split(order, np.sort(rng.choice(np.arange(1, 30), 5, replace=False)))
        held, spare, spent = scope["probe"](**seen, routes=routes, max_groups=3, max_size=5)
        stops, leaves = [], []
        for route in routes:
            time, before = ready[0], 0
            for node in route:
                arrival = time + matrix[before, node]
                start = max(arrival, ready[node])
                stops.append((start - arrival, due[node] - start))
                time, before = start + seen["service_times"][node], node
            leaves.append(time / due[0])
        np.testing.assert_allclose(np.stack((held, spare), 1), stops, atol=1e-9)
        np.testing.assert_allclose(spent, leaves)


def test_lower_samples_stand_a_heap_of_nodes_in_one_place():
    for source, program in programs("tsp", Level.LOWER):
        answer = program(
            current_node=0, destination_node=6, unvisited_nodes=np.array([1, 2, 4]),
            distance_matrix=np.zeros((7, 7)),
        )  # fmt: skip
        # One action, or a plan of them all.
        assert answer in (1, 2, 4) if type(answer) is int else sorted(answer) == [1, 2, 4], source


@pytest.mark.parametrize("name", ["cvrp", "sdvrp", "tsp"])
def test_programs_of_single_actions_answer_with_the_first_one_of_their_plan(name):
    seen = instance(12, seed=1) | {"current_node": 0, "depot": 0, "destination_node": 12}
    seen |= {"rest_capacity": 20, "unvisited_nodes": np.arange(1, 12)}
    seen["residual_demands"] = seen["demands"] + (seen["distance_matrix"][0] > 0)
    contract = contract_of(name, Level.LOWER)
    single = contract.of_single_actions()
    plans = 0
    for number in range(80):
        answers = []
        for asked in (contract, single):
            grammar = Grammar(asked.vocabulary)
            tree = grammar.draw_program(generator(number, "test"))
            program = defined(asked, grammar.source(tree, asked.name, asked.arguments))
            answers.append(program(*(seen[each] for each in asked.arguments)))
        plan, first = answers
        if isinstance(plan, np.ndarray | list):
            plans += 1
            plan = plan[0].tolist()
            assert type(first) is type(plan)
        assert plan == first
    assert plans > 5


@pytest.mark.parametrize(
    ("size", "count", "largest"), [(3, 3, 50), (4, 3, 50), (7, 1, 5), (40, 3, 8), (40, 3, 50)]
)
def test_upper_samples_propose_valid_runs(size, count, largest):
    tsp = type(problem("tsp"))(max_regions=count, max_size=largest)
    coords = generator(3, "test").integers(0, 100, size=(size, 2)).astype(float)
    # Two nodes on one spot, one of them the start.
    coords[1] = coords[0]
    route = generator(4, "test").permutation(size)
    for places in (coords, np.zeros((size, 2))):
        for source, program in programs("tsp", Level.UPPER):
            runs = program(
                route=route, coords=places, distance_matrix=distances(places), max_segments=count,
                max_segment_size=largest,
            )  # fmt: skip
            assert 1 <= len(runs) <= count, source
            found = tsp.operator.selector.validate(
                TSPInstance("x", places), tuple(route.tolist()), concatenated(runs)
            )
            # Three nodes leave nothing to rebuild.
            assert found.rejections == () or size == 3, source


def test_some_sample_repairs_what_the_seed_cannot():
    """The vocabulary reaches programs that mend the baseline; its seed hardly does."""
    tsp = problem("tsp")
    case = next(tsp.generate("upper_train", 7))
    arrays, tour = arrays_of(tsp, case), tsp.baseline(case, "nearest")
    before = tsp.cost(case, tour)
    runs = [Region(tour[start : start + 50]) for start in range(0, case.size - 50, 49)]

    def gain(source):
        program = defined(contract_of("tsp", Level.LOWER), source)
        total = 0.0
        for region in runs:
            inputs = tsp.operator.inputs(case, tour, region)
            answer = rebuild(program, arrays, inputs).arrays
            merged = tsp.operator.merge(case, tour, region, answer)
            assert tsp.check(case, merged) == ()
            total += max(0.0, before - tsp.cost(case, merged)) / before
        return total / len(runs)

    assert gain(contract_of("tsp", Level.LOWER).seed.source) < 0.0005
    assert any(gain(source) > 0.001 for source in samples("tsp", Level.LOWER))
