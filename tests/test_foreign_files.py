"""Checkpoints, run directories and marks of a stranger: one sentence or a correct load, no deed.

Every case is an honest file with something done to it, and with sums that fit again, so that
they hide nothing. ``deeds`` in the files would leave a file behind or tell a secret.
"""

import copy
import functools
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from omegaconf import open_dict

from frozen import freeze_seeds
from specahd.checkpoint import freeze, thaw
from specahd.config import CONF_DIR
from specahd.config.resume import resumed, with_choices
from specahd.config.schemas import register
from specahd.core.errors import CheckpointError, FileError, RunFailed, UserError
from specahd.core.folders import oddity
from specahd.model import SpecAHDModel, checkpoint_problem
from specahd.search.past import Past
from specahd.tracking.mark import MARK, Mark
from specahd.tracking.records import check_records

SECRET = "canary-7c1f"
CALLS = {
    "_target_": "specahd.tracking.machine._git",
    "_args_": ["-c", "alias.x=!touch PWNED; echo nearest", "x"],
}
SMALL = [
    *("budget=smoke", "budget.programs=4", "budget.rounds=1", "budget.lower_train=2"),
    *("budget.upper_train=2", "budget.selection=2", "budget.validation=2", "tracking=none"),
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to stand in, where nothing may appear, and a secret that nobody may tell."""
    monkeypatch.setenv("SPECAHD_CANARY", SECRET)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside.py").write_text("def stolen(): pass\n")
    return tmp_path


def seal(checkpoint):
    """Give a checkpoint sums that fit what is in it."""
    sums = checkpoint / "SHA256SUMS"
    paths = sorted(path for path in checkpoint.rglob("*") if path.is_file() and path != sums)
    names = [path.relative_to(checkpoint).as_posix() for path in paths]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    sums.write_text("".join(f"{each}  {name}\n" for each, name in zip(hashes, names, strict=True)))


def rewrite(checkpoint, change):
    path = checkpoint / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    seal(checkpoint)


def deep(levels):
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


STRANGE = [
    CALLS,
    {"baseline": CALLS},
    [CALLS],
    "${oc.env:SPECAHD_CANARY}",
    "x${hydra:runtime.cwd}",
    "/etc/passwd",
    "../outside",
    "../../outside",
    "a/b",
    "",
    "é",
    "\u202e\x1b[31m",
    "x" * 100_000,
    None,
    True,
    -1,
    0,
    10**30,
    -(10**400),
    1.5,
    1e308,
    [],
    {},
    [[]],
    {"": 0},
    {"_target_": "os.system"},
    {"_args_": ["touch PWNED"]},
    "???",
    deep(200),
]


def parts(value, path=()):
    """Yield the way to every part of plain data."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from parts(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from parts(value[index], (*path, index))


def mutated(honest, rng):
    """Return plain data in which one part is another, is gone, or has a companion."""
    made = copy.deepcopy(honest)
    *above, last = rng.choice([path for path in parts(made) if path])
    holder = made
    for step in above:
        holder = holder[step]
    deed = rng.random()
    if deed < 0.7:
        holder[last] = copy.deepcopy(rng.choice(STRANGE))
    elif deed < 0.85:
        del holder[last]
    elif isinstance(holder, dict):
        name = rng.choice(["_target_", "_args_", "_partial_", "x", "../x", "${x}", "a b"])
        holder[name] = copy.deepcopy(rng.choice(STRANGE))
    else:
        holder.append(copy.deepcopy(rng.choice(STRANGE)))
    return made


def look(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def harmless(place, capfd, case):
    """Let a refusal pass that is one sentence; refuse any other, any deed and any told secret."""
    before, said = look(place), ""
    try:
        yield
    except (UserError, RunFailed) as error:
        said = str(error)
        assert len(said.splitlines()) == 1, case
        assert len(said) < 700, case
        assert said.isprintable(), case
    out, err = capfd.readouterr()
    assert SECRET not in said + out + err, case
    assert look(place) == before, case


def test_no_mutated_manifest_does_anything(place, capfd):
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    checkpoint_problem(thaw(checkpoint))
    honest = json.loads((checkpoint / "manifest.json").read_text())
    rng = random.Random(13)
    refused = 0
    for number in range(250):
        changed = mutated(honest, rng)
        (checkpoint / "manifest.json").write_text(json.dumps(changed))
        seal(checkpoint)
        with harmless(place, capfd, f"case {number}"):
            refused += 1
            frozen = thaw(checkpoint)
            problem = checkpoint_problem(frozen)
            frozen.system()
            refused -= 1
            # What loads is what it says, made by our own class.
            assert problem.name == changed["problem"]
            assert problem.baseline_name == changed["settings"].get("baseline", "nearest")
    assert 200 < refused < 250


TEXTS = [
    *(b"", b"[]", b"null", b"3", b"{", b"\xff\xfe", b'{"schema": 1, "schema": 1}', b"NaN"),
    *(b"[" * 100_000, b'{"schema": ' + b"9" * 5000 + b"}", b'{"schema": 2}', b" " * (5 << 20)),
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_manifest_that_is_none_gets_one_sentence(place, text):
    checkpoint = freeze_seeds("tsp", place / "checkpoint")
    (checkpoint / "manifest.json").write_bytes(text)
    seal(checkpoint)
    with pytest.raises(CheckpointError) as refusal:
        thaw(checkpoint)
    assert len(str(refusal.value).splitlines()) == 1


def _column(name, values):
    def change(table):
        return table.set_column(table.schema.get_field_index(name), name, values(table))

    return change


TABLES = {
    "no columns": ("tasks", lambda table: table.select([])),
    "a column less": ("tasks", lambda table: table.drop_columns(["nodes"])),
    "a coordinate less": ("tasks", lambda table: table.select(range(table.num_columns - 1))),
    "another type": ("tasks", _column("task", lambda table: pa.array([1]))),
    "no number": ("tasks", _column("spread", lambda table: pa.array([float("nan")]))),
    "a huge number": ("tasks", _column("spread", lambda table: pa.array([1e300]))),
    "a missing number": ("tasks", _column("spread", lambda table: pa.array([None], pa.float64()))),
    "no region": (
        "tasks",
        _column("nodes", lambda table: pa.array([[]], pa.list_(pa.int64()))),
    ),
    "a task twice": ("tasks", lambda table: pa.concat_tables([table, table])),
    "a long name": ("tasks", _column("task", lambda table: pa.array(["x" * 5000]))),
    "a response to nothing": ("responses", _column("task", lambda table: pa.array(["other"]))),
    "a path": ("responses", _column("program", lambda table: pa.array(["../outside"]))),
    "another outcome": ("responses", _column("outcome", lambda table: pa.array(["won"]))),
    "a cost below 0": ("responses", _column("cost_before", lambda table: pa.array([-1.0]))),
    "no cost": ("responses", _column("cost_before", lambda table: pa.array([None], pa.float64()))),
}


@pytest.mark.parametrize("name", TABLES)
def test_an_archive_that_no_run_wrote_gets_one_sentence(place, name):
    file, change = TABLES[name]
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    path = checkpoint / f"{file}.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    seal(checkpoint)
    with pytest.raises(CheckpointError) as refusal:
        thaw(checkpoint)
    assert len(str(refusal.value).splitlines()) == 1
    assert len(str(refusal.value)) < 300


def test_bytes_of_an_archive_that_are_changed_get_one_sentence_or_none(place, capfd):
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    rng = random.Random(5)
    for file in ("tasks", "responses"):
        path = checkpoint / f"{file}.parquet"
        honest = path.read_bytes()
        for number in range(60):
            altered = bytearray(honest)
            altered[rng.randrange(len(honest))] = rng.randrange(256)
            path.write_bytes(altered)
            seal(checkpoint)
            with harmless(place, capfd, f"{file} {number}"):
                thaw(checkpoint)
        path.write_bytes(honest)


def test_an_archive_that_could_unpack_to_anything_is_not_read(place):
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    path = checkpoint / "responses.parquet"
    table = pq.read_table(path)
    pq.write_table(table, path, compression="zstd")
    seal(checkpoint)
    with pytest.raises(CheckpointError, match="compressed otherwise"):
        thaw(checkpoint)


@pytest.mark.parametrize("name", ["programs/lower-seed.py", "manifest.json", "extra"])
def test_a_link_in_a_checkpoint_is_not_followed(place, name):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    elsewhere = place / "elsewhere"
    path = checkpoint / name
    if path.exists():
        path.rename(elsewhere)
    path.symlink_to(elsewhere if elsewhere.exists() else place)
    seal(checkpoint)
    with pytest.raises(CheckpointError, match="which is no file"):
        thaw(checkpoint)
    # The directory itself may be one: the user named it.
    assert oddity(place) is not None


def test_an_id_that_leads_elsewhere_is_neither_read_nor_written(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    rewrite(checkpoint, lambda manifest: manifest["upper"].update(id="../../outside"))
    with pytest.raises(CheckpointError, match=r"upper\.id is missing or not as"):
        thaw(checkpoint)
    honest = thaw(freeze_seeds("cvrp", place / "again"))
    with pytest.raises(CheckpointError, match="is not the name of a program"):
        freeze(replace(honest, upper=replace(honest.upper, id="../../../x")), place / "out" / "in")
    assert not list(place.rglob("x.py"))


def test_a_checkpoint_of_another_descriptor_or_tier_is_refused(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    rewrite(checkpoint, lambda manifest: manifest["upper"].update(tier="compiled"))
    with pytest.raises(CheckpointError, match=r"upper-seed: .* is always interpreted"):
        checkpoint_problem(thaw(checkpoint))
    rewrite(checkpoint, lambda manifest: manifest["upper"].update(tier="interpreted"))
    rewrite(checkpoint, lambda manifest: manifest.update(problem="tsp"))
    with pytest.raises(CheckpointError):
        checkpoint_problem(thaw(checkpoint))


def attacked(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    rewrite(checkpoint, lambda manifest: manifest.update(settings={"baseline": CALLS}))
    return checkpoint


def test_the_model_of_mlflow_runs_nothing_that_a_manifest_names(place):
    context = SimpleNamespace(artifacts={"checkpoint": str(attacked(place))}, model_config={})
    with pytest.raises(CheckpointError, match=r"settings\.baseline"):
        SpecAHDModel().load_context(context)
    assert not (place / "PWNED").exists()


def door(name, *words, cwd):
    return subprocess.run(
        [sys.executable, "-m", f"specahd.{name}", *words],
        cwd=cwd,
        env={**os.environ, "SPECAHD_CANARY": SECRET},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    done = door("train", *SMALL, "hydra.run.dir=run", "executor.workers=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(trained, place):
    shutil.copytree(trained / "run", place / "run")
    return place / "run"


def test_no_door_runs_what_a_stranger_names(run, place):
    attacked(place)
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["tracking"] = {**CALLS, "uri": "${oc.env:SPECAHD_CANARY}"}
    config["choices"]["tracking"] = "mlflow"
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    before = look(place)
    for words in (
        ("evaluate", "checkpoint=checkpoint", "pool=validation"),
        ("train", "resume=run"),
        ("track", "run=run"),
        ("train", *SMALL, "search.levels=upper", "search.repertoire=checkpoint"),
    ):
        done = door(*words, cwd=place)
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
    done = door("train", *words, cwd=place)
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
    return resumed(config)


@functools.cache
def composed(words):
    register()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        return compose("train", list(words), return_hydra_config=True)


def test_no_mutated_configuration_does_anything(run, place, capfd):
    honest = yaml.safe_load((run / "config.yaml").read_text())
    classes = {name: honest[name]["_target_"] for name in ("problem", "llm", "memory", "executor")}
    made = resume(run)
    assert {name: made[name]["_target_"] for name in classes} == classes
    rng = random.Random(7)
    refused = 0
    for number in range(150):
        (run / "config.yaml").write_text(yaml.safe_dump(mutated(honest, rng)))
        with harmless(place, capfd, f"case {number}"):
            refused += 1
            made = resume(run)
            refused -= 1
            # What is called is ours, and nothing is left to be looked up.
            assert {name: made[name]["_target_"] for name in classes} == classes
            assert "${" not in str(made)
    assert 90 < refused < 150


LEADS = {
    "llm": ("openai", "llm.base_url", {"llm": {"base_url": "https://stranger.example/v1"}}),
    "key": ("openai", "llm.api_key_env", {"llm": {"api_key_env": "AWS_SECRET_ACCESS_KEY"}}),
    "ray": ("offline", "executor.address", {"executor": {"address": "stranger.example:1"}}),
}


@pytest.mark.parametrize("name", LEADS)
def test_nothing_goes_elsewhere_because_a_directory_says_so(run, name):
    model, option, change = LEADS[name]
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["choices"] |= {"llm": model, "executor": "ray" if name == "ray" else "local"}
    for group in ("llm", "executor"):
        path = CONF_DIR / group / f"{config['choices'][group]}.yaml"
        config[group] = yaml.safe_load(path.read_text()) | change.get(group, {})
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    with pytest.raises(UserError, match=f"{option} in .* leads elsewhere; if the run is yours"):
        resume(run)


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


CHOICES = [{"problem": "../../run/evil"}, {"seed": "3"}, {"hydra/launcher": "joblib"}, {"x": "y"}]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_choice_names_a_file_of_conf_only(run, choice):
    (run / "evil.yaml").write_text(yaml.safe_dump(CALLS))
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["choices"] |= choice
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    with pytest.raises(FileError, match="is not the configuration of a run"):
        resume(run)


def test_a_link_in_a_run_directory_is_not_written_through(run, place):
    (run / "machine.json").unlink()
    (run / "machine.json").symlink_to(place / "outside.py")
    with pytest.raises(FileError, match=r"holds machine\.json, which is neither"):
        resume(run)


LINES = [
    *(b"[]", b"3", b"null", b"{}", b"{", b"\xff", b'{"round":1,"round":1}', b"NaN"),
    *(b"[" * 100_000, b'{"sample":' + b"9" * 5000 + b"}"),
]


@pytest.mark.parametrize("name", ["wal.jsonl", "responses.jsonl", "journal.jsonl"])
def test_a_line_that_no_run_wrote_is_named(run, place, capfd, name):
    path = run / name
    honest = path.read_bytes().splitlines(keepends=True)
    for line in LINES:
        path.write_bytes(b"".join([honest[0], line + b"\n", *honest[1:]]))
        for read in (Past.read, check_records):
            # Not all read all: a record that is of another kind means nothing to the one.
            with harmless(place, capfd, line[:40]):
                read(run)
        with pytest.raises(FileError, match=rf"{name}: line 2 is not a JSON record"):
            check_records(run) if name == "journal.jsonl" else Past.read(run)


def test_no_mutated_record_does_anything_but_be_named(run, place, capfd):
    rng = random.Random(3)
    for name in ("wal.jsonl", "responses.jsonl", "journal.jsonl", "timings.jsonl"):
        path = run / name
        honest = path.read_text().splitlines(keepends=True)
        for number in range(40):
            lines = list(honest)
            index = rng.randrange(len(lines))
            lines[index] = json.dumps(mutated(json.loads(lines[index]), rng)) + "\n"
            path.write_text("".join(lines))
            for read in (Past.read, check_records):
                with harmless(place, capfd, f"{name} {number}"):
                    read(run)
        path.write_text("".join(honest))


def test_a_damaged_line_is_not_answered_by_advice_that_fails(run, place, trained):
    shutil.copytree(trained / "pools", place / "pools")
    path = run / "wal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"damaged\n", *lines[1:]]))
    done = door("train", "resume=run", cwd=place)
    assert done.returncode == 2
    assert "Go on with" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == (
        f"{run}/wal.jsonl: line 2 is not a JSON record (it is not JSON); "
        "restore the file from a copy, or begin anew elsewhere."
    )


def test_a_mark_is_used_or_passed_over(place):
    honest = {
        "key": "0" * 32,
        "store": "sqlite:///x.db",
        "experiment": "e",
        "run_id": "1" * 32,
        "records": 3,
    }
    (place / MARK).write_text(json.dumps(honest))
    assert Mark.read(place) == Mark(**honest)
    rng = random.Random(1)
    for _ in range(100):
        changed = mutated(honest, rng)
        (place / MARK).write_text(json.dumps(changed))
        mark = Mark.read(place)
        assert mark is None or mark == Mark(**changed)
        assert mark is None or (mark.key == "0" * 32 and mark.records >= 0)
    for text in TEXTS:
        (place / MARK).write_bytes(text)
        assert Mark.read(place) is None
