"""Programs that hold their caller and use no CPU time: over all calls together, it is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_pair import HOSTILE, PROGRAMS, SOURCE
from runners import attack

from specahd.core.program import Outcome
from specahd.sandbox import calls
from specahd.sandbox.calls import LOAD, PAUSE, Call, Launch, SessionLimits, StallLimit

SPENT = "the session's wall-clock time is spent"
LIMIT = 0.5


@pytest.fixture
def short(monkeypatch):
    """Let a call take half a second, and a busy machine pause for a little."""
    monkeypatch.setattr(SessionLimits, "wall_seconds", LIMIT)
    monkeypatch.setattr(calls, "PAUSE", 0.02)
    return SessionLimits(call_seconds=0.2)


def hostile(name, *numbers):
    return Call(1, 0, attack(name, *numbers))


def honest():
    return Call(0, 0, (np.array([1]),))


# By name: the calls that go round, how they end, and how many of 60 can be had at most. Idle cores
# give two thirds of that; what a call waits for a busy processor is not held against it.
ABUSES = {
    "sleeps in small steps": ([("pause", 100)], Outcome.OK, 10),
    "never answers": ([("sleep",)], Outcome.TIMEOUT, 2),
    "alternates": ([("pause", 150), ("pause", 0)], Outcome.OK, 16),
    "works a little and sleeps": ([("burn_and_pause", 10, 250)], Outcome.OK, 6),
    "sleeps and dies": ([("pause_and_leave", 200)], Outcome.CRASHED, 20),
}


@pytest.mark.parametrize(
    ("kind", "ahead"), [*((kind, True) for kind in ABUSES), ("sleeps in small steps", False)]
)
def test_who_stalls_over_many_calls_is_given_up(sandbox, short, kind, ahead):
    attacks, outcome, most = ABUSES[kind]
    asked = [hostile(*attacks[number % len(attacks)]) for number in range(60)]
    with sandbox.session(PROGRAMS, short) as session:
        results = list(session.call_many(asked)) if ahead else [session.call(c) for c in asked]
        made = [result for result in results if result.detail != SPENT]
        assert {result.outcome for result in made} <= {outcome, Outcome.TIMEOUT}
        assert 1 <= len(made) <= most
        given_up = results[len(made) :]
        assert {(r.outcome, r.detail) for r in given_up} == {(Outcome.TIMEOUT, SPENT)}
        # Another program of the session is not held to it.
        assert session.call(honest()).output[0].tolist() == [8]


def test_claimed_time_counts_against_the_program(sandbox):
    asked = [hostile("claim_a_day"), *[hostile("pause", 100)] * 20]
    with sandbox.session(PROGRAMS, SessionLimits(call_seconds=1.0, total_seconds=2.0)) as session:
        first, *others = session.call_many(asked)
    assert first.outcome is Outcome.OK
    assert {result.outcome for result in others} == {Outcome.TIMEOUT}


def test_launching_again_counts_towards_the_total(sandbox):
    slow = Launch(f"for _ in range(1_000_000):\n    pass\n{SOURCE}", "total", HOSTILE)
    asked = [Call(0, 0, attack("leave"))] * 40
    with sandbox.session([slow], SessionLimits(call_seconds=1.0, total_seconds=0.3)) as session:
        assert session.launched is Outcome.OK
        outcomes = [result.outcome for result in session.call_many(asked)]
    assert outcomes == sorted(outcomes)  # crashed … timeout
    assert outcomes.count(Outcome.CRASHED) < 35


@given(st.lists(st.floats(0, 100), max_size=300), st.integers(0, 299))
def test_no_load_makes_an_honest_program_stall(seconds, hiccup):
    patience = StallLimit(40.0)
    for number, used in enumerate(seconds):
        # Slowed down by every other process, late each time, and once the machine stopped.
        stopped = 39.9 if number == hiccup else 0.0
        patience.note(LOAD * used + PAUSE + stopped, used)
        assert not patience.lost


@given(st.lists(st.tuples(st.floats(0, 40), st.floats(0, 4)), max_size=300))
def test_what_is_waited_for_has_a_bound(made):
    patience, waited, used, number = StallLimit(40.0), 0.0, 0.0, 0
    for seconds, cpu_seconds in made:
        if patience.lost:
            break
        patience.note(seconds, cpu_seconds)
        waited, used, number = waited + seconds, used + cpu_seconds, number + 1
    assert waited <= LOAD * used + PAUSE * number + 80.0 + 1e-6
