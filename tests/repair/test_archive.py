"""The archive keeps what was measured, byte for byte."""

import numpy as np
import pytest

from specahd.core.program import Outcome
from specahd.repair.archive import ResponseArchive
from specahd.repair.responses import RepairTask, Response, ResponseTable, task_key
from specahd.routing.base import Region


def table(first=0, tasks=4, programs=("a", "b")):
    made = ResponseTable(
        [
            RepairTask(f"x#{k}", k, Region((k + 1, k + 2)), (float(k), 7.0))
            for k in range(first, first + tasks)
        ]
    )
    for rank, program in enumerate(programs):
        made.add(
            program,
            [
                Response(Outcome.OK, 100.0, 100.0 - rank - k)
                if k % 2
                else Response(Outcome.TIMEOUT, 100.0, None)
                for k in range(tasks)
            ],
        )
    return made


def archive(*tables):
    made = ResponseArchive(("one", "two"))
    for entry in tables:
        made.extend(entry)
    return made


def test_round_trip_in_bytes_and_in_choices(tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir(), second.mkdir()
    written = archive(table(), table(2, programs=("b", "c")))
    written.write(first)
    back = ResponseArchive.read(first)
    back.write(second)
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()
    assert back.responses == written.responses
    query = np.array([1.0, 2.0])
    assert back.router(["a", "c"], n_neighbors=2).estimate(query) == pytest.approx(
        written.router(["a", "c"], n_neighbors=2).estimate(query)
    )


def test_tasks_seen_again_are_the_same_task():
    made = archive(table(), table(2, programs=("c",)))
    assert list(made.tasks) == [f"x#{k}" for k in range(6)]
    assert ("x#2", "a") in made.responses
    assert ("x#2", "c") in made.responses
    assert ("x#5", "a") not in made.responses


def test_programs_are_compared_on_the_tasks_that_all_of_them_answered():
    made = archive(table(), table(2, programs=("c",)))
    # a and c share tasks 2 and 3; task 2 timed out for a, and c gained 1 % on its own task 3.
    assert made.means(["a", "c"]) == pytest.approx([(0 + 0.03) / 2, (0 + 0.01) / 2])
    assert made.means(["a"]) == pytest.approx([(0.01 + 0.03) / 4])
    assert archive(table(0, 1), table(1, 1, programs=("c",))).means(["a", "c"]) == [0.0, 0.0]


def test_a_coordinate_without_variance_is_divided_by_one():
    statistics = archive(table()).statistics()
    assert statistics.mean == (1.5, 7.0)
    assert statistics.scale == (pytest.approx(np.std([0, 1, 2, 3])), 1.0)


def test_scores_are_relative_improvements_never_negative():
    assert Response(Outcome.OK, 200.0, 150.0).score == 0.25
    assert Response(Outcome.OK, 200.0, 250.0).score == 0.0
    assert Response(Outcome.INFEASIBLE_MERGE, 200.0, None).score == 0.0


def test_a_row_answers_every_task():
    with pytest.raises(ValueError, match="Expected 4 responses, got 1"):
        table().add("d", [Response(Outcome.OK, 1.0, 1.0)])


def test_equal_regions_have_equal_keys():
    assert task_key("x", (1, 2)) == task_key("x", [1, 2])
    assert task_key("x", (1, 2)) != task_key("x", (12,))
    assert task_key("x", (1, 2)) != task_key("x", (2, 1))
    assert task_key("x", (1, 2)) != task_key("y", (1, 2))
