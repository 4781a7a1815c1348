"""Rounds of a search method by the real loop, at levels without a sandbox."""

import threading
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from offered import contract_of
from specahd.core import journal as journals
from specahd.core.budget import Ledger
from specahd.core.contract import Context, Parent
from specahd.core.errors import TransportError
from specahd.core.events import Observer
from specahd.core.program import Level, Outcome
from specahd.core.proposer import Reply
from specahd.core.seeding import generator
from specahd.llm.offline import OfflineProposer
from specahd.memory.memory import Memory
from specahd.runs.journal import Journal
from specahd.search.base import CandidateEvaluation
from specahd.search.engine import Engine

TICKETS = 48
ROUNDS = 2
TASKS = 6
NOTHING = "", "Sorry, I cannot help with that."


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

    def race(self):
        return None

    def submit(self, program, race=None):
        def evaluate():
            time.sleep(zlib.crc32(program.id.encode()) % 4 * 0.0005)
            return self._responses(program.source)

        return self._pool.submit(evaluate)

    def _responses(self, source):
        sums = [zlib.crc32(f"{self.round} {task} {source}".encode()) for task in range(TASKS)]
        return None if sums[0] % 7 == 0 else tuple(one % 1000 / 25000 for one in sums)

    def measure(self, result):
        if result is None:
            return CandidateEvaluation(Outcome.CRASHED, "It divides by zero.", None, False)
        score = float(np.mean(result))
        vector = {"cost_before": list(result)}
        return CandidateEvaluation(Outcome.OK, "", score, True, responses=result, vector=vector)

    def recall(self, record):
        return tuple(record.cost_before) or None

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


class Failing(Checksums):
    """A level on which every program fails on all tasks."""

    def measure(self, result):
        detail = "It divides by zero."
        nothing = (0.0,) * TASKS
        return CandidateEvaluation(Outcome.CRASHED, detail, 0.0, False, responses=nothing)


class Alike(Checksums):
    """A level on which every program scores as much as any other."""

    def _responses(self, source):
        return (0.02,) * TASKS


class Moody(OfflineProposer):
    """Loses some requests once, and answers some with nothing of use."""

    def __init__(self, bad, lost):
        super().__init__()
        self.bad, self.lost = bad, lost
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
            text = NOTHING[rng.integers(2)] if bad else super().propose(request).text
        return Reply(text, 3, 2)


def run(
    directory,
    method,
    proposer,
    *,
    measures=Checksums,
    samplers=4,
    workers=2,
    lag=5,
    replay=None,
    rounds=ROUNDS,
    tickets=TICKETS,
):
    """Run rounds that carry the members over; return the ledger and the journal's records."""
    directory.mkdir(exist_ok=True)
    ledger = Ledger(tickets)
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
            level = measures(method, number, workers)
            engine.carry_over(level, members, tickets // rounds)
            spent = engine.run(level, tickets // rounds)
            assert spent == tickets // rounds
            members = [member.program for member in method.members] or members
    return ledger.read(), list(journals.read_records(directory / "journal.jsonl"))
