"""Trainings with ``problem.repair=insertion``: what comes of them repairs, and solves."""

import json
import signal
import time

import pytest

from commands import TINY, call, start
from specahd import api
from specahd.checkpoint.frozen import thaw

pytestmark = pytest.mark.integration

SEARCHING = [*TINY, "problem.repair=insertion", "budget.validation=1", "tracking=none"]


@pytest.mark.parametrize("name", ["sdvrp", "tsp"])
def test_a_trained_checkpoint_solves_what_it_was_trained_for(name, tmp_path):
    call("train", f"problem={name}", *SEARCHING, cwd=tmp_path)
    [folder] = (tmp_path / "runs" / name).iterdir()
    [row] = map(json.loads, (folder / "validation.jsonl").read_text().splitlines())
    assert row["cost"] < row["baseline_cost"]
    frozen = thaw(folder / "checkpoint")
    problem = api.make_problem(name)
    instance = next(problem.generate("lower_train", 3))
    weak = problem.baseline(instance)
    files = problem.solution_files("weak", weak, problem.cost(instance, weak))
    (tmp_path / "weak.sol").write_text(files[".sol"])
    given = api.ProblemInstance(problem, instance)
    solved = api.solve(given, checkpoint=folder, incumbent=tmp_path / "weak.sol", repairs=5000)
    assert solved.programs == (frozen.upper.id, *(each.id for each in frozen.repertoire))
    assert solved.cost < solved.incumbent_cost
    assert solved.failure == ""


HALVING = [*SEARCHING, "search.halving=true", "search.finalists=4", "search.uppers=2"]
HALVING += ["budget.rounds=2", "budget.programs=2", "budget.lower_share=0"]
HALVING += ["problem.repairs_per_customer=5", "problem.final_repairs_per_customer=20"]


def test_finalists_leave_alike_with_other_workers_and_after_a_kill(tmp_path):
    call("train", *HALVING, "hydra.run.dir=one", "executor.workers=1", cwd=tmp_path)
    whole = (tmp_path / "one" / "journal.jsonl").read_bytes()
    rounds = [each for each in map(json.loads, whole.splitlines()) if each.get("record") == "round"]
    assert [each["finalists_stopped"] for each in rounds] == [2, 2]
    # It is killed while the finalists of a round search.
    process = start("specahd.train", *HALVING, "hydra.run.dir=two", cwd=tmp_path)
    written = tmp_path / "two" / "journal.jsonl"
    before = whole[: whole.index(b'"record":"round"')].count(b"\n")
    while not (written.exists() and written.read_bytes().count(b"\n") >= before):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(written.read_bytes()) < len(whole)
    call("train", "resume=two", cwd=tmp_path)
    for name in ("journal.jsonl", "responses.jsonl", "selection.jsonl", "checkpoint/SHA256SUMS"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert "follow from its replies" in call("report", "audit=one", cwd=tmp_path).stdout
