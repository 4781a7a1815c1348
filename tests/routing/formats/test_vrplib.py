import warnings

import numpy as np
import pytest

from routing.formats.good_files import SOLOMON, WINDOWS
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.problem import TSP
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.formats import vrplib
from specahd.routing.geometry import Convention


def test_reads_odd_whitespace_and_puts_the_depot_first(data):
    tiny = vrplib.read(data / "tiny.vrp")
    assert (tiny.name, tiny.capacity, tiny.convention) == ("tiny", 10, Convention.EUC_2D)
    assert tiny.comment == "Six nodes by hand; the depot is node 3"
    assert tiny.coords.tolist() == [[0, 0], [0, 30], [40, 0], [30, 40], [0, -7], [-1.5, 2]]
    assert tiny.demands.tolist() == [0, 4, 5, 6, 1, 10]
    assert tiny.matrix is None


def test_lines_that_begin_with_a_number_sign_are_comments(data, tmp_path):
    text = (data / "tiny.vrp").read_text()
    assert "\n2 40" in text
    path = tmp_path / "x.vrp"
    path.write_text(
        "# by me, 2026\n  #2\n" + text.replace("\n2 40", "\n # TYPE : TSP\n#1 2 3\n2 40")
    )
    commented, plain = vrplib.read(path), vrplib.read(data / "tiny.vrp")
    assert np.array_equal(commented.coords, plain.coords)
    assert np.array_equal(commented.demands, plain.demands)


def test_windows_follow_the_depot_to_the_front_and_read_back(tmp_path):
    path = tmp_path / "windows.vrp"
    text = WINDOWS
    for _ in range(2):
        path.write_text(text)
        data = vrplib.read(path, vrplib.TIMED)
        assert data.coords.tolist() == [[30, 40], [0, 0], [0, 5]]
        assert data.demands.tolist() == [0, 4, 6]
        assert data.windows.ready.tolist() == [0, 55, 10]
        assert data.windows.due.tolist() == [200, 60, 90.25]
        assert data.windows.service.tolist() == [0, 7, 0.5]
        text = vrplib.dumps(data)


MATRIX = np.array([[0, 3, 4, 8], [3, 0, 5, 6], [4, 5, 0, 7], [8, 6, 7, 0]])
LAYOUTS = {
    "FULL_MATRIX": MATRIX.ravel(),
    "UPPER_ROW": [3, 4, 8, 5, 6, 7],
    "LOWER_COL": [3, 4, 8, 5, 6, 7],
    "LOWER_ROW": [3, 4, 5, 8, 6, 7],
    "UPPER_COL": [3, 4, 5, 8, 6, 7],
    "UPPER_DIAG_ROW": [0, 3, 4, 8, 0, 5, 6, 0, 7, 0],
    "LOWER_DIAG_COL": [0, 3, 4, 8, 0, 5, 6, 0, 7, 0],
    "LOWER_DIAG_ROW": [0, 3, 0, 4, 5, 0, 8, 6, 7, 0],
    "UPPER_DIAG_COL": [0, 3, 0, 4, 5, 0, 8, 6, 7, 0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_explicit_layouts(data, tmp_path, layout):
    text = (data / "tiny-explicit.vrp").read_text()
    text = text.replace("LOWER_ROW", layout)
    text = text.replace("  3\n  4 5\n  8 6 7", "\n".join(map(str, LAYOUTS[layout])))
    path = tmp_path / "x.vrp"
    path.write_text(text)
    np.testing.assert_array_equal(vrplib.read(path).matrix, MATRIX)


PLACES = [(0.25, 0.5), (1.0, 2.5), (3.5, 0.5), (2.0, 4.5)]
DEMANDS = "CAPACITY : 9\nDEMAND_SECTION\n1 0\n2 1\n3 1\n4 1\nDEPOT_SECTION\n1\n-1\n"
TIMES = "TIME_WINDOW_SECTION\n1 0 900\n2 0 900\n3 0 900\n4 0 900\n"
SERVICE = "SERVICE_TIME_SECTION\n1 0\n2 0\n3 0\n4 0\n"
STATED = "EDGE_WEIGHT_TYPE : EXACT_2D"


@pytest.mark.parametrize(
    ("problem", "fields", "cure"),
    [
        (TSP(), "TYPE : TSP\n", STATED),
        (CVRP(), f"TYPE : CVRP\n{DEMANDS}", "convention=float"),
        (SDVRP(), f"TYPE : SDVRP\n{DEMANDS}", STATED),
        (VRPTW(), f"TYPE : VRPTW\n{DEMANDS}{SERVICE}{TIMES}", STATED),
        (VRPTW(), f"TYPE : CVRPTW\n{DEMANDS}{SERVICE}{TIMES}", "convention=float"),
        (VRPTW(), "", "convention=float"),
        (SDVRP(), "3 9\n1 1 1\n", f"TYPE : SDVRP with {STATED}"),
    ],
)
def test_distances_that_rounding_changes_much_get_a_warning(tmp_path, problem, fields, cure):
    path = tmp_path / "x"
    for scale, warned in ((0.03, True), (33.3, False)):
        places = [(scale * x, scale * y) for x, y in PLACES]
        if fields.startswith("TYPE"):
            lines = "".join(f"{node} {x} {y}\n" for node, (x, y) in enumerate(places, 1))
            text = f"{fields}DIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{lines}"
        elif fields:
            text = fields + "".join(f"{x} {y}\n" for x, y in places)
        else:
            head, _, _ = SOLOMON.partition("    0      40")
            rows = enumerate(places)
            text = head + "".join(f"{row} {x} {y} {min(row, 1)} 0 900 0\n" for row, (x, y) in rows)
        path.write_text(text)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            problem.read(path)
        told = [str(each.message) for each in caught if "nearest nodes" in str(each.message)]
        assert len(told) == warned
        assert all(one.endswith(f"; {cure} has distances unrounded.") for one in told)
