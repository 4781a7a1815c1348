"""The rule that chooses among runs, on stores whose runs were made by hand."""

import pytest
from shelf import Shelf

from specahd.core.errors import FileError
from specahd.tracking import selection
from specahd.tracking.selection import champion, trainings

SETTINGS = {"problem.baseline": "nearest", "problem.newer_option": 3}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return Shelf(tmp_path_factory.mktemp("store"))


def considered(shelf, experiment, **options):
    settings = options.pop("settings", SETTINGS)
    return trainings(shelf.client, experiment, "cvrp", settings, **options)


def test_selection_decides_whatever_validation_says(shelf):
    worse = shelf.add("decides", selection=0.02, validation=0.9)
    better = shelf.add("decides", selection=0.03, validation=-0.9)
    runs = considered(shelf, "decides")
    assert [run.id for run in runs] == [better.info.run_id, worse.info.run_id]
    assert champion(runs, "cvrp").id == better.info.run_id
    assert runs[0].scores == (0.03, -0.9)


def test_a_worsening_is_less_than_nothing(shelf):
    shelf.add("signs", selection=-0.01, seed=0)
    zero = shelf.add("signs", selection=0.0, seed=1)
    assert champion(considered(shelf, "signs"), "cvrp").id == zero.info.run_id


def test_ties_go_to_the_smaller_seed_then_to_the_smaller_run_id(shelf):
    # 10 comes before 9 as text.
    runs = [shelf.add("ties", seed=seed) for seed in (10, 9, 9, 9, 11)]
    nines = sorted(run.info.run_id for run in runs[1:4])
    found = [run.id for run in considered(shelf, "ties")]
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
def test_a_run_that_does_not_count_is_listed_last_and_never_wins(shelf, reason):
    counted = shelf.add(reason, seed=1, selection=0.01)
    left_out = shelf.add(reason, seed=0, **{"selection": 0.9, **LEFT_OUT[reason]})
    first, last = considered(shelf, reason)
    assert (first.id, first.objection) == (counted.info.run_id, "")
    assert (last.id, last.objection) == (left_out.info.run_id, reason)
    assert champion([first, last], "cvrp") is first


def test_a_run_without_tickets_is_complete(shelf):
    shelf.add("zero", tickets=0, params={"budget.programs": "0"})
    [run] = considered(shelf, "zero")
    assert run.objection == ""


def test_candidates_sweeps_and_other_problems_are_no_candidates(shelf):
    mine = shelf.add("kinds")
    shelf.add("kinds", kind="candidate", selection=0.9, parent=mine.info.run_id)
    shelf.add("kinds", kind="sweep", selection=0.9)
    shelf.add("kinds", params={"problem": "tsp"}, selection=0.9)
    assert [run.id for run in considered(shelf, "kinds")] == [mine.info.run_id]


def test_a_sweep_narrows_the_choice_to_its_jobs(shelf):
    sweep = shelf.add("sweep", kind="sweep").info.run_id
    job = shelf.add("sweep", selection=0.01, parent=sweep)
    shelf.add("sweep", selection=0.9)
    assert [run.id for run in considered(shelf, "sweep", sweep=sweep)] == [job.info.run_id]


def test_every_page_is_read(shelf, monkeypatch):
    monkeypatch.setattr(selection, "_PAGE", 2)
    ids = {shelf.add("pages", seed=seed).info.run_id for seed in range(5)}
    assert {run.id for run in considered(shelf, "pages")} == ids


def test_where_none_counts_one_sentence_says_why(shelf):
    shelf.add("none", status="KILLED")
    shelf.add("none", status="KILLED")
    shelf.add("none", tickets=1)
    with pytest.raises(FileError, match=r"3 in all: 2 interrupted, 1 partial: 1 of 8 programs\.$"):
        champion(considered(shelf, "none"), "cvrp")
    with pytest.raises(FileError, match="no run of cvrp"):
        champion([], "cvrp")
    with pytest.raises(FileError, match="no experiment 'unknown'"):
        considered(shelf, "unknown")
    assert shelf.client.get_experiment_by_name("unknown") is None
