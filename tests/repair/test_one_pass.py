"""Passes on a problem so small that every state is a number: the merges accepted so far."""

import time
from contextlib import nullcontext
from itertools import islice
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from specahd.core.errors import ConfigError
from specahd.core.program import Level, Outcome, Program
from specahd.core.settings import Penalty, Settings
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import Case
from specahd.repair.merge import Accept
from specahd.repair.passes import check_extensions, repair_case
from specahd.repair.system import RepairSystem, mean_improvement
from specahd.routing.base import Region, Rejection, Validation
from specahd.sandbox.calls import Result

REGIONS = tuple(Region((node, node + 1)) for node in (1, 3, 5, 7))


class Counting:
    """Its solution counts merges; each takes what was rebuilt off the cost."""

    def __init__(self):
        self.operator = self
        self.selector = SimpleNamespace(
            inputs=lambda instance, solution: ("select", solution),
            validate=lambda instance, solution, output: Validation(
                6, REGIONS, (Rejection(4, "empty"), Rejection(5, "oversized"))
            ),
        )

    def describe(self, instance, solution, region):
        return np.array([float(len(solution)), float(region.nodes[0])])

    def inputs(self, instance, solution, region):
        return len(solution), region.nodes[0]

    def identity(self, region):
        return region.nodes

    def routes(self, solution):
        # A merge changes the route of the first six nodes; the last two have one that stays.
        return [(*range(1, 7), -len(solution)), (7, 8)]

    def merge(self, instance, solution, region, output):
        return None if output is None else (*solution, output)

    def check(self, instance, solution):
        return ("too much",) if solution[-1] > 50 else ()

    def cost(self, instance, solution):
        return 100.0 - sum(solution)


class Alternating:
    """A router that takes the members in turn, and keeps the descriptors that it is asked of."""

    def __init__(self):
        self.seen = []

    def rank(self, descriptor, count):
        self.seen.append(tuple(descriptor.tolist()))
        return [(len(self.seen) + place) % 2 for place in range(count)]


def passed(
    *rebuilt,
    accept=Accept.IMPROVING,
    members=2,
    portfolio=False,
    uppers=("g",),
    seconds=inf,
    proposing=0.0,
    **options,
):
    programs = tuple(
        Program(f"h{member}", Level.LOWER, "", "", "i1", contract="c") for member in range(members)
    )
    router, asked, answers = Alternating(), [], iter(rebuilt)

    def rebuild(members, inputs, _nodes):
        asked.extend((member, *inputs) for member in members)
        return [
            answer if isinstance(answer, Result) else Result(Outcome.OK, answer, fallbacks=3)
            for answer in islice(answers, len(members))
        ]

    repair = repair_case(
        Counting(),
        Case("x", (), 100.0, "none"),
        RepairSystem("k", programs, router, accept, portfolio, **options),
        {
            name: lambda inputs, name=name: Result(
                Outcome.TIMEOUT if name == "late" and inputs[1] else Outcome.OK,
                inputs,
                name,
                proposing,
            )
            for name in uppers
        },
        rebuild,
        seconds,
    )
    return repair, router.seen, asked


def test_each_region_is_described_and_rebuilt_on_the_solution_as_it_is_by_then():
    repair, described, asked = passed(10, 20, 5, 1)
    assert described == [(0, 1), (1, 3), (2, 5), (3, 7)]
    assert asked == [(1, 0, 1), (0, 1, 3), (1, 2, 5), (0, 3, 7)]
    assert [step.descriptor for step in repair.steps] == described
    assert [(step.cost_before, step.cost_merged) for step in repair.steps] == [
        (100, 90), (90, 70), (70, 65), (65, 64),
    ]  # fmt: skip
    assert (repair.solution, repair.cost, repair.baseline_cost) == ((10, 20, 5, 1), 64, 100)
    assert [step.program for step in repair.steps] == ["h1", "h0", "h1", "h0"]
    assert repair.improvement == pytest.approx(0.36)
    # In one pass nothing is said of passes or upper programs.
    assert {(step.number, step.upper) for step in repair.steps} == {(None, None)}
    assert (repair.passes, repair.skipped) == (1, 0)


