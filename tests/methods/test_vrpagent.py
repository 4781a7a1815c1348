"""VRPAgent: generations, elites and their mutations, biased crossover, the price on length."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from specahd.core.errors import ConfigError
from specahd.methods.vrpagent import CREATE, CROSSOVER, MUTATIONS, VRPAgent
from told import failed, measured, parent, start


def ids(parents):
    return [one.program.id for one in parents]


def founded(scores, seed=0, **options):
    """Return a method whose population was written from scratch, with its generator."""
    method = VRPAgent(initial=len(scores), **options)
    method.begin(start())
    rng = np.random.default_rng(seed)
    for index, score in enumerate(scores):
        assert method.ask(index, rng).operator is CREATE
        method.tell(measured(index, parent(f"p{index}", score)), rng)
    return method, rng


def generation(method, rng, first):
    """Ask until the method waits; return the queries by index."""
    queries = {}
    for index in range(first, first + 10_000):
        query = method.ask(index, rng)
        if query is None:
            return queries
        queries[index] = query
    raise AssertionError("It never waits.")


def test_a_population_then_generations_of_crossovers_and_a_mutation_of_each_elite():
    method, rng = founded([0.01, 0.02, 0.03, 0.04, 0.05], elites=2, offspring=3)
    queries = generation(method, rng, 5)
    operators = [query.operator for query in queries.values()]
    assert operators[:3] == [CROSSOVER] * 3
    assert len(operators) == 5
    assert set(operators[3:]) <= set(MUTATIONS)
    assert [ids(query.parents) for query in list(queries.values())[3:]] == [["p4"], ["p3"]]


def test_a_generation_begins_when_the_last_one_was_told():
    method = VRPAgent(initial=3, elites=1, offspring=2)
    method.begin(start())
    rng = np.random.default_rng(0)
    assert len(generation(method, rng, 0)) == 3
    method.tell(measured(0, parent("a", 0.01)), rng)
    method.tell(measured(1, parent("b", 0.02)), rng)
    assert method.ask(3, rng) is None
    method.tell(failed(2), rng)
    assert method.ask(3, rng).operator is CROSSOVER


def test_crossover_pairs_any_elite_with_any_of_the_others():
    method, rng = founded([0.01, 0.02, 0.03, 0.04, 0.05], seed=1, elites=2, offspring=6000)
    queries = generation(method, rng, 5)
    pairs = Counter(tuple(ids(q.parents)) for q in queries.values() if q.operator is CROSSOVER)
    assert set(pairs) == {(elite, other) for elite in ("p4", "p3") for other in ("p0", "p1", "p2")}
    assert chisquare(list(pairs.values())).pvalue > 0.01


def test_mutations_are_drawn_evenly():
    found = Counter()
    for seed in range(1000):
        method, rng = founded([0.01, 0.02], seed=seed, elites=2, offspring=1)
        queries = generation(method, rng, 2)
        found.update(query.operator.name for query in list(queries.values())[1:])
    assert set(found) == {operator.name for operator in MUTATIONS}
    assert chisquare(list(found.values())).pvalue > 0.01


def test_a_mutation_takes_the_place_of_its_elite_only_if_it_is_fitter():
    method, rng = founded([0.01, 0.02, 0.03], elites=2, offspring=1)
    first, better, worse = generation(method, rng, 3)
    method.tell(failed(first), rng)
    method.tell(measured(better, parent("better", 0.04)), rng)
    method.tell(measured(worse, parent("worse", 0.015)), rng)
    assert ids(method.members) == ["better", "p1"]


def test_elites_stay_and_all_others_leave():
    method, rng = founded([0.01, 0.02, 0.03, 0.04], elites=2, offspring=2)
    for number, index in enumerate(generation(method, rng, 4)):
        told = measured(index, parent(f"c{number}", 0.001)) if number < 2 else failed(index)
        method.tell(told, rng)
    # Offspring enter whatever they score.
    assert ids(method.members) == ["p3", "p2", "c0", "c1"]


def test_length_has_its_price():
    method = VRPAgent(length_price=0.001)
    long, short = parent("long", 0.0205, source="x" * 1600), parent("short", 0.02, source="x" * 400)
    method.begin(start(long, short))
    # 0.0205 - 0.0016 < 0.02 - 0.0004
    assert ids(method.members) == ["short", "long"]
    free = VRPAgent(length_price=0.0)
    free.begin(start(long, short))
    assert ids(free.members) == ["long", "short"]


def test_a_longer_mutation_must_be_worth_it():
    method, rng = founded([0.01, 0.02, 0.03], elites=1, offspring=1, length_price=0.01)
    crossed, mutated = generation(method, rng, 3)
    method.tell(failed(crossed), rng)
    method.tell(measured(mutated, parent("longer", 0.031, source="x" * 5000)), rng)
    assert ids(method.members) == ["p2"]


def test_without_others_two_elites_are_crossed():
    method, rng = founded([0.01, 0.02], elites=5, offspring=50)
    pairs = {tuple(ids(q.parents)) for q in generation(method, rng, 2).values()}
    assert {("p0", "p1"), ("p1", "p0")} <= pairs
    assert all(len(set(pair)) == len(pair) for pair in pairs)


def test_with_fewer_than_two_programs_it_writes_from_scratch_again():
    method = VRPAgent(initial=2, elites=1, offspring=2)
    method.begin(start(parent("seed", 0.01)))
    rng = np.random.default_rng(0)
    for index in range(6):
        assert method.ask(index, rng).operator is CREATE
        method.tell(failed(index), rng)
    assert ids(method.members) == ["seed"]


def test_programs_carried_over_are_the_population_of_a_later_round():
    method, rng = founded([0.01, 0.02, 0.03], elites=1, offspring=2)
    method.begin(start(parent("p2", 0.005), parent("p0", 0.015)))
    queries = generation(method, rng, 0)
    assert [ids(query.parents) for query in queries.values()] == [["p0", "p2"]] * 2 + [["p0"]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"initial": 1}, "method.policy.initial of at least 2, got 1"),
        ({"elites": 0}, "method.policy.elites of at least 1, got 0"),
        ({"offspring": 0}, "method.policy.offspring of at least 1, got 0"),
        ({"length_price": -1}, "method.policy.length_price of at least 0, got -1"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        VRPAgent(**options)
