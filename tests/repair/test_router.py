"""The router against the formula of the paper, and what the archive keeps, byte for byte."""

import numpy as np
import pytest

from specahd.checkpoint.archive import read_archive, write_archive
from specahd.core.program import Outcome
from specahd.repair.responses import RepairTask, Response, ResponseTable, task_key
from specahd.repair.router import ResponseArchive, Router
from specahd.routing.base import Region

NAN = float("nan")


def router(descriptors, scores, n_neighbors=5):
    descriptors = np.array(descriptors, dtype=float)
    width = descriptors.shape[1]
    return Router(
        descriptors,
        np.array(scores, dtype=float),
        mean=np.zeros(width),
        scale=np.ones(width),
        n_neighbors=n_neighbors,
    )


def test_weighted_mean_of_observed_neighbours():
    route = router([[1, 0], [1, 1], [0, 1]], [[0.4, NAN], [0.1, 0.3], [0.9, 0.0]], n_neighbors=2)
    # Cosines to (1, 0): 1, 1/√2, 0. The second member was seen on the second task only.
    expected = (0.4 + 0.1 / 2**0.5) / (1 + 1 / 2**0.5)
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([expected, 0.3])


def test_a_member_unseen_nearby_is_judged_by_its_archive_mean():
    route = router([[1, 0], [-1, 0]], [[0.2, NAN], [0.0, 0.6]], n_neighbors=1)
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.2, 0.6])


def test_a_member_never_seen_counts_as_zero():
    route = router([[1, 0]], [[0.2, NAN]])
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.2, 0.0])


def test_opposite_tasks_have_no_weight_unless_all_are_opposite():
    route = router([[1, 0], [-1, 0]], [[0.2], [0.8]])
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.2])
    opposite = router([[-1, 0], [-1, -0.1]], [[0.2], [0.8]])
    assert opposite.estimate(np.array([1.0, 0.0])) == pytest.approx([0.5])
    # The nearest of them, not the whole archive.
    one = router([[-1, 0], [-1, -0.1]], [[0.2], [0.8]], n_neighbors=1)
    assert one.estimate(np.array([1.0, 0.0])) == pytest.approx([0.8])


def test_the_older_task_is_nearer_on_ties():
    route = router([[1, 0], [2, 0], [3, 0]], [[0.1], [0.2], [0.3]], n_neighbors=1)
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.1])


def test_ties_go_to_the_archive_mean_then_to_the_index():
    route = router([[1, 0], [0, 1]], [[0.2, 0.5, 0.2, 0.2], [0.9, 0.0, 0.1, 0.9]], n_neighbors=1)
    asked = np.array([1.0, 0.0])
    assert route.rank(asked, 9) == [1, 0, 3, 2]
    assert route.rank(asked, 2) == [1, 0]
    assert route.choose(asked) == 1


def test_an_empty_archive_chooses_the_first():
    assert router(np.zeros((0, 2)), np.zeros((0, 3))).choose(np.array([1.0, 0.0])) == 0


def test_descriptors_are_standardised_before_they_are_compared():
    route = Router(
        np.array([[10.0, 5.0], [14.0, 3.0]]),
        np.array([[0.2], [0.8]]),
        mean=np.array([12.0, 4.0]),
        scale=np.array([2.0, 0.1]),
        n_neighbors=2,
    )
    # Standardised: (-1, 10), (1, -10), and the query (1, 10), of cosine 0.98 with the first.
    assert route.estimate(np.array([14.0, 5.0])) == pytest.approx([0.2])
    # (1, 0) points away from the first; neither mean nor scale could be left out.
    assert route.estimate(np.array([14.0, 4.0])) == pytest.approx([0.8])
    # (10, 2): weights of 0.98 and 0.98, one of them negative.
    assert route.estimate(np.array([32.0, 4.2])) == pytest.approx([0.2])


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
    write_archive(written, first)
    back = read_archive(first)
    write_archive(back, second)
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
