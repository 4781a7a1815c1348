"""What every method of conf/method keeps, so that the loop can trust it without knowing it."""

import functools
import re
import shutil
import sys
import threading
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from offered import contract_of
from specahd.config import CONF_DIR
from specahd.core import journal as journals
from specahd.core.budget import Ledger
from specahd.core.contract import Context, Operator, Parent
from specahd.core.errors import TransportError
from specahd.core.events import Observer
from specahd.core.program import Level, Outcome
from specahd.core.proposer import Reply
from specahd.core.seeding import generator
from specahd.llm.offline import OfflineProposer
from specahd.llm.recorded import Recorded
from specahd.memory.memory import Memory
from specahd.runs.journal import Journal
from specahd.search.base import CandidateEvaluation, Query
from specahd.search.engine import Engine
from specahd.search.replay import Replay

ROOT = Path(__file__).parent.parent.parent
ADDED = ROOT / "tests" / "methods" / "added"
GUIDE = (ROOT / "docs" / "adding-a-method.md").read_text(encoding="utf-8")
TICKETS = 48
ROUNDS = 2
FILES = ("journal.jsonl", "responses.jsonl")


def confs():
    """Yield a name and the configuration of every search method of every file."""
    for path in sorted([*(CONF_DIR / "method").glob("*.yaml"), *ADDED.glob("method/*.yaml")]):
        conf = OmegaConf.load(path)
        for role in ("policy", "lower", "upper"):
            if conf.get(role) is not None:
                yield f"{path.stem}-{role}", conf[role]


def shown(language):
    """Return the first block of code of the guide."""
    return re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)[1]


METHODS = {**dict(confs()), "of-the-guide": OmegaConf.create(shown("yaml")).policy}


@pytest.fixture(autouse=True)
def _added(monkeypatch):
    monkeypatch.syspath_prepend(ADDED)
    name = METHODS["of-the-guide"]._target_.rpartition(".")[0]
    module = ModuleType(name)
    exec(shown("python"), vars(module))
    monkeypatch.setitem(sys.modules, name, module)
    yield
    sys.modules.pop("reflective_tree", None)


@pytest.fixture(params=METHODS)
def make(request):
    """Make the search method, anew each time."""
    return functools.partial(instantiate(METHODS[request.param]))


class Listener:
    """Passes everything on to a method and writes down what it was told and asked for."""

    def __init__(self, method):
        self.method = method
        self.size = method.size
        self.events = []
        self.threads = set()

    @property
    def members(self):
        return self.method.members

    def begin(self, start):
        self.events.append(("begin", start))
        self.method.begin(start)

    def ask(self, index, rng):
        self.threads.add(threading.get_ident())
        query = self.method.ask(index, rng)
        self.events.append(("ask", index, query))
        return query

    def tell(self, sample, rng):
        self.threads.add(threading.get_ident())
        self.method.tell(sample, rng)
        self.events.append(("tell", sample, [parent.program.id for parent in self.members]))


class Checksums:
    """A level without a sandbox: six responses that a program's source decides.

    Some programs crash.
    """

    level = Level.LOWER
    contract = contract_of("cvrp", Level.LOWER)

    def __init__(self, method, number, workers):
        self.method = method
        self.round = number
        self.rows = {}
        self._pool = ThreadPoolExecutor(workers)

    def submit(self, program):
        def evaluate():
            time.sleep(zlib.crc32(program.id.encode()) % 4 * 0.0005)
            return self._responses(program.source)

        return self._pool.submit(evaluate)

    def _responses(self, source):
        sums = [zlib.crc32(f"{self.round} {task} {source}".encode()) for task in range(6)]
        return None if sums[0] % 7 == 0 else tuple(one % 1000 / 25000 for one in sums)

    def measure(self, result):
        if result is None:
            return CandidateEvaluation(Outcome.CRASHED, "It divides by zero.", None, False)
        score = float(np.mean(result))
        vector = {"scores": list(result)}
        return CandidateEvaluation(Outcome.OK, "", score, True, responses=result, vector=vector)

    def recall(self, record):
        return tuple(record["scores"]) if "scores" in record else None

    def admit(self, program, result):
        self.rows[program.id] = result

    def rank(self, programs):
        rows = [self.rows[program.id] for program in programs]
        parents = [
            Parent(program, float(np.mean(row)), row)
            for program, row in zip(programs, rows, strict=True)
        ]
        return sorted(parents, key=lambda parent: -parent.score)

    def effects(self, child, parent):
        return None

    def context(self, shown):
        return Context()

    def best(self):
        return max((parent.score for parent in self.method.members), default=None)


