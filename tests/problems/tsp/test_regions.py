import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.problems.tsp.baseline import nearest
from specahd.problems.tsp.checker import check, cost
from specahd.problems.tsp.construct import propose, rebuild
from specahd.problems.tsp.descriptor import NAMES
from specahd.problems.tsp.generator import generate
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.problems.tsp.regions import merge, validate, whole_tour
from specahd.routing.base import Region, Rejection
from specahd.routing.geometry import Convention

TOUR = (3, 1, 4, 0, 5, 9, 2, 6, 8, 7)


def ints(*values):
    return np.array(values, np.int64)


def proposed(*runs):
    return [ints(*map(len, runs)), ints(*(node for run in runs for node in run))]


def valid(*runs, max_regions=3, max_size=6):
    found = validate(TOUR, proposed(*runs), max_regions, max_size)
    assert found.proposed == len(runs)
    nodes = [region.nodes for region in found.regions]
    return nodes, [(rejection.proposal, rejection.reason) for rejection in found.rejections]


def test_runs_are_kept_in_tour_order():
    assert valid((1, 4, 0, 5)) == ([(1, 4, 0, 5)], [])
    # Past the end of the tour, and against its direction.
    assert valid((8, 7, 3, 1)) == ([(8, 7, 3, 1)], [])
    assert valid((5, 0, 4, 1)) == ([(1, 4, 0, 5)], [])
    assert valid((1, 3, 7, 8)) == ([(8, 7, 3, 1)], [])


def test_strangers_and_repetitions_are_dropped_before_judgement():
    assert valid((1, 99, 4, 4, -1, 0, 1, 5, -(2**63))) == ([(1, 4, 0, 5)], [])
    assert valid((1, 4, 0, 0)) == ([], [(0, "empty")])


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ((), "empty"),
        ((3, 1, 4), "empty"),
        ((3, 1, 4, 0, 5, 9, 2), "oversized"),
        ((3, 1, 0, 5), "not_contiguous"),
        ((3, 4, 1, 0), "not_contiguous"),
        ((3, 1, 4, 1, 2), "not_contiguous"),
    ],
)
def test_why_a_run_is_rejected(run, reason):
    assert valid(run, (9, 2, 6, 8)) == ([(9, 2, 6, 8)], [(0, reason)])


def test_anchors_are_shared_and_nothing_else_is():
    kept = (4, 0, 5, 9)
    assert valid(kept, (9, 2, 6, 8)) == ([kept, (9, 2, 6, 8)], [])
    assert valid(kept, (7, 3, 1, 4)) == ([kept, (7, 3, 1, 4)], [])
    # A mutable node of the first inside, or an anchor of it; and the other way round.
    for other in [(0, 5, 9, 2), (5, 9, 2, 6), (3, 1, 4, 0), (1, 4, 0, 5), kept]:
        assert valid(kept, other) == ([kept], [(1, "overlapping")])
    assert valid((5, 9, 2, 6), kept) == ([(5, 9, 2, 6)], [(1, "overlapping")])


def test_two_runs_may_make_the_whole_tour():
    first, second = (3, 1, 4, 0, 5, 9), (9, 2, 6, 8, 7, 3)
    assert valid(first, second) == ([first, second], [])
    assert valid(TOUR, max_size=10) == ([TOUR], [])
    assert valid((*TOUR, TOUR[0]), max_size=10) == ([TOUR], [])


def test_a_rejected_run_takes_nothing_and_the_budget_comes_first():
    assert valid((3, 1, 0, 5), (3, 1, 4, 0)) == ([(3, 1, 4, 0)], [(0, "not_contiguous")])
    runs = [(3, 1, 4, 0), (0, 5, 9, 2), (2, 6, 8, 7), ()]
    kept, rejected = valid(*runs, max_regions=2)
    assert kept == runs[:2]
    assert rejected == [(2, "over_budget"), (3, "over_budget")]


@pytest.mark.parametrize(
    "output",
    [
        [],
        [ints(-1), ints()],
        [ints(2), ints(1)],
        [ints(5, -1), ints(1, 2, 3, 4)],
        [ints(1), ints(1), ints(1)],
        [np.array([1.0]), ints(1)],
        [ints(1), np.array([[1]])],
    ],
)
def test_malformed_proposals(output):
    found = validate(TOUR, output, 3, 6)
    assert (found.proposed, found.regions) == (1, ())
    assert found.rejections == (Rejection(0, "malformed"),)


@given(st.lists(st.lists(st.integers(-2, 11), max_size=12), max_size=8))
def test_what_any_proposal_leaves_is_sound(runs):
    found = validate(TOUR, proposed(*runs), 3, 6)
    assert len(found.regions) + len(found.rejections) == found.proposed == len(runs)
    assert len(found.regions) <= 3
    doubled = TOUR + TOUR
    interiors = [set(region.nodes[1:-1]) for region in found.regions]
    for number, region in enumerate(found.regions):
        first, length = TOUR.index(region.nodes[0]), len(region.nodes)
        assert 4 <= length <= 6
        assert region.nodes == doubled[first : first + length]
        for other, interior in enumerate(interiors):
            assert other == number or interior.isdisjoint(region.nodes)


