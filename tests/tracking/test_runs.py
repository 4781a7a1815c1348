"""Naming a run to resume by its id: what the store says, and what it does not."""

import pytest
from small_store import SmallStore

from specahd.core.errors import FileError
from specahd.select import _rewritten
from specahd.tracking.registry import resolve_resume


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    return SmallStore(tmp_path_factory.mktemp("runs"))


def test_an_id_becomes_the_directory_of_its_run(small_store):
    run = small_store.add("runs").info.run_id
    small_store.client.set_tag(run, "directory", "/somewhere/run")
    assert resolve_resume([f"resume={run}", "executor.workers=1"], small_store.uri) == [
        "resume=/somewhere/run",
        "executor.workers=1",
    ]


def test_an_id_that_names_no_training_gets_one_sentence(small_store):
    candidate = small_store.add("runs", kind="candidate").info.run_id
    for run in (candidate, "a" * 32):
        with pytest.raises(FileError, match=run) as refusal:
            resolve_resume([f"resume={run}"], small_store.uri)
        assert len(str(refusal.value).splitlines()) == 1


def test_a_problem_of_the_users_own_is_found_by_its_newest_run(small_store):
    store = f"tracking.uri={small_store.uri}"
    folder = "['file:///my/conf']"
    remembered = {"problem": "mine", "hydra.searchpath": folder}
    small_store.add("mine", params={"problem": "mine", "hydra.searchpath": "['file:///old']"})
    small_store.add("mine", params=remembered)
    asked = ["problem=mine", store]
    assert _rewritten(asked) == [*asked, f"hydra.searchpath={folder}"]
    # None is looked for where none is needed or none can be.
    for words in (
        ["problem=cvrp", store],
        ["problem=other", store],
        ["problem=it's", store],
        ["problem=mine", "tracking.uri=sqlite:////nowhere.db"],
        ["hydra.searchpath=[file:///here]", *asked],
    ):
        assert _rewritten(words) == words


def test_a_store_that_is_away_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    away = "tracking.uri=http://user:canary@127.0.0.1:9"
    with pytest.raises(FileError, match=r"http://user:\*\*\*@127\.0\.0\.1:9 "):
        resolve_resume([f"resume={'a' * 32}", away], "sqlite:///unused.db")
