"""When a candidate ends before its last task, by hand-made scores."""

import numpy as np
import pytest

from specahd.repair.racing import FIRST, Race, rungs

TASKS = 128
EVEN = np.arange(TASKS) % 2 == 0


def against(scores, *, prices=0.0, beta=0.5, budget=2, size=2, tasks=TASKS):
    scores = np.array(scores, dtype=float)
    prices = np.zeros_like(scores) + prices
    return Race.against(scores, prices, beta=beta, budget=budget, size=size, order=range(tasks))


SPECIALISTS = against([EVEN * 0.10, ~EVEN * 0.08])


def ends(race, scores, prices=0.0):
    """Return the number of tasks after which a candidate ends, None if it does not."""
    scores = np.asarray(scores, dtype=float)
    for tried in race.checks:
        if race.ends(scores[:tried], prices):
            return tried
    return None


@pytest.mark.parametrize(
    ("entrants", "expected"),
    [
        ((8, 10, 40), [(8, 10), (4, 20), (2, 40)]),
        # The last rung is the longest, and none is shorter than allowed.
        ((8, 10, 39), [(8, 19), (4, 39)]),
        ((8, 10, 10), [(8, 10)]),
        ((5, 1, 1000), [(5, 250), (3, 500), (2, 1000)]),
        ((2, 1, 1000), [(2, 1000)]),
        ((1, 1, 1000), [(1, 1000)]),
    ],
)
def test_half_of_a_rung_goes_on_to_searches_twice_as_long(entrants, expected):
    assert rungs(*entrants) == expected


def test_checks_come_after_twice_as_many_tasks_each():
    assert SPECIALISTS.checks == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]
    assert against(np.ones((2, FIRST + 1)), tasks=FIRST + 1).checks == [FIRST]
    assert against(np.ones((2, FIRST)), tasks=FIRST).checks == []
    # It ends at a check alone.
    assert SPECIALISTS.ends(np.zeros(FIRST))
    assert not SPECIALISTS.ends(np.zeros(FIRST + 1))


def test_what_adds_nothing_ends_and_what_is_best_on_some_tasks_does_not():
    assert ends(SPECIALISTS, np.zeros(TASKS)) == FIRST
    assert ends(SPECIALISTS, np.full(TASKS, 0.02)) == FIRST
    # On one task of sixteen, where its mean is far below theirs.
    rare = np.where(np.arange(TASKS) % 16 == 3, 0.6, 0.0)
    third = [EVEN * 0.20, ~EVEN * 0.18, np.full(TASKS, 0.07)]
    assert rare.mean() < 0.07
    assert ends(against(third, budget=3, size=3), rare) is None
    assert ends(against(third, budget=3, size=3), rare / 4) is not None


def test_what_is_a_little_better_than_any_of_the_kept_goes_on():
    assert ends(SPECIALISTS, EVEN * 0.105) is None
    assert ends(SPECIALISTS, ~EVEN * 0.085) is None
    assert ends(SPECIALISTS, ~EVEN * 0.05) is not None


def test_where_the_kept_have_not_gained_yet_a_candidate_need_not_either():
    late = np.where(np.arange(TASKS) < 40, 0.0, 0.1)
    race = against([late, late * 0.5])
    assert ends(race, np.zeros(TASKS)) == 8 * FIRST


def test_a_gain_on_tasks_that_were_not_tried_yet_is_possible():
    race = against([np.full(TASKS, 0.1), np.full(TASKS, 0.099)], beta=0.05)
    late = np.where((np.arange(TASKS) >= FIRST) & (np.arange(TASKS) % 4 == 0), 0.3, 0.0)
    assert ends(race, late) is None
    assert ends(race, np.zeros(TASKS)) == 4 * FIRST


def test_nothing_ends_while_there_is_room():
    assert against([EVEN * 0.1], size=2) is None
    # J has room for another one, as long as it adds more than its price.
    race = against([np.full(TASKS, 0.1), np.full(TASKS, 0.05)], beta=0.0, budget=2, size=2)
    assert len(race.scores) == 1
    assert ends(race, np.where(EVEN, 0.12, 0.0)) is None
    assert ends(race, np.where(EVEN, 0.12, 0.0), prices=0.02) is not None
    # Or it is better than the last one by its mean.
    assert ends(race, np.full(TASKS, 0.08)) is None
    assert ends(race, np.full(TASKS, 0.04), prices=0.02) == FIRST


def test_a_price_counts_against_the_prices_of_the_kept():
    race = against([EVEN * 0.10, ~EVEN * 0.08], beta=0.0, prices=0.01)
    assert ends(race, EVEN * 0.11, prices=0.01) is None
    assert ends(race, EVEN * 0.11, prices=0.03) == FIRST


@pytest.mark.parametrize("order", [range(TASKS), range(TASKS - 1, -1, -1)])
def test_the_scores_of_the_kept_are_those_of_the_same_tasks(order):
    score = np.where(np.arange(TASKS) < 64, 0.1, 0.0)
    race = Race.to_beat(score, list(order))
    assert ends(race, (score - 0.01)[list(order)]) == FIRST
    assert ends(race, (score + 0.01)[list(order)]) is None
