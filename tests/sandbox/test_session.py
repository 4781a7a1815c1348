import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import psutil
import pytest
from program_pair import HERE, HONEST, HOSTILE, PROGRAMS, SOURCE
from runners import attack

from specahd.core.errors import ProcessLost
from specahd.core.program import Outcome
from specahd.sandbox import client
from specahd.sandbox import session as session_module
from specahd.sandbox.child_process import cause_of_death
from specahd.sandbox.session import Call, Launch, Sandbox, SessionLimits
from specahd.sandbox.shared_arrays import SharedArrays

LIMITS = SessionLimits(call_seconds=20.0)
REDUCED = [sys.executable, str(Path(__file__).with_name("reduced_host.py")), "process"]
INSPECT = """
from specahd.core.errors import RunFailed
from specahd.sandbox.client import inspect_host
try:
    print(inspect_host()["limits"])
except RunFailed as error:
    print(error)
"""


def honest(number=1, instance=0):
    return Call(0, instance, (np.array([number]),))


def hostile(name, *more):
    return Call(1, 0, attack(name, *more))


@pytest.fixture
def session(sandbox):
    with sandbox.session(PROGRAMS, LIMITS) as session:
        assert session.launched is Outcome.OK, session.detail
        yield session


def test_answer(session):
    result = session.call(honest(3))
    assert result.outcome is Outcome.OK
    assert [array.tolist() for array in result.output] == [[10]]
    assert 0 < result.cpu_seconds < 1
    assert session.call(honest(3, instance=1)).output[0].tolist() == [11]


def source(body):
    return Launch(f"def total(matrix, numbers):\n    {body}\n", "total", HONEST)


@pytest.mark.parametrize(
    ("body", "outcome", "detail"),
    [
        ("return 1 / 0", Outcome.CRASHED, "ZeroDivisionError: division by zero"),
        ("return matrix[99, 0]", Outcome.CRASHED, "IndexError: index 99"),
        ("return unknown", Outcome.CRASHED, "NameError"),
        ("import os", Outcome.CRASHED, "ImportError"),
        ("matrix[0, 0] = 1.0", Outcome.CRASHED, "read-only"),
        ("numbers[0] = 1", Outcome.CRASHED, "read-only"),
        ("g = lambda h: list(map(h, [h]))\n    g(g)", Outcome.CRASHED, "RecursionError"),
        ("return None", Outcome.INVALID_OUTPUT, "Expected a list."),
        ("return [1 << 80]", Outcome.CRASHED, "OverflowError"),
        ("return list(matrix[0] / 0 > 1)", Outcome.OK, ""),
    ],
)
def test_what_programs_do(sandbox, body, outcome, detail):
    with sandbox.session([source(body)], LIMITS) as session:
        for _ in range(2):
            result = session.call(honest())
            assert (result.outcome, detail in result.detail) == (outcome, True), result
            assert "/" not in result.detail


@pytest.mark.parametrize("text", ["def total(", "x = 1\n", "import os\n", "1 / 0\n"])
def test_launch_failure(sandbox, text):
    with sandbox.session([*PROGRAMS, Launch(text, "total", HONEST)], LIMITS) as session:
        assert session.launched is Outcome.LAUNCH_FAILED
        assert session.detail
        assert session.call(honest()).outcome is Outcome.LAUNCH_FAILED


def test_a_launch_that_never_ends_fails(sandbox, monkeypatch):
    monkeypatch.setattr(session_module, "_LAUNCH_SECONDS", 0.2)
    endless = Launch("while True:\n    pass\n", "total", HONEST)
    with sandbox.session([endless], SessionLimits(call_seconds=0.2)) as session:
        assert session.launched is Outcome.LAUNCH_FAILED
        assert "CPU time" in session.detail


def test_a_call_may_have_a_limit_of_its_own(sandbox):
    endless = Launch("def total(*_):\n    while True:\n        pass\n", "total", HONEST)
    with sandbox.session([endless], SessionLimits(call_seconds=20.0)) as session:
        result = session.call(replace(honest(), seconds=0.2))
    assert result.outcome is Outcome.TIMEOUT
    assert 0.1 < result.cpu_seconds < 5.0


def test_wall_bound():
    assert SessionLimits(10.0).wall_seconds == 40.0
    assert SessionLimits(0.5).wall_seconds == 5.5


@pytest.mark.parametrize(("code", "name"), [(-11, "SIGSEGV"), (-35, "signal 35")])
def test_every_signal_is_a_cause_of_death(code, name):
    assert cause_of_death(code) == (Outcome.CRASHED, f"killed by {name}")


def test_calls_in_a_row(session):
    calls = [honest(n) for n in range(1000)]
    assert [r.output[0][0] for r in session.call_many(calls)] == list(range(7, 1007))
    assert list(session.call_many([])) == []


def test_a_death_in_a_row_costs_one_call(session):
    calls = [honest(n) if n % 7 else hostile("leave") for n in range(1, 30)]
    outcomes = [(r.outcome, [a.tolist() for a in r.output]) for r in session.call_many(calls)]
    crashed = (Outcome.CRASHED, [])
    assert outcomes == [(Outcome.OK, [[7 + n]]) if n % 7 else crashed for n in range(1, 30)]