class Moody(OfflineProposer):
    """Loses some requests once, and answers some with nothing of use."""

    def __init__(self, bad, lost, garbage="Sorry, I cannot help with that."):
        super().__init__()
        self.bad, self.lost, self.garbage = bad, lost, garbage
        self.calls = Counter()
        self._lock = threading.Lock()

    def propose(self, request):
        with self._lock:
            self.calls[request.id] += 1
            first = self.calls[request.id] == 1
        rng = generator(7, request.id)
        time.sleep(rng.random() * 0.002)
        bad, lost = rng.random() < self.bad, rng.random() < self.lost
        if lost and first:
            raise TransportError("Connection reset.")
        with self._lock:
            text = self.garbage if bad else super().propose(request).text
        return Reply(text, 3, 2)


def run(directory, method, proposer, *, samplers=4, workers=2, lag=5, replay=None, rounds=ROUNDS):
    """Run rounds that carry the members over; return the ledger and the journal's records."""
    directory.mkdir(exist_ok=True)
    ledger = Ledger(TICKETS)
    members = [Checksums.contract.seed]
    with (
        Journal(directory, repeat=replay is not None) as journal,
        Engine(
            seed=1,
            lag=lag,
            samplers=samplers,
            proposer=proposer,
            ledger=ledger,
            journal=journal,
            memories={Level.LOWER: Memory(filter=True)},
            observer=Observer(),
            replay=replay,
        ) as engine,
    ):
        for number in range(1, rounds + 1):
            level = Checksums(method, number, workers)
            engine.carry(level, members, TICKETS // rounds)
            spent = engine.run(level, TICKETS // rounds)
            assert spent == TICKETS // rounds
            members = [member.program for member in method.members] or members
    return ledger.read(), list(journals.read(directory / "journal.jsonl"))


@pytest.fixture
def reference(make, tmp_path):
    """A run by one sampler, with bad replies and lost requests: its folder, what it spent."""
    folder = tmp_path / "reference"
    spent, _ = run(folder, make(), Moody(0.3, 0.1), samplers=1, workers=1)
    return folder, spent


def content(directory):
    return [(directory / name).read_bytes() for name in FILES]


@pytest.mark.parametrize("samplers", [4, 7])
def test_tickets_are_exact_and_bytes_equal_whatever_the_samplers(
    make, reference, tmp_path, samplers
):
    proposer = Moody(0.3, 0.1)
    spent, records = run(tmp_path / "run", make(), proposer, samplers=samplers)
    programs = [record for record in records if "sample" in record]
    texts = [record for record in records if record.get("record") == "text"]
    assert spent.tickets == len(programs) == TICKETS
    assert spent.auxiliary_calls == len(texts)
    assert spent.prompt_tokens == 3 * (len(programs) + len(texts))
    lost = {name for name, calls in proposer.calls.items() if calls > 1}
    assert spent.refunds == len(lost & {record["sample"] for record in programs}) > 0
    assert {record["outcome"] for record in programs} >= {"ok", "parse_error"}
    assert content(tmp_path / "run") == content(reference[0])
    assert spent == reference[1]


@pytest.mark.parametrize("garbage", ["Sorry, I cannot help with that.", ""])
@pytest.mark.parametrize("lag", [1, 8])
def test_nothing_of_use_ends_at_the_budget(make, tmp_path, garbage, lag):
    spent, records = run(tmp_path / "run", make(), Moody(1.0, 0.0, garbage), lag=lag)
    assert spent.tickets == TICKETS
    assert {record["outcome"] for record in records if "sample" in record} == {"parse_error"}


@pytest.mark.parametrize("lag", [1, 8])
def test_its_state_follows_from_what_it_was_told(make, tmp_path, lag):
    listener = Listener(make())
    run(tmp_path / "run", listener, Moody(0.2, 0.0), lag=lag, rounds=1)
    assert listener.threads == {threading.get_ident()}
    again = make()
    level = Checksums(again, 1, 1)
    level.rows = {
        event[0].program.id: event[0].responses
        for kind, *event in listener.events
        if kind == "tell" and event[0].retained
    }
    for kind, *event in listener.events:
        if kind == "begin":
            level.rows |= {parent.program.id: parent.responses for parent in event[0].carried}
            again.begin(replace(event[0], rank=level.rank))
        elif kind == "ask":
            index, asked = event
            assert again.ask(index, generator(1, Level.LOWER, 1, index)) == asked
        else:
            sample, members = event
            again.tell(sample, generator(1, Level.LOWER, 1, sample.request.index, "tell"))
            assert [parent.program.id for parent in again.members] == members


def test_what_it_asks_for_and_keeps_was_measured_in_the_round(make, tmp_path):
    listener = Listener(make())
    run(tmp_path / "run", listener, Moody(0.2, 0.0))
    known = {}
    for kind, *event in listener.events:
        if kind == "begin":
            assert event[0].tickets == TICKETS // ROUNDS
            known = {parent.program.id: parent for parent in event[0].carried}
        elif kind == "ask":
            query = event[1]
            assert isinstance(query, Query | None)
            if query is not None:
                assert isinstance(query.operator, Operator)
                assert len(query.parents) <= query.operator.parents
                for parent in query.parents:
                    assert known[parent.program.id].score == parent.score
        else:
            sample, members = event
            if sample.retained:
                known[sample.program.id] = sample.parent
            assert len(members) == len(set(members)) <= listener.size
            assert set(members) <= known.keys()
    assert listener.members


def test_each_program_is_recorded_with_where_it_came_from_and_what_became_of_it(reference):
    folder, _ = reference
    asked = {record["sample"]: record["hash"] for record in journals.read(folder / "wal.jsonl")}
    measured = {
        record["sample"]: record["scores"]
        for record in journals.read(folder / "responses.jsonl")
        if "sample" in record and "scores" in record
    }
    known = {Checksums.contract.seed.id}
    for record in journals.read(folder / "journal.jsonl"):
        if "sample" not in record:
            continue
        assert record["operator"]
        assert set(record["parents"]) <= known
        assert record["request"] == asked[record["sample"]]
        assert record["reply"]
        assert Outcome(record["outcome"])
        if record["score"] is not None:
            assert record["responses"] == record["sample"]
            assert record["score"] == np.mean(measured[record["sample"]])
            known.add(record["sample"])


def test_its_replies_give_the_same_bytes_again_without_who_wrote_them(make, reference, tmp_path):
    whole, spent = reference
    again, _ = run(tmp_path / "again", make(), Recorded(whole / "wal.jsonl"), samplers=7)
    assert content(tmp_path / "again") == content(whole)
    # A cassette loses no connection.
    assert again == replace(spent, refunds=0)


def test_it_goes_on_where_a_killed_run_broke_off(make, reference, tmp_path):
    whole, spent = reference
    broken = tmp_path / "broken"
    shutil.copytree(whole, broken)
    for name, share in (("wal.jsonl", 0.6), ("journal.jsonl", 0.5), ("responses.jsonl", 0.55)):
        path = broken / name
        # Somewhere in a line, as a kill leaves it.
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    had = {record["sample"] for record in journals.read(broken / "wal.jsonl")}
    proposer = Moody(0.3, 0.1)
    again, _ = run(broken, make(), proposer, replay=Replay.read(broken))
    assert content(broken) == content(whole)
    assert again == spent
    assert had
    assert not had & proposer.calls.keys()
