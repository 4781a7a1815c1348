"""The loop: exact tickets, deterministic whatever the concurrency, faults survived."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_requests import CONTEXTS, CONTRACTS, request
from scripted_run import WRITE, InTurn, Scripted, run

from specahd.core import journal as journals
from specahd.core.budget import Allowance
from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.errors import ConfigError, RunFailed, TransportError
from specahd.core.tariff import Tariff
from specahd.methods.eoh import EoH
from specahd.runs.files import CURSOR
from specahd.runs.reopening import reopen_run
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


@pytest.mark.parametrize("samplers", [1, 4, 7])
def test_tickets_are_exact_with_bad_replies_and_lost_requests(tmp_path, samplers):
    proposer = Scripted()
    spent, ledger, records = run(tmp_path / "run", proposer, samplers=samplers)
    assert spent == ledger.tickets == len(records) == 60
    assert [record["index"] for record in records] == list(range(60))
    assert ledger.refunds == len(proposer.calls) - 60 > 0
    outcomes = {record["outcome"] for record in records}
    assert outcomes == {"ok", "parse_error", "duplicate"}
    assert ledger.prompt_tokens == 3 * 60


def test_the_journal_does_not_depend_on_concurrency(tmp_path):
    for name, samplers, workers in (("one", 1, 1), ("many", 7, 4)):
        run(tmp_path / name, Scripted(), samplers=samplers, workers=workers)
    for file in ("journal.jsonl", "responses.jsonl"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "many" / file).read_bytes()


def test_the_lag_is_part_of_the_experiment(tmp_path):
    run(tmp_path / "8", Scripted(), lag=8)
    run(tmp_path / "1", Scripted(), lag=1)
    journal = "journal.jsonl"
    assert (tmp_path / "8" / journal).read_bytes() != (tmp_path / "1" / journal).read_bytes()


def test_a_sample_sees_the_state_of_lag_commits_ago(tmp_path):
    _, _, records = run(tmp_path / "run", Scripted(), lag=5)
    survivors = [set(record["survivors"]) for record in records]
    for record in records[5:]:
        assert set(record["parents"]) <= survivors[record["index"] - 5]
    assert any(now != later for now, later in pairwise(survivors))


def test_replies_are_on_disk_in_the_order_they_came(tmp_path):
    run(tmp_path / "run", Scripted())
    wal = list(journals.read_records(tmp_path / "run" / "wal.jsonl"))
    by_sample = {entry["sample"]: entry["reply"] for entry in wal}
    for record in journals.read_records(tmp_path / "run" / "journal.jsonl"):
        assert by_sample[record["sample"]] == record["reply"]
    assert [entry["request"]["index"] for entry in wal] != list(range(60))


def test_garbage_alone_ends_at_the_budget(tmp_path):
    spent, _, records = run(tmp_path / "run", Scripted(bad=1.0, lost=0.0))
    assert spent == 60
    assert {record["outcome"] for record in records} == {"parse_error"}
    assert {record["operator"] for record in records} == {"i1"}


def test_a_dead_service_stops_the_run(tmp_path):
    proposer = Scripted(dead=True)
    with pytest.raises(TransportError):
        run(tmp_path / "run", proposer, samplers=1)
    assert proposer.calls.count(0) == REISSUES + 1


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


def test_the_log_of_replies_names_texts(tmp_path):
    run(tmp_path / "run", Scripted(), tickets=5, method=InTurn(WRITE, REMARK))
    wal = list(journals.read_records(tmp_path / "run" / "wal.jsonl"))
    assert {entry["sample"]: entry["request"]["text"] for entry in wal} == {
        f"lower-1-{index:04d}": bool(index % 2) for index in range(9)
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


def test_a_prompt_of_its_own_is_sent_as_it_is(tmp_path):
    class Own(InTurn):
        def ask(self, index, rng):
            return Query(WRITE, prompt=f"def add_v{index}(a, b): ...")

    proposer = Scripted(lost=0.0)
    run(tmp_path / "run", proposer, tickets=3, samplers=1, method=Own())
    assert proposer.prompts == [f"def add_v{index}(a, b): ..." for index in range(3)]


def test_hints_reach_the_prompt(tmp_path):
    class Hinting(InTurn):
        def ask(self, index, rng):
            return Query(WRITE, hints=f"Hint {index}.")

    proposer = Scripted(lost=0.0)
    run(tmp_path / "run", proposer, tickets=3, samplers=1, method=Hinting())
    assert [f"Hint {index}.\n\nWrite one." in proposer.prompts[index] for index in range(3)] == (
        [True] * 3
    )


def test_views_reach_the_prompt(tmp_path):
    class Veiled(InTurn):
        def ask(self, index, rng):
            parent = Parent(self.start.contract.seed, 0.01)
            return Query(Operator("vary", "Vary {parents}.", 1), (parent,), views=("A view.",))

    proposer = Scripted(lost=0.0)
    run(tmp_path / "run", proposer, tickets=2, samplers=1, method=Veiled())
    for prompt in proposer.prompts:
        assert "Program 1, score 1.000 %" in prompt
        assert ". A view.\n\nVary program 1." in prompt


@pytest.mark.parametrize("method", [EoH, lambda: InTurn(WRITE, REMARK)])
@pytest.mark.parametrize(
    ("max_reply", "longest", "bound"),
    # Of a reply that nothing bounds, 4,096 tokens are expected, or twice the longest so far.
    [(100, 100, 2_000), (None, 4_000, 60_000), (None, 7_000, 200_000)],
)
def test_replies_cost_no_more_than_they_may_with_any_number_of_samplers(
    tmp_path, method, max_reply, longest, bound
):
    runs = []
    for samplers in (1, 4, 7):
        proposer = Priced(max_reply, longest)
        spent, ledger, records = run(
            tmp_path / f"run{samplers}", proposer, samplers=samplers, method=method(),
            allowance=Allowance(cost=bound),
        )  # fmt: skip
        assert bound - 2 * longest - 5 < ledger.cost <= bound
        assert spent == ledger.tickets == sum("sample" in record for record in records)
        assert len(proposer.calls) == len(records)
        runs.append(records)
    assert runs[0] == runs[1] == runs[2]


def test_a_bound_on_money_changes_nothing_that_is_asked_before_it(tmp_path):
    _, _, bounded = run(tmp_path / "a", Priced(100, 90), allowance=Allowance(cost=1_000))
    _, _, free = run(tmp_path / "b", Priced(100, 90), allowance=None)
    assert 5 < len(bounded) < len(free)
    assert bounded == free[: len(bounded)]


def end_early(directory):
    """Write what a run does that ends before its tickets are spent."""
    with (directory / "journal.jsonl").open("a") as file:
        file.write('{"record":"round","round":1,"upper":"u","selection":null}\n')
    with (directory / "responses.jsonl").open("a") as file:
        file.write('{"carried":"u","detail":"","outcome":"ok","round":1}\n')
    for name in ("selection.jsonl", "validation.jsonl"):
        (directory / name).write_text("{}\n")


@settings(max_examples=8, deadline=None)
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
        *("journal.jsonl", "responses.jsonl", "timings.jsonl", "wal.jsonl")
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
    sentence = r"^Expected budget\.max_cost of at least 100\.0001, got 50: "
    with pytest.raises(ConfigError, match=sentence):
        run(tmp_path / "run", Priced(100, 100), allowance=Allowance(cost=50))
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == b""


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_the_least_bound_is_known_before_the_first_prompt(contract):
    priced = SimpleNamespace(tariff=lambda request: Tariff(1e6, 2e6, 100))

    def least(**bounds):
        with pytest.raises(ConfigError) as refused:
            Reservations(priced, Allowance(**bounds)).require_first(contract, contract.level, 0)
        return float(re.search("at least (\\S+),", str(refused.value))[1])

    cost, tokens = least(cost=0.01), least(tokens=3)
    assert cost == pytest.approx(tokens + 100, abs=1e-3)
    # It is enough for what a request says beyond its contract, and names no bound that is not.
    first = request(contract, "m1", context=CONTEXTS[contract.level])
    first = replace(first, prompt=render(first))
    for enough in (Allowance(cost=cost), Allowance(tokens=tokens)):
        Reservations(priced, enough).require_first(contract, contract.level, 0)
        assert Reservations(priced, enough).reserve(first) is None


def test_who_counts_no_tokens_is_not_bound_by_them(tmp_path):
    proposer = Priced(0, 0)
    proposer.longest = 4
    spent, _, _ = run(tmp_path / "run", proposer, tickets=9, allowance=Allowance(tokens=100))
    assert spent == 9


def test_texts_count_for_what_replies_may_cost(tmp_path):
    proposer = Scripted(bad=0.0, lost=0.0)
    method = InTurn(WRITE, REMARK)
    allowance = Allowance(cost=1.0)
    spent, ledger, _ = run(
        tmp_path / "run", proposer, lag=1, samplers=1, method=method, allowance=allowance
    )
    # Programs cost nothing here, and a text a quarter.
    assert (ledger.cost, ledger.auxiliary_calls, spent) == (1.0, 4, 4)
