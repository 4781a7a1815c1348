"""LHNS: what is ruined, what is accepted, and how the three kinds go on after rejections."""

import numpy as np
import pytest
from asked_in_turn import Conversation, names, parent

from specahd.core.program import Outcome
from specahd.methods.lhns import LHNS, acceptance, ruined

SOURCE = "def f(a, b):\n" + "".join(f"    x{k} = {k}\n" for k in range(9)) + "    return x0\n"


class Fixed:
    """A generator that draws one number for ever, and places in order."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number

    def choice(self, places, size):
        return np.array(places)[np.arange(size) % len(places)]

    def integers(self, high):
        return high - 1


def begun(draw=0.0, carried=(("seed", 0.4, SOURCE),), tickets=1000, **options):
    method = LHNS(**options)
    talk = Conversation(
        method, [parent(name, score, (), text) for name, score, text in carried], tickets
    )
    talk.rng = Fixed(draw)
    return method, talk


def failing(talk, count, **how):
    """Tell that so many programs failed; return the operators that asked for them."""
    return [talk.step(**how).operator.name for _ in range(count)]


def test_the_probability_of_a_worse_program_by_hand():
    # Cost 6.0 becomes 6.6 at step 101 of 1000: T = .1 (1 - 100/1000) = .09.
    assert acceptance(6.0, 6.6, 0.09) == pytest.approx(0.3292, abs=5e-5)
    assert acceptance(6.0, 6.0, 0.09) == 1.0
    assert acceptance(6.0, 6.6, 0.0) == 0.0


@pytest.mark.parametrize(("draw", "name"), [(0.3291, "p100"), (0.3293, "seed")])
def test_at_step_101_of_1000_a_tenth_more_cost_is_accepted_so_often(draw, name):
    # The cost is 1 - score: .6 becomes .66.
    method, talk = begun(draw)
    failing(talk, 100)
    talk.step(0.34)
    assert names([method.trajectories[0].current]) == [name]


def test_a_worse_program_that_is_accepted_leaves_the_best_a_member():
    method, talk = begun(draw=0.0)
    talk.step(0.3)
    assert names(method.members) == ["seed", "p0"]
    assert names(talk.step(0.2).parents) == ["p0"]
    assert names(method.members) == ["seed", "p1"]


def test_failures_are_rejected_and_scores_may_be_negative():
    method, talk = begun(carried=[("seed", -0.5, SOURCE)])
    talk.step()
    assert names(method.members) == ["seed"]
    talk.step(-0.6)
    assert names(method.members) == ["seed", "p1"]


def test_ruin_takes_the_share_of_the_lines_below_the_head():
    source, removed = ruined(SOURCE, 0.25, Fixed(0))
    # ceil(.25 * 10) lines, the first ones.
    assert (source, removed) == (SOURCE.replace("    x0 = 0\n    x1 = 1\n    x2 = 2\n", ""), 3)
    # A tenth of ten is one line, not two by a rounding error.
    assert ruined(SOURCE, 0.1, Fixed(0))[1] == 1
    assert ruined(SOURCE, 0.30000000000000004, Fixed(0))[1] == 3
    # Lines are drawn with replacement, so that fewer may go.
    removed = [ruined(SOURCE, 1.0, np.random.default_rng(k))[1] for k in range(200)]
    assert np.mean(removed) == pytest.approx(10 * (1 - 0.9**10), abs=0.3)
    assert ruined("def f():\n    pass\n", 1.0, Fixed(0)) == ("def f():\n", 1)


def test_the_prompt_shows_the_ruined_program_and_how_much_is_gone():
    _, talk = begun(ratio=0.2)
    query = talk.ask()
    assert names(query.parents) == ["seed"]
    [view] = query.views
    assert "x1 = 1" not in view
    assert "x2 = 2" in view
    assert view.endswith("2 of its lines were removed.")


@pytest.mark.parametrize(
    ("ratio", "ratios"),
    [
        (0.1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.1, 0.2]),
        (0.85, [0.85, 0.95, 1.0, 0.85]),
    ],
)
def test_vns_ruins_more_after_each_rejection_and_begins_again(ratio, ratios):
    method, talk = begun(draw=1.0, ratio=ratio)
    for expected in ratios:
        assert method.trajectories[0].ratio == pytest.approx(expected)
        talk.step()
    # A better program is accepted whatever is drawn.
    talk.step(0.5)
    assert names(method.members) == ["p" + str(len(ratios))]
    assert method.trajectories[0].ratio == ratio


def test_ils_modifies_the_best_after_ten_steps_without_an_improvement():
    method, talk = begun(kind="ils")
    # A worse program that is accepted is no improvement.
    asked = [talk.step(0.3).operator.name, *failing(talk, 9)]
    assert asked == ["rr"] * 10
    perturbed = talk.step()
    assert (perturbed.operator.name, names(perturbed.parents)) == ("p1", ["seed"])
    assert perturbed.views == ()
    # It counts again from the perturbation.
    assert failing(talk, 10) == ["rr"] * 9 + ["p1"]
    assert method.trajectories[0].ratio == 0.1
    # And from an improvement.
    talk.step()
    talk.step(0.5)
    assert failing(talk, 11) == ["rr"] * 10 + ["p1"]


def test_ts_puts_the_new_lines_of_an_earlier_program_into_the_current_one():
    _, talk = begun(draw=1.0, kind="ts")
    other = SOURCE.replace("x3 = 3", "y = 7").replace("x4 = 4", "z = 8")
    talk.step(0.3, source=other)
    failing(talk, 9)
    query = talk.step()
    assert (query.operator.name, names(query.parents)) == ("p2", ["seed", "p0"])
    current, features = query.views
    assert "    x8 = 8\n    y = 7\n    z = 8\n    return x0\n" in current
    assert "y = 7" in features
    assert "x3 = 3" in current
    assert "x8 = 8" not in features
    assert talk.step().operator.name == "rr"


def test_ts_ruins_where_its_table_holds_no_other_program():
    _, talk = begun(kind="ts")
    assert failing(talk, 12) == ["rr"] * 12


def test_ts_draws_no_program_that_only_lost_lines():
    _, talk = begun(draw=1.0, kind="ts")
    talk.step(0.2, source=SOURCE.replace("x3 = 3", "y = 7"))
    # The last of the table is the one that is drawn.
    talk.step(0.3, source=SOURCE.replace("    x3 = 3\n", ""))
    failing(talk, 8)
    query = talk.step()
    assert (query.operator.name, names(query.parents)) == ("p2", ["seed", "p0"])


def test_the_table_keeps_the_best_five_of_different_scores():
    method, talk = begun(draw=1.0, kind="ts", carried=[("seed", 0.9, SOURCE)])
    for score in (0.3, 0.1, 0.2, 0.5, 0.1, 0.4, 0.05, 0.6):
        talk.step(score)
    scores = sorted(one.score for one, _ in method.trajectories[0].table)
    assert scores == [0.2, 0.3, 0.4, 0.5, 0.6]


@pytest.mark.parametrize("how", [{"outcome": Outcome.DUPLICATE}, {"score": 0.4}])
def test_what_repeats_is_asked_for_once_more_in_the_same_step(how):
    method, talk = begun(draw=1.0)
    [trajectory] = method.trajectories
    talk.step(**how)
    assert (trajectory.ratio, trajectory.stagnant) == (0.1, 0)
    talk.step(**how)
    assert trajectory.stagnant == 1
    talk.step(**how)
    assert trajectory.stagnant == 1


def test_a_perturbation_that_repeats_is_asked_for_once_more():
    _, talk = begun(kind="ils")
    failing(talk, 10)
    asked = failing(talk, 3, outcome=Outcome.DUPLICATE)
    assert asked == ["p1", "p1", "rr"]


def test_several_trajectories_do_not_know_each_other():
    method, talk = begun(trajectories=3)
    assert [talk.ask() is None for _ in range(4)] == [False, False, False, True]
    talk.tell(0.5, at=1)
    assert [one.current.program.id for one in method.trajectories] == ["seed", "p1", "seed"]
    assert names(talk.ask().parents) == ["p1"]
    assert method.size == 6
    assert names(method.members) == ["p1", "seed"]


def test_each_trajectory_anneals_over_its_share():
    # Step 34 of 100 / 3: the last one, at a temperature of .1 / 100.
    method, talk = begun(0.5, tickets=100, trajectories=3)
    failing(talk, 99)
    assert [one.steps for one in method.trajectories] == [33, 33, 33]
    talk.step(0.39)
    assert names(method.members) == ["seed"]


def test_without_a_program_to_begin_with_fresh_ones_are_asked_for():
    method, talk = begun(carried=[])
    assert talk.step().operator.name == "i1"
    assert talk.step(-0.2).operator.name == "i1"
    assert names(method.members) == ["p1"]
    assert talk.step().operator.name == "rr"


def test_a_round_begins_at_the_best_of_what_is_carried_over():
    method, talk = begun(carried=[("x", 0.1, SOURCE), ("y", 0.3, SOURCE)])
    assert names(talk.step().parents) == ["y"]
    method, _ = begun(carried=[("x", 0.1, SOURCE), ("y", 0.3, SOURCE)], trajectories=3)
    assert [one.current.program.id for one in method.trajectories] == ["y", "x", "y"]