def test_merge_replaces_in_place_also_past_the_end():
    # Between the anchors 1 and 5 lie 0 and 4, local 1 and 2.
    assert merge(TOUR, Region((1, 4, 0, 5)), [ints(1, 2)]) == (3, 1, 0, 4, *TOUR[4:])
    wrapped = merge(TOUR, Region((8, 7, 3, 1, 4)), [ints(2, 1, 3)])
    assert wrapped == (1, 7, 4, 0, 5, 9, 2, 6, 8, 3)


def test_merge_judges_no_coverage():
    assert merge(TOUR, Region((1, 4, 0, 5)), [ints(1, 1)])[:5] == (3, 1, 0, 0, 5)


@pytest.mark.parametrize(
    "output",
    [
        [],
        [ints(1, 2), ints(0)],
        [ints(1)],
        [ints()],
        [ints(1, 2, 1)],
        [ints(0, 1)],
        [ints(1, 3)],
        [ints(1, -1)],
        [np.array([1.0, 2.0])],
        [ints(1, 2).astype(np.int32)],
        [ints(1, 2).reshape(2, 1)],
        [[1, 2]],
    ],
)
def test_malformed_output_merges_to_nothing(output):
    assert merge(TOUR, Region((1, 4, 0, 5)), output) is None


@given(st.data())
def test_feasible_after_any_program(data):
    """Whatever an upper and a lower program answer, the tour stays whole (Proposition 1)."""
    size = data.draw(st.integers(3, 14))
    coords = np.random.default_rng(size).integers(0, 20, (size, 2)).astype(float)
    instance = TSPInstance("any", coords)
    problem = TSP(max_regions=data.draw(st.integers(1, 3)), max_size=data.draw(st.integers(4, 14)))
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, arrays)
    solution = tuple(data.draw(st.permutations(range(size))))

    def upper(route, coords, distances, max_segments, max_segment_size):
        runs = []
        for _ in range(data.draw(st.integers(0, 5))):
            start, length = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size + 1))
            run = np.roll(route, -start)[:length].tolist()
            noise = data.draw(st.sampled_from(["none", "reverse", "stranger", "shuffle", "close"]))
            if noise == "reverse":
                run.reverse()
            elif noise == "stranger":
                run.insert(length // 2, data.draw(st.sampled_from([-1, size, None, 0.5])))
            elif noise == "shuffle":
                run.sort()
            elif noise == "close":
                run += run[:1]
            runs.append(run)
        return runs

    def lower(current, destination, unvisited, distances):
        assert unvisited.tolist() == sorted(unvisited.tolist())
        return data.draw(st.integers(-1, len(distances)))

    output = propose(upper, arrays, problem.operator.selector.inputs(instance, solution)).arrays
    regions = problem.operator.selector.validate(instance, solution, output).regions
    for region in (*regions, whole_tour(solution)):
        inputs = problem.operator.inputs(instance, solution, region)
        merged = problem.operator.merge(
            instance, solution, region, rebuild(lower, arrays, inputs).arrays
        )
        assert merged is not None
        assert check(instance, merged) == ()
        assert len(merged) == size
        if region.nodes[0] != region.nodes[-1]:
            anchors = [merged.index(region.nodes[0]), merged.index(region.nodes[-1])]
            assert anchors == [solution.index(region.nodes[0]), solution.index(region.nodes[-1])]
            solution = merged


def test_descriptor_is_the_same_in_either_direction():
    instance = next(generate("selection", 3))
    solution = nearest(instance)
    forth = TSP().describe(instance, solution, Region(solution[10:40]))
    back = TSP().describe(instance, solution[::-1], Region(solution[10:40][::-1]))
    np.testing.assert_allclose(forth, back)


def test_descriptor_by_hand():
    # A crossed square with a node far off: 0 -> 1 goes along one diagonal, 2 -> 3 along the other.
    coords = np.array([[0, 0], [6, 8], [6, 0], [0, 8], [30, 40]], float)
    instance = TSPInstance("hand", coords, Convention.EXACT_2D)
    tour = (0, 1, 2, 3, 4)
    found = dict(zip(NAMES, TSP().describe(instance, tour, Region((0, 1, 2, 3))), strict=True))
    spread, legs = instance.spread, np.array([10.0, 8.0, 10.0])
    expected = {
        "log_size": np.log(4),
        "share": 0.8,
        "spread": 5.0 / spread,
        "elongation": 0.25,
        "centre_distance": np.hypot(8.4 - 3, 11.2 - 4) / spread,
        "edge_mean": legs.mean() / (cost(instance, tour) / 5),
        "edge_variation": legs.std() / legs.mean(),
        "edge_longest": 10 / legs.mean(),
        "straightness": 8 / 28,
        "anchor_distance": 8 / spread,
        "turning": 1 - np.arctan2(6, 8) / np.pi,
        "nearness": 6 / legs.mean(),
        # Two diagonals for two sides: 20 - 12, found once from each of them.
        "untangling": (8 + 0 + 8) / 3 / legs.mean(),
    }
    assert tuple(expected) == NAMES
    for name, value in expected.items():
        assert found[name] == pytest.approx(value), name


@pytest.mark.parametrize("coords", [np.zeros((5, 2)), np.eye(5, 2)])
def test_descriptor_of_degenerate_runs_is_finite(coords):
    instance = TSPInstance("heap", coords)
    for region in (Region((0, 1, 2, 3)), Region((4, 0, 1, 2, 3)), whole_tour((0, 1, 2, 3, 4))):
        assert np.isfinite(TSP().describe(instance, (0, 1, 2, 3, 4), region)).all()
