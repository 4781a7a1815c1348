"""A method that a user adds: one file of Python, one of configuration, nothing edited.

Real runs of ``added/reflective_tree.py``, which uses what EoH does not.
"""

import signal
import time
from pathlib import Path

import pytest

from commands import call, start
from specahd.core import journal
from test_commands import tree

ADDED = Path(__file__).parent / "added"
ENV = {"PYTHONPATH": str(ADDED)}
SEARCHPATH = f"hydra.searchpath=[file://{ADDED}]"
RUN = [
    SEARCHPATH,
    "method=reflective_tree",
    "budget=smoke",
    "budget.programs=24",
    "budget.lower_train=3",
    "budget.upper_train=1",
    "budget.selection=1",
    "budget.validation=1",
    "search.lag=4",
    "tracking=none",
    "hydra.run.dir=run",
]
FILES = ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl")


def lasting(place):
    run = place / "run"
    return {name: (run / name).read_bytes() for name in FILES}, tree(run / "checkpoint")


def lines(place, name):
    return list(journal.read_records(place / "run" / f"{name}.jsonl"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("added")
    call("train", *RUN, "search.samplers=1", "executor.workers=1", cwd=place, env=ENV)
    return place


@pytest.mark.integration
def test_it_uses_what_eoh_does_not(place):
    records = lines(place, "journal")
    programs = [record for record in records if "sample" in record]
    texts = [record for record in records if record.get("record") == "text"]
    assert len(programs) == 24
    assert {record["operator"] for record in programs} == {"write", "revise", "join"}
    assert {record["operator"] for record in texts} == {"reflect"}
    asked = {record["sample"]: record["request"] for record in lines(place, "wal")}
    assert {name for name, request in asked.items() if request["text"]} == {
        record["text"] for record in texts
    }
    assert all(text["reply"].startswith(("Program", "The idea of program")) for text in texts)
    for record in programs:
        if record["operator"] == "revise":
            [varied] = record["parents"]
            before = [text for text in texts if text["index"] < record["index"]]
            assert any(varied in text["parents"] for text in before)
    [end] = [record for record in records if record.get("record") == "round"]
    assert (end["round"], end["upper"], len(end["repertoire"])) == (1, "upper-seed", 2)


@pytest.mark.integration
def test_a_killed_run_with_more_samplers_goes_on_to_the_same_bytes(place, tmp_path):
    (tmp_path / "pools").symlink_to(place / "pools")
    more = ["search.samplers=4", "executor.workers=2"]
    process = start("specahd.train", *RUN, *more, cwd=tmp_path, env=ENV, cold=True)
    written = tmp_path / "run" / "journal.jsonl"
    while sum(record.get("record") == "text" for record in journal.read_records(written)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(list(journal.read_records(written))) < len(lines(place, "journal"))
    call("train", "resume=run", SEARCHPATH, cwd=tmp_path, env=ENV)
    assert lasting(tmp_path) == lasting(place)
    samples = [record["sample"] for record in lines(tmp_path, "wal")]
    assert len(samples) == len(set(samples)) == len(lines(place, "wal"))


def test_one_level_of_the_coupled_search_may_have_it(tmp_path):
    options = [option for option in RUN if not option.startswith(("method", "budget.programs"))]
    own = "method.lower={_target_:reflective_tree.ReflectiveTree,_partial_:true,island:2}"
    options += ["budget.programs=16", "budget.rounds=1", "method=specahd_one_pass", own]
    call("train", *options, cwd=tmp_path, env=ENV)
    operators = {
        level: {
            record["operator"]
            for record in lines(tmp_path, "journal")
            if record.get("level") == level
        }
        for level in ("lower", "upper")
    }
    assert operators["lower"] >= {"write", "reflect", "revise"}
    assert operators["upper"] == {"i1"}


@pytest.mark.parametrize(
    ("option", "field"),
    [("method.portfolio=0", "method.portfolio"), ("search.levels=upper", "search.repertoire")],
)
def test_options_out_of_range_are_refused(tmp_path, option, field):
    done = call("train", *RUN, option, cwd=tmp_path, env=ENV, check=False)
    assert done.returncode == 2
    assert f"Expected {field}" in done.stderr
    assert not (tmp_path / "run").exists()
