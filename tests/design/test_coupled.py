"""What a round tells its levels, and what it keeps of them."""

from dataclasses import replace
from math import nan
from types import SimpleNamespace

import pytest
from arithmetic import PROBLEM, WIDTH, task
from msgspec import convert

from specahd.core.budget import Budget
from specahd.core.contract import Context
from specahd.core.errors import RunFailed
from specahd.core.events import Observer
from specahd.core.program import Level, Outcome, Tier
from specahd.core.settings import Accept, CallLimits, Settings
from specahd.design.candidates import Candidate, best_candidate
from specahd.design.coupled import Coupled
from specahd.design.single import Single
from specahd.repair.cases import make_case
from specahd.repair.evaluator import LowerResult, UpperResult
from specahd.repair.responses import Response
from specahd.repair.system import RepairSystem
from specahd.runs.records import Tasks
from specahd.search.replay import Replay

DESCRIPTOR = (0.5,) * WIDTH


class Forgetful:
    """A method that keeps no program."""

    size = 2
    members = ()


class Engine:
    """Runs nothing and remembers which searches it was given."""

    def __init__(self):
        self.replay = Replay(
            tasks={1: convert({"round": 1, "tasks": [task(0, (1, 2, 3)).record()]}, Tasks)}
        )
        self.searches = []

    def carry_over(self, search, programs, tickets):
        self.searches.append((search, programs, tickets))

    def run(self, search, tickets):
        return 0


@pytest.fixture
def coupled():
    def make(cases=(), limits=None, kind=Coupled, **settings):
        engine = Engine()
        journal = SimpleNamespace(responses=SimpleNamespace(append=lambda record: None))
        return engine, kind(
            problem=PROBLEM,
            engine=engine,
            executor=None,
            policy=Forgetful,
            pools={"lower_train": [0], "upper_train": [0]},
            budget=Budget(0),
            settings=Settings(**settings),
            journal=journal,
            observer=Observer(),
            cases=cases,
            limits=limits,
        )

    return make


@pytest.mark.parametrize("accept", Accept)
def test_upper_programs_are_asked_for_by_the_rule_of_acceptance(coupled, accept):
    engine, search = coupled(accept=accept)
    search._upper_round(1, 4, RepairSystem("r", (), None, accept), {})
    [(level, _, tickets)] = engine.searches
    gets_cheaper = "gets\n    cheaper" in level.contract.document
    assert (gets_cheaper, tickets) == (accept is Accept.IMPROVING, 4)


def test_a_method_that_keeps_nothing_leaves_what_there_was(coupled):
    engine, search = coupled()
    seed = PROBLEM.operator.contract.seed
    measures = {}
    assert search._lower_round(1, 4, measures) == 0
    [(level, programs, _)] = engine.searches
    assert (level.contract.level, programs) == (Level.LOWER, [seed])
    assert search._repertoire == (seed,)
    assert search._members[Level.LOWER] == [seed]
    assert measures["J"] == 0.0


def test_both_levels_are_told_the_facts_of_their_round(coupled):
    case = make_case(PROBLEM, next(PROBLEM.generate("lower_train", 3)))
    engine, search = coupled(cases=[case], limits=CallLimits(upper_call=77, candidate=88))
    search._lower_round(1, 4, {})
    system = RepairSystem("r", (PROBLEM.operator.contract.seed,), None, Accept.IMPROVING)
    search._upper_round(1, 4, system, {})
    lower, above = (level.context([]).facts for level, *_ in engine.searches)
    assert lower[0].startswith("1 region of 1 instance of")
    assert "88 s for all regions" in lower[2]
    assert f"held {100 * 3 / case.instance.size:.0f} %." in above[0]
    assert "77 s" in above[2]
    assert PROBLEM.operator.contract.seed.idea in above[3]


@pytest.mark.parametrize("kind", [Coupled, Single])
def test_only_the_coupled_search_retains_what_fails_and_tells_of_programs(coupled, kind):
    engine, search = coupled(kind=kind)
    search._lower_round(1, 4, {})
    lower_seed = PROBLEM.operator.contract.seed
    search._upper_round(1, 4, RepairSystem("r", (lower_seed,), None, Accept.IMPROVING), {})
    (lower, *_), (above, *_) = engine.searches
    lower.table.add(lower_seed.id, [Response(Outcome.OK, 10.0, 5.0)])
    upper_seed = PROBLEM.operator.selector.contract.seed
    above.admit(upper_seed, UpperResult(Outcome.OK, "", (0.5,), (0.0,), (DESCRIPTOR,)))
    for told in (lower.context([lower_seed]), above.context([upper_seed])):
        assert (told == Context()) == (kind is Single)
        assert told.example == (None if kind is Single else 0.5)
    responses = (Response(Outcome.TIMEOUT, 10.0, None),)
    failed = LowerResult(True, Tier.INTERPRETED, Outcome.TIMEOUT, "slow", responses)
    assert lower.measure(failed).retained is (kind is Coupled)


def candidate(number, selection, failed=0):
    return Candidate(number, None, (), None, selection, failed)


def test_a_candidate_that_fails_comes_after_all_that_do_not():
    worst, best = candidate(1, -0.5), candidate(2, 0.9, failed=1)
    assert best_candidate([worst, best]) is best_candidate([best, worst]) is worst
    # Without any score it still comes last, and the first of several stands.
    for first, second, number in (
        ((0.9, 2), (0.1, 1), 2),
        ((nan, 3), (nan, 3), 1),
        ((0.5, 0), (0.5, 0), 1),
        ((0.1, 0), (0.2, 0), 2),
    ):
        assert best_candidate([candidate(1, *first), candidate(2, *second)]).round == number


def test_what_the_journal_says_of_a_selection_comes_again(coupled):
    engine, search = coupled()
    finalists = [(replace(search._uppers[0], id=name),) for name in "ab"]
    engine.replay = replace(engine.replay, selection={1: (["b"], 0.25, 2, 1)})
    found, stopped = search._select(1, None, finalists)
    assert (found.upper.id, found.selection, found.failed, stopped) == ("b", 0.25, 2, 1)
    with pytest.raises(RunFailed):
        search._select(1, None, finalists[:1])
    # One that only begins alike is another.
    with pytest.raises(RunFailed):
        search._select(1, None, [(*finalists[1], *finalists[0])])
