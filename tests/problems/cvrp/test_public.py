"""Published instances read, and published solutions check at exactly their published cost."""

import csv

import pytest

from specahd.problems.cvrp.problem import CVRP

pytestmark = pytest.mark.public

PROBLEM = CVRP()
COUNTS = {"cvrp_x": 100, "cvrp_xl": 100, "cvrp_small": 64, "cvrp_belgium": 3}
SOLVED = ["cvrp_x", "cvrp_small", "cvrp_belgium"]
# Its file states 534, the optimum, but its routes are not optimal.
WRONG = {"E-n30-k3": 537}


@pytest.fixture(scope="module")
def best_known(public):
    with (public / "bks.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["set"] != "cvrp_xl_initial"]
    return {row["name"]: row for row in rows if row["set"].startswith("cvrp")}


@pytest.mark.parametrize("folder", COUNTS)
def test_every_instance_reads(public, folder):
    files = sorted((public / folder).glob("*.vrp"))
    assert len(files) == COUNTS[folder]
    for path in files:
        instance = PROBLEM.read(path)
        # The number of nodes is in the file's name: X-n101-k25.
        if folder != "cvrp_belgium":
            assert instance.size + 1 == int(path.stem.split("-n")[1].split("-")[0])


@pytest.mark.parametrize("folder", SOLVED)
def test_published_solutions_have_their_published_cost(public, best_known, folder):
    files = sorted((public / folder).glob("*.sol"))
    assert len(files) == COUNTS[folder]
    for path in files:
        instance = PROBLEM.read(path.with_suffix(".vrp"))
        solution, stated = PROBLEM.read_solution(path)
        assert PROBLEM.check(instance, solution) == (), path.stem
        cost = PROBLEM.cost(instance, solution)
        assert cost == WRONG.get(path.stem, stated), path.stem
        verified = best_known[path.stem]["verified_cost"]
        if verified and path.stem not in WRONG:
            assert cost == float(verified), path.stem


def test_the_largest_instance(public, best_known):
    instance = PROBLEM.read(public / "cvrp_xl" / "XL-n10001-k1570.vrp")
    best = float(best_known["XL-n10001-k1570"]["bks"])
    for name, gap in [("nearest", 0.05), ("savings", 0.045)]:
        solution = PROBLEM.baseline(instance, name)
        assert PROBLEM.check(instance, solution) == ()
        assert best < PROBLEM.cost(instance, solution) < (1 + gap) * best


def test_only_two_instances_lack_coordinates(public):
    scaled = {
        path.stem
        for path in (public / "cvrp_small").glob("*.vrp")
        if PROBLEM.read(path).coords_from_scaling
    }
    assert scaled == {"E-n13-k4", "E-n31-k7"}