def test_what_is_not_accepted_leaves_the_solution_and_the_next_description_as_they_were():
    failed = Result(Outcome.TIMEOUT, (), "slow", fallbacks=1)
    repair, described, _ = passed(-5, 60, failed, 7)
    assert described == [(0, 1), (0, 3), (0, 5), (0, 7)]
    assert [str(step.outcome) for step in repair.steps] == [
        "ok", "infeasible_merge", "timeout", "ok",
    ]  # fmt: skip
    assert [step.cost_merged for step in repair.steps] == [105, None, None, 93]
    assert [step.accepted for step in repair.steps] == [False, False, False, True]
    assert [step.fallbacks for step in repair.steps] == [3, 3, 1, 3]
    assert (repair.solution, repair.cost) == ((7,), 93)
    assert (repair.proposed, repair.rejections) == (6, ("empty", "oversized"))


def test_as_feasible_a_worse_solution_is_taken_and_goes_on():
    repair, described, _ = passed(-5, 0, None, 1, accept=Accept.FEASIBLE)
    assert described == [(0, 1), (1, 3), (2, 5), (2, 7)]
    assert [step.cost_before for step in repair.steps] == [100, 105, 105, 105]
    assert repair.steps[2].outcome is Outcome.INVALID_OUTPUT
    assert repair.cost == 104


@pytest.mark.parametrize("portfolio", [False, True])
def test_without_a_repertoire_nothing_is_rebuilt(portfolio):
    repair, described, _ = passed(members=0, portfolio=portfolio)
    assert (described, repair.steps, repair.outcome) == ([], (), Outcome.OK)
    assert repair.cost == 100.0


def test_the_mean_improvement_is_over_what_did_not_fail():
    repair, _, _ = passed(10, 20, 5, 1)
    other, _, _ = passed(1, 1, 1, 1)
    assert mean_improvement([repair, other]) == pytest.approx((0.36 + 0.04) / 2)


def test_of_a_portfolio_each_member_repairs_alone_and_the_cheapest_result_stays():
    # Per region member 0 would win twice, on the whole it does not.
    repair, described, asked = passed(
        9, 9, 1, 1, 8, 8, 8, 8, 24, 0, 0, 0, portfolio=True, members=3
    )
    assert described == []
    assert [member for member, *_ in asked] == [0] * 4 + [1] * 4 + [2] * 4
    # Each begins with the baseline solution.
    assert [merges for _, merges, _ in asked[:8]] == [0, 1, 2, 3] * 2
    assert (repair.cost, repair.solution) == (68.0, (8, 8, 8, 8))
    assert {step.program for step in repair.steps} == {"h1"}
    assert repair.proposed == 6
    assert set(repair.seconds) == {"propose", "validate", "describe", "route", "rebuild", "merge"}


def test_of_equal_results_that_of_the_earlier_member_stays():
    repair, _, asked = passed(*[5] * 8, portfolio=True)
    assert len(asked) == 8
    assert {step.program for step in repair.steps} == {"h0"}


def test_the_time_of_all_members_of_a_portfolio_counts(monkeypatch):
    now = iter(range(1000))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(now)))
    repair, _, _ = passed(*[5] * 12, portfolio=True, members=3)
    # One tick a lap: four regions, three members.
    assert repair.seconds["rebuild"] == 12


def test_upper_programs_take_turns_until_a_cycle_of_them_gains_nothing():
    first, second, third = (10, 0, 0, 0), (5, 0, 0), (0,)
    repair, _, asked = passed(*first, *second, *third, passes=9, uppers=("g", "f"))
    # The last region has the route (7, 8) all the time, and is not rebuilt there a second time;
    # the first gains, so that it is rebuilt on another route, and with it those after it.
    assert [node for _, _, node in asked] == [1, 3, 5, 7, 1, 3, 5, 1]
    assert [(step.number, step.upper) for step in repair.steps] == (
        [(1, "g")] * 4 + [(2, "f")] * 3 + [(3, "g")]
    )
    # The pass of f after that has the same regions on the same routes.
    assert (repair.passes, repair.skipped, repair.cost) == (4, 1 + 3 + 4, 85)
    assert (repair.proposed, len(repair.rejections), repair.outcome) == (24, 8, Outcome.OK)


def test_one_upper_program_goes_on_as_long_as_its_passes_gain_or_last():
    repair, *_ = passed(*[1] * 10, passes=3)
    assert (repair.passes, repair.cost) == (3, 100 - 4 - 3 - 3)
    assert {step.upper for step in repair.steps} == {None}
    repair, *_ = passed(1, 0, 0, 0, 0, passes=64)
    assert (repair.passes, repair.cost) == (2, 99)


