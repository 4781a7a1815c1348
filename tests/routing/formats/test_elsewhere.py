"""Files as LKH's and PyVRP's collections have them, remade small; all hold the same customers."""

import warnings

import numpy as np
import pytest
import pyvrp

from specahd.core.errors import FileError, FileWarning
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.formats import vrplib
from specahd.routing.geometry import Convention

# By hand: each leg rounded down to tenths; to the nearest integer; not at all.
DIMACS, ROUNDED, FLOAT = 157.6, 159, 157.7705


@pytest.fixture
def folder(data):
    return data / "elsewhere"


def cost_of(problem, instance, solution):
    instance = problem.read(instance)
    routes, stated = problem.read_solution(solution)
    assert problem.check(instance, routes) == ()
    return problem.cost(instance, routes), stated


def test_every_form_of_an_instance_is_the_same(folder):
    first = VRPTW().read(folder / "few-solomon.txt")
    assert first.convention is Convention.DIMACS
    for name in ("few-lkh.vrptw", "few-lkh-euclidean.vrptw", "few-pyvrp.vrp"):
        other = VRPTW().read(folder / name)
        assert (other.name, other.convention) == ("few", Convention.DIMACS)
        np.testing.assert_array_equal(other.coords, first.coords)
        np.testing.assert_array_equal(other.demands, first.demands)
        for times in ("ready", "due", "service"):
            np.testing.assert_array_equal(
                getattr(other.windows, times), getattr(first.windows, times)
            )


def test_another_program_finds_the_same_cost(folder):
    """PyVRP counts tenths under the DIMACS convention."""
    data = pyvrp.read(folder / "few-pyvrp.vrp", round_func="dimacs")
    theirs = pyvrp.read_solution(folder / "few-lkh.sol", data)
    assert theirs.is_feasible()
    assert theirs.distance() == 10 * DIMACS


@pytest.mark.parametrize(
    ("name", "convention", "expected"),
    [
        ("few-pyvrp.vrp", "dimacs", Convention.DIMACS),
        ("few-pyvrp.vrp", "float", Convention.EXACT_2D),
        ("few-lkh-euclidean.vrptw", "float", Convention.EXACT_2D),
        # These say themselves how they measure.
        ("few-lkh.vrptw", "float", Convention.DIMACS),
        ("few-lkh-exact.vrptw", "dimacs", Convention.EXACT_2D),
    ],
)
def test_the_convention_is_stated_where_the_file_leaves_it_open(folder, name, convention, expected):
    problem = VRPTW(convention=convention)
    instance = problem.read(folder / name)
    assert instance.convention is expected
    cost, _ = cost_of(problem, folder / name, folder / "few-lkh.sol")
    assert cost == pytest.approx(DIMACS if expected is Convention.DIMACS else FLOAT, abs=1e-4)


def test_our_own_files_of_windows_keep_their_convention(folder, tmp_path):
    """EUC_2D is TSPLIB's there, whatever the option says: so are the generated pools written."""
    text = (folder / "few-pyvrp.vrp").read_text()
    rows = "".join(f"{node} {10 if node > 1 else 0}\n" for node in range(1, 6))
    text = text.replace("SERVICE_TIME : 10\n", "").replace(
        "TIME_WINDOW_SECTION", f"SERVICE_TIME_SECTION\n{rows}TIME_WINDOW_SECTION"
    )
    path = tmp_path / "x.vrp"
    path.write_text(text)
    for convention in ("dimacs", "float"):
        cost, _ = cost_of(VRPTW(convention=convention), path, folder / "few-lkh.sol")
        assert cost == ROUNDED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SCALE : 10", "SCALE : 100", "SCALE is 100 with FLOOR_2D, expected 10"),
        ("SCALE : 10", "SCALE : 0", "SCALE is '0'"),
        ("SCALE : 10\nEDGE_WEIGHT_TYPE : FLOOR", "SCALE : 10\nEDGE_WEIGHT_TYPE : CEIL", "CEIL_2D"),
        ("SERVICE_TIME : 10", "SERVICE_TIME : -1", "SERVICE_TIME is '-1'"),
        ("SERVICE_TIME : 10\n", "", "SERVICE_TIME_SECTION is missing"),
        ("TYPE : CVRPTW", "TYPE : CVRP", "SCALE is not supported"),
    ],
)
def test_what_would_be_another_problem_is_refused(folder, tmp_path, old, new, message):
    path = tmp_path / "x.vrp"
    text = (folder / "few-lkh.vrptw").read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    problem = CVRP() if new.endswith("CVRP") else VRPTW()
    with pytest.raises(FileError, match=message):
        problem.read(path)


