"""The rows of a frozen evaluation, and their means."""

from dataclasses import replace
from math import isnan

import pytest

from offered import PROBLEMS
from offered import problem as problem_of
from specahd.core.journal import read_records
from specahd.core.program import Outcome
from specahd.repair.cases import make_case
from specahd.repair.rows import evaluation_row, summarise, write_rows
from specahd.repair.system import Repair, Step
from specahd.routing.base import Region
from specahd.runs.rows import read_rows

PROBLEM = problem_of("cvrp")
CASE = make_case(PROBLEM, next(iter(PROBLEM.generate("selection", 0))))


def repair(outcome=Outcome.OK, steps=(), share=1.0):
    made = [
        Step(Region((1, 2)), (), "p", Outcome(step), 9.0, None, accepted=False, fallbacks=0)
        for step in steps
    ]
    return Repair(
        outcome, "", CASE.cost, share * CASE.cost, CASE.baseline, 0, (), tuple(made),
        {"propose": 0.5},
    )  # fmt: skip


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.CRASHED, Outcome.INVALID_OUTPUT])
def test_where_the_upper_program_failed_there_is_no_cost(outcome):
    found = evaluation_row(PROBLEM, CASE, repair(outcome))
    assert (found["status"], found["cost"], found["improvement"]) == ("T", None, None)
    assert found["baseline_cost"] == CASE.cost


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.EMPTY_REGIONS])
def test_an_instance_without_regions_keeps_its_baseline(outcome):
    found = evaluation_row(PROBLEM, CASE, repair(outcome))
    assert (found["status"], found["cost"], found["improvement"]) == ("ok", CASE.cost, 0.0)


def test_means_leave_out_failures_and_count_rollbacks(tmp_path):
    repairs = [
        repair(share=0.5, steps=["ok", "timeout", "infeasible_merge"]),
        repair(steps=["ok"]),
        repair(Outcome.CRASHED),
    ]
    cases = [CASE] * 3
    instances = [case.instance for case in cases]
    rows = write_rows(tmp_path, "validation", PROBLEM, cases, repairs)
    assert list(read_records(tmp_path / "validation.jsonl")) == rows
    found = summarise(PROBLEM, "validation", instances, rows, PROBLEM.references)
    assert (found.instances, found.failed, found.steps, found.rollbacks) == (3, 1, 4, 2)
    assert (found.improvement, found.cost) == (0.25, 0.75 * CASE.cost)
    assert len(read_rows(tmp_path / "validation.jsonl")) == 3
    # The reference is cheaper than the incumbent, which stands where the upper program failed.
    assert (found.cheaper, found.unit) == ({"savings": 2}, "")
    assert found.references["savings"] > found.cost
    failed = summarise(PROBLEM, "validation", instances[:1], rows[2:])
    assert isnan(failed.improvement)


def test_a_row_tells_of_passes_and_upper_programs_only_where_there_are_several():
    one = evaluation_row(PROBLEM, CASE, repair(steps=["ok"]))
    assert not {"passes", "skipped", "pass", "upper"} & {*one, *one["steps"][0]}
    made = repair(steps=["ok"])
    steps = (replace(made.steps[0], number=2, upper="g"),)
    told = evaluation_row(PROBLEM, CASE, replace(made, steps=steps, passes=3, skipped=4))
    assert told == {
        **one, "passes": 3, "skipped": 4, "steps": [{**one["steps"][0], "pass": 2, "upper": "g"}],
    }  # fmt: skip


def test_a_row_says_whether_its_solution_is_feasible_and_its_coordinates_are_scaled():
    found = evaluation_row(PROBLEM, CASE, repair())
    assert (found["feasible"], found["coords_from_scaling"]) == (True, False)
    case = replace(CASE, instance=replace(CASE.instance, coords_from_scaling=True))
    found = evaluation_row(PROBLEM, case, replace(repair(), solution=CASE.baseline[1:]))
    assert (found["feasible"], found["coords_from_scaling"]) == (False, True)


def test_other_baselines_are_averaged_over_what_did_not_fail():
    instances = PROBLEM.generate("selection", 1)
    cases = [CASE, make_case(PROBLEM, next(iter(instances)))]
    rows = [
        evaluation_row(PROBLEM, cases[0], repair()),
        evaluation_row(PROBLEM, cases[1], repair(Outcome.TIMEOUT)),
    ]
    found = summarise(
        PROBLEM, "validation", [case.instance for case in cases], rows, ["nearest", "savings"]
    )
    solution = PROBLEM.baseline(CASE.instance, "savings")
    # B itself is passed over.
    assert found.references == {"savings": PROBLEM.cost(CASE.instance, solution)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_row_tells_the_bound_of_split_deliveries_alone(name):
    problem = problem_of(name)
    case = make_case(problem, next(iter(problem.generate("selection", 0))))
    bound = problem.lower_bound(case.instance)
    assert (bound is not None) == (name == "sdvrp")
    found = evaluation_row(problem, case, replace(repair(), solution=case.baseline))
    assert found.get("lower_bound") == bound
    assert found["coords_from_scaling"] is False
