"""``specahd solve`` for the TSP, as a user meets it."""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from commands import call, run
from specahd import api
from specahd.core.errors import ConfigError
from specahd.engine import blocks
from specahd.problems.tsp.problem import TSP
from specahd.routing.geometry import Convention

DATA = Path(__file__).parent / "data"


@pytest.fixture
def place(tmp_path):
    """Where a user stands, with files of 9 and of 200 nodes."""
    shutil.copy(DATA / "nine.tsp", tmp_path / "nine.tsp")
    problem = api.make_problem("tsp")
    (tmp_path / "large.tsp").write_text(problem.dumps(next(problem.generate("validation", 1))))
    return tmp_path


def cost_of(solution, instance):
    """Return what the tour in a file costs; it is feasible, and a cost that it states is that."""
    found = api.read(instance)
    tour, stated = found.problem.read_solution(solution)
    assert found.problem.check(found.data, tour) == ()
    cost = found.problem.cost(found.data, tour)
    assert stated in (None, pytest.approx(cost))
    return cost


def test_a_file_is_solved_and_everything_is_written(place):
    done = run(
        "specahd", "solve", "large.tsp", "time_limit=1", "target=1", "plot=routes.png", cwd=place
    )
    assert done.returncode == 0, done.stderr
    [tour] = (place / "solutions").glob("*/*.tour")
    statistics = json.loads(tour.with_suffix(".json").read_text())
    assert cost_of(tour, place / "large.tsp") == statistics["cost"]
    assert statistics["cost"] < statistics["start"]["cost"]
    assert statistics["start"]["source"] == "two_opt"
    assert (statistics["ended"], statistics["failure"]) == ("time", "")
    assert statistics["programs"] == ["upper-neighbouring-strings", "lower-greedy-with-blinks"]
    assert (place / "routes.png").read_bytes().startswith(b"\x89PNG")
    for words in ("two_opt", "1 route\n", str(tour.relative_to(place)), "routes.png"):
        assert words in done.stdout


def test_the_shortest_tour_of_few_nodes_is_found(place):
    call("solve", "instance=nine.tsp", "repairs=3000", "out=tiny.sol", cwd=place)
    given = api.read(DATA / "nine.tsp")
    costs = (given.problem.cost(given.data, (0, *order)) for order in permutations(range(1, 9)))
    assert cost_of(place / "tiny.sol", DATA / "nine.tsp") == min(costs)


def test_equal_seeds_and_repairs_are_equal_bytes(place):
    options = ["instance=large.tsp", "repairs=60000"]
    call("solve", *options, "out=one.tour", cwd=place)
    call("solve", *options, "out=two.tour", cwd=place, cold=True)
    assert (place / "one.tour").read_bytes() == (place / "two.tour").read_bytes()


TABLES = {
    "a matrix": "0,3,4,2\n3,0,5,9\n4,5,0,1\n2,9,1,0\n",
    "three places": "name,x,y\nhome,0,0\n,5,5\n,0,5.5\n",
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_without_demands_and_times_is_a_tour(place, table):
    file = place / "stops.csv"
    file.write_text(TABLES[table])
    call("solve", "instance=stops.csv", "repairs=200", "out=my.tour", cwd=place)
    assert api.read(file).problem.name == "tsp"
    assert json.loads((place / "my.json").read_text())["cost"] == cost_of(place / "my.tour", file)


def test_mistakes_get_one_sentence(place):
    text = (place / "nine.tsp").read_text()
    (place / "fixed.tsp").write_text(text.replace("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF"))
    for options, sentence in (
        (["instance=nine.tsp", "out=my.txt"], "Expected a solution of tsp to end in .tour or .sol"),
        (["instance=fixed.tsp"], "nine has fixed edges, which solving does not keep"),
    ):
        done = call("solve", *options, cwd=place, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr.splitlines()[-1]
        assert not (place / "solutions").exists()


def test_passes_compute_straight_distances_and_look_up_others():
    straight = api.read(DATA / "nine.tsp").data
    sphere = replace(straight, convention=Convention.GEO)
    for instance, held in ((straight, "convention"), (sphere, "distance_matrix")):
        with closing(blocks.shared_block(TSP(), instance)) as shared:
            assert held in shared.arrays(0)


def test_what_cannot_be_a_tour_is_no_solution():
    problem, instance = TSP(), api.read(DATA / "nine.tsp").data
    [flat] = problem.flat(instance, (3, 4, 0, 1, 2, 5, 6, 7, 8))
    assert flat.tolist() == [1, 2, 5, 6, 7, 8, 3, 4]
    assert problem.unflat(instance, [flat]) == (0, 1, 2, 5, 6, 7, 8, 3, 4)
    assert problem.unflat(instance, [flat, flat]) is None
    assert problem.unflat(instance, [flat.repeat(2)]) is None
    fixed = replace(instance, fixed_edges=((0, 1),))
    with pytest.raises(ConfigError, match="fixed edges"):
        problem.flat(fixed, tuple(range(9)))
