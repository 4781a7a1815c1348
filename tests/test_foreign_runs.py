"""Run directories that are damaged or of another version, and a repertoire of a stranger."""

import copy
import functools
import json
import shutil

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from omegaconf import open_dict

from commands import TINY, call
from foreign import SECRET, TEXTS, attacked, harmless, look, seal, stand
from specahd.config import CONF_DIR
from specahd.config.messages import REFUSALS, message_for
from specahd.config.resume import resume_configuration, with_choices
from specahd.config.schemas import register_schemas
from specahd.core.errors import ConfigError, FileError, UserError
from specahd.runs.files import CURSOR
from specahd.search.replay import Replay
from specahd.tracking.follower import check_records
from specahd.tracking.upload import SyncCursor

SMALL = [*TINY, "tracking=none"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    return stand(tmp_path, monkeypatch)


def command(name, *words, cwd):
    return call(name, *words, cwd=cwd, env={"SPECAHD_CANARY": SECRET}, check=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    done = command("train", *SMALL, "hydra.run.dir=run", "executor.workers=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(trained, place):
    shutil.copytree(trained / "run", place / "run")
    return place / "run"


def test_no_command_runs_what_a_checkpoint_names(run, place):
    attacked(place)
    before = look(place)
    for words in (
        ("evaluate", "checkpoint=checkpoint", "pool=validation"),
        ("train", *SMALL, "search.levels=upper", "search.repertoire=checkpoint"),
    ):
        done = command(*words, cwd=place)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert SECRET not in done.stdout + done.stderr
    assert look(place) == before


def test_a_repertoire_is_guarded_before_anything_is_asked(place, trained):
    shutil.copytree(trained / "run" / "checkpoint", place / "given")
    program = next((place / "given" / "programs").glob("lower-*.py"))
    program.write_text("import os\n" + program.read_text())
    seal(place / "given")
    shutil.copytree(trained / "pools", place / "pools")
    words = (*SMALL, "search.levels=upper", "search.repertoire=given", "hydra.run.dir=new")
    done = command("train", *words, cwd=place)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "imports are not allowed" in done.stderr
    assert not (place / "new").exists()


def resume(directory):
    """Return what ``resume=`` would compose, by the code that does it."""
    whole = composed(tuple(with_choices([f"resume={directory}"])))
    HydraConfig.instance().set_config(whole)
    config = copy.deepcopy(whole)
    with open_dict(config):
        del config["hydra"]
    return resume_configuration(config)


@functools.cache
def composed(words):
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        try:
            return compose("train", list(words), return_hydra_config=True)
        except REFUSALS as error:
            # As the command says it.
            raise ConfigError(message_for(error)) from None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"strange": 1}, "strange"),
        ({"search": {"strange": 1}}, "strange"),
        ({"search": {"lag": "many"}}, "lag"),
        ({"choices": {"problem": ["x"]}}, "choices"),
        ("", ""),
        ("seed: [1", ""),
        ("seed: 0\n", ""),
    ],
)
def test_a_configuration_that_is_torn_or_of_another_version_gets_one_sentence(run, change, named):
    path = run / "config.yaml"
    if isinstance(change, dict):
        change = yaml.safe_dump(yaml.safe_load(path.read_text()) | change)
    path.write_text(change)
    with pytest.raises(UserError, match=rf"config\.yaml.*{named}") as refusal:
        resume(run)
    assert len(str(refusal.value).splitlines()) == 1


def test_honest_options_that_conf_does_not_have_go_on(run):
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["choices"]["llm"] = "local"
    config["llm"] = yaml.safe_load((CONF_DIR / "llm" / "local.yaml").read_text()) | {
        "model": "mine",
        "base_url": "http://127.0.0.1:11434/v1",
        "api_key_env": "MY_KEY",
        "options": {"temperature": 0.8, "logit_bias": {50256: -100}, "stop": ["a", "b"]},
    }
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    made = resume(run)
    assert made.llm.options == {"temperature": 0.8, "logit_bias": {50256: -100}, "stop": ["a", "b"]}
    assert (made.llm.model, made.seed) == ("mine", 0)


LINES = [
    *(b"[]", b"3", b"null", b"{}", b"{", b"\xff", b'{"round":"1"}', b"NaN"),
    *(b"[" * 100_000, b'{"sample":' + b"9" * 5000 + b"}"),
]


@pytest.mark.parametrize("name", ["wal.jsonl", "responses.jsonl", "journal.jsonl"])
def test_a_line_that_no_run_wrote_is_named(run, place, capfd, name):
    path = run / name
    honest = path.read_bytes().splitlines(keepends=True)
    for line in LINES:
        path.write_bytes(b"".join([honest[0], line + b"\n", *honest[1:]]))
        for read in (Replay.read, check_records):
            # Not all read all: a record that is of another kind means nothing to the one.
            with harmless(place, capfd, line[:40]):
                read(run)
        with pytest.raises(FileError, match=rf"{name}: line 2 is not a JSON record"):
            check_records(run) if name == "journal.jsonl" else Replay.read(run)


def test_a_damaged_line_is_not_answered_by_advice_that_fails(run, place, trained):
    shutil.copytree(trained / "pools", place / "pools")
    path = run / "wal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"damaged\n", *lines[1:]]))
    done = command("train", "resume=run", cwd=place)
    assert done.returncode == 2
    assert "Go on with" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"{run}/wal.jsonl: line 2 ")


def test_a_mark_is_used_or_passed_over(place):
    honest = {
        "key": "0" * 32,
        "store": "sqlite:///x.db",
        "experiment": "e",
        "run_id": "1" * 32,
        "records": 3,
    }
    (place / CURSOR).write_text(json.dumps(honest))
    assert SyncCursor.read(place) == SyncCursor(**honest)
    for odd in ({"records": -1}, {"records": "3"}, {"key": None}):
        (place / CURSOR).write_text(json.dumps(honest | odd))
        assert SyncCursor.read(place) is None
    for text in TEXTS:
        (place / CURSOR).write_bytes(text)
        found = SyncCursor.read(place)
        # One that names no run is as good as none.
        assert found is None or (found.run_id, found.records) == ("", 0)
