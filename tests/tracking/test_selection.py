"""The rule that chooses among runs, on stores whose runs were made by hand."""

import pytest
from small_store import SmallStore

from specahd.core.errors import FileError
from specahd.tracking.registry import choose_champion, ranked_trainings

pytestmark = pytest.mark.integration

SETTINGS = {"problem.baseline": "nearest", "problem.newer_option": 3}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    return SmallStore(tmp_path_factory.mktemp("store"))


def considered(small_store, experiment, **options):
    settings = options.pop("settings", SETTINGS)
    return ranked_trainings(small_store.client, experiment, "cvrp", settings, **options)


def test_selection_decides_whatever_validation_says(small_store):
    # A worsening is less than nothing.
    scores = [(-0.01, 0.9), (0.0, 0.9), (0.03, -0.9), (0.02, 0.9)]
    added = [
        small_store.add("decides", selection=selection, validation=validation).info.run_id
        for selection, validation in scores
    ]
    runs = considered(small_store, "decides")
    assert [run.id for run in runs] == [added[place] for place in (2, 3, 1, 0)]
    assert choose_champion(runs, "cvrp") is runs[0]
    assert runs[0].scores == (0.03, -0.9)


def test_ties_go_to_the_smaller_seed_then_to_the_smaller_run_id(small_store):
    # 10 comes before 9 as text.
    runs = [small_store.add("ties", seed=seed) for seed in (10, 9, 9, 9, 11)]
    nines = sorted(run.info.run_id for run in runs[1:4])
    found = [run.id for run in considered(small_store, "ties")]
    assert found == [*nines, runs[0].info.run_id, runs[4].info.run_id]


LEFT_OUT = {
    "running or killed": {"status": "RUNNING"},
    "interrupted": {"status": "KILLED"},
    "failed": {"status": "FAILED"},
    "partial: 5 of 8 programs": {"tickets": 5},
    "problem.baseline=savings": {"params": {"problem.baseline": "savings"}},
    "failed on the selection pool": {"metrics": {"selection/failed": 1}},
    "not measured on the selection pool": {"selection": None},
}


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_a_run_that_does_not_count_is_listed_last_and_never_wins(small_store, reason):
    counted = small_store.add(reason, seed=1, selection=0.01)
    left_out = small_store.add(reason, seed=0, **{"selection": 0.9, **LEFT_OUT[reason]})
    first, last = considered(small_store, reason)
    assert (first.id, first.objection) == (counted.info.run_id, "")
    assert (last.id, last.objection) == (left_out.info.run_id, reason)
    assert choose_champion([first, last], "cvrp") is first


def test_a_run_without_tickets_is_complete(small_store):
    small_store.add("zero", tickets=0, params={"budget.programs": "0"})
    [run] = considered(small_store, "zero")
    assert run.objection == ""


def test_runs_measured_on_different_instances_are_not_ranked(small_store):
    costs = ((0, "smoke", 408337.0), (1, "smoke", 404064.0), (2, "quick", 408337.0))
    for seed, budget, cost in costs:
        small_store.add(
            "instances", seed=seed, selection=0.01 * seed, params={"budget": budget},
            metrics={"selection/baseline_cost": cost},
        )  # fmt: skip
    runs = considered(small_store, "instances")
    told = (
        r"different instances .* \(budget quick, smoke, seeds 0, 2, mean baseline cost 408,337\.0; "
        r"budget smoke, seeds 1, mean baseline cost 404,064\.0\): choose with budget=NAME"
    )
    with pytest.raises(FileError, match=told):
        choose_champion(runs, "cvrp")
    same = [run for run in runs if run.seed != 1]
    assert choose_champion(same, "cvrp") is same[0]


def test_candidates_sweeps_and_other_problems_are_no_candidates(small_store):
    mine = small_store.add("kinds")
    small_store.add("kinds", kind="candidate", selection=0.9, parent=mine.info.run_id)
    small_store.add("kinds", kind="sweep", selection=0.9)
    small_store.add("kinds", params={"problem": "tsp"}, selection=0.9)
    assert [run.id for run in considered(small_store, "kinds")] == [mine.info.run_id]


def test_a_sweep_narrows_the_choice_to_its_jobs(small_store):
    sweep = small_store.add("sweep", kind="sweep").info.run_id
    job = small_store.add("sweep", selection=0.01, parent=sweep)
    small_store.add("sweep", selection=0.9)
    assert [run.id for run in considered(small_store, "sweep", sweep=sweep)] == [job.info.run_id]


def test_where_none_counts_one_sentence_says_why(small_store):
    small_store.add("none", status="KILLED")
    small_store.add("none", status="KILLED")
    small_store.add("none", tickets=1)
    with pytest.raises(FileError, match=r"3 in all: 2 interrupted, 1 partial: 1 of 8 programs\.$"):
        choose_champion(considered(small_store, "none"), "cvrp")
    with pytest.raises(FileError, match="no run of cvrp"):
        choose_champion([], "cvrp")
    with pytest.raises(FileError, match="no experiment 'unknown'"):
        considered(small_store, "unknown")
    assert small_store.client.get_experiment_by_name("unknown") is None
