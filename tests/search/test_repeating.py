"""What a run can be repeated from: its random draws, its log of replies, what was measured."""

from functools import partial

import numpy as np
import pytest
from scripted_run import WRITE, ByConstant, InTurn, Scripted, adding, run

from specahd.core import journal as journals
from specahd.core.contract import Operator
from specahd.core.program import Level, Outcome
from specahd.core.seeding import generator
from specahd.memory.memory import Memory
from specahd.memory.skills import Effects
from specahd.runs.records import Measured
from specahd.search.base import CandidateEvaluation, Query
from specahd.search.replay import Replay


@pytest.mark.parametrize("kind", [(Level.LOWER, 1), (Level.LOWER, 2), (Level.UPPER, 1)])
def test_every_ask_and_tell_draws_from_a_generator_of_its_own(tmp_path, kind):
    method = InTurn(WRITE)
    run(tmp_path / "run", Scripted(), tickets=6, method=method, kind=kind)
    for index, (asked, (_, told)) in enumerate(zip(method.asked, method.told, strict=True)):
        assert asked[2] == generator(3, *kind, index).random()
        assert told == generator(3, *kind, index, "tell").random()


def test_a_resumed_run_pays_for_no_reply_twice_and_counts_the_same(tmp_path):
    _, ledger, records = run(tmp_path / "run", Scripted(lost=0.4), tickets=20)
    replay = Replay.read(tmp_path / "run")
    # What was measured is not asked for here: another level would recall it.
    proposer = Scripted()
    _, again, repeated = run(
        tmp_path / "again", proposer, tickets=20, replay=Replay(replies=replay.replies)
    )
    assert proposer.calls == []
    assert again == ledger
    assert ledger.refunds > 0
    assert repeated == records


def test_a_program_that_was_measured_was_new_even_if_its_verdict_was_lost(tmp_path):
    _, _, records = run(tmp_path / "run", Scripted(bad=0.0, lost=0.0), tickets=60)
    repeats = [record["sample"] for record in records if record["outcome"] == "duplicate"]
    known = Measured(round=1, outcome=Outcome.OK, sample=repeats[0], utilities=[0.5])
    measured = {(1, repeats[0]): known}
    _, _, again = run(
        tmp_path / "again",
        Scripted(bad=0.0, lost=0.0),
        tickets=60,
        replay=Replay(measured=measured),
    )
    [found] = [record for record in again if record["sample"] == repeats[0]]
    assert (found["outcome"], found["score"]) == ("ok", 0.5)


def test_a_program_that_fails_when_it_is_carried_over_leaves_the_method(tmp_path):
    class Failing(ByConstant):
        def measure(self, result):
            if result < 0.005:
                return CandidateEvaluation(Outcome.TIMEOUT, "slow", None, False)
            return super().measure(result)

    method = InTurn(WRITE)
    carried = [adding(number) for number in (9, 1, 7)]
    run(tmp_path / "run", Scripted(), tickets=4, method=method, measures=Failing, carried=carried)
    assert [(parent.program.id, parent.score) for parent in method.start.carried] == [
        ("9", 0.009), ("7", 0.007),
    ]  # fmt: skip
    assert method.start.tickets == 4
    told = list(journals.read_records(tmp_path / "run" / "responses.jsonl"))[:3]
    assert [(line["carried"], line["outcome"]) for line in told] == [
        ("9", "ok"), ("1", "timeout"), ("7", "ok"),
    ]  # fmt: skip


def test_a_record_compares_a_child_with_the_first_of_its_parents(tmp_path):
    class Learning(ByConstant):
        def effects(self, child, parent):
            difference = self._scores[child] - self._scores[parent]
            return Effects(
                np.array([difference]), np.zeros((1, 1)), ("size",), np.zeros(1, dtype=np.int64)
            )

    class Pairs(InTurn):
        def ask(self, index, rng):
            return Query(Operator("pair", "Join {parents}.", parents=2), self.start.carried)

    proposer = Scripted(bad=0.0, lost=0.0)
    _, _, records = run(
        tmp_path / "run", proposer, tickets=3, method=Pairs(), measures=Learning,
        carried=[adding(9), adding(1)], memory=partial(Memory, skills=1),
    )  # fmt: skip
    scores = {record["sample"]: record["score"] for record in records if "sample" in record}
    skills = [record for record in records if record.get("record") == "skill"]
    assert [(skill["program"], skill["parent"]) for skill in skills] == [
        (name, "9") for name in scores
    ]
    assert [skill["gain"] for skill in skills] == [score - 0.009 for score in scores.values()]
