"""G-LNS: fitness from pairs, kinds of queries, what a joint crossover shows, what is dropped."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from asked_in_turn import CONTRACT, names, parent
from scipy.stats import chisquare

from specahd.core.contract import Request
from specahd.core.program import Level, Outcome
from specahd.methods.g_lns import CROSSOVER, GLNS, INITIAL, JOINT, LOGIC, PARAMETERS
from specahd.search.base import Pairing, RoundStart, Sample

OTHERS = [parent("other-0", 0.0), parent("other-1", 0.0)]


def started(rewards, companions=None, **options):
    """Return a round with the programs p0, p1 …, in pairs with two others."""
    carried = tuple(parent(f"p{row}", 0.001 * row) for row in range(len(rewards)))
    method = GLNS(**options)
    pairing = Pairing(np.array(rewards, float), OTHERS, companions or {})
    method.begin(RoundStart(CONTRACT, 10, carried, list, pairing))
    return method


def tell(method, name, score, rng=None):
    request = Request(CONTRACT, 0, Level.LOWER, 1, 0, LOGIC)
    made = parent(name, score)
    sample = Sample(request, "", Outcome.OK, "", made.program, score, True, (score,))
    method.tell(sample, rng)


def asked(method, count=4000, seed=0):
    rng = np.random.default_rng(seed)
    return [method.ask(index, rng) for index in range(count)]


def test_the_programs_that_earned_least_with_all_others_leave():
    # By score it would be the other way round.
    method = started([[5, 5], [0, 9], [3, 3], [1, 1]], population=4, renewed=2)
    assert names(method.members) == ["p0", "p1"]
    # Where there are places left, nobody leaves.
    few = started([[5, 5], [0, 9]], population=4, renewed=2)
    assert names(few.members) == ["p0", "p1"]
    # One stays, whatever the number.
    assert len(started([[1, 1], [2, 2]], population=2, renewed=9).members) == 1


def test_the_first_new_programs_are_written_from_scratch():
    contract_seed = replace(parent("x", 0.0), program=CONTRACT.seed)
    method = GLNS(population=4)
    pairing = Pairing(np.ones((1, 2)), OTHERS, {})
    method.begin(RoundStart(CONTRACT, 10, (contract_seed,), list, pairing))
    assert {query.operator for query in asked(method, 50)} == {INITIAL}
    for number in range(3):
        tell(method, f"n{number}", 0.1)
    assert len(method.members) == 4
    assert INITIAL not in {query.operator for query in asked(method, 50)}


def test_half_are_mutations_two_fifths_crossovers_and_a_tenth_joint():
    method = started([[5, 5], [0, 9], [3, 3]])
    kinds = Counter(
        "mutation" if query.operator in (LOGIC, PARAMETERS) else query.operator.name
        for query in asked(method)
    )
    expected = {"mutation": 2000, "crossover": 1600, "joint": 400}
    assert kinds.keys() == expected.keys()
    assert chisquare([kinds[one] for one in expected], list(expected.values())).pvalue > 0.01


def test_the_best_gets_other_parameters_and_the_worst_another_logic():
    method = started([[5, 5], [0, 9], [3, 3]])
    found = {
        (query.operator, names(query.parents)[0])
        for query in asked(method)
        if query.operator in (LOGIC, PARAMETERS)
    }
    assert found == {(PARAMETERS, "p0"), (LOGIC, "p1"), (PARAMETERS, "p1"), (LOGIC, "p2")}


def test_parents_of_a_crossover_are_drawn_by_what_they_earned():
    method = started([[40, 40], [5, 5], [5, 5], [0, 0]])
    pairs = Counter(
        frozenset(names(query.parents))
        for query in asked(method, 8000)
        if query.operator is CROSSOVER
    )
    both = 0.8 * 0.5 + 0.1 * 80 / 90  # p0 and p1, in either order
    neither = 0.1 * 10 / 90 * 2
    expected = {("p0", "p1"): both, ("p0", "p2"): both, ("p1", "p2"): neither}
    assert pairs.keys() == set(map(frozenset, expected))
    shares = np.array(list(expected.values()))
    counts = [pairs[frozenset(pair)] for pair in expected]
    assert chisquare(counts, shares / shares.sum() * sum(counts)).pvalue > 0.01


def test_a_joint_crossover_begins_with_the_pair_that_earned_most_and_shows_the_other():
    method = started([[5, 5], [0, 9], [3, 3]])
    joint = [query for query in asked(method) if query.operator is JOINT]
    assert {tuple(names(query.parents)) for query in joint} == {("p1",)}
    assert all(OTHERS[1].program.source.strip() in query.hints for query in joint)


@pytest.mark.parametrize(
    ("operator", "kinds"),
    [
        ("mutate_logic", {LOGIC, PARAMETERS}),
        ("mutate_parameters", {LOGIC, PARAMETERS}),
        ("crossover", {CROSSOVER}),
        ("joint", {JOINT}),
    ],
)
def test_the_second_level_does_what_the_first_did(operator, kinds):
    written = parent("upper-1-0000", 0.0, source="def f():\n    return 'new'\n")
    written = replace(written, program=replace(written.program, operator=operator))
    companions = dict.fromkeys(range(200), written)
    queries = asked(started([[5, 5], [0, 9], [3, 3]], companions), 200)
    assert {query.operator for query in queries} == kinds
    for query in queries:
        assert ("return 'new'" in query.hints) == (query.operator is JOINT)


def test_without_pairs_the_score_counts_and_the_worst_leaves():
    method = GLNS(population=2)
    carried = parent("p0", 0.1), parent("p1", 0.2)
    method.begin(RoundStart(CONTRACT, 10, carried, list))
    assert names(method.members) == ["p1", "p0"]
    tell(method, "p2", 0.3)
    assert names(method.members) == ["p2", "p1"]
    assert JOINT not in {query.operator for query in asked(method, 500)}
