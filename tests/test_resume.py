"""Runs that break off and go on: the same bytes as if nothing had happened.

``KILLS=50 pytest tests/test_resume.py`` kills more often than the default 2 times.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import mlflow
import psutil
import pytest

import commands
from commands import SMALL, call, tree

pytestmark = pytest.mark.integration

KILLS = int(os.environ.get("KILLS", "2"))
# What varies between equal runs, or says when and where.
VARIES = re.compile(r"timings|wal\.jsonl|train\.log")


def start(place, *arguments):
    return commands.start("specahd.train", *arguments, cwd=place)


def outcome(directory):
    return {name: data for name, data in tree(directory).items() if not VARIES.search(str(name))}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(small_runs, tmp_path_factory):
    """A run that nobody disturbed, and how long one takes of those that will be."""
    place = tmp_path_factory.mktemp("whole")
    shutil.copytree(small_runs / "pools", place / "pools")
    shutil.copytree(small_runs / "run2", place / "run")
    call("train", "--help", cwd=place)  # what is forked has started then
    began = time.perf_counter()
    call("train", *SMALL, "hydra.run.dir=timed", cwd=place)
    seconds = time.perf_counter() - began
    shutil.rmtree(place / "timed")
    return place, seconds


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_goes_on_to_the_same_bytes(whole, tmp_path, number):
    place, seconds = whole
    shutil.copytree(place / "pools", tmp_path / "pools")
    run = tmp_path / "run"
    moments = random.Random(number)
    broken = 0
    while True:
        going_on = (run / "config.yaml").exists()
        arguments = ["resume=run"] if going_on else [*SMALL, "hydra.run.dir=run"]
        # Twice at most, so that every run ends.
        if broken == 2:
            call("train", *arguments, cwd=tmp_path)
            break
        process = start(tmp_path, *arguments)
        try:
            # Most moments lie after the baselines.
            process.wait(seconds * moments.uniform(0.15, 1.1))
            assert process.returncode == 0, process.communicate()[1]
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            broken += 1
    assert outcome(run) == outcome(place / "run")
    asked = Counter(record["sample"] for record in lines(run / "wal.jsonl"))
    assert set(asked.values()) == {1}
    assert len(asked) == 12


def sandboxes(pid):
    """Return the zygotes under a training, and their children."""
    below = psutil.Process(pid).children(recursive=True)
    family = {each.pid: each for each in below if "specahd.sandbox.zygote" in each.cmdline()}
    children = [each for each in family.values() if each.ppid() in family]
    return [each for each in family.values() if each not in children], children


@pytest.mark.parametrize("victim", ["zygote", "child"])
def test_a_killed_sandbox_changes_no_byte(small_runs, tmp_path, victim):
    options = [*SMALL, "hydra.run.dir=run"]
    process = commands.start("specahd.train", *options, cwd=tmp_path, cold=True)
    journal, killed = tmp_path / "run" / "journal.jsonl", []
    while not killed and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") >= 2:
            with suppress(psutil.Error):
                zygotes, children = sandboxes(process.pid)
                for each in zygotes if victim == "zygote" else children:
                    each.kill()
                    killed.append(each)
        time.sleep(0.01)
    assert killed
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert journal.read_bytes() == (small_runs / "run2" / "journal.jsonl").read_bytes()


def test_a_finished_run_is_repeated_without_a_change(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place, tmp_path / "copy")
    run = tmp_path / "copy" / "run"
    before = outcome(run)
    call("train", "resume=run", "executor.workers=1", "seed=0", cwd=tmp_path / "copy")
    assert outcome(run) == before
    assert len(lines(run / "wal.jsonl")) == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["resume=run", "seed=3"], "^seed .* run, which has 0; only record, llm, executor"),
        (["resume=run", "problem=tsp"], "^problem .* run, which has cvrp"),
        (["resume=run", "budget.programs=13"], r"^budget\.programs .* run"),
        (["resume=run", "experiment=paper"], "^experiment .* run"),
        (["-m", "resume=run", "executor.workers=1,2"], "resume=RUN by itself"),
        ([*SMALL, "hydra.run.dir=run"], "run holds a run already.* resume=run"),
    ],
)
def test_what_contradicts_the_run_is_refused(whole, arguments, words):
    place, _ = whole
    before = tree(place)
    done = call("train", *arguments, cwd=place, check=False)
    assert done.returncode == 2
    [sentence] = done.stderr.splitlines()
    assert re.search(words, sentence)
    assert tree(place) == before


def test_two_processes_do_not_write_one_run(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place / "pools", tmp_path / "pools")
    process = start(tmp_path, *SMALL, "budget.programs=400", "hydra.run.dir=run")
    journal = tmp_path / "run" / "journal.jsonl"
    while not journal.exists() or not journal.read_bytes():
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()[1]
    done = call("train", "resume=run", cwd=tmp_path, check=False)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (done.returncode, "Another process is writing the run" in done.stderr) == (2, True)


def test_a_resumed_run_may_change_what_no_result_depends_on(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place, tmp_path / "copy")
    options = ["search.samplers=2", "llm=recorded", "llm.path=run/wal.jsonl", "executor.workers=1"]
    call("train", "resume=run", *options, cwd=tmp_path / "copy")
    assert outcome(tmp_path / "copy" / "run") == outcome(place / "run")


def test_an_altered_journal_is_noticed(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place, tmp_path / "copy")
    path = tmp_path / "copy" / "run" / "journal.jsonl"
    path.write_text(path.read_text().replace('"operator":"i1"', '"operator":"e1"', 1))
    done = call("train", "resume=run", cwd=tmp_path / "copy", check=False)
    assert done.returncode == 1
    assert "journal.jsonl: line 1 is not reproduced" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
def test_a_full_disk_stops_a_run_which_then_goes_on(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place / "pools", tmp_path / "pools")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("this machine mounts no disk")
    try:
        done = call("train", *SMALL, "hydra.run.dir=disk/run", cwd=tmp_path, check=False)
        assert done.returncode == 1, done.stderr
        assert re.search(r"Cannot write .*No space left on device\.", done.stderr)
        assert "Traceback" not in done.stderr
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        call("train", "resume=disk/run", cwd=tmp_path)
        assert (
            outcome(disk / "run")[Path("journal.jsonl")]
            == (place / "run" / "journal.jsonl").read_bytes()
        )
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_run_is_brought_into_mlflow_afterwards_and_resumed_by_its_id(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place, tmp_path / "copy")
    home = tmp_path / "copy"
    done = call("track", "run=run", cwd=home)
    assert "run: 12 programs, complete" in done.stdout
    store = mlflow.MlflowClient(f"sqlite:///{home}/mlruns/mlflow.db")
    experiments = [e.experiment_id for e in store.search_experiments()]
    [run] = store.search_runs(experiments, "tags.kind = 'training'")
    rows = lines(home / "run" / "validation.jsonl")
    mean = sum(row["improvement"] for row in rows) / len(rows)
    assert run.data.metrics["validation/improvement"] == pytest.approx(mean)
    assert run.info.status == "FINISHED"
    # The directory is as the user wrote it, so that a copied folder still fits.
    call("train", f"resume={run.info.run_id}", cwd=home)
    done = call("train", f"resume={'0' * 32}", cwd=home, check=False)
    assert (done.returncode, "Run with id=000" in done.stderr) == (2, True)
    done = call("track", "run=nowhere", cwd=home, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "nowhere holds no run: it has no config.yaml.\n",
    )


def test_a_program_that_slept_has_timed_out_for_good(whole, tmp_path):
    place, _ = whole
    shutil.copytree(place / "pools", tmp_path / "pools")
    sleeping = Path(__file__).parent / "sandbox" / "sleeping.py"
    command = [sys.executable, str(sleeping), *SMALL, "hydra.run.dir=run"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "run" / "journal.jsonl"
    while not journal.exists() or journal.read_bytes().count(b'"timeout"') < 2:
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()[1]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    complete = journal.read_bytes().rpartition(b"\n")[0]
    # Nothing sleeps now, and what was measured then is not measured again.
    call("train", "resume=run", cwd=tmp_path)
    assert journal.read_bytes().startswith(complete)


RACING = [
    *SMALL,
    "search.racing=true",
    "search.repertoire_size=2",
    "method.policy.population=2",
    "budget.programs=20",
    "search.seeds=varied",
    "search.finalists=2",
]


def test_a_race_stops_the_same_programs_with_other_workers_and_after_a_kill(small_runs, tmp_path):
    shutil.copytree(small_runs / "pools", tmp_path / "pools")
    call("train", *RACING, "hydra.run.dir=one", "executor.workers=1", cwd=tmp_path)
    journal = lines(tmp_path / "one" / "journal.jsonl")
    stopped = [one for one in journal if one.get("outcome") == "stopped"]
    assert stopped
    assert all(one["score"] is None and one["tried"] >= 8 for one in stopped)
    # It is killed with candidates of a race in flight.
    options = [*RACING, "hydra.run.dir=two", "executor.workers=2", "search.samplers=2"]
    process = start(tmp_path, *options)
    written = tmp_path / "two" / "journal.jsonl"
    while not (written.exists() and b'"stopped"' in written.read_bytes()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(lines(written)) < len(journal)
    call("train", "resume=two", cwd=tmp_path)
    for name in ("journal.jsonl", "responses.jsonl", "checkpoint/manifest.json"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
