"""Models in real MLflow registries: made once, chosen, fetched by name, refused when altered."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_store import SmallStore

from copied_stores import empty_store
from frozen import freeze_seeds
from specahd import model
from specahd.checkpoint.frozen import thaw
from specahd.checkpoint.manifest import verify_checksums
from specahd.core.errors import CheckpointError, ConfigError, FileError
from specahd.tracking.registry import (
    Version,
    choose_champion,
    fetched_checkpoint,
    promote_version,
    ranked_trainings,
    register_checkpoint,
)
from specahd.tracking.store import open_store

pytestmark = pytest.mark.integration

KILLED = """
import os, signal, sys
from pathlib import Path
from mlflow import MlflowClient
from test_registry import register_run

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

# The last request of all: everything else is in the store by then.
MlflowClient.create_model_version = die
register_run(*sys.argv[1:])
"""


def register_run(uri, run_id, checkpoint, problem="cvrp"):
    with open_store(uri) as client:
        return register_checkpoint(
            client, client.get_run(run_id), Path(checkpoint), problem, model.save, {"a": "b"}
        )


def tree(directory):
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return freeze_seeds("cvrp", tmp_path_factory.mktemp("frozen") / "checkpoint")


@pytest.fixture
def small_store(tmp_path, monkeypatch):
    (tmp_path / "mlflow.db").write_bytes(empty_store())
    # MLflow's own default store would be made here.
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield SmallStore(tmp_path)
    assert list((tmp_path / "here").iterdir()) == []


def test_a_checkpoint_becomes_one_version_however_often_it_is_registered(small_store, checkpoint):
    run = small_store.add("one", checkpoint=checkpoint)
    version = register_run(small_store.uri, run.info.run_id, checkpoint)
    assert version == Version("specahd-cvrp", 1, new=True)
    again = register_run(small_store.uri, run.info.run_id, checkpoint)
    assert again == Version("specahd-cvrp", 1, new=False)
    other = small_store.add("one", seed=1, checkpoint=checkpoint)
    assert register_run(small_store.uri, other.info.run_id, checkpoint).number == 2

    kept = small_store.client.get_model_version("specahd-cvrp", "1")
    assert kept.run_id == kept.tags["run_id"] == run.info.run_id
    assert kept.tags["a"] == "b"
    assert len(kept.tags["checkpoint_sha256"]) == 64
    folder = Path(kept.source.removeprefix("file://"))
    assert not [path for path in folder.rglob("*") if path.suffix in (".pkl", ".pickle")]
    assert tree(folder / "artifacts" / "checkpoint") == tree(checkpoint)
    assert (folder / "specahd_model.py").read_text() == model.CODE
    assert "specahd[train]==" in (folder / "requirements.txt").read_text()


def test_the_champion_moves_once(small_store, checkpoint):
    versions = [
        register_run(small_store.uri, small_store.add("two", seed=seed).info.run_id, checkpoint)
        for seed in range(2)
    ]
    with open_store(small_store.uri) as client:
        assert [promote_version(client, version) for version in (*versions, versions[1])] == [
            1,
            1,
            0,
        ]
    aliased = small_store.client.get_model_version_by_alias("specahd-cvrp", "champion")
    assert int(aliased.version) == 2


def test_addresses_lead_to_the_bytes_of_the_checkpoint(small_store, checkpoint):
    run = small_store.add("three", checkpoint=checkpoint)
    version = register_run(small_store.uri, run.info.run_id, checkpoint)
    with open_store(small_store.uri) as client:
        promote_version(client, version)
    for address in (
        "models:/specahd-cvrp@champion",
        "models:/specahd-cvrp/1",
        f"runs:/{run.info.run_id}/checkpoint",
    ):
        with fetched_checkpoint(address, small_store.uri) as directory:
            assert tree(directory) == tree(checkpoint)
        assert not directory.exists()
    with fetched_checkpoint(str(checkpoint), None) as directory:
        assert directory == checkpoint


def test_what_a_killed_registration_leaves_has_no_name_and_is_made_again(small_store, checkpoint):
    run = small_store.add("four", checkpoint=checkpoint)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, small_store.uri, run.info.run_id, checkpoint],
        cwd=small_store.folder,
        env={"PYTHONPATH": f"{Path(__file__).parent}:{Path(__file__).parents[1]}"},
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert small_store.client.search_model_versions("name = 'specahd-cvrp'") == []
    with (
        pytest.raises(FileError, match="alias champion not found"),
        fetched_checkpoint("models:/specahd-cvrp@champion", small_store.uri),
    ):
        pass
    assert register_run(small_store.uri, run.info.run_id, checkpoint).number == 1
    with fetched_checkpoint("models:/specahd-cvrp/1", small_store.uri) as directory:
        verify_checksums(directory)


def test_an_altered_checkpoint_is_refused_by_its_address(small_store, checkpoint):
    run = small_store.add("five", checkpoint=checkpoint)
    register_run(small_store.uri, run.info.run_id, checkpoint)
    for path in small_store.folder.glob("artifacts/*/artifacts/**/responses.parquet"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(bytes(content))
    for address in ("models:/specahd-cvrp/1", f"runs:/{run.info.run_id}/checkpoint"):
        sentence = f"The checkpoint {address} was altered: responses.parquet"
        with (
            pytest.raises(CheckpointError, match=sentence),
            fetched_checkpoint(address, small_store.uri) as directory,
        ):
            thaw(directory)
        with (
            pytest.raises(CheckpointError),
            fetched_checkpoint(address, small_store.uri) as directory,
        ):
            register_run(small_store.uri, run.info.run_id, directory)


def test_a_checkpoint_laid_over_an_earlier_one_is_fetched_whole(small_store, checkpoint, tmp_path):
    run = small_store.add("laid", checkpoint=checkpoint)
    earlier = tmp_path / "programs"
    earlier.mkdir()
    (earlier / "lower-1-0001.py").write_text("def earlier(): ...")
    small_store.client.log_artifacts(run.info.run_id, str(earlier), "checkpoint/programs")
    with fetched_checkpoint(f"runs:/{run.info.run_id}/checkpoint", small_store.uri) as directory:
        assert tree(directory) == tree(checkpoint)
        assert register_run(small_store.uri, run.info.run_id, directory).new
    [kept] = small_store.folder.glob("artifacts/*/artifacts/checkpoint/programs/lower-1-0001.py")
    assert kept.read_text() == "def earlier(): ..."


def test_a_checkpoint_of_another_problem_is_not_registered(small_store, checkpoint):
    run = small_store.add("six", checkpoint=checkpoint)
    with pytest.raises(CheckpointError, match="not one of tsp"):
        register_run(small_store.uri, run.info.run_id, checkpoint, "tsp")
    assert small_store.client.search_registered_models() == []


ADDRESSES = {
    "no alias": ("models:/specahd-cvrp@gone", FileError, "with name=specahd-cvrp not found"),
    "no model": ("models:/gone/1", FileError, "gone"),
    "no run": (f"runs:/{'a' * 32}/checkpoint", FileError, f"Run with id={'a' * 32} not found"),
    "no name": ("models:/x", ConfigError, "models:/NAME@ALIAS"),
    "not a run": ("runs:/x/checkpoint", ConfigError, "runs:/RUN/checkpoint"),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_an_address_that_leads_nowhere_gets_one_sentence(small_store, name):
    small_store.add("seven")
    address, error, sentence = ADDRESSES[name]
    with (
        pytest.raises(error, match=sentence) as refusal,
        fetched_checkpoint(address, small_store.uri),
    ):
        pass
    assert len(str(refusal.value).splitlines()) == 1


def test_a_run_without_a_checkpoint_is_told(small_store):
    address = f"runs:/{small_store.add('eight').info.run_id}/checkpoint"
    with pytest.raises(FileError, match="checkpoint"), fetched_checkpoint(address, small_store.uri):
        pass
    with pytest.raises(ConfigError, match="tracking=mlflow"), fetched_checkpoint(address, None):
        pass


def test_a_store_that_is_not_there_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    (tmp_path / "text.db").write_text("no database")
    for uri, sentence in {
        f"sqlite:///{tmp_path}/gone.db": "no MLflow store at",
        f"sqlite:///{tmp_path}/text.db": "not a database",
        "http://user:canary@127.0.0.1:9": "cannot be reached",
        "nope://x": "unsupported URI",
    }.items():
        with pytest.raises(FileError, match=sentence) as refusal, open_store(uri) as client:
            client.search_experiments()
        assert "canary" not in str(refusal.value)
        assert len(str(refusal.value).splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """A store in which each test has an experiment of its own."""
    return SmallStore(tmp_path_factory.mktemp("store"))


SETTINGS = {"problem.baseline": "nearest", "problem.newer_option": 3}


def considered(shared_store, experiment, **options):
    settings = options.pop("settings", SETTINGS)
    return ranked_trainings(shared_store.client, experiment, "cvrp", settings, **options)


def test_selection_decides_whatever_validation_says(shared_store):
    # A worsening is less than nothing.
    scores = [(-0.01, 0.9), (0.0, 0.9), (0.03, -0.9), (0.02, 0.9)]
    added = [
        shared_store.add("decides", selection=selection, validation=validation).info.run_id
        for selection, validation in scores
    ]
    runs = considered(shared_store, "decides")
    assert [run.id for run in runs] == [added[place] for place in (2, 3, 1, 0)]
    assert choose_champion(runs, "cvrp") is runs[0]
    assert runs[0].scores == (0.03, -0.9)


def test_ties_go_to_the_smaller_seed_then_to_the_smaller_run_id(shared_store):
    # 10 comes before 9 as text.
    runs = [shared_store.add("ties", seed=seed) for seed in (10, 9, 9, 9, 11)]
    nines = sorted(run.info.run_id for run in runs[1:4])
    found = [run.id for run in considered(shared_store, "ties")]
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
def test_a_run_that_does_not_count_is_listed_last_and_never_wins(shared_store, reason):
    counted = shared_store.add(reason, seed=1, selection=0.01)
    left_out = shared_store.add(reason, seed=0, **{"selection": 0.9, **LEFT_OUT[reason]})
    first, last = considered(shared_store, reason)
    assert (first.id, first.objection) == (counted.info.run_id, "")
    assert (last.id, last.objection) == (left_out.info.run_id, reason)
    assert choose_champion([first, last], "cvrp") is first


def test_a_run_without_tickets_is_complete(shared_store):
    shared_store.add("zero", tickets=0, params={"budget.programs": "0"})
    [run] = considered(shared_store, "zero")
    assert run.objection == ""


def test_runs_measured_on_different_instances_are_not_ranked(shared_store):
    costs = ((0, "smoke", 408337.0), (1, "smoke", 404064.0), (2, "quick", 408337.0))
    for seed, budget, cost in costs:
        shared_store.add(
            "instances", seed=seed, selection=0.01 * seed, params={"budget": budget},
            metrics={"selection/baseline_cost": cost},
        )  # fmt: skip
    runs = considered(shared_store, "instances")
    told = (
        r"different instances .* \(budget quick, smoke, seeds 0, 2, mean baseline cost 408,337\.0; "
        r"budget smoke, seeds 1, mean baseline cost 404,064\.0\): choose with budget=NAME"
    )
    with pytest.raises(FileError, match=told):
        choose_champion(runs, "cvrp")
    same = [run for run in runs if run.seed != 1]
    assert choose_champion(same, "cvrp") is same[0]


def test_candidates_sweeps_and_other_problems_are_no_candidates(shared_store):
    mine = shared_store.add("kinds")
    shared_store.add("kinds", kind="candidate", selection=0.9, parent=mine.info.run_id)
    shared_store.add("kinds", kind="sweep", selection=0.9)
    shared_store.add("kinds", params={"problem": "tsp"}, selection=0.9)
    assert [run.id for run in considered(shared_store, "kinds")] == [mine.info.run_id]


def test_a_sweep_narrows_the_choice_to_its_jobs(shared_store):
    sweep = shared_store.add("sweep", kind="sweep").info.run_id
    job = shared_store.add("sweep", selection=0.01, parent=sweep)
    shared_store.add("sweep", selection=0.9)
    assert [run.id for run in considered(shared_store, "sweep", sweep=sweep)] == [job.info.run_id]


def test_where_none_counts_one_sentence_says_why(shared_store):
    shared_store.add("none", status="KILLED")
    shared_store.add("none", status="KILLED")
    shared_store.add("none", tickets=1)
    with pytest.raises(FileError, match=r"3 in all: 2 interrupted, 1 partial: 1 of 8 programs\.$"):
        choose_champion(considered(shared_store, "none"), "cvrp")
    with pytest.raises(FileError, match="no run of cvrp"):
        choose_champion([], "cvrp")
    with pytest.raises(FileError, match="no experiment 'unknown'"):
        considered(shared_store, "unknown")
    assert shared_store.client.get_experiment_by_name("unknown") is None
