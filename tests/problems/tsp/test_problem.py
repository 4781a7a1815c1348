import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offered import problem
from problems.conftest import generated
from problems.instances import instance_of
from specahd.core.errors import FileError
from specahd.problems.tsp.baseline import nearest
from specahd.problems.tsp.problem import TSP, validate
from specahd.routing.base import Region
from specahd.routing.formats.tsplib import dumps_tour
from specahd.routing.geometry import Convention
from specahd.routing.groups import concatenated
from specahd.routing.kernels.descriptors import SEGMENT_NAMES


def test_solution_files(tmp_path):
    """The first node is the depot of the one route of a .sol file."""
    tsp, path, tour = problem("tsp"), tmp_path / "x.sol", tmp_path / "x.tour"
    path.write_text(tsp.solution_files("x", (3, 1, 0, 4, 2), 31.0)[".sol"])
    assert path.read_text() == "Route #1: 4 2 3 1\nCost 31\n"
    assert tsp.read_solution(path) == ((0, 4, 2, 3, 1), 31.0)
    path.write_text("Route #1: 4 2\nRoute #2: 3 1\nCost 31\n")
    with pytest.raises(FileError, match="2 routes"):
        tsp.read_solution(path)
    tour.write_text(dumps_tour((3, 1, 0, 4, 2), "x"))
    assert tsp.read_solution(tour) == ((3, 1, 0, 4, 2), None)


TOUR = (3, 1, 4, 0, 5, 9, 2, 6, 8, 7)


def valid(*runs, max_regions=3, max_size=6):
    found = validate(TOUR, concatenated(runs), max_regions, max_size)
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


@given(st.lists(st.lists(st.integers(-2, 11), max_size=12), max_size=8))
def test_what_any_proposal_leaves_is_sound(runs):
    found = validate(TOUR, concatenated(runs), 3, 6)
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


def test_descriptor_is_the_same_in_either_direction():
    instance = generated("tsp")["selection"][0]
    solution = nearest(instance)
    forth = problem("tsp").describe(instance, solution, Region(solution[10:40]))
    back = problem("tsp").describe(instance, solution[::-1], Region(solution[10:40][::-1]))
    np.testing.assert_allclose(forth, back)


def test_descriptor_by_hand():
    # A crossed square with a node far off: 0 -> 1 goes along one diagonal, 2 -> 3 along the other.
    coords = [[0, 0], [6, 8], [6, 0], [0, 8], [30, 40]]
    instance = instance_of("tsp", coords, convention=Convention.EXACT_2D)
    tour = (0, 1, 2, 3, 4)
    values = problem("tsp").describe(instance, tour, Region((0, 1, 2, 3)))
    found = dict(zip(SEGMENT_NAMES, values.tolist(), strict=True))
    spread, legs = instance.spread, np.array([10.0, 8.0, 10.0])
    expected = {
        "log_size": np.log(4),
        "share": 0.8,
        "spread": 5.0 / spread,
        "elongation": 0.25,
        "centre_distance": np.hypot(8.4 - 3, 11.2 - 4) / spread,
        "edge_mean": legs.mean() / (TSP.cost(instance, tour) / 5),
        "edge_variation": legs.std() / legs.mean(),
        "edge_longest": 10 / legs.mean(),
        "straightness": 8 / 28,
        "anchor_distance": 8 / spread,
        "turning": 1 - np.arctan2(6, 8) / np.pi,
        "nearness": 6 / legs.mean(),
        # Two diagonals for two sides: 20 - 12, found once from each of them.
        "untangling": (8 + 0 + 8) / 3 / legs.mean(),
    }
    assert tuple(expected) == SEGMENT_NAMES
    assert found == pytest.approx(expected)


PROBLEM = problem("tsp-insertion")


@pytest.mark.parametrize(
    ("nodes", "runs"),
    [((4, 1, 2), 2), ((7, 6, 5), 1), ((4, 1, 8, 6), 4), ((1, 3, 5, 7), 3), (tuple(range(1, 9)), 1)],
)
def test_a_group_is_described_as_its_names_say(nodes, runs):
    coords, tour = np.random.default_rng(0).uniform(0, 100, (9, 2)), (3, 4, 0, 1, 2, 8, 5, 6, 7)
    instance = instance_of("tsp", coords, convention=Convention.EXACT_2D)
    values = PROBLEM.describe(instance, tour, Region(nodes))
    found = dict(zip(PROBLEM.descriptor_names, values.tolist(), strict=True))

    def away(one, other):
        return float(np.hypot(*(coords[one] - coords[other])))

    around = list(zip(tour, (*tour[1:], tour[0]), strict=True))
    edges = [away(*pair) for pair in around if set(pair) & set(nodes)]
    rest = [node for node in tour if node not in nodes]
    before = sum(away(*pair) for pair in around)
    after = sum(away(one, other) for one, other in zip(rest, (*rest[1:], rest[0]), strict=True))
    near = [min(away(node, other) for other in nodes if other != node) for node in nodes]
    centre = coords[list(nodes)].mean(axis=0)
    expected = {
        "log_size": np.log(len(nodes)),
        "share": len(nodes) / 9,
        "centre_distance": np.hypot(*(centre - coords.mean(axis=0))) / instance.spread,
        "edge_mean": np.mean(edges) / (before / 9),
        "edge_variation": np.std(edges) / np.mean(edges),
        "edge_longest": np.max(edges) / np.mean(edges),
        "fragmentation": runs / len(nodes),
        "detour": (before - after) / sum(edges),
        "nearness": np.mean(near) / np.mean(edges),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_runs_are_described_where_runs_are_the_regions():
    runs = problem("tsp").descriptor_names
    assert runs != PROBLEM.descriptor_names
    assert problem("tsp-construct").descriptor_names == runs
