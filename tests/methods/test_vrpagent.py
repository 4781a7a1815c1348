"""VRPAgent: generations, elites and their mutations, biased crossover, the price on length."""

from collections import Counter
from itertools import islice

import pytest
from asked_in_turn import Conversation, names, parent
from scipy.stats import chisquare

from specahd.methods.vrpagent import CREATE, CROSSOVER, MUTATIONS, VRPAgent


def founded(scores, seed=0, **options):
    """Return a round whose population, p0, p1 …, was written from scratch."""
    talk = Conversation(VRPAgent(initial=len(scores), **options), [], seed=seed)
    assert talk.operators(len(scores), scores.__getitem__) == [CREATE] * len(scores)
    return talk


def generation(talk):
    """Ask until the method waits; return the queries."""
    queries = list(islice(iter(talk.ask, None), 10_000))
    assert len(queries) < 10_000
    return queries


def tell_all(talk, *scores):
    """Tell of what is under way, in turn."""
    for score in scores:
        talk.tell(score, at=0)
    assert talk.queries == []


def test_a_population_then_generations_of_crossovers_and_a_mutation_of_each_elite():
    talk = founded([0.01, 0.02, 0.03, 0.04, 0.05], elites=2, offspring=3)
    queries = generation(talk)
    assert [query.operator for query in queries[:3]] == [CROSSOVER] * 3
    assert [names(query.parents) for query in queries[3:]] == [["p4"], ["p3"]]
    assert {query.operator for query in queries[3:]} <= set(MUTATIONS)


def test_a_generation_begins_when_the_last_one_was_told():
    talk = Conversation(VRPAgent(initial=3, elites=1, offspring=2), [])
    assert len(generation(talk)) == 3
    talk.tell(0.01, at=0)
    talk.tell(0.02, at=0)
    assert talk.ask() is None
    talk.tell()
    assert talk.ask().operator is CROSSOVER


def test_crossover_pairs_any_elite_with_any_of_the_others():
    talk = founded([0.01, 0.02, 0.03, 0.04, 0.05], seed=1, elites=2, offspring=3000)
    pairs = Counter(tuple(names(one.parents)) for one in generation(talk)[:3000])
    assert set(pairs) == {(elite, other) for elite in ("p4", "p3") for other in ("p0", "p1", "p2")}
    assert chisquare(list(pairs.values())).pvalue > 0.01


def test_mutations_are_drawn_evenly():
    talk = founded([0.01 * number for number in range(1000)], elites=1000, offspring=1)
    found = Counter(query.operator for query in generation(talk)[1:])
    assert (set(found), found.total()) == (set(MUTATIONS), 1000)
    assert chisquare(list(found.values())).pvalue > 0.01


def test_a_mutation_takes_the_place_of_its_elite_only_if_it_is_fitter():
    talk = founded([0.01, 0.02, 0.03], elites=2, offspring=1)
    generation(talk)
    tell_all(talk, None, 0.04, 0.015)
    assert names(talk.method.members) == ["p4", "p1"]


def test_elites_stay_and_all_others_leave():
    talk = founded([0.01, 0.02, 0.03, 0.04], elites=2, offspring=2)
    generation(talk)
    # Offspring enter whatever they score.
    tell_all(talk, 0.001, 0.001, None, None)
    assert names(talk.method.members) == ["p3", "p2", "p4", "p5"]


@pytest.mark.parametrize(("price", "order"), [(0.001, ["short", "long"]), (0, ["long", "short"])])
def test_length_has_its_price(price, order):
    # 0.0205 - 0.0016 < 0.02 - 0.0004
    long, short = parent("long", 0.0205, source="x" * 1600), parent("short", 0.02, source="x" * 400)
    talk = Conversation(VRPAgent(length_price=price), [long, short])
    assert names(talk.method.members) == order


def test_a_longer_mutation_must_be_worth_it():
    talk = founded([0.01, 0.02, 0.03], elites=1, offspring=1, length_price=0.01)
    generation(talk)
    talk.tell(at=0)
    talk.tell(0.031, source="x" * 5000)
    assert names(talk.method.members) == ["p2"]


def test_without_others_two_elites_are_crossed():
    talk = founded([0.01, 0.02], elites=5, offspring=50)
    pairs = {tuple(names(query.parents)) for query in generation(talk)[:50]}
    assert pairs == {("p0", "p1"), ("p1", "p0")}


def test_with_fewer_than_two_programs_it_writes_from_scratch_again():
    talk = Conversation(VRPAgent(initial=2, elites=1, offspring=2))
    assert [talk.step().operator for _ in range(6)] == [CREATE] * 6
    assert names(talk.method.members) == ["seed"]


def test_programs_carried_over_are_the_population_of_a_later_round():
    talk = founded([0.01, 0.02, 0.03], elites=1, offspring=2)
    again = Conversation(talk.method, [parent("p2", 0.005), parent("p0", 0.015)])
    shown = [names(query.parents) for query in generation(again)]
    assert shown == [["p0", "p2"]] * 2 + [["p0"]]
