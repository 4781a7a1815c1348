"""Published instances read, and published solutions check at exactly their published cost."""

import csv

import numpy as np
import pytest

from specahd.problems.vrptw.instance import dumps, read
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.geometry import Convention
from specahd.routing.verification import Status, files, tallies, verify

pytestmark = pytest.mark.public

PROBLEM = VRPTW()
COUNTS = {"solomon": 56, "homberger": 300}
FOLDERS = pytest.mark.parametrize("folder", COUNTS)


def texts(public, folder):
    return {path.stem.lower(): path for path in (public / folder).glob("*.txt")}


@pytest.fixture(scope="module")
def best_known(public):
    with (public / "bks.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return {
        row["name"].lower(): row
        for row in rows
        if row["set"] in COUNTS and row["convention"].startswith("dimacs")
    }


@FOLDERS
def test_every_instance_reads(public, folder):
    files = texts(public, folder)
    assert len(files) == COUNTS[folder]
    for name, path in files.items():
        instance = PROBLEM.read(path)
        hundreds = 1 if folder == "solomon" else int(name.split("_")[1])
        assert instance.size == 100 * hundreds
        assert instance.name.lower() == name
        for times in (instance.windows.ready, instance.windows.due, instance.coords):
            assert np.array_equal(times, np.rint(times))


@FOLDERS
def test_published_solutions_have_their_published_cost(public, best_known, folder):
    files = sorted((public / folder).glob("*.sol"))
    assert len(files) == COUNTS[folder]
    instances = texts(public, folder)
    for path in files:
        instance = PROBLEM.read(instances[path.stem.lower()])
        solution, stated = PROBLEM.read_solution(path)
        assert PROBLEM.check(instance, solution) == (), path.stem
        assert PROBLEM.cost(instance, solution) == stated, path.stem
        assert stated == float(best_known[path.stem.lower()]["verified_cost"]), path.stem


def test_dimacs_solutions_that_break_windows_in_float_arithmetic(public):
    late = set()
    for folder in COUNTS:
        instances = texts(public, folder)
        for path in (public / folder).glob("*.sol"):
            instance = read(instances[path.stem.lower()], Convention.EXACT_2D)
            solution, _ = PROBLEM.read_solution(path)
            violations = PROBLEM.check(instance, solution)
            assert {violation.kind for violation in violations} <= {"late", "late_return"}
            if violations:
                late.add(path.stem)
    assert len(late) == 88


def test_the_public_sets_verify(public):
    paths = [*files(public / "solomon"), *files(public / "homberger")]
    counts = tallies(verify({"vrptw": {"dimacs": PROBLEM}}, public, paths))
    for folder, count in COUNTS.items():
        assert counts[folder] == {Status.READ: count, Status.CHECKED: count}


@pytest.mark.parametrize("customers", [25, 50])
def test_smaller_instances_are_the_first_customers(public, customers):
    for path in texts(public, "solomon").values():
        whole, part = PROBLEM.read(path), read(path, customers=customers)
        assert part.name == f"{whole.name}.{customers}"
        np.testing.assert_array_equal(part.coords, whole.coords[: customers + 1])
        np.testing.assert_array_equal(part.demands, whole.demands[: customers + 1])
        np.testing.assert_array_equal(part.windows.due, whole.windows.due[: customers + 1])


@pytest.mark.parametrize("convention", [Convention.DIMACS, Convention.EXACT_2D])
def test_published_instances_are_written_and_read_back(public, tmp_path, convention):
    path = tmp_path / "copy.vrp"
    for name in ("C101", "RC208"):
        first = read(public / "solomon" / f"{name}.txt", convention)
        path.write_text(dumps(first))
        second = read(path)
        assert (second.name, second.convention) == (first.name, convention)
        np.testing.assert_array_equal(second.coords, first.coords)
        for times in ("ready", "due", "service"):
            np.testing.assert_array_equal(
                getattr(second.windows, times), getattr(first.windows, times)
            )


@pytest.mark.parametrize("convention", ["dimacs", "float"])
def test_baselines_are_feasible_on_published_instances(public, best_known, convention):
    problem = VRPTW(convention=convention, solver_iterations=50)
    files = sorted(texts(public, "solomon").items())[::5]
    files += sorted(texts(public, "homberger").items())[::50]
    for name, path in files:
        instance = problem.read(path)
        costs = []
        for baseline in problem.baselines:
            solution = problem.baseline(instance, baseline)
            assert problem.check(instance, solution) == (), (name, baseline)
            costs.append(problem.cost(instance, solution))
        # DIMACS costs are below float costs.
        assert float(best_known[name]["bks"]) <= min(costs)
        assert costs[-1] <= 1.5 * float(best_known[name]["bks"]), (name, costs)


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
