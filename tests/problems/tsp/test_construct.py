import subprocess
import sys

import numpy as np
import pytest

from specahd.core.errors import InvalidAnswer
from specahd.problems.tsp.construct import propose, rebuild
from specahd.problems.tsp.contracts import APPEND, TOUR_SEGMENTS
from specahd.routing.answers import UNUSABLE
from specahd.sandbox.definition import define

select_next_node = define(APPEND.seed.source, "select_next_node")
select_tsp_segments = define(TOUR_SEGMENTS.seed.source, "select_tsp_segments")


def arrays(coords):
    coords = np.array(coords, dtype=float)
    gaps = coords[:, None] - coords[None]
    made = {"coords": coords, "distance_matrix": np.hypot(gaps[..., 0], gaps[..., 1])}
    for array in made.values():
        array.flags.writeable = False
    return made


@pytest.fixture
def line():
    """Nodes 0 to 5 at 0, 10, 20, 30, 40 and 50 on a line."""
    return arrays([(10 * i, 0) for i in range(6)])


def run(*nodes):
    return [np.array(nodes, dtype=np.int64)]


def incumbent(*tour, max_segments=3, max_size=50):
    return [np.array(tour, dtype=np.int64), np.array([max_segments, max_size], dtype=np.int64)]


def test_nearest_by_hand(line):
    answer = rebuild(select_next_node, line, run(2, 0, 1, 4, 5, 3))
    [path], fallbacks = answer.arrays, answer.fallbacks
    # From 20: 10 and then 0 are nearest, then 40 and 50.
    assert path.tolist() == [2, 1, 3, 4]
    assert fallbacks == 0
    assert path.dtype == np.int64


def test_the_program_sees_the_local_problem(line):
    seen = []

    def program(current, destination, unvisited, distances):
        seen.append((current, destination, unvisited.tolist()))
        assert not any(array.flags.writeable for array in (unvisited, distances))
        assert unvisited.dtype == np.int64
        assert distances.dtype == np.float64
        assert distances[0].tolist() == [0, 20, 10, 10, 10]
        assert distances[4].tolist() == [10, 10, 20, 0, 0]
        return int(unvisited[-1])

    # The closing anchor lies where node 3 does: a local index is no node.
    [nodes] = run(2, 4, 1, 3, 3)
    [path] = rebuild(program, line, [nodes]).arrays
    assert path.tolist() == [3, 2, 1]
    assert seen == [(0, 4, [1, 2, 3]), (3, 4, [1, 2]), (2, 4, [1])]


def test_a_closed_tour_has_its_start_twice(line):
    def program(current, destination, unvisited, distances):
        assert destination == 6
        np.testing.assert_array_equal(distances[0], distances[6])
        return int(unvisited[np.argmin(distances[current, unvisited])])

    [path] = rebuild(program, line, run(3, 0, 1, 2, 4, 5, 3)).arrays
    assert path.tolist() == [3, 2, 1, 4, 5]


@pytest.mark.parametrize("answer", [-1, 0, 5, 10**30, np.int64(7)])
def test_an_unavailable_answer_falls_back_to_the_nearest(line, answer):
    answer = rebuild(lambda *_: answer, line, run(0, 1, 2, 3, 4, 5))
    [path], fallbacks = answer.arrays, answer.fallbacks
    assert path.tolist() == [1, 2, 3, 4]
    # The end anchor is no answer either.
    assert fallbacks == 4


def test_visited_nodes_are_unavailable(line):
    answer = rebuild(lambda *_: 3, line, run(0, 1, 2, 3, 4, 5))
    [path], fallbacks = answer.arrays, answer.fallbacks
    # Chosen once, then ties between 2 and 4 go to the lower index.
    assert path.tolist() == [3, 2, 1, 4]
    assert fallbacks == 3


@pytest.mark.parametrize(
    "answer", [True, np.bool_(True), 1.0, np.float64(1), None, "1", np.array(1)]
)
def test_an_answer_that_is_no_integer_fails(line, answer):
    with pytest.raises(InvalidAnswer, match="Expected an integer"):
        rebuild(lambda *_: answer, line, run(0, 1, 2, 3))


def test_the_upper_program_sees_the_incumbent(line):
    def program(route, coords, distances, max_segments, max_segment_size):
        assert route.tolist() == [2, 1, 3, 0, 5, 4]
        assert not route.flags.writeable
        assert (max_segments, max_segment_size) == (2, 4)
        assert type(max_segments) is type(max_segment_size) is int
        assert len(coords) == len(distances) == 6
        return [route[:4], (5, np.int64(4)), [4.0]]

    lengths, values = propose(
        program, line, incumbent(2, 1, 3, 0, 5, 4, max_segments=2, max_size=4)
    ).arrays
    assert lengths.tolist() == [4, 2, 1]
    assert values.tolist() == [2, 1, 3, 0, 5, 4, 4]
    assert lengths.dtype == values.dtype == np.int64


@pytest.mark.parametrize("answer", [None, 3, "12", {1: 2}, [1, 2], [[1], None], np.ones((2, 2))])
def test_no_list_of_sequences_is_malformed(line, answer):
    lengths, values = propose(lambda *_: answer, line, incumbent(0, 1, 2, 3, 4, 5)).arrays
    assert lengths.tolist() == [-1]
    assert values.tolist() == []


def test_entries_that_are_no_integers_are_marked(line):
    answer = [[1, 2.0, 2.5, None, True, np.float64(3)]]
    _, values = propose(lambda *_: answer, line, incumbent(0, 1, 2, 3, 4, 5)).arrays
    assert values.tolist() == [1, 2, UNUSABLE, UNUSABLE, UNUSABLE, 3]


def test_a_flood_fails(line):
    with pytest.raises(InvalidAnswer, match="groups of"):
        propose(lambda *_: [[1] * 1_061], line, incumbent(0, 1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("count", "segments", "size", "starts", "length"),
    [
        (100, 3, 10, [0, 33, 66], 10),
        (100, 3, 50, [0, 49], 50),
        (100, 2, 50, [0, 50], 50),
        (20, 3, 50, [0], 20),
        (3, 3, 50, [0], 3),
    ],
)
def test_the_seed_takes_runs_at_even_intervals(count, segments, size, starts, length):
    coords = np.zeros((count, 2))
    inputs = incumbent(*range(count), max_segments=segments, max_size=size)
    lengths, values = propose(select_tsp_segments, arrays(coords), inputs).arrays
    assert lengths.tolist() == [length] * len(starts)
    assert values.tolist() == [start + i for start in starts for i in range(length)]


def test_a_child_imports_nothing_slow():
    code = "import sys, specahd.problems.tsp.construct; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "numpy" in modules
    assert modules.isdisjoint({"numba", "scipy", "hydra", "pandas"})
