"""Models in real MLflow registries: made once, fetched by name, refused when altered."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_store import SmallStore

from frozen import freeze_seeds
from specahd import model
from specahd.checkpoint import thaw
from specahd.core.errors import CheckpointError, ConfigError, FileError
from specahd.repair.checksums import verify_checksums
from specahd.tracking.registry import (
    Version,
    fetched_checkpoint,
    promote_version,
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


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """An empty database, which takes longer to make than to copy."""
    folder = tmp_path_factory.mktemp("empty")
    SmallStore(folder).client.search_experiments()
    return folder / "mlflow.db"


@pytest.fixture
def small_store(empty, tmp_path, monkeypatch):
    shutil.copy(empty, tmp_path)
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