def test_passes_end_when_programs_have_used_their_seconds():
    slow = [Result(Outcome.OK, 1, cpu_seconds=2.0)] * 20
    # The third rebuild begins before its seconds are over, the fourth does not.
    repair, _, asked = passed(*slow, passes=64, seconds=5.0)
    assert [node for *_, node in asked] == [1, 3, 5]
    assert (repair.passes, repair.cost, repair.skipped) == (1, 97, 1)
    # Proposals count, too, and so does each member that is tried.
    repair, *_ = passed(*slow, passes=64, seconds=15.0, proposing=3.0)
    assert (repair.passes, len(repair.steps)) == (2, 4 + 1)
    repair, *_ = passed(*slow, passes=64, seconds=5.0, tries=2)
    assert (repair.passes, len(repair.steps)) == (1, 2)
    # A proposal that leaves no seconds is not rebuilt, and the solution stays.
    repair, *_ = passed(*slow, passes=64, seconds=5.0, proposing=6.0)
    assert (repair.outcome, repair.steps, repair.cost) == (Outcome.OK, (), 100)


def test_what_was_made_dearer_counts_over_the_whole_cycle():
    # As feasible: 10 dearer, then 4 cheaper. The two passes gained nothing.
    repair, *_ = passed(
        *(-10, 0, 0, 0), *(4, 0, 0), passes=9, uppers=("g", "f"), accept=Accept.FEASIBLE
    )
    assert (repair.passes, repair.cost) == (2, 106)


def test_of_the_members_tried_on_a_region_the_cheapest_merge_counts():
    failed, slow = Result(Outcome.CRASHED), Result(Outcome.TIMEOUT)
    repair, described, asked = passed(5, 9, 4, 4, failed, 3, failed, slow, tries=2)
    # Both from the same incumbent, in the order of the router.
    assert asked == [
        (1, 0, 1), (0, 0, 1), (0, 1, 3), (1, 1, 3), (1, 2, 5), (0, 2, 5), (0, 3, 7), (1, 3, 7),
    ]  # fmt: skip
    assert described == [(0, 1), (1, 3), (2, 5), (3, 7)]
    assert [step.program for step in repair.steps] == ["h0", "h0", "h0", "h0"]
    assert [step.cost_merged for step in repair.steps] == [91, 87, 84, None]
    assert [step.fallbacks for step in repair.steps] == [3, 3, 3, 0]
    assert repair.steps[-1].outcome is Outcome.CRASHED
    assert repair.solution == (9, 4, 3)


def test_of_tries_that_are_all_dearer_the_cheapest_is_told_and_none_is_taken():
    repair, *_ = passed(-5, -2, *[-1] * 6, tries=2)
    assert [step.cost_merged for step in repair.steps] == [102, 101, 101, 101]
    assert repair.cost == 100


def test_an_upper_program_that_fails_in_a_later_pass_leaves_the_baseline():
    repair, *_ = passed(*[1] * 4, passes=9, uppers=("g", "late"))
    assert (repair.outcome, repair.detail, repair.failed) == (Outcome.TIMEOUT, "late", True)
    assert (repair.cost, repair.solution, repair.steps, repair.proposed) == (100.0, (), (), 0)


def test_regions_that_are_not_tried_again_count_as_kept():
    repair, *_ = passed(1, 0, 0, 60, 0, passes=2)
    assert (repair.passes, repair.skipped, repair.proposed) == (2, 3, 12)
    expected = 0.005 * (12 - 8) / 12 + 0.005 * 1 / 8
    assert repair.penalty(Penalty()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("repair", "options", "reason"),
    [
        ("append", {"uppers": 3, "passes": 2}, r"passes of at least search\.uppers=3, .*, got 2\."),
        ("append", {"halving": True}, "halving=False where no search repairs an instance"),
        ("insertion", {"uppers": 3, "passes": 3}, "passes=1 where the engine makes the passes"),
        ("construct", {"uppers": 3}, "uppers=1 where regions are whole instances"),
        ("append", {"uppers": 3, "passes": 3}, None),
        ("insertion", {"uppers": 3, "halving": True}, None),
    ],
)
def test_several_upper_programs_have_a_pass_each_or_are_chosen_for_a_search(
    repair, options, reason
):
    with pytest.raises(ConfigError, match=reason) if reason else nullcontext():
        check_extensions(
            CVRP(repair=repair), Settings(**options), portfolio=False, judged_singly=False
        )
