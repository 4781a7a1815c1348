"""MLES: founding, operators in turn, selection, generations, and what an observation tells."""

import numpy as np
import pytest
from asked_in_turn import INSERTION, Chances, Conversation, names, parent, seeds

from specahd.core.program import Outcome
from specahd.methods.mles import MLES, OPERATORS, observation

MEASURED = {
    "cost_before": [100.0, 200.0, 300.0, 400.0],
    "cost_merged": [99.0, 206.0, None, 400.0],
    "outcomes": [Outcome.OK, Outcome.OK, Outcome.INFEASIBLE_MERGE, Outcome.OK],
    "fallbacks": [0, 3, 0, 1],
}


def operators(talk, count, **how):
    return [one.name for one in talk.operators(count, **how)]


def test_initial_programs_until_as_many_as_wanted_then_the_operators_in_turn():
    talk = Conversation(MLES(3))
    assert operators(talk, 2) == ["i1", "i1"]
    assert talk.step().operator.name == "i1"
    assert talk.step(outcome=Outcome.PARSE_ERROR).operator.name == "i1"
    assert operators(talk, 7) == ["i1", "e1", "e2", "m1_text", "m2_text", "e1", "e2"]
    # Nothing is asked for but programs.
    assert not any(one.wants_text for one in OPERATORS.values())


def test_the_last_initial_program_is_awaited_before_parents_are_drawn():
    talk = Conversation(MLES(10), tickets=8)
    assert [talk.ask().operator.name for _ in range(4)] == ["i1"] * 4
    assert talk.ask() is None
    for score in (1.0, 2.0, None):
        talk.tell(score, at=0)
    assert talk.ask() is None
    talk.tell(3.0)
    assert talk.ask().operator.name == "e1"
    assert names(talk.method._population) == ["p3", "p1", "p0", "seed"]


def test_a_parent_is_drawn_by_the_exponential_of_its_rank():
    # The specification's oracle: four members.
    carried = [parent(str(score), score) for score in (4.0, 2.0, 3.0, 1.0)]
    chances = Chances()
    query = Conversation(MLES(4), carried).method.ask(0, chances)
    assert names(query.parents) == ["2.0", "1.0"]
    assert chances.seen == [pytest.approx([0.4551, 0.2760, 0.1674, 0.1015], abs=5e-5)]


def test_two_parents_differ_if_there_are_two():
    talk = Conversation(MLES(4), [parent("a", 1.0), parent("b", 2.0)])
    assert {tuple(names(talk.method._draw(2, talk.rng))) for _ in range(50)} == {("b", "a")}
    talk = Conversation(MLES(2), tickets=2)
    talk.step(outcome=Outcome.PARSE_ERROR)
    assert names(talk.step().parents) == ["seed", "seed"]


def generation(*scores):
    """Found a population of three, p0 to p2 with scores 10 to 12, and tell of what follows."""
    talk = Conversation(MLES(3))
    talk.operators(3, lambda index: 10.0 + index)
    parents = [
        talk.step(score, outcome=Outcome.CRASHED if score is None else Outcome.OK).parents
        for score in scores
    ]
    return talk, names(one for pair in parents for one in pair)


def test_a_generation_ends_when_as_many_programs_as_members_were_told():
    talk, parents = generation(20.0, 5.0)
    assert names(talk.method._population) == ["p2", "p1", "p0"]
    assert names(talk.method.members) == ["p3", "p2", "p1"]
    assert set(parents) <= {"p0", "p1", "p2"}
    talk.step(11.5)
    assert names(talk.method._population) == ["p3", "p2", "p5"]


def test_failures_and_duplicates_count_for_a_generation_and_are_in_none():
    talk, _ = generation(None, 12.0)
    talk.step(outcome=Outcome.PARSE_ERROR)
    assert names(talk.method._population) == ["p2", "p1", "p0"]
    talk.step(20.0)
    assert names(talk.method._population) == ["p6", "p2", "p1"]
    talk, _ = generation()
    talk.step(30.0, source="twice")
    talk.step(31.0, source="twice")
    talk.step(5.0)
    assert names(talk.method.members) == names(talk.method._population) == ["p3", "p2", "p1"]


