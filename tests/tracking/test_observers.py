"""An observer that fails is dropped, named once, and harms nobody."""

import io
import threading
from types import SimpleNamespace

import pytest
from rich.console import Console

from specahd.core.budget import Spent
from specahd.core.events import Committed, Observer
from specahd.core.program import Level, Outcome
from specahd.tracking.observers import Observers, ProgressObserver


class Hearer(Observer):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_start(self, tickets, directory):
        self.heard.append("start")

    def on_commit(self, sample, spent):
        self.heard.append("commit")

    def on_finish(self, status):
        self.heard.append("finish")


def test_an_observer_that_fails_is_dropped_and_the_others_hear_on(tmp_path, failing, tell):
    before, after = Hearer(), Hearer()
    observers = Observers([before, failing(), after])
    tell(observers, tmp_path)
    assert before.heard == after.heard == ["start", *["commit"] * 20, "finish"]
    assert observers.warnings == ["Failing stopped: OSError: no room"]


def test_an_interrupt_is_not_swallowed(tmp_path, tell):
    class Interrupted(Observer):
        def on_step(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tell(Observers([Interrupted()]), tmp_path)


def test_elsewhere_than_on_a_terminal_progress_is_a_few_lines(tmp_path, tell):
    text = io.StringIO()
    tell(ProgressObserver(Console(file=text, width=200)), tmp_path, samples=100)
    lines = text.getvalue().splitlines()
    assert len(lines) == 15
    assert all(lines)
    assert "\x1b" not in text.getvalue()
    assert "100/100, 990 tokens, 0.0000 US dollars, best lower 0.49, best upper 0.99" in lines[11]
    assert "80 ok, 20 parse_error" in lines[11]
    assert "round 1 ended: J 0.25, selection 0.5" in lines
    assert lines[-1].startswith("complete after ")


def test_a_long_phase_says_once_a_minute_how_far_it_is(monkeypatch):
    text, clock = io.StringIO(), [0.0]
    monkeypatch.setattr("specahd.tracking.observers.time.monotonic", lambda: clock[0])
    progress = ProgressObserver(Console(file=text, width=200))
    progress.on_phase("round 1: selection pool", 24)
    for seconds in (59, 61, 100, 122):
        clock[0] = seconds
        progress.on_step()
    progress.on_phase("validation pool", 20)
    clock[0] = 182
    progress.on_step()
    assert text.getvalue().splitlines() == [
        "round 1: selection pool (24)",
        "round 1: selection pool: 2/24, 61 s gone",
        "round 1: selection pool: 4/24, 122 s gone",
        "validation pool (20)",
        "validation pool: 1/20, 182 s gone",
    ]


def requested(index, level=Level.LOWER):
    return SimpleNamespace(operator=SimpleNamespace(wants_text=False), level=level, round=1)


def committed(index):
    sample = Committed(f"lower-1-{index}", Level.LOWER, 1, Outcome.OK, None)
    return sample, Spent(index + 1, 0, 0, 0, 0, 0.0)


def test_the_time_left_is_estimated_after_the_first_program(monkeypatch, tmp_path):
    text, clock = io.StringIO(), [0.0]
    monkeypatch.setattr("specahd.tracking.observers.time.monotonic", lambda: clock[0])
    progress = ProgressObserver(Console(file=text, width=200))
    progress.on_start(3, tmp_path)
    for index, seconds in enumerate((400, 402, 404)):
        clock[0] = seconds
        progress.on_commit(*committed(index))
    assert text.getvalue().splitlines()[1:] == [
        "lower programs, round 1: 1/3, 1 ok, 400 s gone",
        "lower programs, round 1: 2/3, 2 ok, 402 s gone, about 2 s left",
        "lower programs, round 1: 3/3, 3 ok, 404 s gone, about 0 s left",
    ]


def test_a_minute_without_a_line_is_reported_in_every_phase(monkeypatch, tmp_path):
    text, clock = io.StringIO(), [0.0]
    monkeypatch.setattr("specahd.tracking.observers.time.monotonic", lambda: clock[0])
    progress = ProgressObserver(Console(file=text, width=200))

    def wait():
        for _ in range(2):
            clock[0] += 30
            progress.report_if_quiet()

    progress.on_phase("baseline nearest", 2)
    progress.on_step()
    progress.on_step()
    wait()
    progress.on_start(40, tmp_path)
    wait()
    progress.on_phase("round 1: 12 repair tasks", 0)
    wait()
    progress.on_request(requested(0))
    progress.on_request(requested(1))
    wait()
    progress.on_commit(*committed(0))
    wait()
    progress.on_commit(*committed(1))
    progress.on_phase("round 1: selection pool", 24)
    wait()
    [_, first, _, *others] = text.getvalue().splitlines()
    assert first == "baseline nearest: 2/2, 60 s gone"
    assert others == [
        "preparing, 120 s gone",
        "round 1: 12 repair tasks",
        "round 1: 12 repair tasks, 180 s gone",
        "lower programs, round 1: 0/40, 2 under way, 240 s gone",
        "lower programs, round 1: 1/40, 1 under way, 300 s gone",
        "round 1: selection pool (24)",
        "round 1: selection pool: 0/24, 360 s gone",
    ]


def test_silence_is_reported_while_nothing_is_told(monkeypatch):
    class Heard(io.StringIO):
        def write(self, line):
            if "gone" in line:
                heard.set()
            return super().write(line)

    heard = threading.Event()
    monkeypatch.setattr("specahd.tracking.observers._INTERVAL", 0.05)
    progress = ProgressObserver(Console(file=Heard(), width=200))
    progress.on_phase("baselines", 2)
    with progress.reporting():
        assert heard.wait(60)


def test_on_a_terminal_progress_is_a_bar(tmp_path, tell):
    text = io.StringIO()
    tell(ProgressObserver(Console(file=text, width=200, force_terminal=True)), tmp_path)
    assert "20/20" in text.getvalue()
    assert "16 ok, 4 parse_error" in text.getvalue()
    assert text.getvalue().count("\x1b[?25l") == text.getvalue().count("\x1b[?25h")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_run_without_programs_shows_its_phases(tmp_path, tell, terminal):
    text = io.StringIO()
    tell(ProgressObserver(Console(file=text, force_terminal=terminal)), tmp_path, samples=0)
    assert "baselines" in text.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_that_loops_are_compiled_is_said_beside_the_phase_that_waits(terminal):
    text = io.StringIO()
    progress = ProgressObserver(Console(file=text, width=200, force_terminal=terminal))
    progress.on_phase("baselines", 2)
    progress.on_compile()
    progress.on_finish("complete")
    assert "compiling loops, once after an installation" in text.getvalue()


def test_a_phase_shows_before_the_run_starts_and_without_one():
    text = io.StringIO()
    progress = ProgressObserver(Console(file=text, width=200, force_terminal=True))
    progress.on_phase("baselines", 2)
    progress.on_step()
    progress.on_finish("failed")
    assert "baselines" in text.getvalue()
    assert text.getvalue().count("\x1b[?25l") == text.getvalue().count("\x1b[?25h") == 1
