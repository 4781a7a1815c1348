"""Asks a search method one request at a time and tells it what a script says of each."""

from collections.abc import Mapping, Sequence

import numpy as np

from offered import contract_of
from specahd.core.contract import Operator, Parent, Request
from specahd.core.program import Level, Outcome, Program
from specahd.search.base import RoundStart, Sample

CONTRACT = contract_of("cvrp", Level.LOWER)
INSERTION = contract_of("cvrp-insertion", Level.LOWER)
"""A contract with two seed programs."""


def parent(name, score, responses=(), source=None):
    program = Program(
        name,
        Level.LOWER,
        source or f"def f():\n    return {name}\n",
        f"Idea of {name}.",
        "i1",
        contract="append",
    )
    return Parent(program, score, tuple(responses) or (score,))


def names(parents):
    return [one.program.id for one in parents]


def seeds(*scores):
    """Return the seed programs of ``INSERTION`` with these scores, as a first round has them."""
    return [
        Parent(program, score, (score,))
        for program, score in zip(INSERTION.seeds, scores, strict=True)
    ]


class Chances:
    """A generator that chooses the last options, and notes the probabilities of all."""

    def __init__(self):
        self.seen = []

    def choice(self, options, size=None, replace=True, p=None):
        self.seen.append(list(p))
        places = np.arange(options) if isinstance(options, int) else np.asarray(options)
        return places[-1] if size is None else places[-size:]


class Conversation:
    """A round of a method, of which nothing is under way but what a test leaves open.

    Parameters
    ----------
    carried
        What the round begins with; a seed program that scores nothing if not given.
    """

    def __init__(
        self,
        method,
        carried: Sequence[Parent] | None = None,
        tickets=1000,
        seed=0,
        contract=CONTRACT,
    ):
        self.method = method
        self.rng = np.random.default_rng(seed)
        self.index = 0
        self.queries = []
        start = [parent("seed", 0.0)] if carried is None else carried
        self.contract = contract
        self.known = {one.program.id: one for one in start}
        method.begin(RoundStart(contract, tickets, tuple(start), self.rank))

    def rank(self, programs):
        """Return programs by their scores; the first ones first on ties."""
        return sorted((self.known[one.id] for one in programs), key=lambda one: -one.score)

    def ask(self):
        """Ask for the next query; None where the method waits."""
        query = self.method.ask(self.index, self.rng)
        if query is not None:
            self.queries.append((self.index, query))
            self.index += 1
        return query

    def tell(
        self,
        score: float | None = None,
        *,
        text="",
        at=-1,
        outcome=Outcome.CRASHED,
        responses=(),
        source=None,
        measured: Mapping | None = None,
    ):
        """Tell of one that is open, the last by default: a text, a score, or a failure."""
        index, query = self.queries.pop(at)
        request = Request(self.contract, 0, Level.LOWER, 1, index, query.operator, query.parents)
        made = parent(f"p{index}", score or 0.0, responses, source)
        self.known[made.program.id] = made
        if query.operator.wants_text:
            sample = Sample(request, text, Outcome.OK)
        elif score is None:
            program = None if outcome is Outcome.PARSE_ERROR else made.program
            sample = Sample(request, "?", outcome, "It fails.", program)
        else:
            sample = Sample(
                *(request, "", Outcome.OK, "", made.program, score, True),
                *(made.responses, measured or {}),
            )
        self.method.tell(sample, self.rng)
        return made

    def step(self, score: float | None = None, **how):
        """Ask, and tell at once; return the query."""
        query = self.ask()
        self.tell(score, **how)
        return query

    def operators(self, count, score=None, **how) -> list[Operator]:
        """Return what operators ``count`` steps ask for, with scores that go on rising."""
        score = score or (lambda number: 1.0 + number)
        return [self.step(score(self.index), **how).operator for _ in range(count)]
