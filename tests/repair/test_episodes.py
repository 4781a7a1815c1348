"""Episodes on a problem whose solution is a number: what a step earns, and who makes it."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from specahd.core.program import Outcome
from specahd.repair.cases import Case
from specahd.repair.episodes import ACCEPTED, BEST, BETTER, OTHER, Annealing, run_episode
from specahd.routing.base import Region, Validation
from specahd.sandbox.calls import Result


class Number:
    """Its solution is its cost; what is rebuilt is added to it."""

    def __init__(self):
        self.operator = self
        self.selector = SimpleNamespace(
            inputs=lambda instance, solution: solution,
            validate=lambda instance, solution, output: Validation(0, tuple(output), ()),
        )

    def inputs(self, instance, solution, region):
        return region.nodes

    def merge(self, instance, solution, region, output):
        return None if output is None else solution + output

    def check(self, instance, solution):
        return ("negative",) if solution < 0 else ()

    def cost(self, instance, solution):
        return solution


def proposing(*regions, calls=None, outcome=Outcome.OK):
    def propose(solution):
        if calls is not None:
            calls.append(solution)
        return Result(outcome, tuple(map(Region, regions)))

    return propose


def run(answers, *, lowers=1, iterations=None, temperature=0.0, proposers=None, seed=0):
    """Run an episode in which each call of a lower program gets the next answer."""
    asked, following = [], iter(answers)

    def rebuild(members, nodes, _count):
        [member] = members
        asked.append((member, nodes))
        answer = next(following)
        return [answer if isinstance(answer, Result) else Result(Outcome.OK, answer)]

    episode = run_episode(
        Number(),
        Case("x", 100.0, 100.0, "none"),
        proposers or [proposing((1,))],
        rebuild,
        lowers,
        Annealing(iterations or len(answers), temperature),
        np.random.default_rng(seed),
    )
    return episode, asked


@pytest.mark.parametrize(
    ("answers", "earned", "improvement"),
    [
        ([-10.0], BEST, 0.1),
        ([-10.0, -5.0], 2 * BEST, 0.15),
        # What costs as much, or cannot be, is not taken.
        ([0.0], OTHER, 0.0),
        ([-200.0], OTHER, 0.0),
        ([None], OTHER, 0.0),
        ([Result(Outcome.CRASHED)], OTHER, 0.0),
        # Nor is what is dearer where it is cold.
        ([5.0, -10.0], OTHER + BEST, 0.1),
    ],
)
def test_a_step_earns_by_what_it_leads_to(answers, earned, improvement):
    episode, _ = run(answers)
    assert episode.rewards == ((pytest.approx(earned),),)
    assert episode.improvement == pytest.approx(improvement)


def test_dearer_solutions_are_accepted_by_chance_and_better_ones_after_them_are_not_the_best():
    hot, _ = run([20.0, -10.0], temperature=1e9)
    assert hot.rewards == ((pytest.approx(ACCEPTED + BETTER),),)
    assert hot.improvement == 0.0
    # exp(-20 / 20) of them, each on its own.
    accepted = sum(
        run([20.0], temperature=0.2, seed=seed)[0].rewards[0][0] == ACCEPTED for seed in range(1000)
    )
    assert accepted / 1000 == pytest.approx(np.exp(-1), abs=0.04)


def test_it_cools_down():
    # By 0.97 a step: 300 steps later a ten thousandth is left.
    episode, _ = run([*[0.0] * 300, 20.0], temperature=10.0)
    assert episode.rewards[0][0] == pytest.approx(301 * OTHER)


def test_programs_that_earn_are_drawn_more_often_and_each_pair_gets_its_own():
    drawn = Counter()

    def rebuild(members, nodes, _count):
        [member] = members
        drawn[nodes[0], member] += 1
        return [Result(Outcome.OK, -0.1 if (nodes[0], member) == (1, 0) else 0.0)]

    episode = run_episode(
        Number(),
        Case("x", 100.0, 100.0, "none"),
        [proposing((0,)), proposing((1,))],
        rebuild,
        2,
        Annealing(400, 0.0),
        np.random.default_rng(0),
    )
    assert drawn[1, 0] > 200
    for (upper, lower), count in drawn.items():
        each = BEST if (upper, lower) == (1, 0) else OTHER
        assert episode.rewards[upper][lower] == pytest.approx(count * each)


def test_a_region_is_drawn_of_those_proposed_and_they_are_asked_for_once_a_solution():
    calls = []
    proposers = [proposing((1,), (2,), (3,), calls=calls)]
    _, asked = run([*[0.0] * 50, -1.0, 0.0, 0.0], proposers=proposers)
    assert {nodes for _, nodes in asked} == {(1,), (2,), (3,)}
    assert calls == [100.0, 99.0]


def test_what_fails_earns_the_least_and_is_left_alone():
    calls = []
    failing = proposing((1,), calls=calls, outcome=Outcome.TIMEOUT)
    episode, asked = run([], iterations=5, proposers=[failing])
    assert (asked, len(calls), episode.rewards) == ([], 1, ((pytest.approx(5 * OTHER),),))
    # A lower program that is too slow is not called again.
    episode, asked = run([Result(Outcome.TIMEOUT)], iterations=5)
    assert (len(asked), episode.rewards) == (1, ((pytest.approx(5 * OTHER),),))
