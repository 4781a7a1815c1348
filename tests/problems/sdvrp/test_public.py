"""Published instances read, and published solutions check at exactly their published cost."""

import csv

import pytest

from specahd.problems.sdvrp.problem import SDVRP
from specahd.routing.verification import Status, files, tallies, verify

pytestmark = pytest.mark.public

PROBLEM = SDVRP()
COUNTS = {"SET-1": 21, "SET-2": 14, "SET-3": 49, "SET-4": 11}
# The CVRP instances whose customers and demands these are.
PLAIN = {
    "E-n51-k5": ("p01_00", 521),
    "E-n76-k10": ("p02_00", 830),
    "E-n101-k8": ("p03_00", 815),
}


@pytest.fixture(scope="module")
def best_known(public):
    with (public / "bks.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["set"].startswith("sdvrp/")]
    return {(row["set"].removeprefix("sdvrp/"), row["name"]): float(row["bks"]) for row in rows}


@pytest.mark.parametrize("folder", COUNTS)
def test_every_instance_reads_and_no_baseline_beats_the_best_known(public, best_known, folder):
    files = sorted((public / "sdvrp" / folder).iterdir())
    assert len(files) == COUNTS[folder]
    for path in files:
        instance = PROBLEM.read(path)
        assert instance.name == path.stem
        for name in ("nearest", "unsplit"):
            solution = PROBLEM.baseline(instance, name)
            assert PROBLEM.check(instance, solution) == (), path.stem
            assert PROBLEM.cost(instance, solution) >= best_known[folder, path.stem], path.stem


@pytest.mark.parametrize("name", PLAIN)
def test_plain_solutions_have_their_published_cost(public, name):
    twin, published = PLAIN[name]
    instance = PROBLEM.read(public / "sdvrp" / "SET-3" / f"{twin}.cri")
    solution, stated = PROBLEM.read_solution(public / "cvrp_small" / f"{name}.sol")
    assert PROBLEM.check(instance, solution) == ()
    assert PROBLEM.cost(instance, solution) == stated == published


def test_the_verifier_finds_all_of_them(public):
    paths = files(public / "sdvrp")
    counts = tallies(verify({"sdvrp": {"": PROBLEM}}, public, paths))
    assert counts == {"sdvrp": {Status.READ: sum(COUNTS.values()), Status.CHECKED: len(PLAIN)}}


def test_solutions_of_our_own_read_back(public, tmp_path):
    instance = PROBLEM.read(public / "sdvrp" / "SET-1" / "SD10.txt")
    solution = PROBLEM.baseline(instance, "splitting")
    cost = PROBLEM.cost(instance, solution)
    path = tmp_path / "SD10.sol"
    path.write_text(PROBLEM.solution_files("x", solution, cost)[".sol"])
    assert PROBLEM.read_solution(path) == (solution, cost)
