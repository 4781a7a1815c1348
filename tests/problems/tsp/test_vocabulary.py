import numpy as np
import pytest

from problems.samples import defined, samples
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.problems.tsp.construct import rebuild
from specahd.problems.tsp.contracts import APPEND
from specahd.problems.tsp.generator import generate
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.routing.base import Region, contracts
from specahd.sandbox.definition import define

select_next_node = define(APPEND.seed.source, "select_next_node")

CONTRACTS = contracts(TSP().operator)


def instance(size, seed):
    rng = generator(seed, "test")
    coords = rng.integers(0, 100, size=(size, 2)).astype(float)
    # Two nodes on one spot, one of them the start.
    coords[1] = coords[0]
    gaps = coords[:, None] - coords[None]
    matrix = np.floor(np.hypot(gaps[..., 0], gaps[..., 1]) + 0.5)
    for array in (coords, matrix):
        array.flags.writeable = False
    return coords, matrix


@pytest.mark.filterwarnings("error")
def test_lower_samples_give_an_available_answer_in_every_state():
    _, matrix = instance(14, seed=1)
    rng = generator(2, "test")
    states = [(0, [1]), (0, [1, 2, 3]), (1, [2, 3]), (3, [1, 2]), (5, [7])]
    for _ in range(5):
        nodes = rng.permutation(np.arange(1, 13))
        states.append((int(nodes[0]), sorted(nodes[1:8].tolist())))
    for source in samples("tsp", Level.LOWER):
        program = defined(CONTRACTS[Level.LOWER], source)
        for current, unvisited in states:
            answer = program(current, 13, np.array(unvisited), matrix)
            assert type(answer) is int, source
            assert answer in unvisited, source


@pytest.mark.filterwarnings("error")
def test_lower_samples_stand_a_heap_of_nodes_in_one_place():
    matrix = np.zeros((7, 7))
    for source in samples("tsp", Level.LOWER):
        program = defined(CONTRACTS[Level.LOWER], source)
        assert program(0, 6, np.array([1, 2, 4]), matrix) in (1, 2, 4), source


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("size", "count", "largest"), [(4, 3, 50), (7, 1, 5), (40, 3, 8), (40, 3, 50)]
)
def test_upper_samples_propose_valid_runs(size, count, largest):
    problem = TSP(max_regions=count, max_size=largest)
    for coords, matrix in [instance(size, seed=3), (np.zeros((size, 2)), np.zeros((size, size)))]:
        route = generator(4, "test").permutation(size)
        for source in samples("tsp", Level.UPPER):
            program = defined(CONTRACTS[Level.UPPER], source)
            runs = program(route, coords, matrix, count, largest)
            assert 1 <= len(runs) <= count, source
            output = [
                np.array([len(run) for run in runs]),
                np.array([int(node) for run in runs for node in run]),
            ]
            found = problem.operator.selector.validate(
                TSPInstance("x", coords), tuple(route.tolist()), output
            )
            assert found.rejections == (), source


@pytest.mark.filterwarnings("error")
def test_upper_samples_stand_three_nodes():
    coords, matrix = instance(3, seed=3)
    for source in samples("tsp", Level.UPPER):
        program = defined(CONTRACTS[Level.UPPER], source)
        assert len(program(np.array([1, 0, 2]), coords, matrix, 3, 50)) <= 3, source


def test_the_lower_seed_takes_the_nearest_and_the_lowest_index_on_ties():
    matrix = np.array([[0, 5, 2, 2], [5, 0, 1, 1], [2, 1, 0, 9], [2, 1, 9, 0]], dtype=float)
    assert select_next_node(0, 3, np.array([1, 2]), matrix) == 2
    assert select_next_node(1, 0, np.array([2, 3]), matrix) == 2


def test_some_sample_repairs_what_the_seed_cannot():
    """The vocabulary reaches programs that mend the baseline; its seed hardly does."""
    problem = TSP()
    case = next(generate("upper_train", 7))
    arrays = {name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(case).items()}
    problem.fill(case, arrays)
    tour = problem.baseline(case)
    before = problem.cost(case, tour)
    runs = [Region(tour[start : start + 50]) for start in range(0, case.size - 50, 49)]

    def gain(source):
        program = defined(CONTRACTS[Level.LOWER], source)
        total = 0.0
        for region in runs:
            inputs = problem.operator.inputs(case, tour, region)
            merged = problem.operator.merge(
                case, tour, region, rebuild(program, arrays, inputs).arrays
            )
            assert problem.check(case, merged) == ()
            total += max(0.0, before - problem.cost(case, merged)) / before
        return total / len(runs)

    assert gain(CONTRACTS[Level.LOWER].seed.source) < 0.0005
    assert any(gain(source) > 0.001 for source in samples("tsp", Level.LOWER))