def test_two_seed_programs_are_members_and_initial_programs_join_them():
    talk = Conversation(MLES(3), seeds(0.1, 0.2), contract=INSERTION)
    assert names(talk.method.members) == ["lower-greedy-with-blinks", "lower-seed"]
    assert operators(talk, 4, score=lambda index: 0.11 + 0.01 * index) == ["i1", "i1", "i1", "e1"]
    assert names(talk.method._population) == ["lower-greedy-with-blinks", "p2", "p1"]


def test_only_operators_with_evidence_show_an_observation():
    talk = Conversation(MLES(2, list(OPERATORS)))
    talk.operators(2, measured=MEASURED, responses=(0.01, 0.0, 0.0, 0.0))
    seen = {}
    for _ in OPERATORS:
        query = talk.step(1.0, responses=(0.0, 0.02, 0.0, 0.0))
        seen[query.operator.name] = bool(query.hints)
    assert {name for name, shown in seen.items() if shown} == {"m1_text", "m2_text"}


def test_an_observation_is_of_the_parent_shown():
    talk = Conversation(MLES(2, ["m1_text"]), tickets=4)
    talk.step(0.0025, responses=(0.01, 0.0, 0.0, 0.0), measured=MEASURED)
    talk.step(0.005, responses=(0.0, 0.02, 0.0, 0.0), measured={})
    seen = {one.parents[0].program.id: one.hints for one in (talk.ask() for _ in range(40))}
    best = np.array([0.01, 0.02, 0.0, 0.0])
    assert seen == {
        "p0": observation((0.01, 0.0, 0.0, 0.0), MEASURED, best, "region"),
        "p1": observation((0.0, 0.02, 0.0, 0.0), {}, best, "region"),
    }


def test_an_observation_tells_where_a_lower_program_falls_short():
    best = np.array([0.01, 0.02, 0.05, 0.0])
    assert observation((0.01, 0.0, 0.0, 0.0), MEASURED, best, "region").splitlines()[1:] == [
        "- Scores: 0.250 on average, 0.000 in the middle, 0.000 to 1.000; "
        "above 0 on 1 of the regions.",
        "- Failed regions: 1 (infeasible merge).",
        "- 4 of its choices were unavailable, on 2 of the regions.",
        "- Region 3: 0.000, where 5.000 is known; it failed there (infeasible merge).",
        "- Region 2: 0.000, where 2.000 is known; the solution changed from a cost of 200 to 206, "
        "+3.000 %; 3 choices were unavailable.",
    ]


def test_an_observation_tells_where_an_upper_program_falls_short():
    measured = {
        "utilities": [0.0, 0.03],
        "penalties": [0.01, 0.0],
        "regions": [None, [1.0, 2.0]],
    }
    told = observation((-0.01, 0.03), measured, np.array([0.02, 0.03]), "instance")
    assert told.splitlines()[1:] == [
        "- Scores: 1.000 on average, 1.000 in the middle, -1.000 to 3.000; "
        "above 0 on 1 of the instances.",
        "- Nothing valid was proposed on 1 of the instances.",
        "- Penalties take 0.500 points on average.",
        "- Instance 1: -1.000, where 2.000 is known; it saved 0.000 %, less penalties of "
        "1.000 points, and proposed nothing valid.",
    ]


def test_an_observation_tells_three_tasks_at_most_and_of_the_best_program_none():
    told = observation((0.0,) * 5, {}, np.array([0.1, 0.5, 0.3, 0.4, 0.2]), "region")
    assert [line[:10] for line in told.splitlines()[2:]] == [
        "- Region 2",
        "- Region 4",
        "- Region 3",
    ]
    told = observation((0.1, 0.2), {}, np.array([0.1, 0.2]), "region")
    assert told.splitlines()[-1] == "- On no region does a program kept reach more."
