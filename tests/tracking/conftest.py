"""A small run, told to an observer."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from specahd.core.budget import Spent
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.core.program import Level, Outcome

CONFIG: Mapping[str, Any] = {
    "seed": 3,
    "problem": {"_target_": "a.b", "baseline": "nearest", "max_size": 50},
    "search": {"penalty": {"weight": 1.0}},
    "choices": {"problem": "cvrp", "method": "specahd", "llm": "offline", "experiment": None},
}


def tell_small_run(observer: Observer, directory: Path, *, samples: int = 20) -> None:
    """Tell of a run of two phases and one round; every fifth sample fails to parse."""
    checkpoint = directory / "checkpoint"
    checkpoint.mkdir(parents=True, exist_ok=True)
    (checkpoint / "manifest.json").write_text("{}")
    observer.on_start(CONFIG, samples, directory)
    observer.on_phase("baselines", 3)
    for _ in range(3):
        observer.on_step()
    for index in range(samples):
        failed = index % 5 == 4
        observer.on_commit(
            Committed(
                Level.LOWER if index < samples // 2 else Level.UPPER,
                1,
                index,
                "i1",
                Outcome.PARSE_ERROR if failed else Outcome.OK,
                None,
                None if failed else index / 100,
                index / 100,
            ),
            Spent(index + 1, 0, 0, 10 * index, 0, 0.0),
        )
    observer.on_round(RoundEnd(1, {"J": 0.25, "selection": 0.5}))
    observer.on_phase("final evaluation", 2)
    observer.on_step()
    observer.on_finish("complete", {"validation": 0.125}, checkpoint)


@pytest.fixture
def failing() -> type[Observer]:
    class Failing(Observer):
        def on_commit(self, sample: Committed, spent: Spent) -> None:
            raise OSError("no room\nat all")

    return Failing


@pytest.fixture
def tell() -> Callable[..., None]:
    return tell_small_run
