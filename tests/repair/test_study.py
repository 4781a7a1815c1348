"""The routing study's figures against hand-worked ones."""

from types import SimpleNamespace

import numpy as np
import pytest

from specahd.core.program import Outcome
from specahd.repair.archive import ResponseArchive
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.repair.study import compare, signed_costs
from specahd.routing.base import Region

# One row for each member, one column for each region; None where it failed.
COSTS = {"a": [100, 90, None, 100], "b": [80, 110, 100, 100]}


def answered(costs):
    return [
        Response(Outcome.OK if cost else Outcome.TIMEOUT, 100.0, None if cost is None else cost)
        for cost in costs
    ]


def table(rows):
    count = len(next(iter(rows.values())))
    tasks = [RepairTask(f"x#{k}", k, Region((k + 1,)), (float(k),)) for k in range(count)]
    made = ResponseTable(tasks)
    for name, costs in rows.items():
        made.add(name, answered(costs))
    return made


def judged(costs, routed, training=None):
    """Judge a router that chooses as given; in training ``b`` was better unless told otherwise."""
    archive = ResponseArchive(["size"])
    archive.extend(table(training or {"a": [90, 90], "b": [70, 100]}))
    system = SimpleNamespace(
        repertoire=[SimpleNamespace(id=name) for name in costs],
        router=SimpleNamespace(choose=lambda descriptor: routed[int(descriptor[0])]),
    )
    return compare(table(costs), system, archive)


def test_costs_are_signed_and_a_failure_leaves_the_incumbents():
    assert signed_costs(table(COSTS), ["a", "b"]).tolist() == [
        [100, 80], [90, 110], [100, 100], [100, 100],
    ]  # fmt: skip


def test_every_policy_by_hand():
    found = judged(COSTS, routed=[0, 0, 1, 1])
    routed, best = found["SpecAHD"], found["global best"]
    # Scaled responses: worst, best, and two regions on which the members agree.
    assert routed.response == pytest.approx((0 + 1 + 1 + 1) / 4)
    assert routed.gain == pytest.approx(100 * ((80 - 100) / 80 + (110 - 90) / 110) / 4)
    assert routed.regret == pytest.approx(100 * (20 / 80) / 4)
    assert routed.hits == 75.0
    assert (best.response, best.gain, best.hits) == (0.75, 0.0, 75.0)
    assert best.regret == pytest.approx(100 * (20 / 90) / 4)
    oracle = found["oracle"]
    assert (oracle.response, oracle.regret, oracle.hits) == (1.0, 0.0, 100.0)
    assert oracle.gain == pytest.approx(100 * (20 / 110) / 4)


def test_the_global_best_is_that_of_training_not_of_the_study():
    found = judged(COSTS, [0, 0, 0, 0], training={"a": [50, 100], "b": [90, 90]})
    # With ``a`` as reference, choosing ``a`` gains nothing.
    assert found["SpecAHD"].gain == 0.0


def test_random_choice_is_the_mean_of_many_and_repeats_itself():
    costs = {"a": [50] * 400, "b": [100] * 400}
    one, other = (judged(costs, [0] * 400)["random"] for _ in range(2))
    assert one == other
    assert one.hits == pytest.approx(50, abs=3)
    assert one.response == pytest.approx(one.hits / 100)
    assert one.regret == pytest.approx(100 - one.hits)


def test_a_table_has_a_row_for_each_program():
    assert np.array(table(COSTS).scores(["b"])).tolist() == [[0.2, 0.0, 0.0, 0.0]]
