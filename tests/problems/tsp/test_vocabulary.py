import ast
import math
import re
from functools import cache

import numpy as np
import pytest

from specahd.core.contract import Contract, Request
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.core.vocabulary import Constant
from specahd.llm.grammar import MAX_SIZE, Grammar
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.problems.tsp.construct import rebuild
from specahd.problems.tsp.contracts import CONTRACTS, select_next_node
from specahd.problems.tsp.generator import generate
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.routing.base import Region
from specahd.sandbox.guard import guard

LEVELS = pytest.mark.parametrize("level", list(Level))
SAMPLES = 300


def compiled(contract: Contract, source: str):
    scope = {"np": np, "math": math}
    exec(compile(source, "candidate", "exec"), scope)
    return scope[contract.name]


@cache
def samples(level):
    proposer = OfflineProposer()
    requests = [Request(CONTRACTS[level], 5, level, 0, i, "i1") for i in range(SAMPLES)]
    replies = [proposer.propose(request).text for request in requests]
    return [parse_reply(text, CONTRACTS[level])[0] for text in replies]


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


@LEVELS
def test_every_production_is_sound(level):
    vocabulary = CONTRACTS[level].vocabulary
    made = {rule.makes for rule in (*vocabulary.productions, *vocabulary.constants)}
    wanted = {kind for rule in vocabulary.productions for kind in rule.holes.values()}
    assert made == wanted | {vocabulary.root}
    for production in vocabulary.productions:
        names = {
            node.id
            for node in ast.walk(ast.parse(production.template))
            if isinstance(node, ast.Name)
        }
        assert {name for name in names if len(name) > 1 and name.isupper()} == set(production.holes)
        assert set(re.findall(r"\{(\w+)\}", production.phrase)) == set(production.holes)
        assert not re.search(r"[{}]", re.sub(r"\{\w+\}", "", production.phrase))
        assert production.weight > 0


@LEVELS
def test_every_production_occurs_in_some_sample(level):
    grammar = Grammar(CONTRACTS[level].vocabulary)
    seen = set()
    for index in range(3_000):
        tree = grammar.fresh(generator(index, "test"))
        assert tree.size <= MAX_SIZE
        seen |= {id(node.rule) for _, node in tree.walk()}
    for rule in (*grammar.vocabulary.productions, *grammar.vocabulary.constants):
        assert id(rule) in seen, rule


@LEVELS
def test_samples_read_back_pass_the_guard_and_differ(level):
    contract = CONTRACTS[level]
    grammar = Grammar(contract.vocabulary)
    sources = samples(level)
    assert len(set(sources)) > 0.9 * SAMPLES
    for source in sources:
        tree = grammar.recover(source)
        assert tree is not None, source
        assert grammar.source(tree, contract.name, contract.arguments) == source
        assert guard(source, contract.name, contract.arguments) is None, source
        for _, node in tree.walk():
            if isinstance(node.rule, Constant):
                assert node.rule.low <= node.value <= node.rule.high
                assert float(f"{node.value:.3g}") == node.value


@LEVELS
def test_the_seed_reads_back(level):
    contract = CONTRACTS[level]
    grammar = Grammar(contract.vocabulary)
    tree = grammar.recover(contract.seed.source)
    assert grammar.source(tree, contract.name, contract.arguments) == contract.seed.source
    assert grammar.idea(tree) == contract.seed.idea
    assert guard(contract.seed.source, contract.name, contract.arguments) is None


@pytest.mark.filterwarnings("error")
def test_lower_samples_give_an_available_answer_in_every_state():
    _, matrix = instance(14, seed=1)
    rng = generator(2, "test")
    states = [(0, [1]), (0, [1, 2, 3]), (1, [2, 3]), (3, [1, 2]), (5, [7])]
    for _ in range(5):
        nodes = rng.permutation(np.arange(1, 13))
        states.append((int(nodes[0]), sorted(nodes[1:8].tolist())))
    for source in samples(Level.LOWER):
        program = compiled(CONTRACTS[Level.LOWER], source)
        for current, unvisited in states:
            answer = program(current, 13, np.array(unvisited), matrix)
            assert type(answer) is int, source
            assert answer in unvisited, source


@pytest.mark.filterwarnings("error")
def test_lower_samples_stand_a_heap_of_nodes_in_one_place():
    matrix = np.zeros((7, 7))
    for source in samples(Level.LOWER):
        program = compiled(CONTRACTS[Level.LOWER], source)
        assert program(0, 6, np.array([1, 2, 4]), matrix) in (1, 2, 4), source


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("size", "count", "largest"), [(4, 3, 50), (7, 1, 5), (40, 3, 8), (40, 3, 50)]
)
def test_upper_samples_propose_valid_runs(size, count, largest):
    problem = TSP(max_regions=count, max_size=largest)
    for coords, matrix in [instance(size, seed=3), (np.zeros((size, 2)), np.zeros((size, size)))]:
        route = generator(4, "test").permutation(size)
        for source in samples(Level.UPPER):
            program = compiled(CONTRACTS[Level.UPPER], source)
            runs = program(route, coords, matrix, count, largest)
            assert 1 <= len(runs) <= count, source
            output = [
                np.array([len(run) for run in runs]),
                np.array([int(node) for run in runs for node in run]),
            ]
            found = problem.validate(TSPInstance("x", coords), tuple(route.tolist()), output)
            assert found.rejections == (), source


@pytest.mark.filterwarnings("error")
def test_upper_samples_stand_three_nodes():
    coords, matrix = instance(3, seed=3)
    for source in samples(Level.UPPER):
        program = compiled(CONTRACTS[Level.UPPER], source)
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
        program = compiled(CONTRACTS[Level.LOWER], source)
        total = 0.0
        for region in runs:
            inputs = problem.rebuild_inputs(case, tour, region)
            merged = problem.merge(case, tour, region, rebuild(program, arrays, inputs))
            assert problem.check(case, merged) == ()
            total += max(0.0, before - problem.cost(case, merged)) / before
        return total / len(runs)

    assert gain(CONTRACTS[Level.LOWER].seed.source) < 0.0005
    assert max(map(gain, samples(Level.LOWER)[:40])) > 0.001
