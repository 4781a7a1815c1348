"""Published instances: what they are, and how near the baselines come to the best known values.

``prepare verify=`` checks every published solution (``tests/test_commands.py``).
"""

import csv

import numpy as np
import pytest

from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.problem import TSP
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.geometry import Convention

pytestmark = pytest.mark.public

CONVENTIONS = {
    "euc2d-rounded(nint)": Convention.EUC_2D,
    "ceil2d": Convention.CEIL_2D,
    "tsplib-geo": Convention.GEO,
    "tsplib-att": Convention.ATT,
    "explicit-matrix": Convention.EXPLICIT,
}


@pytest.fixture(scope="module")
def rows(public):
    with (public / "bks.csv").open() as lines:
        return [row for row in csv.DictReader(lines) if row["set"] != "cvrp_xl_initial"]


@pytest.fixture(scope="module")
def best_known(rows):
    """The rows of a set by the names of its instances, in small letters."""

    def of(group, convention=""):
        found = (row for row in rows if row["set"] == group)
        return {row["name"].lower(): row for row in found if convention in row["convention"]}

    return of


@pytest.fixture(scope="module")
def tours(public):
    files = sorted((public / "tsplib").glob("*.tsp"))
    assert len(files) == 109
    return {path.stem: TSP().read(path) for path in files}


def texts(public, folder):
    return {path.stem.lower(): path for path in (public / folder).glob("*.txt")}


def test_the_largest_instance(public, best_known):
    instance = CVRP().read(public / "cvrp_xl" / "XL-n10001-k1570.vrp")
    assert instance.size == 10_000
    best = float(best_known("cvrp_xl")["xl-n10001-k1570"]["bks"])
    for name, gap in [("nearest", 0.05), ("savings", 0.045)]:
        solution = CVRP().baseline(instance, name)
        assert CVRP().check(instance, solution) == ()
        assert best < CVRP().cost(instance, solution) < (1 + gap) * best


def test_only_two_instances_lack_coordinates(public):
    paths = list((public / "cvrp_small").glob("*.vrp"))
    instances = {path.stem: CVRP().read(path) for path in paths}
    scaled = {name for name, instance in instances.items() if instance.coords_from_scaling}
    assert scaled == {"E-n13-k4", "E-n31-k7"}


@pytest.mark.parametrize(
    ("folder", "count"), [("SET-1", 21), ("SET-2", 14), ("SET-3", 49), ("SET-4", 11)]
)
def test_no_baseline_beats_the_best_known_split_deliveries(public, best_known, folder, count):
    files = sorted((public / "sdvrp" / folder).iterdir())
    assert len(files) == count
    for path in files:
        instance = SDVRP().read(path)
        assert instance.name == path.stem
        best = float(best_known(f"sdvrp/{folder}")[path.stem.lower()]["bks"])
        for name in ("nearest", "unsplit"):
            solution = SDVRP().baseline(instance, name)
            assert SDVRP().check(instance, solution) == (), path.stem
            assert SDVRP().cost(instance, solution) >= best, path.stem


def test_dimacs_solutions_that_break_windows_in_float_arithmetic(public):
    late = set()
    for folder in ("solomon", "homberger"):
        instances = texts(public, folder)
        for path in (public / folder).glob("*.sol"):
            instance = VRPTW(convention="float").read(instances[path.stem.lower()])
            solution, _ = VRPTW().read_solution(path)
            violations = VRPTW().check(instance, solution)
            assert {violation.kind for violation in violations} <= {"late", "late_return"}
            if violations:
                late.add(path.stem)
    assert len(late) == 88


@pytest.mark.integration
@pytest.mark.parametrize("convention", ["dimacs", "float"])
def test_baselines_are_feasible_on_published_instances(public, best_known, convention):
    problem = VRPTW(convention=convention, solver_iterations=50)
    files = sorted(texts(public, "solomon").items())[::5]
    files += sorted(texts(public, "homberger").items())[::50]
    best = best_known("solomon", "dimacs") | best_known("homberger", "dimacs")
    for name, path in files:
        instance = problem.read(path)
        costs = []
        for baseline in problem.baselines:
            solution = problem.baseline(instance, baseline)
            assert problem.check(instance, solution) == (), (name, baseline)
            costs.append(problem.cost(instance, solution))
        # DIMACS costs are below float costs.
        assert float(best[name]["bks"]) <= min(costs)
        assert costs[-1] <= 1.5 * float(best[name]["bks"]), (name, costs)


def test_insertion_is_as_good_as_solomon_says(public):
    """The means are those of I1 in his paper, which puts the number of vehicles first."""
    problem = VRPTW(convention="float")
    for family, published in (("c1", 951.9), ("r1", 1436.7), ("rc1", 1596.5)):
        costs = []
        for name, path in texts(public, "solomon").items():
            if name.startswith(family):
                instance = problem.read(path)
                costs.append(problem.cost(instance, problem.baseline(instance, "insertion")))
        assert np.mean(costs) < 1.02 * published


def test_every_tour_has_its_convention(tours, best_known):
    published = best_known("tsplib")
    for name, instance in tours.items():
        # The number of nodes ends the file's name: pcb3038.
        assert instance.size == int("".join(filter(str.isdigit, name)))
        assert instance.convention == CONVENTIONS[published[name.lower()]["convention"]]
        assert instance.coords_from_scaling == (instance.convention is Convention.EXPLICIT)
    assert [name for name, instance in tours.items() if instance.fixed_edges] == ["linhp318"]
    instance = tours["linhp318"]
    [edge] = TSP().check(instance, tuple(range(instance.size)))
    assert edge.kind == "fixed_edge"


@pytest.mark.integration
def test_baselines_are_feasible_everywhere(tours, best_known):
    tsp, published, gaps = TSP(), best_known("tsplib"), []
    # Patching takes a matrix and the cube of the size; it is for directed tours.
    quick = [baseline for baseline in tsp.baselines if baseline != "patching"]
    for name, instance in tours.items():
        found = [tsp.baseline(instance, baseline) for baseline in quick]
        assert all(tsp.check(instance, tour) == () for tour in found), name
        costs = np.array([tsp.cost(instance, tour) for tour in found])
        gaps.append(costs / float(published[name.lower()]["bks"]) - 1)
        assert gaps[-1].min() >= 0, name
    by_nearest, by_greedy, by_curve, by_moves = np.median(gaps, axis=0)
    assert by_moves < 0.08 < by_greedy < 0.20 < by_nearest < 0.28 < by_curve < 0.5
