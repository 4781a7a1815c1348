"""EoH-S: complementary pairs, survival by coverage, generations, duplicates of vectors."""

import numpy as np
import pytest
from asked_in_turn import Chances, Conversation, names, parent

from specahd.core.program import Outcome
from specahd.methods.eoh_s import EoHS, chosen, coverage_order, distant_pairs, pair_weights

A, B, C = (-0.1, -0.4, -0.3), (-0.3, -0.05, -0.5), (-0.2, -0.3, -0.05)


def row(name, *responses):
    return parent(name, float(np.mean(responses)), responses)


def test_coverage_takes_the_best_mean_first_then_what_adds_most():
    # c has the best mean; b then adds .25, a .10.
    assert coverage_order(np.array([A, B, C]), 3) == [2, 1, 0]
    assert coverage_order(np.array([A, B, C]), 2) == [2, 1]
    # The third is measured against what the first two cover together.
    rows = np.array([(1.0, 0.5, 0.0), (0.0, 0.0, 1.0), (0.75, 0.25, 0.0), (0.0, 0.75, 0.0)])
    assert coverage_order(rows, 4) == [0, 1, 3, 2]


def test_of_equal_gains_the_better_mean_goes_first_and_what_adds_nothing_fills():
    rows = np.array([(0.0, 0.0, 0.1), (0.0, 0.1, 0.0), (0.5, 0.5, 0.5), (0.2, 0.4, 0.3)])
    assert coverage_order(rows, 4) == [2, 3, 0, 1]
    # Each adds .25 to the first row; the means of the others rise.
    rows = np.array([(1.0, 0.0, 0.0), (0.0, 0.25, 0.0), (0.25, 0.25, 0.0), (0.5, 0.0, 0.25)])
    assert coverage_order(rows, 4) == [0, 3, 2, 1]


def test_scores_may_be_negative_and_the_envelope_begins_with_the_first_program():
    # Against an envelope of zeros nothing would be gained, and the order be that of the means.
    rows = np.array([(-1.0, -9.5), (-4.0, -4.0), (-8.0, -2.0)])
    assert coverage_order(rows, 3) == [1, 0, 2]


def test_pairs_are_ordered_by_the_distance_of_their_vectors():
    # a-b: .2 + .35 + .2, a-c: .1 + .1 + .25, b-c: .1 + .25 + .45.
    assert distant_pairs(np.array([A, B, C])) == [(1, 2), (0, 1), (0, 2)]


def test_the_weights_of_ten_pairs_both_ways():
    weights = pair_weights(10, released=False)
    assert weights[[0, 1, 9]] == pytest.approx([0.341, 0.171, 0.034], abs=5e-4)
    assert weights.sum() == pytest.approx(1)
    assert pair_weights(10, released=True).tolist() == weights.tolist()[::-1]


def founded(size=3, **options):
    """Return a method whose set is p2, p0, p1, which are c, a, b, in the order of their means."""
    method = EoHS(size, **options)
    talk = Conversation(method, carried=[], seed=1)
    for one in (A, B, C):
        talk.step(float(np.mean(one)), responses=one)
    return method, talk


@pytest.mark.parametrize("released", [False, True])
def test_pairs_are_drawn_by_their_weights(released):
    method, _ = founded(released_weighting=released)
    chances = Chances()
    # The last pair is that of the nearest responses.
    assert names(method.ask(0, chances).parents) == ["p2", "p0"]
    weights = [6 / 11, 3 / 11, 2 / 11]
    assert chances.seen == [pytest.approx(weights[::-1] if released else weights)]


def test_the_parent_of_an_improvement_follows_the_rank_in_the_set():
    method, _ = founded()
    chances = Chances()
    assert names(method.ask(1, chances).parents) == ["p1"]
    weights = np.array([1 / 3, 1 / 4, 1 / 5])
    assert chances.seen == [pytest.approx((weights / weights.sum()).tolist())]


def test_fresh_programs_found_the_set_then_pairs_and_single_ones_take_turns():
    talk = Conversation(EoHS(2), [row("seed", 0.0, 0.0)], seed=2)
    asked = [talk.step(0.1 * n, responses=(0.1 * n, 1 - n)).operator.name for n in range(6)]
    assert asked == ["i1", "i1", "cs", "m1", "cs", "m1"]


def test_the_founding_set_is_the_best_by_mean_and_later_ones_cover():
    method = EoHS(2)
    talk = Conversation(method, [row("seed", 0.4, 0.5)])
    talk.step(0.35, responses=(0.7, 0.0))
    talk.step(0.425, responses=(0.45, 0.4))
    # By coverage p0 would be in the set.
    assert names(method._set) == ["seed", "p1"]
    talk.step(0.3, responses=(0.6, 0.0))
    assert names(method._set) == ["seed", "p1"]
    talk.step(0.2, responses=(0.0, 0.4))
    assert names(method._set) == ["seed", "p2"]


def test_twice_the_set_tried_also_founds_and_failures_then_count():
    method = EoHS(2)
    talk = Conversation(method, [row("seed", 0.0, 0.0)])
    for _ in range(4):
        assert talk.step().operator.name == "i1"
    assert talk.step(0.3, responses=(0.3, 0.3)).operator.name == "m1"
    # One child, one failure: the generation is full.
    assert names(method._set) == ["seed"]
    talk.step(outcome=Outcome.PARSE_ERROR)
    assert names(method._set) == ["seed"]
    talk.step(outcome=Outcome.CRASHED)
    assert names(method._set) == ["p4", "seed"]


def test_what_repeats_the_responses_of_a_program_does_not_enter():
    method, talk = founded()
    talk.step(float(np.mean(A)), responses=A)
    talk.step(0.5, responses=(0.5, 0.5, 0.5))
    talk.step(0.5, responses=(0.5, 0.5, 0.5))
    assert names(method._set)[0] == "p4"
    assert not {"p3", "p5"} & set(names(method._set))


def test_children_that_no_survival_has_seen_are_members_but_no_parents():
    method, talk = founded()
    talk.step(0.9, responses=(0.9, 0.9, 0.9))
    assert names(method.members)[0] == "p3"
    rng = np.random.default_rng(3)
    shown = {name for n in range(40) for name in names(method.ask(n, rng).parents)}
    assert shown == {"p0", "p1", "p2"}


def test_a_later_round_goes_on_with_the_set_that_is_carried_over():
    method, talk = founded()
    talk.step(0.9, responses=(0.9, 0.9, 0.9))
    again = Conversation(method, [row("x", 0.0, 0.1), row("y", 0.2, 0.0), row("z", 0.0, 0.0)])
    assert names(method.members) == ["y", "x", "z"]
    assert [again.ask().operator.name for _ in range(2)] == ["cs", "m1"]


def test_without_members_fresh_programs_are_asked_for():
    method = EoHS(2)
    talk = Conversation(method, [])
    assert [talk.step().operator.name for _ in range(9)] == ["i1"] * 9
    assert (method.members, chosen([], 2)) == ([], [])