def test_full_pipes_in_both_directions(sandbox):
    mirror = Launch("def total(matrix, numbers):\n    return list(numbers)\n", "total", HONEST)
    numbers = np.arange(60_000)
    with sandbox.session([mirror], LIMITS) as session:
        for result in session.call_many([Call(0, 0, (numbers,))] * 12):
            assert np.array_equal(result.output[0], numbers)


def test_abandoned_calls_belong_to_no_one(session):
    results = session.call_many([honest(n) for n in range(500)])
    next(results)
    results.close()
    assert session.call(honest(5)).output[0].tolist() == [12]


def test_total_seconds(sandbox):
    limits = SessionLimits(call_seconds=0.2, total_seconds=0.3)
    with sandbox.session(PROGRAMS, limits) as session:
        results = list(session.call_many([hostile("loop")] * 50))
    assert {r.outcome for r in results} == {Outcome.TIMEOUT}
    # The timer counts ticks, which other processes on the core make inexact.
    assert 0.1 < sum(r.cpu_seconds for r in results) < 0.5
    assert "session" in results[-1].detail


def test_a_program_that_times_out_in_a_row_is_asked_no_more(sandbox):
    def outcomes(calls):
        return [(r.outcome, "in a row" in r.detail) for r in session.call_many(calls)]

    late, given_up = (Outcome.TIMEOUT, False), (Outcome.TIMEOUT, True)
    answered = (Outcome.OK, False)
    loop, leave, fine = hostile("loop"), hostile("leave"), hostile("pause", 0)
    with sandbox.session(PROGRAMS, SessionLimits(call_seconds=0.05, timeouts=2)) as session:
        asked = [loop, fine, loop, leave, loop, fine]
        ended = [late, answered, late, (Outcome.CRASHED, False), late, given_up]
        assert outcomes(asked) == ended
        assert session.given_up(1) == "2 timeouts in a row; its other calls were not made"
        # Another program of the session is not held to it.
        assert outcomes([honest()]) == [answered]


def test_total_seconds_within_one_child(sandbox):
    work = source("s = 0\n    for i in range(300_000):\n        s += i\n    return [s]")
    with sandbox.session([work], SessionLimits(call_seconds=10.0, total_seconds=0.3)) as session:
        results = list(session.call_many([honest()] * 200))
    outcomes = [r.outcome for r in results]
    assert outcomes == sorted(outcomes)  # ok … timeout
    assert set(outcomes) == {Outcome.OK, Outcome.TIMEOUT}
    assert sum(r.cpu_seconds for r in results) < 0.4


def test_several_sessions_at_once(sandbox):
    sessions = [sandbox.session(PROGRAMS, LIMITS) for _ in range(5)]
    assert sessions[0].call(hostile("leave")).outcome is Outcome.CRASHED
    for session in sessions:
        assert session.call(honest(2)).output[0].tolist() == [9]
        session.close()
        session.close()


def test_forty_sessions_leave_nothing_behind(sandbox, descendants):
    with sandbox.session(PROGRAMS, LIMITS) as session:
        session.call(honest())
    processes, descriptors = descendants(), psutil.Process().num_fds()
    for number in range(40):
        with sandbox.session(PROGRAMS, LIMITS) as session:
            if number % 10 == 0:
                session.call(hostile("leave"))
    assert descendants() == processes
    assert psutil.Process().num_fds() == descriptors


def test_a_dead_zygote_is_replaced(shared, descendants):
    before = descendants()
    with (
        Sandbox(shared, [HONEST, HOSTILE], [HERE]) as sandbox,
        sandbox.session(PROGRAMS, LIMITS) as session,
        sandbox.session(PROGRAMS, LIMITS) as other,
    ):
        os.kill(sandbox._clients[False]._process.pid, 9)
        for victim in (session, other):
            assert victim.call(honest(2)).output[0].tolist() == [9]
    assert descendants() == before


def test_a_stopped_zygote_is_replaced_within_seconds(shared, descendants, monkeypatch):
    monkeypatch.setattr(client, "_LOOK_SECONDS", 0.05)
    before, began = descendants(), time.monotonic()
    with Sandbox(shared, [HONEST, HOSTILE], [HERE]) as sandbox:
        first = sandbox._clients[False]._process
        os.kill(first.pid, signal.SIGSTOP)
        with sandbox.session(PROGRAMS, LIMITS) as session:
            assert session.call(honest(2)).output[0].tolist() == [9]
        assert first.returncode == -signal.SIGKILL
        # Its end is waited for as little.
        last = sandbox._clients[False]
        os.kill(last._process.pid, signal.SIGSTOP)
        while last._activity()[0] != "T":
            time.sleep(0.001)
        closed = time.monotonic()
    assert time.monotonic() - closed < 10
    assert descendants() == before
    assert time.monotonic() - began < client._ANSWER_SECONDS


