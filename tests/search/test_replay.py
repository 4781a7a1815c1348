"""What a run directory tells a run that goes on."""

from dataclasses import replace
from math import isnan
from types import SimpleNamespace

import pytest

from run_directories import lines
from specahd.core.contract import Operator, Parent, Request
from specahd.core.errors import FileError, RunFailed
from specahd.core.program import Level, Program
from specahd.core.proposer import Reply
from specahd.memory.novelty import Verdict
from specahd.search.replay import Replay


def test_how_each_candidate_did_on_selection_is_recalled(tmp_path):
    rounds = [
        {"record": "round", "round": 1, "upper": "a", "selection": 0.5},
        {
            "record": "round",
            "round": 2,
            "upper": "b",
            "selection": 1,
            "selection_failed": 2,
            "finalists_stopped": 1,
        },
        {"record": "round", "round": 3, "upper": "b", "selection": None, "selection_failed": 3},
        {"record": "round", "round": 4, "upper": "b", "uppers": ["b", "a"], "selection": 1},
    ]
    lines(tmp_path / "journal.jsonl", rounds)
    found = Replay.read(tmp_path).selection
    assert (found[1], found[2]) == ((["a"], 0.5, 0, 0), (["b"], 1.0, 2, 1))
    assert found[4] == (["b", "a"], 1.0, 0, 0)
    assert isnan(found[3][1])
    assert (found[3][0], found[3][2]) == (["b"], 3)


@pytest.mark.parametrize("field", [{"selection": "much"}, {"selection": 1, "selection_failed": ""}])
def test_a_round_that_no_run_wrote_is_refused(tmp_path, field):
    lines(tmp_path / "journal.jsonl", [{"record": "round", "round": 1, "upper": "a", **field}])
    with pytest.raises(FileError, match="selection"):
        Replay.read(tmp_path)


CONTRACT = SimpleNamespace(document="")
REQUEST = Request(CONTRACT, 0, Level.LOWER, 1, 3, Operator("i1", ""))


def reply(request, **told):
    return {
        "sample": request.id, "hash": request.hash, "reply": "text", "prompt_tokens": 30,
        "completion_tokens": 20, "cost": 0.5, "refunds": 2, "request": {"skills": ["a/1"]}, **told,
    }  # fmt: skip


def test_a_reply_that_was_paid_for_comes_again_with_its_refunds(tmp_path):
    lines(tmp_path / "wal.jsonl", [reply(REQUEST)])
    replay = Replay.read(tmp_path)
    assert replay.reply(REQUEST) == (Reply("text", 30, 20, 0.5), 2)
    assert replay.skills(REQUEST.id) == ["a/1"]
    assert replay.reply(replace(REQUEST, index=4)) is None
    assert replay.skills("lower-1-0004") is None


def test_another_request_than_was_paid_for_ends_the_run(tmp_path):
    lines(tmp_path / "wal.jsonl", [reply(REQUEST, hash="another")])
    with pytest.raises(RunFailed, match="lower-1-0003 is not reproduced"):
        Replay.read(tmp_path).reply(REQUEST)


def test_measurements_belong_to_a_round_and_a_program(tmp_path):
    measured = [
        {"carried": "lower-seed", "round": number, "outcome": "ok", "detail": f"in {number}"}
        for number in (1, 2)
    ]
    lines(tmp_path / "responses.jsonl", [*measured, {**measured[0], "sample": "lower-1-0000"}])
    replay = Replay.read(tmp_path)
    program = Program("lower-seed", Level.LOWER, "", "", "seed", contract="c")
    assert replay.measurement(1, program).detail == "in 1"
    assert replay.measurement(2, program).detail == "in 2"
    assert replay.measurement(3, program) is None
    assert replay.measurement(1, replace(program, id="lower-1-0000")) is not None


def test_verdicts_are_recalled_by_program(tmp_path):
    verdict = {"duplicate_of": "a", "nearest": "b", "similarity": {"fused": 0.9}}
    told = {"level": "lower", "round": 1, "outcome": "ok", "best": None}
    record = {"sample": "c", "contract": "x", "novelty": verdict, **told}
    lines(tmp_path / "journal.jsonl", [record])
    assert Replay.read(tmp_path).verdicts == {"c": Verdict("a", "b", {"fused": 0.9})}


def with_parent(**told):
    program = Program("p", Level.LOWER, "def f(): ...", "Idea.", "i1", contract="c")
    score = told.pop("score", 0.5)
    return replace(REQUEST, parents=(Parent(replace(program, **told), score),))


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, seed=1),
        replace(REQUEST, level=Level.UPPER),
        replace(REQUEST, round=2),
        replace(REQUEST, index=4),
        replace(REQUEST, operator=Operator("m1", "")),
        replace(REQUEST, prompt="Write."),
        replace(REQUEST, contract=SimpleNamespace(document="another")),
        *(
            with_parent(**told)
            for told in ({}, {"id": "q"}, {"source": ""}, {"idea": ""}, {"score": 0.25})
        ),
    ],
)
def test_a_request_is_known_by_all_that_a_reply_depends_on(other):
    assert other.hash != REQUEST.hash
    assert other == with_parent() or other.hash != with_parent().hash
