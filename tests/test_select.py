"""From a training run to its champion and back, through the commands and through MLflow itself."""

import json
import shutil
import subprocess
import sys

import pytest

from commands import call
from specahd.config.cli import run_command
from specahd.core import journal
from specahd.select import select

pytestmark = pytest.mark.integration

SMALL = [
    "llm=offline",
    "budget=smoke",
    "budget.programs=12",
    "budget.rounds=1",
    "budget.lower_train=4",
    "budget.upper_train=3",
    "budget.selection=3",
    "budget.validation=3",
    "tracking.patience=200",
]
CHAMPION = "models:/specahd-cvrp@champion"
PREDICT = f"""
import json, sys
from pathlib import Path
import mlflow

mlflow.set_tracking_uri("sqlite:///mlruns/mlflow.db")
model = mlflow.pyfunc.load_model("{CHAMPION}")
first, second = map(Path, sys.argv[1:])
rows = [{{"instance": str(first)}}, {{"name": "told", "text": second.read_text()}}]
print(json.dumps(model.predict(rows).to_dict("records")))
"""


def run(*arguments, cwd, check=True):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One training run in a store of its own, made the champion; select's output beside it."""
    place = tmp_path_factory.mktemp("place")
    # A method may set the size of regions, so that another one does not keep a run from counting.
    options = [*SMALL, "problem.max_regions=6", "hydra.run.dir=run"]
    call("train", "problem=cvrp", *options, cwd=place)
    done = call("select", "problem=cvrp", cwd=place, cold=True)
    (place / "selected.txt").write_text(done.stdout + done.stderr)
    return place


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def instances(place):
    return sorted((place / "pools" / "cvrp" / "validation").glob("*.vrp"))[:2]


def enter(capsys, *arguments):
    status = run_command(select, "select", arguments)
    return status, capsys.readouterr()


def test_the_table_names_the_chosen_run_and_how_to_go_on(place):
    said = (place / "selected.txt").read_text()
    improvement = [
        row["improvement"] for row in journal.read_records(place / "run" / "selection.jsonl")
    ]
    assert f"{100 * sum(improvement) / len(improvement):+.2f}%" in said
    for words in ("→", "complete", "validation (not used)", f"{CHAMPION} is version 1", "smoke"):
        assert words in said
    assert "Warning" not in said


def test_the_champion_predicts_in_a_fresh_process_what_evaluation_gives(place):
    first, second = instances(place)
    (place / "two").mkdir()
    for path in (first, second):
        shutil.copy(path, place / "two")
    done = run("-c", PREDICT, first, second, cwd=place)
    predicted = json.loads(done.stdout)
    assert "Warning" not in done.stderr
    for name, checkpoint in {"fetched": CHAMPION, "local": "run/checkpoint"}.items():
        options = [f"checkpoint={checkpoint}", "instance=two", f"hydra.run.dir={name}"]
        call("evaluate", *options, cwd=place)
    rows = place / "fetched" / "rows.jsonl"
    assert rows.read_bytes() == (place / "local" / "rows.jsonl").read_bytes()
    evaluated = {row["instance"]: row for row in journal.read_records(rows)}
    for path, answer in zip((first, second), predicted, strict=True):
        row = evaluated[path.stem]
        assert (row["cost"], row["baseline_cost"]) == (answer["cost"], answer["baseline_cost"])
        text = (rows.parent / f"{path.stem}.sol").read_text()
        for route in json.loads(answer["routes"]):
            assert f": {' '.join(map(str, route))}\n" in text
    assert [answer["name"] for answer in predicted] == [first.stem, "told"]


def test_selecting_again_makes_nothing_new(here, capsys):
    status, said = enter(capsys, "problem=cvrp")
    assert (status, said.err) == (0, "")
    assert f"{CHAMPION} was already version 1" in said.out


REFUSED = {
    "no experiment": (["tracking.experiment=gone"], "no experiment 'gone'"),
    "no run": (["problem=tsp"], "no run of tsp"),
    "another baseline": (["problem.baseline=savings"], "1 problem.baseline=nearest"),
    "other regions": (["problem.max_regions=8"], "1 problem.max_regions=6"),
    "another budget": (["budget=pilot"], "1 budget.name=smoke"),
    "an empty sweep": ([f"sweep={'a' * 32}"], "no run of cvrp"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_one_sentence_and_changes_nothing(here, capsys, name):
    arguments, sentence = REFUSED[name]
    before = sorted(path for path in here.rglob("*") if "mlflow.db" not in path.name)
    status, said = enter(capsys, *arguments)
    assert (status, said.out) == (2, "")
    assert sentence in said.err
    assert len(said.err.splitlines()) == 1
    assert sorted(path for path in here.rglob("*") if "mlflow.db" not in path.name) == before


def test_an_altered_champion_neither_evaluates_nor_loads(place):
    [path] = place.glob("mlruns/artifacts/*/artifacts/model/artifacts/checkpoint/manifest.json")
    whole = path.read_text()
    path.write_text(whole.replace('"neighbours": 5', '"neighbours": 6'))
    try:
        first, second = instances(place)
        done = run("-c", PREDICT, first, second, cwd=place, check=False)
        assert "CheckpointError" in done.stderr
        assert "was altered: manifest.json" in done.stderr
        done = call(
            "evaluate", f"checkpoint={CHAMPION}", "pool=validation",
            "hydra.run.dir=altered", cwd=place, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr == (
            f"The checkpoint {CHAMPION} was altered: manifest.json does not match SHA256SUMS.\n"
        )
        assert not (place / "altered").exists()
    finally:
        path.write_text(whole)
