"""Published instances read, and published tours check at exactly their published cost."""

import csv

import numpy as np
import pytest

from specahd.problems.tsp.problem import TSP
from specahd.routing.formats import tsplib
from specahd.routing.geometry import Convention, distances
from specahd.routing.kernels.distances import fill_distance_matrix

pytestmark = pytest.mark.public

PROBLEM = TSP()
CONVENTIONS = {
    "euc2d-rounded(nint)": Convention.EUC_2D,
    "ceil2d": Convention.CEIL_2D,
    "tsplib-geo": Convention.GEO,
    "tsplib-att": Convention.ATT,
    "explicit-matrix": Convention.EXPLICIT,
}
CONSTRAINED = "linhp318"


@pytest.fixture(scope="module")
def best_known(public):
    with (public / "bks.csv").open() as lines:
        return {row["name"]: row for row in csv.DictReader(lines) if row["set"] == "tsplib"}


@pytest.fixture(scope="module")
def instances(public):
    files = sorted((public / "tsplib").glob("*.tsp"))
    assert len(files) == 109
    return {path.stem: PROBLEM.read(path) for path in files}


def test_every_instance_reads(instances, best_known):
    for name, instance in instances.items():
        # The number of nodes ends the file's name: pcb3038.
        assert instance.size == int("".join(filter(str.isdigit, name)))
        assert instance.convention == CONVENTIONS[best_known[name]["convention"]]
        assert instance.coords_from_scaling == (instance.convention is Convention.EXPLICIT)


def test_one_instance_has_a_fixed_edge(instances):
    fixed = {name: instance.fixed_edges for name, instance in instances.items()}
    assert {name for name, edges in fixed.items() if edges} == {CONSTRAINED}
    instance = instances[CONSTRAINED]
    for name in PROBLEM.baselines:
        assert PROBLEM.check(instance, PROBLEM.baseline(instance, name)) == ()
    [edge] = PROBLEM.check(instance, tuple(range(instance.size)))
    assert edge.kind == "fixed_edge"


def test_optimal_tours_have_their_published_cost(public, instances, best_known):
    files = sorted((public / "tsplib" / "tours").glob("*.opt.tour"))
    seen = set()
    assert len(files) == 32
    for path in files:
        name = path.name.removesuffix(".opt.tour")
        instance = instances[name]
        tour, _ = PROBLEM.read_solution(path)
        assert PROBLEM.check(instance, tour) == (), name
        assert PROBLEM.cost(instance, tour) == float(best_known[name]["bks"]), name
        seen.add(instance.convention)
    assert seen == {Convention.EUC_2D, Convention.GEO, Convention.ATT, Convention.EXPLICIT}


def test_large_tours_have_their_stated_cost(public, instances, best_known, tmp_path):
    files = sorted((public / "tsplib" / "tours").glob("*.sol"))
    assert len(files) == 29
    copy = tmp_path / "x.sol"
    for path in files:
        instance = instances[path.stem]
        tour, stated = PROBLEM.read_solution(path)
        assert PROBLEM.check(instance, tour) == (), path.stem
        assert PROBLEM.cost(instance, tour) == stated, path.stem
        if verified := best_known[path.stem]["verified_cost"]:
            assert stated == float(verified) == float(best_known[path.stem]["bks"]), path.stem
        assert tour[0] == 0
        copy.write_text(PROBLEM.solution_files("x", tour, stated)[".sol"])
        assert PROBLEM.read_solution(copy) == (tour, stated)


@pytest.mark.parametrize("name", ["gr666", "ali535", "burma14", "att532", "att48"])
def test_kernels_agree_with_geometry_in_every_distance(instances, name):
    instance = instances[name]
    out = np.full((instance.size, instance.size), np.nan)
    fill_distance_matrix(instance.coords, instance.convention, out)
    expected = distances(instance.coords[:, None], instance.coords[None], instance.convention)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(out, out.T)
    assert (np.diagonal(out) == 0).all()


def test_our_text_reads_back_the_same(public, instances, tmp_path):
    path = tmp_path / "x.tsp"
    for name in ("burma14", "att48", "bayg29", "si175", "dsj1000", "rat99", "pr76"):
        path.write_text(PROBLEM.dumps(instances[name]))
        first = tsplib.read(public / "tsplib" / f"{name}.tsp")
        again = tsplib.read(path)
        assert (again.name, again.comment) == (first.name, first.comment)
        np.testing.assert_array_equal(again.coords, first.coords)
        np.testing.assert_array_equal(again.weights, first.weights)


def test_baselines_are_feasible_everywhere(instances, best_known):
    gaps = []
    for name, instance in instances.items():
        tours = [PROBLEM.baseline(instance, baseline) for baseline in PROBLEM.baselines]
        assert all(PROBLEM.check(instance, tour) == () for tour in tours), name
        costs = np.array([PROBLEM.cost(instance, tour) for tour in tours])
        gaps.append(costs / float(best_known[name]["bks"]) - 1)
        assert gaps[-1].min() >= 0, name
    by_nearest, by_greedy, by_curve, by_moves = np.median(gaps, axis=0)
    assert by_moves < 0.08 < by_greedy < 0.20 < by_nearest < 0.28 < by_curve < 0.5
