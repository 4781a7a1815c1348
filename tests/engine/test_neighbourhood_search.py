"""The trusted side of a search: limits, and what of an engine's answers is believed."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from specahd import api
from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine import neighbourhood_search
from specahd.engine.improver import SandboxedEngine
from specahd.engine.neighbourhood_search import SliceResult, run_search
from specahd.engine.orders import Report
from specahd.sandbox.calls import Result

TINY = Path(__file__).parent.parent / "data" / "tiny.vrp"
START = ((1,), (2,), (3,), (4,), (5,))
GOOD = ((1, 3), (2, 4), (5,))


class Scripted:
    """Answers what it was told to, the last answer again and again, on a clock of its own."""

    def __init__(self, *answers, slower=1.0):
        self.answers, self.asked, self.slower, self.now = list(answers), [], slower, 0.0

    def improve(self, seconds, repairs, share, end_share):
        self.asked.append((seconds, repairs, share, end_share))
        self.now += (seconds or 0.0) * self.slower
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def monotonic(self):
        return self.now


def search(monkeypatch, improver, limit, tell=lambda moment, found: None):
    monkeypatch.setattr(neighbourhood_search.time, "monotonic", improver.monotonic)
    instance = api.read(TINY)
    cost = instance.problem.cost(instance.data, START)
    return run_search(instance.problem, instance.data, START, cost, improver, limit, tell)


@pytest.fixture
def tiny():
    return api.read(TINY)


def test_a_better_solution_is_kept_at_its_exact_cost(monkeypatch, tiny):
    improver = Scripted(SliceResult(Outcome.OK, solution=GOOD, repairs=10))
    found = search(monkeypatch, improver, SearchLimit(time_limit=1.0))
    assert (found.solution, found.cost) == (GOOD, 206)
    assert [moment.cost for moment in found.moments] == [tiny.problem.cost(tiny.data, START), 206]
    assert (found.ended, found.failure, found.repairs) == ("time", "", 20)


def test_the_time_is_cut_into_slices_that_end_with_it(monkeypatch):
    improver = Scripted(SliceResult(Outcome.OK, repairs=1))
    found = search(monkeypatch, improver, SearchLimit(time_limit=1.2))
    seconds = [asked[0] for asked in improver.asked]
    assert seconds == pytest.approx([0.5, 0.5, 0.2])
    assert [asked[2] for asked in improver.asked] == pytest.approx([0, 0.5 / 1.2, 1 / 1.2])
    assert [asked[3] for asked in improver.asked] == pytest.approx([0.5 / 1.2, 1 / 1.2, 1])
    assert found.seconds == pytest.approx(1.2)


@pytest.mark.parametrize("slower", [1.3, 3.0])
def test_slices_are_shorter_where_they_take_longer_than_was_asked(monkeypatch, slower):
    improver = Scripted(SliceResult(Outcome.OK, repairs=1), slower=slower)
    found = search(monkeypatch, improver, SearchLimit(time_limit=10.0))
    assert 9.9 <= found.seconds <= 10.0 * 1.02 + 0.2


def test_a_worse_solution_is_not_kept(monkeypatch):
    worse = tuple((node,) for node in (5, 4, 3, 2, 1))
    improver = Scripted(
        SliceResult(Outcome.OK, solution=GOOD, repairs=1),
        SliceResult(Outcome.OK, solution=worse, repairs=1),
    )
    found = search(monkeypatch, improver, SearchLimit(time_limit=2.0))
    assert (found.solution, found.failure) == (GOOD, "")


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (SliceResult(Outcome.OK, solution=((1, 2, 3, 4, 5),), repairs=1), "Route 1 carries"),
        (
            SliceResult(Outcome.OK, solution=((1, 2), (3, 4)), repairs=1),
            "Customer 5 is not visited",
        ),
        (SliceResult(Outcome.OK), "no customer was inserted"),
        (SliceResult(Outcome.CRASHED, "killed by SIGSEGV"), "crashed: killed by SIGSEGV"),
        (SliceResult(Outcome.TIMEOUT), "timeout"),
    ],
)
def test_what_lies_or_dies_ends_the_search_and_the_best_stands(monkeypatch, answer, word):
    improver = Scripted(SliceResult(Outcome.OK, solution=GOOD, repairs=1), answer)
    found = search(monkeypatch, improver, SearchLimit(time_limit=60.0))
    assert (found.solution, found.cost, found.ended) == (GOOD, 206, "failed")
    assert word in found.failure
    assert len(improver.asked) == 2


def test_a_count_of_repairs_takes_the_place_of_time(monkeypatch):
    improver = Scripted(SliceResult(Outcome.OK, repairs=50_000))
    found = search(monkeypatch, improver, SearchLimit(time_limit=0.0, repairs=120_000))
    assert [asked[:2] for asked in improver.asked] == [
        (None, 50_000),
        (None, 50_000),
        (None, 20_000),
    ]
    assert [asked[2] for asked in improver.asked] == pytest.approx([0, 5 / 12, 10 / 12])
    assert found.ended == "repairs"


def test_a_target_or_the_callback_ends_the_search(monkeypatch):
    improver = Scripted(SliceResult(Outcome.OK, solution=GOOD, repairs=1))
    found = search(monkeypatch, improver, SearchLimit(time_limit=60.0, target=206))
    assert (found.ended, len(improver.asked)) == ("target", 1)
    heard = []
    improver = Scripted(SliceResult(Outcome.OK, solution=GOOD, repairs=1))
    found = search(
        monkeypatch,
        improver,
        SearchLimit(time_limit=60.0),
        lambda moment, found: heard.append(moment.better) or len(heard) == 3,
    )
    assert heard == [True, True, False]
    assert (found.ended, found.cost) == ("stopped", 206)


def test_no_time_is_no_search(monkeypatch):
    improver = Scripted(SliceResult(Outcome.OK, repairs=1))
    found = search(monkeypatch, improver, SearchLimit(time_limit=0.0))
    assert (found.solution, improver.asked) == (START, [])


@pytest.mark.parametrize("name", ["repairs", "passes", "members", "steps"])
def test_a_report_of_less_than_nothing_is_no_answer(tiny, name):
    report = Report(*range(1, 10), 7.5, 0.1)
    session = SimpleNamespace(
        call=lambda call: Result(Outcome.OK, (replace(report, **{name: -1}).encode(),))
    )
    engine = SandboxedEngine(session, tiny.problem, tiny.data, np.ones((3, 1)), 1, seed=0)
    engine.start(START)
    assert engine.improve(None, 5, 0.0, 1.0).outcome is Outcome.INVALID_OUTPUT
