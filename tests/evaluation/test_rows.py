"""The rows of a frozen evaluation, their means, and the example of a run."""

import json
from dataclasses import replace
from math import isnan, nan

import pytest

from offered import PROBLEMS
from offered import problem as problem_of
from run_directories import lines, row
from specahd.core.errors import FileError
from specahd.core.journal import read_records
from specahd.core.program import Outcome
from specahd.evaluation.rows import (
    average_rows,
    evaluation_row,
    read_rows,
    summarise,
    write_example,
    write_rows,
)
from specahd.repair.cases import make_case
from specahd.repair.system import Repair, Step
from specahd.routing.base import Region
from specahd.tracking.follower import check_records

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


def read(path, *records):
    lines(path / "rows.jsonl", records)
    return read_rows(path / "rows.jsonl")


def test_a_failed_instance_is_counted_and_never_imputed(tmp_path):
    old = {**row("d", 10, 1e9), "status": "T"}
    rows = read(
        tmp_path,
        row("a", 10, 90.0),
        row("b", 10, 60.0, rollbacks=3),
        row("c", 10, 0.0, baseline_cost=900.0, status="T"),
        # Rows of failed instances had numbers once.
        old,
    )
    found = average_rows(rows)
    assert (found.rows, found.failed, found.steps, found.rollbacks) == (4, 2, 7, 3)
    assert found.measures() == {"baseline_cost": 100.0, "cost": 75.0, "improvement": 0.25}


def test_there_is_no_mean_of_nothing(tmp_path):
    assert isnan(average_rows([]).improvement)
    assert average_rows(read(tmp_path, row("c", 10, nan, status="T"))).measures() == {}
    assert read_rows(tmp_path / "gone.jsonl") == ()


@pytest.mark.parametrize("name", ["cost", "improvement", "baseline_cost", "steps", "instance"])
def test_a_row_that_lacks_a_field_is_refused(tmp_path, name):
    torn = {key: value for key, value in row("a", 10, 90.0).items() if key != name}
    with pytest.raises(FileError, match=rf"rows\.jsonl: line 1 .*missing required field {name}"):
        read(tmp_path, torn)


WRONG = {
    "journal.jsonl": [
        ({"sample": "a"}, "missing required field"),
        ({"record": "round", "round": "1", "upper": "a"}, "round: expected int, got str"),
    ],
    "responses.jsonl": [
        ({"round": 1, "tasks": [{"key": 3}]}, r"tasks\[0\]\.key: expected str, got int"),
        ({"round": 1, "outcome": "fine", "sample": "a"}, "outcome: invalid enum value 'fine'"),
        ({"round": 1, "outcome": "ok"}, "missing required field sample"),
        (
            {"round": 1, "outcome": "ok", "sample": "a", "utilities": [True]},
            r"utilities\[0\]: expected int \| float, got bool",
        ),
    ],
    "wal.jsonl": [({"sample": "a b"}, "sample: expected str of another form")],
    "timings.jsonl": [({"sample": "a", "at": "now"}, "at: expected float, got str")],
    "prompts.jsonl": [({"sample": "a"}, "missing required field prompt")],
    "routes.json": [({"instance": 3}, "instance: expected str, got int")],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_record_of_a_wrong_type_is_told_by_file_and_field(tmp_path, name):
    for record, words in WRONG[name]:
        lines(tmp_path / name, [record])
        with pytest.raises(FileError, match=rf"{name}: line 1 .*{words}"):
            check_records(tmp_path)


@pytest.mark.parametrize("name", ["tsp", "sdvrp"])
def test_routes_visit_every_node_before_and_after(name, tmp_path):
    problem = problem_of(name)
    instances = problem.generate("selection", 0)
    cases = [make_case(problem, next(instances)) for _ in range(4)]
    gains = [0.0, 0.5, 0.25, 0.75]
    repairs = [
        Repair(Outcome.OK, "", 8.0, 8.0 * (1 - gain), case.baseline, 0, (), (), {})
        for case, gain in zip(cases, gains, strict=True)
    ]
    write_example(tmp_path, problem, cases, repairs)
    example = json.loads((tmp_path / "routes.json").read_text())
    assert example["instance"] == cases[1].instance.name
    for routes in (example["before"], example["after"]):
        assert {node for route in routes for node in route} == set(range(1, len(example["coords"])))
    assert (example["cost_before"], example["cost_after"]) == (cases[1].cost, 4.0)
