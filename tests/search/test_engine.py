"""The loop: exact tickets, deterministic whatever the concurrency, faults survived."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_requests import CONTEXTS, request
from scripted_run import CONTRACT, WRITE, InTurn, Scripted, run

from specahd.core import journal as journals
from specahd.core.budget import Allowance
from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.errors import ConfigError, RunFailed, ServiceUnavailable, TransportError
from specahd.core.tariff import Tariff
from specahd.methods.eoh import EoH
from specahd.runs.files import CURSOR
from specahd.runs.journal import reopen_run
from specahd.runs.reading import read_prompts
from specahd.search.base import Query
from specahd.search.engine import TEXTS
from specahd.search.prompts import render
from specahd.search.request_pool import REISSUES
from specahd.search.reservations import Reservations


class Priced(Scripted):
    """Takes a dollar for a token of a reply, of which no two have equally many; none are lost."""

    def __init__(self, max_reply, longest):
        super().__init__(bad=0.0, lost=0.0)
        self.max_reply, self.longest = max_reply, longest

    def tariff(self, request=None):
        return Tariff(0.0, 1e6, self.max_reply)

    def propose(self, request):
        reply = super().propose(request)
        tokens = self.longest - request.index % 5
        return replace(reply, prompt_tokens=0, completion_tokens=tokens, cost=float(tokens))


def test_requests_say_what_the_level_knows(tmp_path):
    proposer = Scripted(bad=0, lost=0)
    run(tmp_path / "run", proposer)
    assert all("- The sum counts.\n- The example above scores" in p for p in proposer.prompts)
    shown = [prompt for prompt in proposer.prompts if "Program 1, score" in prompt]
    assert shown
    assert all(re.search(r"Program 1, score \S+ %: odd\. Its idea: ", prompt) for prompt in shown)
    best = [float(re.search("best program so far scores (\\S+) %", p)[1]) for p in shown]
    assert max(best) > min(best)


def test_tickets_are_exact_and_bytes_equal_with_bad_replies_and_lost_requests(tmp_path):
    for samplers, workers in ((1, 1), (7, 4)):
        place, proposer = tmp_path / str(samplers), Scripted()
        spent, ledger, records = run(place, proposer, samplers=samplers, workers=workers)
        assert spent == ledger.tickets == len(records) == 60
        assert [record["index"] for record in records] == list(range(60))
        assert ledger.refunds == len(proposer.calls) - 60 > 0
        assert {record["outcome"] for record in records} == {"ok", "parse_error", "duplicate"}
        assert ledger.prompt_tokens == 3 * 60
    for name in ("journal.jsonl", "responses.jsonl"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "7" / name).read_bytes()


def test_a_sample_sees_the_state_of_lag_commits_ago(tmp_path):
    _, _, records = run(tmp_path / "run", Scripted(), lag=5)
    survivors = [set(record["survivors"]) for record in records]
    for record in records[5:]:
        assert set(record["parents"]) <= survivors[record["index"] - 5]
    assert any(now != later for now, later in pairwise(survivors))


def test_prompts_are_kept_once_and_what_they_share_is_written_once(tmp_path):
    proposer = Scripted(bad=0, lost=0)
    run(tmp_path / "run", proposer, samplers=1, tickets=20)
    kept = read_prompts(tmp_path / "run")
    assert [prompt.prompt for prompt in kept.values()] == proposer.prompts
    path = tmp_path / "run" / "prompts.jsonl"
    beginning = proposer.prompts[0][: kept["lower-1-0000"].shared]
    assert path.read_text().count(json.dumps(beginning)[1:-1]) == 1
    before = path.read_bytes()
    run(tmp_path / "run", proposer, samplers=1, tickets=30, repeat=True)
    assert path.read_bytes()[: len(before)] == before
    assert [prompt.prompt for prompt in read_prompts(tmp_path / "run").values()] == proposer.prompts


def test_where_a_reply_came_from_stands_in_journal_and_wal_and_is_replayed(tmp_path):
    class Named(Scripted):
        def propose(self, request):
            origin = {"finish_reason": "stop", "model": "m", "provider": "p"}
            return replace(super().propose(request), **origin)

    method = InTurn(WRITE, REMARK)
    run(tmp_path / "run", Named(lost=0), tickets=8, method=method)
    for name in ("journal.jsonl", "wal.jsonl"):
        for record in journals.read_records(tmp_path / "run" / name):
            assert (record["finish_reason"], record["model"], record["provider"]) == (
                "stop",
                "m",
                "p",
            )
    before = (tmp_path / "run" / "journal.jsonl").read_bytes()
    run(tmp_path / "run", None, tickets=8, method=InTurn(WRITE, REMARK), repeat=True)
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before


def test_replies_are_on_disk_in_the_order_they_came(tmp_path):
    run(tmp_path / "run", Scripted())
    wal = list(journals.read_records(tmp_path / "run" / "wal.jsonl"))
    by_sample = {entry["sample"]: entry["reply"] for entry in wal}
    for record in journals.read_records(tmp_path / "run" / "journal.jsonl"):
        assert by_sample[record["sample"]] == record["reply"]
    assert [entry["request"]["index"] for entry in wal] != list(range(60))


def test_a_dead_service_stops_the_run(tmp_path):
    proposer = Scripted(dead=True)
    with pytest.raises(TransportError):
        run(tmp_path / "run", proposer, samplers=1)
    assert proposer.calls.count(0) == REISSUES + 1


def test_a_service_that_was_asked_as_often_as_allowed_is_not_asked_again(tmp_path):
    proposer = Scripted(dead=True, error=ServiceUnavailable)
    with pytest.raises(ServiceUnavailable):
        run(tmp_path / "run", proposer, samplers=1)
    assert proposer.calls.count(0) == 1


def test_a_round_takes_no_more_than_it_is_given(tmp_path):
    spent, ledger, _ = run(tmp_path / "run", Scripted(), tickets=60, asked=10)
    assert (spent, ledger.tickets) == (10, 10)
    spent, _, _ = run(tmp_path / "other", Scripted(), tickets=5, asked=10)
    assert spent == 5


# Texts

REMARK = Operator("remark", "Say why.", treatment=Treatment.DESCRIBE)


def test_texts_take_no_tickets_and_are_told_in_their_turn(tmp_path):
    method = InTurn(WRITE, REMARK, REMARK)
    proposer = Scripted(bad=0.2, lost=0.3)
    spent, ledger, records = run(tmp_path / "run", proposer, tickets=20, method=method)
    assert spent == ledger.tickets == 20
    assert method.start.tickets == 20
    # Once all programs are asked for, a text is of no use.
    assert ledger.auxiliary_calls == 38
    assert ledger.prompt_tokens == 20 * 3 + 38 * 30
    assert ledger.cost == 38 * 0.25
    # A text that was lost is asked for again, but there is no ticket to give back.
    lost = {index for index in proposer.calls if proposer.calls.count(index) > 1}
    assert ledger.refunds == sum(index % 3 == 0 for index in lost) < len(lost)
    assert [record["index"] for record in records] == list(range(58))
    for index, (record, (sample, _)) in enumerate(zip(records, method.told, strict=True)):
        assert sample.request.index == index
        if index % 3:
            assert (record["record"], record["text"]) == ("text", f"lower-1-{index:04d}")
            assert "outcome" not in record
            assert sample.text == record["reply"]
            assert (sample.outcome == "ok") == bool(sample.text)
            assert (sample.program, sample.score) == (None, None)
        else:
            assert record["sample"] == f"lower-1-{index:04d}"
            assert sample.outcome == record["outcome"]
            assert sample.score == record["score"]
            assert bool(sample.responses) == sample.retained == (sample.outcome == "ok")
    outcomes = {sample.outcome for sample, _ in method.told if sample.request.operator is REMARK}
    assert outcomes == {"ok", "parse_error"}
    wal = list(journals.read_records(tmp_path / "run" / "wal.jsonl"))
    assert {entry["sample"]: entry["request"]["text"] for entry in wal} == {
        f"lower-1-{index:04d}": bool(index % 3) for index in range(58)
    }
    assert all(entry["refunds"] == 0 for entry in wal if entry["request"]["text"])


@pytest.mark.parametrize("lag", [1, 3, 8])
def test_a_method_that_waits_is_asked_again_after_the_next_commit(tmp_path, lag):
    seen = []
    for name, samplers in (("one", 1), ("many", 7)):
        method = InTurn(WRITE, WRITE, None, REMARK, None)
        # With a lag of 1 nothing is under way when a turn comes; it cannot wait then.
        if lag == 1:
            method = InTurn(WRITE, WRITE, REMARK)
        run(tmp_path / name, Scripted(), tickets=30, samplers=samplers, lag=lag, method=method)
        seen.append((method.asked, method.told))
    # The same questions at the same moments, with the same random numbers.
    assert seen[0] == seen[1]
    for index, told, _ in seen[0][0]:
        assert max(0, index - lag + 1) <= told <= index


def test_a_method_may_not_wait_for_nothing(tmp_path):
    with pytest.raises(RunFailed, match="waits, and no sample is in flight"):
        run(tmp_path / "run", Scripted(), method=InTurn(WRITE, WRITE, None, None, None))


def test_a_method_may_not_ask_for_texts_for_ever(tmp_path):
    proposer = Scripted(bad=0.0, lost=0.0)
    with pytest.raises(RunFailed, match=f"asked for {TEXTS + 1} texts and no program"):
        run(tmp_path / "run", proposer, method=InTurn(REMARK))
    assert len(proposer.calls) <= TEXTS


def shown_seed(**more):
    operator = Operator("vary", "Vary {parents}.", 1)
    return Query(operator, (Parent(CONTRACT.seed, 0.01),), **more)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (Query(WRITE, prompt="def add_v1(a, b): ..."), r"\Adef add_v1\(a, b\): \.\.\.\Z"),
        (Query(WRITE, hints="A hint."), r"A hint\.\n\nWrite one\."),
        (
            shown_seed(views=("A view.",)),
            r"Program 1, score 1\.000 %.*\. A view\.\n\nVary program 1\.",
        ),
    ],
)
def test_what_a_method_says_reaches_the_prompt(tmp_path, query, told):
    class Saying(InTurn):
        def ask(self, index, rng):
            return query

    proposer = Scripted(lost=0.0)
    run(tmp_path / "run", proposer, tickets=2, method=Saying())
    assert [bool(re.search(told, prompt)) for prompt in proposer.prompts] == [True] * 2


@pytest.mark.parametrize(
    ("method", "max_reply", "longest", "bound"),
    # Of a reply that nothing bounds, 4,096 tokens are expected, or the longest so far.
    [
        (EoH, 100, 100, 2_000),
        (lambda: InTurn(WRITE, REMARK), 100, 100, 2_000),
        (EoH, None, 4_000, 60_000),
        (lambda: InTurn(WRITE, REMARK), None, 7_000, 200_000),
    ],
)
def test_replies_cost_no_more_than_they_may_with_any_number_of_samplers(
    tmp_path, method, max_reply, longest, bound
):
    runs = []
    for samplers in (1, 7):
        proposer = Priced(max_reply, longest)
        spent, ledger, records = run(
            tmp_path / f"run{samplers}", proposer, samplers=samplers, method=method(),
            allowance=Allowance(cost=bound),
        )  # fmt: skip
        assert bound - 2 * longest - 5 < ledger.cost <= bound
        assert spent == ledger.tickets == sum("sample" in record for record in records)
        assert len(proposer.calls) == len(records)
        runs.append(records)
    assert runs[0] == runs[1]


class Thinker(Priced):
    """Replies of 30,000 to 50,000 tokens that nothing bounds; counts those under way."""

    def __init__(self):
        super().__init__(None, 0)
        self.ended = 0
        self.crowds = []

    def propose(self, request):
        with self._lock:
            self.crowds.append((len(self.crowds) + 1 - self.ended, self.ended))
        tokens = 30_000 + 4_877 * request.index % 20_001
        reply = replace(super().propose(request), completion_tokens=tokens, cost=float(tokens))
        with self._lock:
            self.ended += 1
        return reply


@pytest.mark.parametrize("bound", [10_000, 120_000, 1_000_000])
def test_of_replies_of_unknown_length_one_may_exceed_the_bound(tmp_path, bound):
    runs = []
    for samplers in (1, 7):
        proposer, stopped = Thinker(), []
        _, ledger, records = run(
            tmp_path / f"run{samplers}", proposer, samplers=samplers, stopped=stopped,
            allowance=Allowance(cost=bound),
        )  # fmt: skip
        over = ledger.cost - bound
        assert -50_000 < over < 50_000
        assert all(under_way <= max(1, ended) for under_way, ended in proposer.crowds)
        if samplers == 7 and bound == 1_000_000:
            assert max(proposer.crowds)[0] > 1
        said = f"{over:.4f} over it by a reply longer than expected" in stopped[0]
        assert said == (over > 0)
        assert stopped[0].startswith(f"budget.max_cost={bound:g} leaves no room")
        runs.append(records)
    assert runs[0] == runs[1]


def end_early(directory):
    """Write what a run does that ends before its tickets are spent."""
    with (directory / "journal.jsonl").open("a") as file:
        file.write('{"record":"round","round":1,"upper":"u","selection":null}\n')
    with (directory / "responses.jsonl").open("a") as file:
        file.write('{"carried":"u","detail":"","outcome":"ok","round":1}\n')
    for name in ("selection.jsonl", "validation.jsonl"):
        (directory / name).write_text("{}\n")


@settings(max_examples=4, deadline=None)
@given(
    bounds=st.tuples(st.integers(4, 30), st.integers(0, 30)),
    lag=st.integers(1, 9),
    samplers=st.sampled_from([1, 4]),
    texts=st.booleans(),
)
def test_with_a_larger_bound_a_run_goes_on_to_the_bytes_of_one_that_had_it(
    tmp_path_factory, bounds, lag, samplers, texts
):
    place = tmp_path_factory.mktemp("bounds")
    small, large = (100.0 * sum(bounds[:count]) for count in (1, 2))

    def go_on(name, bound, **how):
        method = InTurn(WRITE, REMARK) if texts else EoH(4)
        proposer = Priced(100, 90)
        how = {"tickets": 40, "samplers": samplers, "lag": lag, "method": method, **how}
        run(place / name, proposer, allowance=Allowance(cost=bound), **how)
        return proposer.calls

    first = go_on("run", small)
    end_early(place / "run")
    reopen_run(place / "run")
    assert sorted(path.name for path in (place / "run").iterdir()) == [
        *("journal.jsonl", "prompts.jsonl", "responses.jsonl", "timings.jsonl", "wal.jsonl")
    ]
    rest = go_on("run", large, repeat=True)
    assert sorted(first + rest) == sorted(go_on("whole", large))
    for name in ("journal.jsonl", "responses.jsonl"):
        ours, theirs = ((place / run / name).read_bytes() for run in ("run", "whole"))
        assert ours == theirs, name


@pytest.mark.parametrize(("told", "kept"), [(99, None), (2, 2), ("3", "3")])
def test_what_comes_again_is_brought_to_mlflow_again(tmp_path, told, kept):
    folder = tmp_path / "run"
    run(folder, Priced(100, 90), allowance=Allowance(cost=1000.0), tickets=40)
    end_early(folder)
    (folder / CURSOR).write_text(json.dumps({"records": told}))
    reopen_run(folder)
    left = len((folder / "journal.jsonl").read_bytes().splitlines())
    assert json.loads((folder / CURSOR).read_text()) == {"records": kept or left}
    assert 2 < left < 99


def test_a_bound_below_the_first_request_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"budget\.max_cost of at least 100\.0001,"):
        run(tmp_path / "run", Priced(100, 100), allowance=Allowance(cost=50))
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == b""


def test_the_least_bound_is_known_before_the_first_prompt(either):
    priced = SimpleNamespace(tariff=lambda request: Tariff(1e6, 2e6, 100))

    def least(**bounds):
        with pytest.raises(ConfigError) as refused:
            Reservations(priced, Allowance(**bounds)).require_first(either, either.level, 0)
        return float(re.search("at least (\\S+),", str(refused.value))[1])

    cost, tokens = least(cost=0.01), least(tokens=3)
    assert cost == pytest.approx(tokens + 100, abs=1e-3)
    # It is enough for what a request says beyond its either, and names no bound that is not.
    first = request(either, "m1", context=CONTEXTS[either.level])
    first = replace(first, prompt=render(first))
    for enough in (Allowance(cost=cost), Allowance(tokens=tokens)):
        Reservations(priced, enough).require_first(either, either.level, 0)
        assert Reservations(priced, enough).reserve(first) is None


def test_who_counts_no_tokens_is_not_bound_by_them(tmp_path):
    proposer = Priced(0, 0)
    proposer.longest = 4
    spent, _, _ = run(tmp_path / "run", proposer, tickets=9, allowance=Allowance(tokens=100))
    assert spent == 9
