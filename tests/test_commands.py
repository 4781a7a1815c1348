"""The commands as a user meets them: real processes, real files, real mistakes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from commands import SMALL, call, start, tree
from offered import PROBLEMS
from specahd.core import journal

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def trained(small_runs, tmp_path_factory):
    """Two runs with one seed, by one worker and by two, in one place."""
    place = tmp_path_factory.mktemp("trained") / "place"
    shutil.copytree(small_runs, place)
    return place, (place / "run2.txt").read_text()


@pytest.mark.integration
def test_equal_seeds_are_equal_bytes_whatever_the_workers(trained):
    place, _ = trained
    for name in ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl"):
        first, second = (place / f"run{workers}" / name for workers in (1, 2))
        assert first.read_bytes() == second.read_bytes()
    assert tree(place / "run1" / "checkpoint") == tree(place / "run2" / "checkpoint")


def test_the_journal_tells_the_whole_run(trained):
    place, _ = trained
    records = list(journal.read_records(place / "run2" / "journal.jsonl"))
    samples = [record for record in records if "sample" in record]
    assert len(samples) == 12
    assert [r["round"] for r in records if r.get("record") == "round"] == [1, 2]
    measured = list(journal.read_records(place / "run2" / "responses.jsonl"))
    vectors = {entry["sample"] for entry in measured if "sample" in entry}
    # Each level measures what it carried over, the seed program at least.
    carried = {(entry["round"], entry["carried"]) for entry in measured if "carried" in entry}
    assert {(1, "lower-seed"), (1, "upper-seed"), (2, "upper-seed")} <= carried
    for record in samples:
        assert record["reply"]
        assert record["outcome"] != "ok" or record["sample"] in vectors
        assert (record["responses"] in vectors) == (record["responses"] is not None)
    replies = {entry["sample"] for entry in journal.read_records(place / "run2" / "wal.jsonl")}
    assert replies == {record["sample"] for record in samples}


def test_the_summary_says_what_was_gained_and_where_to_look(trained):
    place, output = trained
    for words in ("selection (3)", "validation (5)", "nearest", "savings", "run2/checkpoint", "ui"):
        assert words in output
    assert (place / "run2" / "config.yaml").exists()


@pytest.mark.integration
def test_evaluation_repeats_the_rows_without_model_or_memory(trained):
    place, _ = trained
    # A module that is None in sys.modules cannot be imported.
    blocked = [
        "openai",
        "httpx2",
        "torch",
        "sentence_transformers",
        "specahd.llm",
        "specahd.design",
    ]
    code = (
        "import sys, runpy\n"
        f"for name in {blocked!r}: sys.modules[name] = None\n"
        "sys.argv[0] = 'evaluate'\n"
        "runpy.run_module('specahd.evaluate', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "checkpoint=run1/checkpoint", "pool=validation",
         "count=5", "hydra.run.dir=evaluated"],
        cwd=place, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {
        row["instance"]: row for row in journal.read_records(place / "evaluated" / "rows.jsonl")
    }
    # A count takes the instances that a budget takes.
    validated = list(journal.read_records(place / "run1" / "validation.jsonl"))
    assert list(rows) == [row["instance"] for row in validated]
    for row in validated:
        # An evaluation's rows say more.
        assert {key: rows[row["instance"]][key] for key in row} == row
    assert all(row["feasible"] for row in rows.values())
    assert done.stdout.startswith("cvrp: nearest, repaired by run1/checkpoint")
    # A reference of the evaluation itself stands beside.
    assert re.search(r"improvement.*rollbacks.*savings", done.stdout)


def test_a_run_imports_nothing_that_it_does_not_need(tmp_path):
    # A module that is None in sys.modules cannot be imported.
    heavy = ["httpx2", "matplotlib", "mlflow", "openai", "pyvrp", "scipy.stats", "sklearn", "torch"]
    script = (
        "import sys\n"
        f"for name in {heavy!r}: sys.modules[name] = None\n"
        f"sys.path.append({str(HERE)!r})\n"
        "from forked_zygotes import fork_zygotes\n"
        "from specahd.train import main\n"
        "fork_zygotes()\n"
        "sys.exit(main())\n"
    )
    options = [*SMALL, "budget.programs=2", "budget.rounds=1", "hydra.run.dir=run"]
    done = subprocess.run(
        [sys.executable, "-c", script, *options], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_one_file_is_repaired_and_its_solution_may_be_the_next_incumbent(trained):
    place, _ = trained
    [instance, *_] = sorted((place / "pools" / "cvrp" / "validation").glob("*.vrp"))
    # Its run stands for a checkpoint.
    options = ["checkpoint=run1", f"instance={instance}", "accept=improving"]
    done = call("evaluate", *options, "baseline=savings", "hydra.run.dir=one", cwd=place)
    assert "has not ended" not in done.stderr
    [row] = journal.read_records(place / "one" / "rows.jsonl")
    assert row["baseline"] == "savings"
    written = place / "one" / f"{instance.stem}.sol"
    text = written.read_text()
    assert text.startswith("Route #1:")
    assert float(text.split("Cost")[1]) == row["cost"] <= row["baseline_cost"]
    call("evaluate", *options, f"incumbent={written}", "hydra.run.dir=again", cwd=place)
    [again] = journal.read_records(place / "again" / "rows.jsonl")
    assert (again["baseline"], again["baseline_cost"]) == (written.name, row["cost"])


def test_an_instance_cannot_name_its_way_out_of_the_run(trained):
    place, _ = trained
    instance = sorted((place / "pools" / "cvrp" / "validation").glob("*.vrp"))[0]
    text = re.sub(r"NAME : .*", "NAME : ../../up/and away", instance.read_text(), count=1)
    (place / "odd.vrp").write_text(text)
    options = ["checkpoint=run1/checkpoint", "instance=odd.vrp", "hydra.run.dir=odd/run"]
    call("evaluate", *options, cwd=place)
    assert [path.name for path in (place / "odd").rglob("*.sol")] == ["_.._up_and_away.sol"]


# The other tests here train cvrp.
@pytest.mark.parametrize("problem", [name for name in PROBLEMS if name != "cvrp"])
def test_every_problem_trains(tmp_path, problem):
    few = ["budget.programs=6", "budget.rounds=1", "hydra.run.dir=run"]
    few += ["problem.max_size=50", "search.passes=10"]
    done = call("train", f"problem={problem}", *SMALL, *few, cwd=tmp_path)
    assert "rollbacks" in done.stdout
    for pool in ("selection", "validation"):
        rows = [json.loads(line) for line in (tmp_path / "run" / f"{pool}.jsonl").open()]
        assert rows
        assert all(row["status"] == "ok" and row["feasible"] for row in rows)
        assert all(row["cost"] <= row["baseline_cost"] for row in rows)


@pytest.mark.integration
def test_the_public_sets_are_verified_by_one_command(tmp_path, public):
    done = call("prepare", f"verify={public}", cwd=tmp_path)
    assert re.search(r"total +827 read +587 solutions checked +0 mismatches", done.stdout)
    assert re.search("known to be wrong: .*E-n30-k3.sol: it costs 537", done.stdout)
    done = call("prepare", "verify=nowhere", cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "nowhere is no folder."


def test_any_folder_is_verified(tmp_path):
    folder = tmp_path / "some"
    shutil.copytree(HERE / "data", folder)
    done = call("prepare", "verify=some", cwd=tmp_path)
    assert "some/tiny.sol: solves tiny.vrp, it costs 206 as stated\n" in done.stdout
    assert re.search(r"total +10 read +7 solutions checked +0 mismatches +0 refused", done.stdout)
    (folder / "tiny.sol").write_text((folder / "tiny.sol").read_text().replace("206", "205"))
    done = call("prepare", "verify=some", cwd=tmp_path, check=False)
    assert done.returncode == 2
    wrong, counted = done.stderr.splitlines()[-2:]
    assert re.match(r"some/tiny\.sol: .*206.* 205", wrong)
    assert "1 of 18 files" in counted
    # Files that no problem reads are no instances.
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").write_text("nothing")
    done = call("prepare", "verify=empty", cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "empty holds no instance that can be read."


def test_prepare_writes_once_and_verifies_after(tmp_path):
    first = call("prepare", "problem=cvrp", cwd=tmp_path).stdout
    before = tree(tmp_path / "pools")
    assert call("prepare", "problem=cvrp", cwd=tmp_path).stdout == first
    assert tree(tmp_path / "pools") == before
    assert "lower_train: 256 instances" in first
    assert "confirmation: 60 instances of 100 to 800" in first
    assert {path.name for path in tmp_path.iterdir()} == {"pools"}


@pytest.mark.integration
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_blow_in_mid_run_leaves_a_whole_journal_and_no_process(tmp_path, blow):
    options = [*SMALL, "budget.programs=4000", "hydra.run.dir=r"]
    process = start("specahd.train", *options, cwd=tmp_path, cold=True)
    path = tmp_path / "r" / "journal.jsonl"
    while not (path.exists() and len(list(journal.read_records(path))) > 30):
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(blow)
    _, said = process.communicate(timeout=60)
    assert len(family) >= 4
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive
    indices = [record["index"] for record in journal.read_records(path) if "sample" in record]
    assert indices == list(range(len(indices)))
    if blow is not signal.SIGKILL:
        assert process.returncode == 130
        assert "Traceback" not in said, said
        interrupted = ["Interrupted.", "Go on with: python -m specahd.train resume=r"]
        assert said.splitlines()[-2:] == interrupted
        done = call("evaluate", "checkpoint=r/checkpoint", "pool=selection", cwd=tmp_path)
        assert "r has not ended" in done.stderr


@pytest.mark.integration
def test_a_stage_ends_with_the_dvc_that_started_it(tmp_path):
    code = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])"
    options = [*SMALL, "budget.programs=4000", "hydra.run.dir=r"]
    with (tmp_path / "said").open("w") as said:
        dvc = subprocess.Popen(
            [sys.executable, "-c", code, "-m", "specahd.train", *options],
            cwd=tmp_path, env={**os.environ, "DVC_STAGE": "train"}, stderr=said,
        )  # fmt: skip
    path = tmp_path / "r" / "journal.jsonl"
    while not (path.exists() and len(list(journal.read_records(path))) > 5):
        time.sleep(0.02)
        assert dvc.poll() is None
    family = psutil.Process(dvc.pid).children(recursive=True)
    dvc.kill()
    dvc.wait()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive
    assert (tmp_path / "said").read_text().endswith("specahd.train resume=r\n")
