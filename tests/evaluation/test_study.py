"""The routing study's figures against hand-worked ones."""

from types import SimpleNamespace

import pytest

from specahd.core.program import Outcome
from specahd.evaluation.study import Growth, region_records, signed_costs, study_regions
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.routing.base import Region

# One row for each of three members, one column for each of four regions; None where it failed.
COSTS = {"a": [100, 90, None, 100], "b": [80, 110, 100, 100], "c": [90, 100, 50, 100]}
BEST = 1


def answered(costs):
    return [
        Response(Outcome.OK if cost else Outcome.TIMEOUT, 100.0, None if cost is None else cost)
        for cost in costs
    ]


def regions(costs, routed):
    """Return the records of regions on which a router chooses as given."""
    count = len(next(iter(costs.values())))
    tasks = [RepairTask(f"x#{k}", k, Region((k + 1,)), (float(k),)) for k in range(count)]
    table = ResponseTable(tasks)
    for name, row in costs.items():
        table.add(name, answered(row))
    router = SimpleNamespace(choose=lambda descriptor: routed[int(descriptor[0])])
    return region_records("x", table, router, list(costs))


def judged(routed, costs=COSTS):
    return study_regions(regions(costs, routed), list(costs), BEST)


def test_costs_are_signed_and_a_failure_leaves_the_incumbents():
    assert signed_costs(regions(COSTS, [0, 1, 2, 0]), list(COSTS)).tolist() == [
        [100, 80, 90], [90, 110, 100], [100, 100, 50], [100, 100, 100],
    ]  # fmt: skip


def test_every_policy_by_hand():
    found = judged([0, 0, 2, 1]).policies
    routed, best, oracle = (found[name] for name in ("SpecAHD", "global best", "oracle"))
    # Scaled responses: worst, best, best, and a region on which the members agree.
    assert routed.response == pytest.approx((0 + 1 + 1 + 1) / 4)
    assert routed.gain == pytest.approx(100 * ((80 - 100) / 80 + 20 / 110 + 50 / 100) / 4)
    assert routed.regret == pytest.approx(100 * (20 / 80) / 4)
    # The region on which all are equal is a hit, whoever is chosen.
    assert routed.hits == 75.0
    assert best.response == pytest.approx((1 + 0 + 0 + 1) / 4)
    assert best.regret == pytest.approx(100 * (20 / 90 + 50 / 50) / 4)
    assert (best.gain, best.hits) == (0.0, 50.0)
    assert (oracle.response, oracle.regret, oracle.hits) == (1.0, 0.0, 100.0)
    assert oracle.gain == pytest.approx(100 * (20 / 110 + 50 / 100) / 4)


def test_the_repertoire_grows_in_its_order_to_the_whole_of_it():
    alone, two, three = judged([0, 0, 0, 0]).growth
    assert alone == Growth(
        1,
        pytest.approx((0 + 1 + 0 + 1) / 4),
        pytest.approx(100 * (20 / 80 + 50 / 50) / 4),
        50.0,
    )
    assert two == Growth(2, pytest.approx(3 / 4), pytest.approx(25.0), 75.0)
    assert three == Growth(3, 1.0, 0.0, 100.0)
    costs = {f"m{number}": [100.0 - number] for number in range(12)}
    assert [each.members for each in judged([0], costs).growth] == [1, 2, 4, 6, 10, 12]


def test_random_choice_is_the_mean_of_thirty_and_repeats_itself():
    costs = {"a": [50] * 400, "b": [100] * 400}
    one, other = (judged([0] * 400, costs).policies["random"] for _ in range(2))
    assert one == other
    assert one.hits == pytest.approx(50, abs=3)
    assert one.response == pytest.approx(one.hits / 100)
    assert one.regret == pytest.approx(100 - one.hits)
    # Of a share of 400 fair draws: 100 times the square root of 0.25 / 400.
    assert one.deviation["hits"] == pytest.approx(2.5, rel=0.4)
    assert one.deviation["response"] == pytest.approx(one.deviation["hits"] / 100)
    assert not judged([0] * 400, costs).policies["oracle"].deviation


def test_records_hold_all_that_was_found():
    study = judged([0, 1, 2, 0])
    records = list(study.records())
    assert [each.get("policy") for each in records[:4]] == list(study.policies)
    assert [each["members"] for each in records[4:]] == [1, 2, 3]
    assert {each["regions"] for each in records} == {4}
    assert study_regions([], list(COSTS), BEST).regions == 0
