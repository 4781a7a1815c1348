"""A small run, told to an observer."""

from collections.abc import Callable
from pathlib import Path

import pytest

from specahd.core.budget import Spent
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.core.program import Level, Outcome


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


@pytest.fixture
def failing() -> type[Observer]:
    class Failing(Observer):
        def on_commit(self, sample: Committed, spent: Spent) -> None:
            raise OSError("no room\nat all")

    return Failing


@pytest.fixture
def tell() -> Callable[..., None]:
    return tell_small_run
