"""A small run, told to an observer or written to a directory, and a store for it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from written_run import WrittenRun

from commands import Forked
from specahd.core.budget import Spent
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.core.program import Level, Outcome
from specahd.tracking import mlflow


def tell_small_run(observer: Observer, directory: Path, *, samples: int = 20) -> None:
    """Tell of a run of two phases and one round; every fifth sample fails to parse."""
    observer.on_start(samples, directory)
    observer.on_phase("baselines", 3)
    for _ in range(3):
        observer.on_step()
    for index in range(samples):
        failed = index % 5 == 4
        observer.on_commit(
            Committed(
                f"lower-1-{index:04d}",
                Level.LOWER if index < samples // 2 else Level.UPPER,
                1,
                Outcome.PARSE_ERROR if failed else Outcome.OK,
                index / 100,
            ),
            Spent(index + 1, 0, 0, 10 * index, 0, 0.0),
        )
    observer.on_round(RoundEnd(1, {"J": 0.25, "selection": 0.5}))
    observer.on_phase("final evaluation", 2)
    observer.on_step()
    observer.on_finish("complete")


class ForkedUploader(Forked):
    """What an observer needs of ``subprocess.Popen``."""

    def __init__(self, command: list[str], *, env: dict[str, str], **_others: object) -> None:
        orders, writing = os.pipe()
        reading, answers = os.pipe()
        nothing = os.open(os.devnull, os.O_WRONLY)
        place = {"cwd": str(Path.cwd()), "env": env, "session": True}
        super().__init__(
            {"module": command[-1], "arguments": [], **place}, [orders, answers, nothing]
        )
        for descriptor in (orders, answers, nothing):
            os.close(descriptor)
        self.stdin = os.fdopen(writing, "wb", buffering=0)
        self.stdout = os.fdopen(reading, "rb", buffering=0)


@pytest.fixture
def forked_uploader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have uploaders forked from a Python that has imported what they import."""
    options = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL}
    monkeypatch.setattr(mlflow, "subprocess", SimpleNamespace(Popen=ForkedUploader, **options))


@pytest.fixture
def failing() -> type[Observer]:
    class Failing(Observer):
        def on_commit(self, sample: Committed, spent: Spent) -> None:
            raise OSError("no room\nat all")

    return Failing


@pytest.fixture
def tell() -> Callable[..., None]:
    return tell_small_run


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> Path:
    """A folder with a store that all tests of a process share."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def run(tmp_path):
    written = WrittenRun(tmp_path / "run")
    written.commit(20)
    written.end_round()
    return written
