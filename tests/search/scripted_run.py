"""The loop on a level that is measured here, with a scripted service and a scripted method."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from specahd.core import journal as journals
from specahd.core.budget import Ledger
from specahd.core.contract import Context, Contract, Operator, Parent
from specahd.core.errors import TransportError
from specahd.core.events import Observer
from specahd.core.program import Level, Outcome, Program
from specahd.core.proposer import Reply
from specahd.core.tariff import FREE
from specahd.core.vocabulary import Constant, Vocabulary
from specahd.memory.memory import Memory
from specahd.methods.eoh import EoH
from specahd.runs.journal import Journal
from specahd.search.base import CandidateEvaluation, Query
from specahd.search.engine import Engine
from specahd.search.replay import Replay


def add(a, b):
    """Add two numbers."""
    return a + b


CONTRACT = Contract.of(
    add,
    id="append",
    level=Level.LOWER,
    idea="Add.",
    task="Add well.",
    runner=add,
    vocabulary=Vocabulary((), (Constant("weight", 0, 1),)),
)


class Scripted:
    """Answers as a faulty service would: some replies bad, some requests lost at first."""

    def __init__(self, bad=0.3, lost=0.1, dead=False, error=TransportError):
        self.bad, self.lost, self.dead, self.error = bad, lost, dead, error
        self.calls = []
        self.prompts = []
        self._lock = threading.Lock()

    def close(self):
        pass

    def tariff(self, request=None):
        return FREE

    def propose(self, request):
        with self._lock:
            self.calls.append(request.index)
            self.prompts.append(request.prompt)
            first = self.calls.count(request.index) == 1
        rng = np.random.default_rng([request.index, 5])
        time.sleep(rng.random() * 0.004)
        bad, lost, constant = rng.random() < self.bad, rng.random() < self.lost, rng.integers(40)
        if self.dead or (lost and first):
            raise self.error("Connection reset.")
        if request.operator.wants_text:
            return Reply("" if bad else f"Remark {request.index}.", 30, 20, 0.25)
        if bad:
            return Reply("Sorry, I cannot help with that.", 3, 2)
        shown = sum(int(parent.score * 1000) for parent in request.parents)
        return Reply(
            f"{{Add {constant}.}}\ndef add(a, b):\n    return a * {constant} + {shown}", 3, 2
        )


class ByConstant:
    """A level whose measure can be computed here: the sum of the digits of the source."""

    contract = CONTRACT

    def __init__(self, workers, method=None, level=Level.LOWER, number=1):
        self.level = level
        self.round = number
        self.method = method or EoH(4)
        self._pool = ThreadPoolExecutor(workers)
        self._scores = {}

    def race(self):
        return None

    def submit(self, program, race):
        def evaluate():
            score = sum(int(c) for c in program.source if c.isdigit()) / 1000
            time.sleep((hash(program.id) % 5) * 0.001)
            return score

        return self._pool.submit(evaluate)

    def recall(self, record):
        return record.utilities[0]

    def measure(self, result):
        return CandidateEvaluation(
            Outcome.OK, "", result, True, responses=(result,), vector={"utilities": [result]}
        )

    def admit(self, program, result):
        self._scores[program.id] = result

    def context(self, shown):
        return Context(("The sum counts.",), 0.001, self.best(), {one.id: "odd" for one in shown})

    def best(self):
        return max(self._scores.values(), default=None)

    def rank(self, programs):
        return sorted(
            (Parent(program, self._scores[program.id]) for program in programs),
            key=lambda parent: -parent.score,
        )


WRITE = Operator("write", "Write one.")


def adding(number):
    """Return a program that is named by the number in its source."""
    source = f"def add(a, b):\n    return {number}\n"
    return Program(str(number), Level.LOWER, source, "", "i1", contract="append")


class InTurn:
    """Asks for what it is told to, in turn and round after round; None waits once."""

    size = 4

    def __init__(self, *turns):
        self.turns = turns
        self.members = []
        self.told = []
        self.asked = []
        self._turn = 0

    def begin(self, start):
        self.start = start

    def ask(self, index, rng):
        turn = self.turns[self._turn % len(self.turns)]
        self._turn += 1
        self.asked.append((index, len(self.told), rng.random()))
        return Query(turn) if isinstance(turn, Operator) else turn

    def tell(self, sample, rng):
        self.told.append((sample, rng.random()))


def run(
    directory,
    proposer,
    tickets=60,
    samplers=4,
    workers=4,
    lag=8,
    asked=None,
    method=None,
    kind=(Level.LOWER, 1),
    repeat=False,
    carried=(),
    measures=ByConstant,
    memory=Memory,
    stopped=None,
    **options,
):
    """Carry programs over and run a round; return what was spent, by the ledger too, and told."""
    directory.mkdir(exist_ok=repeat)
    ledger = Ledger(tickets)
    with (
        Journal(directory, repeat=repeat) as journal,
        Engine(
            seed=3,
            lag=lag,
            samplers=samplers,
            proposer=proposer,
            ledger=ledger,
            journal=journal,
            memories={level: memory(filter=True) for level in Level},
            observer=Observer(),
            **{**({"replay": Replay.read(directory)} if repeat else {}), **options},
        ) as engine,
    ):
        level = measures(workers, method, *kind)
        # No round may ask for more than is left.
        engine.carry_over(level, carried, tickets + 5)
        spent = engine.run(level, tickets if asked is None else asked)
        if stopped is not None:
            stopped.append(engine.stopped)
    return spent, ledger.read(), list(journals.read_records(directory / "journal.jsonl"))
