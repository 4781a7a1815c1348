"""Whole trainings whose programs are compared by a server, which may die; evaluation asks none."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from embedding_server import running
from fake_embedding_server import FakeEmbeddingServer

from commands import call, start

pytestmark = pytest.mark.integration

TRAIN = (
    *("problem=cvrp", "llm=offline", "tracking=none", "budget=smoke", "budget.programs=16"),
    *("budget.rounds=2", "budget.lower_train=4"),
    *("budget.upper_train=3", "budget.selection=3", "budget.validation=3", "hydra.run.dir=run"),
)
NAMES = ("bert", "other", "qwen")


def three(url, *options):
    models = zip(("jina", "e5", "qwen3"), NAMES, strict=True)
    return (
        *("memory=three", f"memory.base_url={url}", "memory.cache=null"),
        *(f"memory.models.{label}={name}" for label, name in models),
        *("memory.backoff=0.1", "memory.patience=0.2", "memory.attempts=300", *options),
    )


def finish(process):
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


def begin(place, *options, cold=False):
    return start("specahd.train", *TRAIN, *options, cwd=place, cold=cold)


def samples(run):
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return [record for record in records if "sample" in record]


def assert_same_journals(*places):
    ours, theirs = ((place / "run" / "journal.jsonl").read_bytes() for place in places)
    assert ours == theirs


def await_lines(path, count, process):
    """Wait until a file of a running process has so many lines."""
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)


@contextmanager
def fake_server_process(*options, port=0):
    """A server that can be killed; yields it with its ``url``."""
    script = Path(__file__).with_name("fake_embedding_server.py")
    process = subprocess.Popen(
        [sys.executable, script, "--models", *NAMES, f"--port={port}", *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        process.url = process.stdout.readline().strip()
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A run whose server answered all the time; what it asked for is in ``embedded``."""
    place = tmp_path_factory.mktemp("undisturbed")
    with FakeEmbeddingServer(models=NAMES) as fake_server:
        finish(begin(place, *three(fake_server.url), cold=True))
        (place / "embedded").write_text(str(len(fake_server.embedded)))
    return place


def test_every_comparison_is_in_the_journal(undisturbed):
    found = [record["novelty"] for record in samples(undisturbed / "run") if record["novelty"]]
    assert len(found) > 8
    for verdict in found:
        assert set(verdict["similarity"]) == {"jina", "e5", "qwen3", "fused"}
    # Each model encoded each program once.
    assert int((undisturbed / "embedded").read_text()) % 3 == 0


def test_a_server_that_is_killed_and_comes_back_changes_nothing(undisturbed, tmp_path):
    with fake_server_process("--latency=0.05") as server:
        training = begin(tmp_path, *three(server.url))
        await_lines(tmp_path / "run" / "journal.jsonl", 3, training)
        server.send_signal(signal.SIGKILL)
        server.wait()
        await_lines(tmp_path / "run" / "train.log", 5, training)
        port = server.url.rpartition(":")[2].removesuffix("/v1")
        with fake_server_process(port=port):
            finish(training)
    assert "no connection" in (tmp_path / "run" / "train.log").read_text()
    assert_same_journals(tmp_path, undisturbed)


def test_a_server_that_stays_away_ends_a_run_which_then_goes_on(undisturbed, tmp_path):
    with FakeEmbeddingServer(models=NAMES, latency=0.05) as fake_server:
        training = begin(tmp_path, *three(fake_server.url, "memory.attempts=2"))
        await_lines(tmp_path / "run" / "journal.jsonl", 3, training)
        fake_server.faults += ["503"] * 1000
        _, said = training.communicate(timeout=300)
        assert training.returncode == 1
        assert "gave no vectors: status 503 (Loading); memory.attempts=2 and" in said
        assert "Go on with: python -m specahd.train resume=run" in said
        assert "Traceback" not in said
        fake_server.faults.clear()
        call("train", "resume=run", cwd=tmp_path)
    assert_same_journals(tmp_path, undisturbed)


def test_a_run_goes_on_with_a_server_that_encodes_slightly_differently(tmp_path):
    with fake_server_process("--noise=0.001", "--latency=0.02") as server:
        training = begin(tmp_path, *three(server.url))
        await_lines(tmp_path / "run" / "journal.jsonl", 7, training)
        training.kill()
        training.communicate()
        journal = tmp_path / "run" / "journal.jsonl"
        whole, _, _ = journal.read_bytes().rpartition(b"\n")
        assert journal.exists()
        call("train", "resume=run", cwd=tmp_path)
    assert journal.read_bytes().startswith(whole)
    assert len(samples(tmp_path / "run")) == 16


CALM = """
import runpy, socket, sys
kept = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX:
        raise SystemExit(f"connects to {address}")
    return kept(self, address)
socket.socket.connect = socket.socket.connect_ex = connect
sys.argv = ["evaluate", *sys.argv[1:]]
try:
    runpy.run_module("specahd.evaluate", run_name="__main__")
except SystemExit as end:
    if end.code:
        raise
loaded = [name for name in sys.modules if name.startswith(("specahd.memory", "specahd.llm"))]
sys.exit(f"loaded {loaded}" if loaded or {"httpx2", "openai", "torch"} & set(sys.modules) else 0)
"""


def test_a_frozen_evaluation_asks_nobody(undisturbed, data, tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, "-c", CALM, f"checkpoint={undisturbed / 'run' / 'checkpoint'}"),
            f"instance={data / 'tiny.vrp'}",
            f"hydra.run.dir={tmp_path / 'evaluation'}",
        ],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "tiny" in done.stdout


def test_without_its_server_a_training_is_refused_and_writes_nothing(tmp_path):
    with FakeEmbeddingServer() as fake_server:
        pass
    done = call("train", *TRAIN, *three(fake_server.url), cwd=tmp_path, check=False)
    assert done.returncode == 2
    [sentence] = done.stderr.splitlines()
    assert fake_server.url in sentence
    assert list(tmp_path.iterdir()) == []


def test_the_server_of_the_project_serves_a_training(tiny_models, tmp_path):
    with running(tiny_models, *NAMES, cwd=tmp_path) as server:
        unknown = three(server.url, "memory.models.jina=no-such")
        done = call("train", *TRAIN, *unknown, cwd=tmp_path, check=False)
        assert done.returncode == 2
        assert "no model no-such; set memory.models.jina to one of its own: bert" in done.stderr
        finish(begin(tmp_path, *three(server.url, "memory.cache=kept")))
    found = [record["novelty"] for record in samples(tmp_path / "run") if record["novelty"]]
    assert found
    assert all(
        0.0 < verdict["similarity"]["fused"] <= 1.0 for verdict in found if verdict["nearest"]
    )
    assert len(list((tmp_path / "kept").rglob("*/*/*"))) >= 3 * len(found)
