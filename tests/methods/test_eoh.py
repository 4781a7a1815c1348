"""EoH: founding, operators in turn, rank-weighted parents, survival."""

import pytest
from asked_in_turn import Chances, Conversation, names, parent

from specahd.methods.eoh import OPERATORS, EoH


def founded(method):
    """Return a round with the members p3, p2, p1 and p0, whose scores are 4 to 1."""
    talk = Conversation(method, [], seed=1)
    talk.operators(4)
    return talk


def test_i1_until_founded_then_in_turn():
    asked = [one.name for one in Conversation(EoH(3)).operators(9)]
    assert asked == ["i1", "i1", "i1", "m2", "m3", "e1", "e2", "m1", "m2"]
    only = Conversation(EoH(2, ["i1"]))
    assert only.operators(4) == [OPERATORS["i1"]] * 4


def test_twice_the_population_tried_also_founds():
    talk = Conversation(EoH(3))
    asked = [talk.step().operator.name for _ in range(7)]
    assert asked == ["i1"] * 6 + [asked[6]]
    assert asked[6] != "i1"


def test_without_members_only_fresh_samples_can_be_asked_for():
    talk = Conversation(EoH(2), [])
    assert {talk.step().operator.name for _ in range(9)} == {"i1"}


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        # EoH's selection by rank (Liu et al. 2024), from 0 as in LLM4AD and from 1 as published.
        (0, [0.32916, 0.26333, 0.21944, 0.18808]),
        (1, [0.31520, 0.26266, 0.22514, 0.19700]),
    ],
)
def test_parents_follow_the_rank_weights(offset, expected):
    talk = founded(EoH(4, rank_offset=offset))
    chances = Chances()
    assert names(talk.method.ask(2, chances).parents) == ["p0"]
    assert chances.seen == [pytest.approx(expected, abs=2e-5)]


def test_recombination_shows_two_parents_best_first():
    talk = founded(EoH(4))
    pairs = [talk.method.ask(0, talk.rng).parents for _ in range(50)]
    assert all(len(pair) == 2 and pair[0].score >= pair[1].score for pair in pairs)


def test_the_worst_leaves_and_the_older_wins_ties():
    talk = founded(EoH(4))
    talk.step(2.0)
    assert names(talk.method.members) == ["p3", "p2", "p1", "p4"]
    talk.step(2.0)
    assert names(talk.method.members) == ["p3", "p2", "p1", "p4"]


@pytest.mark.parametrize(("distinct", "kept"), [(True, ["p0", "p2"]), (False, ["p0", "p1"])])
def test_an_equal_score_is_dropped_if_programs_are_to_be_distinct(distinct, kept):
    talk = Conversation(EoH(2, distinct=distinct), [parent("seed", -1.0)])
    talk.operators(3, [2.0, 2.0, 1.0].__getitem__)
    assert names(talk.method.members) == kept
