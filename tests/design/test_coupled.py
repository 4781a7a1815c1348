"""What a round tells its levels, and what it keeps of them."""

from dataclasses import replace
from math import isnan, nan
from types import SimpleNamespace

import pytest
from hydra.utils import instantiate
from msgspec import convert
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
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
from specahd.repair.responses import RepairTask, Response, task_key
from specahd.repair.system import Repair, RepairSystem
from specahd.routing.base import Region
from specahd.runs.records import Tasks
from specahd.search.replay import Replay

PROBLEM = instantiate(OmegaConf.load(CONF_DIR / "problem" / "cvrp.yaml"))
REGION = Region((1, 2, 3))
DESCRIPTOR = (0.5,) * len(PROBLEM.descriptor_names)
TASK = RepairTask(task_key("x", REGION.nodes), 0, REGION, DESCRIPTOR)


class Forgetful:
    """A method that keeps no program."""

    size = 2
    members = ()


class Engine:
    """Runs nothing and remembers which searches it was given."""

    def __init__(self):
        self.replay = Replay(tasks={1: convert({"round": 1, "tasks": [TASK.record()]}, Tasks)})
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


def test_both_levels_are_told_of_their_round(coupled):
    case = make_case(PROBLEM, next(PROBLEM.generate("lower_train", 3)))
    engine, search = coupled(cases=[case], limits=CallLimits(upper_call=77, candidate=88))
    search._lower_round(1, 4, {})
    upper = PROBLEM.operator.selector.contract.seed
    system = RepairSystem("r", (PROBLEM.operator.contract.seed,), None, Accept.IMPROVING)
    search._upper_round(1, 4, system, {})
    (lower, *_), (above, *_) = engine.searches
    seed = lower.contract.seed
    lower.table.add(seed.id, [Response(Outcome.TIMEOUT, 10.0, None)])
    told = lower.context([seed])
    assert told.facts[0].startswith("1 region of 1 instance of")
    assert "88 s for all regions" in told.facts[2]
    assert (told.example, told.best) == (0.0, None)
    assert told.measured[seed.id].endswith("fails on 1 (timeout)")
    above.admit(upper, UpperResult(Outcome.OK, "", (0.5,), (0.0,), (DESCRIPTOR,)))
    told = above.context([upper])
    assert f"held {100 * 3 / case.instance.size:.0f} %." in told.facts[0]
    assert "77 s" in told.facts[2]
    assert told.facts[3].endswith("Visit the customer with the least distance from here.")
    assert (told.example, told.best) == (0.5, None)
    assert told.measured == {upper.id: "it saves 50.000 %, without penalties"}


@pytest.mark.parametrize(("kind", "retained"), [(Coupled, True), (Single, False)])
def test_only_the_coupled_search_retains_what_fails_on_every_task(coupled, kind, retained):
    engine, search = coupled(kind=kind)
    search._lower_round(1, 4, {})
    [(level, *_)] = engine.searches
    responses = (Response(Outcome.TIMEOUT, 10.0, None),)
    failed = LowerResult(True, Tier.INTERPRETED, Outcome.TIMEOUT, "slow", responses)
    measured = level.measure(failed)
    assert (measured.score, measured.retained) == (0.0, retained)


@pytest.mark.parametrize("kind", [Coupled, Single])
def test_only_the_coupled_search_tells_of_the_programs_of_a_round(coupled, kind):
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


def candidate(number, selection, failed=0):
    return Candidate(number, None, (), None, selection, failed)


def test_a_candidate_that_fails_comes_after_all_that_do_not():
    worst, best = candidate(1, -0.5), candidate(2, 0.9, failed=1)
    assert best_candidate([worst, best]) is worst
    assert best_candidate([best, worst]) is worst
    assert best_candidate([candidate(1, 0.9, failed=2), candidate(2, 0.1, failed=1)]).round == 2
    # Without any score it still comes last, and the first of several stands.
    assert best_candidate([candidate(1, nan, failed=3), candidate(2, nan, failed=3)]).round == 1
    assert best_candidate([candidate(1, 0.5), candidate(2, 0.5)]).round == 1
    assert best_candidate([candidate(1, 0.1), candidate(2, 0.2)]).round == 2


def repaired(outcome, cost):
    return Repair(outcome, "", 10.0, cost, None, 0, (), (), {})


class Pipeline:
    """An executor that has made these repairs."""

    def __init__(self, repairs):
        self.repairs = repairs

    def submit(self, call, uppers, system, case):
        assert call == "repair"
        return SimpleNamespace(result=lambda: self.repairs[case])


@pytest.mark.parametrize(
    ("outcomes", "selection", "failed"),
    [
        (["ok", "empty_regions", "ok"], (0.5 + 0 + 0.5) / 3, None),
        (["ok", "timeout", "crashed"], 0.5, 2),
        (["timeout", "timeout", "timeout"], None, 3),
    ],
)
def test_a_failed_instance_enters_into_no_selection_score(coupled, outcomes, selection, failed):
    engine, search = coupled(levels="upper", repertoire="given")
    engine.stopped, engine.ledger = (
        None,
        SimpleNamespace(total=4, read=lambda: SimpleNamespace(tickets=4)),
    )
    records = []
    search._journal.samples = SimpleNamespace(append=records.append)
    search._pools = {"selection": [0, 1, 2], "upper_train": [0]}
    search._repertoire = (PROBLEM.operator.contract.seed,)
    search._freeze = lambda number: RepairSystem("r", (), None, Accept.IMPROVING)
    search._executor = Pipeline(
        [repaired(Outcome(outcome), 5.0 if outcome == "ok" else 10.0) for outcome in outcomes]
    )
    found = search.run_round(1)
    [record] = records
    assert record["selection"] == selection
    assert record.get("selection_failed") == failed
    assert found.failed == (failed or 0)
    assert found.selection == selection or (selection is None and isnan(found.selection))


def test_what_the_journal_says_of_a_selection_comes_again(coupled):
    engine, search = coupled()
    finalists = [(replace(search._uppers[0], id=name),) for name in "ab"]
    engine.replay = replace(engine.replay, selection={1: (["b"], 0.25, 2)})
    found = search._select(1, None, finalists)
    assert (found.upper.id, found.selection, found.failed) == ("b", 0.25, 2)
    with pytest.raises(RunFailed):
        search._select(1, None, finalists[:1])
    # One that only begins alike is another.
    with pytest.raises(RunFailed):
        search._select(1, None, [(*finalists[1], *finalists[0])])
