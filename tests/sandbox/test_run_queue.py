"""A busy machine: a program that waits for a processor is no program that sleeps."""

import os
import subprocess
import time

import pytest
from program_pair import PROGRAMS
from runners import attack

from specahd.core.program import Outcome
from specahd.sandbox import calls, child_process
from specahd.sandbox.calls import Call, SessionLimits
from specahd.sandbox.child_process import THIS_THREAD, QueueClock

BUSY = 12


@pytest.fixture
def crowded():
    """Let a process share one processor with a dozen others, each in a session of its own."""
    processor = min(os.sched_getaffinity(0))
    busy = [
        subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
        for _ in range(BUSY)
    ]
    for each in busy:
        os.sched_setaffinity(each.pid, {processor})
    yield lambda pid: os.sched_setaffinity(pid, {processor})
    for each in busy:
        each.kill()
        each.wait()


@pytest.fixture
def hurried(monkeypatch):
    """Have waiting alone count against a program, and soon."""
    monkeypatch.setattr(SessionLimits, "wall_seconds", 0.3)
    monkeypatch.setattr(calls, "LOAD", 1.0)
    monkeypatch.setattr(calls, "PAUSE", 0.02)


def test_who_waits_for_a_processor_does_not_stall(sandbox, hurried, crowded):
    works, sleeps = Call(1, 0, attack("burn_and_pause", 50, 0)), Call(1, 0, attack("pause", 900))
    with sandbox.session(PROGRAMS, SessionLimits(call_seconds=1.0)) as session:
        crowded(session._child._pid)
        began = time.monotonic()
        assert [session.call(works).outcome for _ in range(3)] == [Outcome.OK] * 3
        # A dozen others had their turns.
        assert time.monotonic() - began > 0.8
        assert session.call(sleeps).outcome is Outcome.TIMEOUT


def test_nor_does_who_waits_and_ends_at_the_limit_of_processor_time(sandbox, hurried, crowded):
    works = Call(1, 0, attack("burn_and_pause", 10, 0))
    with sandbox.session(PROGRAMS, SessionLimits(call_seconds=0.1)) as session:
        crowded(session._child._pid)
        began = time.monotonic()
        ended = session.call(Call(1, 0, attack("loop")))
        assert (ended.outcome, ended.detail) == (Outcome.TIMEOUT, "the CPU time is spent")
        assert time.monotonic() - began > 0.5
        assert session.call(works).outcome is Outcome.OK


def test_it_is_waited_for_within_a_bound(sandbox, hurried, monkeypatch, crowded):
    monkeypatch.setattr(child_process, "_LONGEST", 1.5)
    with sandbox.session(PROGRAMS, SessionLimits(call_seconds=1.0)) as session:
        crowded(session._child._pid)
        result = session.call(Call(1, 0, attack("burn_and_pause", 200, 0)))
    assert result.outcome is Outcome.TIMEOUT


def test_a_clock_counts_for_one_task_and_stands_still_without_it():
    clock, gone = QueueClock(THIS_THREAD), QueueClock(2**22 + 1)
    clock.start()
    gone.start()
    assert 0 <= clock.elapsed() < 60
    assert gone.elapsed() == 0
    clock.close()
    clock.start()
    assert clock.elapsed() == 0
    clock.close()