def test_a_scale_that_changes_nothing(folder, tmp_path):
    path = tmp_path / "x.vrp"
    for name, scale in (("few-pyvrp.vrp", 1), ("few-lkh-exact.vrptw", 1000)):
        text = (folder / name).read_text()
        path.write_text(text.replace("CAPACITY", f"SCALE : {scale}\nCAPACITY"))
        assert VRPTW().read(path).convention is VRPTW().read(folder / name).convention


@pytest.mark.parametrize(("convention", "cost"), [("rounded", ROUNDED), ("float", FLOAT)])
def test_customers_without_windows_in_two_conventions(folder, tmp_path, convention, cost):
    """Golden's, Taillard's and Christofides' files say EUC_2D, and state unrounded costs."""
    problem = CVRP(convention=convention)
    found, stated = cost_of(problem, folder / "unrounded.vrp", folder / "unrounded.sol")
    assert found == pytest.approx(cost, abs=1e-4)
    assert stated == round(FLOAT, 2)
    # What is written says how it was read, and keeps every digit of the cost.
    instance = problem.read(folder / "unrounded.vrp")
    path = tmp_path / "copy.vrp"
    path.write_text(problem.dumps(instance))
    for other in ("rounded", "float") if convention == "float" else ("rounded",):
        assert CVRP(convention=other).read(path).convention is instance.convention
    routes, _ = problem.read_solution(folder / "unrounded.sol")
    path.with_suffix(".sol").write_text(problem.solution_files("x", routes, found)[".sol"])
    assert problem.read_solution(path.with_suffix(".sol")) == (routes, found)


@pytest.mark.parametrize(
    "end", ["1\n-1\nEOF\n", "1\n-1\n", "1\nEOF\n", " 1 \n", "1", "1 -1", "1\nCOMMENT : next\n"]
)
def test_a_depot_section_may_end_without_its_mark(folder, tmp_path, end):
    head, _, _ = (folder / "unrounded.vrp").read_text().partition("DEPOT_SECTION\n")
    path = tmp_path / "x.vrp"
    path.write_text(f"{head.replace('COMMENT', 'DISPLAY_DATA_TYPE')}DEPOT_SECTION\n{end}")
    assert vrplib.read(path).demands.tolist() == [0, 4, 5, 3, 6]


@pytest.mark.parametrize("end", ["", "-1\n", "1\n2\n", "1\n2\n-1\n", "1\n-1\n-1\n", "0\n", "1.5\n"])
def test_a_depot_section_names_one_depot(folder, tmp_path, end):
    head, _, _ = (folder / "unrounded.vrp").read_text().partition("DEPOT_SECTION\n")
    path = tmp_path / "x.vrp"
    path.write_text(f"{head}DEPOT_SECTION\n{end}EOF\n")
    with pytest.raises(FileError, match="DEPOT_SECTION"):
        vrplib.read(path)


@pytest.mark.parametrize(
    ("name", "whole", "expected"),
    [
        ("RC208", (25, 50, 100), "25 or 50 or 100"),
        ("c101", (25, 50, 100), "25 or 50 or 100"),
        ("R1_2_10", (), "200"),
        ("mine", (), None),
    ],
)
def test_a_cut_file_of_a_set_is_no_smaller_instance(tmp_path, name, whole, expected):
    head = f"{name}\nVEHICLE\nNUMBER CAPACITY\n25 200\nCUSTOMER\nCUST NO.\n0 0 0 0 0 999 0\n"
    path = tmp_path / "x.txt"
    for rows in (25, 50, 99, 100, 101):
        path.write_text(head + "".join(f"{row} {row} 0 1 0 999 1\n" for row in range(1, rows + 1)))
        if expected is None:
            with pytest.warns(FileWarning, match=f"CUSTOMER holds {rows} customers"):
                assert VRPTW().read(path).size == rows
        elif rows in whole:
            with warnings.catch_warnings(action="error"):
                assert VRPTW().read(path).size == rows
        else:
            words = f"CUSTOMER holds {rows} customers, expected {expected} in {name}"
            with pytest.raises(FileError, match=words):
                VRPTW().read(path)