def test_a_zygote_that_works_is_waited_for(shared, monkeypatch):
    """One that compiles on a busy machine; one that sleeps, or works for ever, is not."""
    monkeypatch.setattr(client, "_LOOK_SECONDS", 0.05)
    with Sandbox(shared, [HONEST, HOSTILE], [HERE]) as sandbox:
        zygote = sandbox._clients[False]
        zygote._patience = 0.2
        rests, works = chain([0.0, 0.05, 0.1], repeat(0.1)), iter((0.0, 0.15, 0.3, 0.45, 0.6))
        began = time.monotonic()
        for spent in (rests, works):
            monkeypatch.setattr(zygote, "_activity", lambda spent=spent: ("R", next(spent)))
            with pytest.raises(TimeoutError):
                zygote._line()
            if spent is rests:
                # Two looks at which it had worked, then its patience.
                assert time.monotonic() - began >= 0.3
        assert next(works) == 0.45


def test_a_lasting_zygote_serves_one_sandbox_after_another(descendants):
    before, used = descendants(), []
    open_files = None
    for number in (5.0, 6.0, 7.0):
        arrays = SharedArrays.allocate([{"matrix": (np.float64, (3, 3))}])
        arrays.writable(0)["matrix"][:] = number
        with (
            Sandbox(arrays, [], [HERE], [HONEST, HOSTILE], lasting=True) as sandbox,
            sandbox.session(PROGRAMS, LIMITS) as session,
            sandbox.session(PROGRAMS, LIMITS) as other,
        ):
            used.append(sandbox._clients[True]._process)
            for each in (session, other):
                assert each.call(honest(2)).output[0].tolist() == [number + 2]
        arrays.close()
        files = psutil.Process(used[-1].pid).num_fds()
        assert open_files in (None, files)
        open_files = files
        assert descendants() == before + 1
        if number == 6.0:
            used[-1].kill()
            used[-1].wait()
            open_files = None
    assert used[0] is used[1] is not used[2]
    client._close_lasting()
    assert descendants() == before


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("victim", ["child", "zygote"])
def test_a_process_that_the_system_kills_is_no_failure_of_its_program(shared, victim):
    with (
        Sandbox(shared, [HONEST, HOSTILE], [HERE]) as sandbox,
        sandbox.session(PROGRAMS, LIMITS) as session,
    ):

        def kill():
            zygote, child = sandbox._clients[False]._process.pid, session._child._pid
            os.kill(child if victim == "child" else zygote, 9)
            while is_running(child):
                time.sleep(0.001)

        for result in session.call_many([honest(2)] * 3):
            assert result.output[0].tolist() == [9]
            kill()
        assert session.call(honest(2)).outcome is Outcome.OK
        kill()
        with pytest.raises(ProcessLost, match="fewer workers"):
            session.call(replace(honest(2), continues=True))


def test_a_process_that_is_killed_again_and_again_is_told(sandbox):
    with sandbox.session(PROGRAMS, LIMITS) as session:

        def kill():
            killed = None
            while not ended.wait(0.01):
                if session._child is not None and session._child._pid != killed:
                    killed = session._child._pid
                    os.kill(killed, 9)

        ended = threading.Event()
        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(ProcessLost, match="fewer workers"):
            session.call(hostile("sleep"))
        ended.set()
        killer.join()


@pytest.mark.parametrize(
    ("host", "told"),
    [
        (["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"], "enforced"),
        (REDUCED, "No program can be started on this machine ([Errno 38] Function not implemented"),
    ],
)
def test_a_host_is_good_enough_or_its_lack_is_told(host, told):
    words = [*host, sys.executable, "-c", INSPECT]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.startswith(told), done


def test_closing_the_sandbox_ends_open_sessions(shared, descendants):
    before = descendants()
    sandbox = Sandbox(shared, [HONEST], [HERE])
    session = sandbox.session(PROGRAMS[:1], LIMITS)
    sandbox.close()
    session.close()
    assert descendants() == before


def test_a_runner_that_does_not_import_is_our_bug(shared, capfd):
    with pytest.raises(RuntimeError, match="did not start"):
        Sandbox(shared, ["nowhere:nothing"])
    assert "nowhere" in capfd.readouterr().err


def test_a_zygote_runs_the_code_of_the_process_that_starts_it(tmp_path):
    copied = Path(client.__file__).parents[1]
    shutil.copytree(copied, tmp_path / copied.name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / copied.name / "sandbox" / "zygote.py").write_text("print(told, 'by the copy')\n")
    words = [sys.executable, "-c", INSPECT]
    where = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=where)
    assert "print(told, 'by the copy')" in done.stderr


def test_mistakes_of_ours_are_exceptions(sandbox, session):
    with pytest.raises(ValueError, match="runner"):
        sandbox.session([Launch(SOURCE, "total", "other:runner")], LIMITS)
    with pytest.raises(ValueError, match="program 2"):
        session.call(Call(2, 0, ()))
    with pytest.raises(ValueError, match="seconds"):
        SessionLimits(0.0)
