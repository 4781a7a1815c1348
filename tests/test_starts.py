"""The solution that a search begins with, where someone stops its construction."""

import threading
import time

import pytest
from numba import njit
from numba.core.event import TimingListener, install_listener, trigger_event

from specahd import api
from specahd.api import solving
from specahd.core.background import Background
from specahd.core.settings import SearchLimit
from specahd.problems.cvrp.problem import CVRP


class Slow(CVRP):
    """Constructs for as long as it is not told to go on."""

    def __init__(self):
        super().__init__(baseline="savings")
        self.told = threading.Event()

    def baseline(self, instance, name=None):
        self.told.wait(60)
        return super().baseline(instance, name)


@pytest.fixture
def problem():
    slow = Slow()
    yield slow
    slow.told.set()


@pytest.fixture
def instance(problem):
    return next(iter(problem.generate("lower_train", 5)))


def test_a_construction_that_is_stopped_gives_way_to_a_solution_at_once(problem, instance):
    asked = []
    start = solving.construct_start(
        problem, instance, SearchLimit(600.0), lambda: len(asked) > 3 or asked.append(1)
    )
    assert start.ended == "stopped"
    assert start.case.source == solving.UNCONSTRUCTED
    assert problem.check(instance, start.case.baseline) == ()
    assert start.case.cost == problem.cost(instance, start.case.baseline)


def test_a_construction_may_not_take_longer_than_the_limit(problem, instance, monkeypatch):
    monkeypatch.setattr(solving, "LEAST_SECONDS", 0.01)
    start = solving.construct_start(problem, instance, SearchLimit(0.02), lambda: False)
    assert start.ended == "time"
    assert start.case.source == solving.UNCONSTRUCTED
    # Without a limit of time it is waited for.
    threading.Timer(0.2, problem.told.set).start()
    start = solving.construct_start(problem, instance, SearchLimit(0.02, repairs=1), lambda: False)
    assert (start.ended, start.case.source) == (None, "savings")


def test_what_is_not_feasible_at_once_is_constructed(problem, instance, monkeypatch):
    monkeypatch.setattr(problem, "trivial_solution", lambda _: ((1,),))
    threading.Timer(0.2, problem.told.set).start()
    start = solving.construct_start(problem, instance, SearchLimit(600.0), lambda: True)
    assert (start.ended, start.case.source) == ("stopped", "savings")


def test_a_solution_without_a_construction_is_warned_of(problem, instance, monkeypatch):
    monkeypatch.setattr(solving, "LEAST_SECONDS", 0.01)
    given = api.ProblemInstance(CVRP(baseline="savings"), instance)
    make = solving.make_case
    assert api.solve(given, repairs=1).statistics()["warning"] == ""
    monkeypatch.setattr(solving, "make_case", lambda *_: problem.told.wait(60) and make(*_))
    with pytest.warns(UserWarning, match=r"No construction was finished in 0 s: every customer"):
        solved = api.solve(given, time_limit=0.02)
    assert solved.warning == solved.statistics()["warning"] != ""
    assert len(solved.routes) == instance.size


class Held:
    """Is entered slowly, and notes the thread that leaves it."""

    def __init__(self, error=None):
        self.go, self.left, self.error = threading.Event(), threading.Event(), error

    def __enter__(self):
        self.go.wait(60)
        if self.error is not None:
            raise self.error
        return threading.current_thread()

    def __exit__(self, *_):
        self.inside = threading.current_thread()
        self.left.set()


def test_work_in_the_background_is_left_where_it_was_entered():
    held = Held()
    work = Background(held)
    assert not work.wait(lambda: True)
    held.go.set()
    assert work.wait()
    assert not held.left.is_set()
    thread = work.result()
    work.close()
    assert held.inside is thread is not threading.current_thread()


def test_work_that_is_given_up_is_left_as_soon_as_it_can_be():
    held = Held()
    work = Background(held)
    began = time.monotonic()
    work.close()
    assert time.monotonic() - began < 30
    assert not held.left.is_set()
    held.go.set()
    assert held.left.wait(60)


def test_an_error_in_the_background_is_raised_where_the_result_is_asked_for():
    held = Held(ValueError("no"))
    held.go.set()
    work = Background(held)
    with pytest.raises(ValueError, match="no"):
        work.result()
    work.close()


def test_compiling_takes_nothing_of_the_time():
    class Compiling(CVRP):
        """Compiles a loop, as every construction does after an installation."""

        def baseline(self, instance, name=None):
            njit(lambda value: value + 1)(len(instance.demands))
            return super().baseline(instance, name)

    compiling = Compiling(baseline="savings")
    instance = next(iter(compiling.generate("lower_train", 5)))
    began = time.monotonic()
    with install_listener("numba:compile", TimingListener()) as listener:
        start = solving.construct_start(compiling, instance, SearchLimit(600.0), lambda: False)
    assert listener.done
    assert start.seconds + listener.duration <= time.monotonic() - began


def test_a_compilation_under_way_takes_nothing_of_the_time_either(monkeypatch):
    class Compiling(CVRP):
        def baseline(self, instance, name=None):
            with trigger_event("numba:compile"):
                time.sleep(1.0)
            return super().baseline(instance, name)

    monkeypatch.setattr(solving, "LEAST_SECONDS", 0.8)
    compiling = Compiling(baseline="savings")
    instance = next(iter(compiling.generate("lower_train", 5)))
    compiling.cost(instance, super(Compiling, compiling).baseline(instance))  # loads its loops
    start = solving.construct_start(compiling, instance, SearchLimit(0.8), lambda: False)
    assert (start.ended, start.case.source) == (None, "savings")
    assert start.seconds < 0.8
