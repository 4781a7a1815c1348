"""What an evaluator says of many tasks in few words."""

import pytest

from specahd.core.program import Outcome
from specahd.repair.evaluator import (
    UpperResult,
    _mean_descriptor,
    _summary,
)
from specahd.repair.responses import Response, count_outcomes
from specahd.repair.system import Repair, Step
from specahd.routing.base import Region


def pairs(*outcomes):
    return [
        (Response(Outcome(outcome), 100.0, None), f"{outcome} {place}")
        for place, outcome in enumerate(outcomes)
    ]


@pytest.mark.parametrize(
    ("outcomes", "summary"),
    [
        (["timeout", "crashed", "crashed"], ("crashed", "crashed 1")),
        (["timeout", "timeout", "crashed"], ("timeout", "timeout 0")),
        # The first of equally frequent ones.
        (["crashed", "timeout"], ("crashed", "crashed 0")),
        (["crashed", "ok", "crashed"], ("ok", "")),
        ([], ("ok", "")),
    ],
)
def test_one_answer_makes_a_program_ok_else_its_most_frequent_failure_stands(outcomes, summary):
    assert _summary(pairs(*outcomes)) == summary


def test_outcomes_are_counted_in_the_order_of_their_names():
    responses = [response for response, _ in pairs("timeout", "ok", "crashed", "ok")]
    assert list(count_outcomes(responses).items()) == [("crashed", 1), ("ok", 2), ("timeout", 1)]


def test_regions_are_described_by_their_mean_to_six_digits():
    steps = [
        Step(Region((1, 2)), descriptor, "p", Outcome.OK, 1.0, 1.0, False, 0)
        for descriptor in ((0.0, 1.0), (0.0, 2.0), (10.0, 2.0))
    ]
    repair = Repair(Outcome.OK, "", 1.0, 1.0, None, 3, (), tuple(steps), {})
    assert _mean_descriptor(repair) == (3.33333, 1.66667)
    assert _mean_descriptor(Repair(Outcome.OK, "", 1.0, 1.0, None, 3, (), (), {})) is None


def test_an_upper_score_is_over_the_instances_that_were_measured():
    result = UpperResult(Outcome.OK, "", (0.3, 0.1), (0.1, 0.0), (None, None))
    assert result.score == pytest.approx(0.15)
    assert UpperResult(Outcome.TIMEOUT, "", (), (), ()).score == 0.0
