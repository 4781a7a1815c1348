"""J and its greedy maximisation (Proposition 2)."""

from itertools import combinations
from math import e

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from specahd.repair.repertoire import greedy_selection, objective, survival_order

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(1, 6)),
    elements=st.floats(0, 1, width=16),
)
BETAS = st.sampled_from([0.0, 0.3, 0.5, 1.0])
BUDGETS = st.integers(1, 5)


@given(TABLES, BETAS, BUDGETS)
def test_greedy_reaches_the_guarantee(scores, beta, budget):
    chosen = greedy_selection(scores, beta=beta, budget=budget)
    reached = objective(scores, chosen, beta=beta, budget=budget)
    best = max(
        objective(scores, subset, beta=beta, budget=budget)
        for size in range(budget + 1)
        for subset in combinations(range(len(scores)), min(size, len(scores)))
    )
    assert len(chosen) <= budget
    assert reached >= (1 - 1 / e) * best - 1e-12


@given(TABLES, BETAS, BUDGETS, st.data())
def test_the_objective_is_monotone_and_submodular(scores, beta, budget, data):
    rows = list(range(len(scores)))
    large = data.draw(st.sets(st.sampled_from(rows)))
    small = {row for row in large if data.draw(st.booleans())}
    extra = data.draw(st.sampled_from(rows))

    def gain(chosen):
        if extra in chosen:
            return 0.0
        return objective(scores, [*chosen, extra], beta=beta, budget=budget) - objective(
            scores, list(chosen), beta=beta, budget=budget
        )

    assert gain(large) >= -1e-12
    if extra not in large:
        assert gain(small) >= gain(large) - 1e-12


@given(TABLES, BUDGETS, st.data())
def test_greedy_reaches_the_guarantee_for_improvements_of_upper_programs(table, budget, data):
    # As feasible a pass may make a solution dearer.
    signs = data.draw(arrays(np.int8, table.shape, elements=st.sampled_from([-1, 1])))
    scores = table * signs
    chosen = greedy_selection(scores, beta=0.0, budget=budget)
    floor = np.maximum(scores, 0.0)
    best = max(
        objective(floor, subset, beta=0.0, budget=budget)
        for subset in combinations(range(len(scores)), min(budget, len(scores)))
    )
    assert objective(floor, chosen, beta=0.0, budget=budget) >= (1 - 1 / e) * best - 1e-12


@pytest.mark.parametrize(
    ("scores", "beta", "budget", "chosen"),
    [
        # The set oracle of EoH-S with coverage alone, eq. lower_objective: c is best on average,
        # then b complements it, a adds nothing.
        ([[0.9, 0.6, 0.7], [0.7, 0.95, 0.5], [0.8, 0.7, 0.95]], 0.0, 3, [2, 1, 0]),
        # Of what the first two leave open nothing is left for the third, which only repeats them.
        ([[0.9, 0.0, 0.2], [0.0, 0.8, 0.0], [0.8, 0.0, 0.0]], 0.0, 3, [0, 1]),
        # The weight of quality is beta / q: coverage decides although the last is better on
        # average.
        ([[0.6, 0.6, 0.0], [0.0, 0.0, 0.5], [0.5, 0.5, 0.1]], 0.5, 2, [0, 1]),
        # And the weight of coverage is 1 - beta: the second is good everywhere, the last only adds.
        ([[0.9, 0.8], [0.8, 0.8], [0.0, 1.0]], 0.5, 2, [0, 1]),
        # No more than q, whatever a further one would add; without a gain no member.
        (np.eye(3), 0.5, 2, [0, 1]),
        (np.zeros((3, 4)), 0.5, 2, []),
        # A copy adds only its quality, and the older goes first.
        ([[0.5, 0.1], [0.5, 0.1], [0.0, 0.05]], 0.0, 3, [0]),
        ([[0.5, 0.1], [0.5, 0.1], [0.0, 0.05]], 0.5, 3, [0, 1, 2]),
    ],
)
def test_the_greedy_order_by_hand(scores, beta, budget, chosen):
    assert greedy_selection(np.array(scores), beta=beta, budget=budget) == chosen


def test_what_a_row_costs_is_taken_off_its_gain():
    scores = np.array([[0.3, 0.0], [0.3, 0.2], [0.0, 0.1], [-0.4, 0.9]])
    prices = np.array([0.1, 0.02, 0.0, 0.3])
    assert greedy_selection(scores, beta=0.0, budget=4) == [3, 0]
    assert greedy_selection(scores, beta=0.0, budget=4, prices=prices) == [1, 3]
    # The third adds nothing; the others by mean less price: -0.05, 0.05.
    prices[0] = 0.2
    assert survival_order(scores, beta=0.0, budget=4, prices=prices) == [1, 3, 2, 0]


def test_survivors_are_the_greedy_order_then_the_means():
    scores = np.array([[0.2, 0.2], [0.0, 0.0], [0.4, 0.0], [0.19, 0.2]])
    assert survival_order(scores, beta=0.0, budget=2) == [0, 2, 3, 1]


def test_objective_by_hand():
    scores = np.array([[0.2, 0.4], [0.6, 0.0]])
    expected = 0.5 / 10 * (0.3 + 0.3) + 0.5 * (0.6 + 0.4) / 2
    assert objective(scores, [0, 1], beta=0.5, budget=10) == pytest.approx(expected)
