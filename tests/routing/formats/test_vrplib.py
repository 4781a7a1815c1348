import numpy as np
import pytest

from routing.formats.good_files import WINDOWS
from specahd.routing.formats import vrplib
from specahd.routing.geometry import Convention


def test_reads_odd_whitespace_and_puts_the_depot_first(data):
    tiny = vrplib.read(data / "tiny.vrp")
    assert (tiny.name, tiny.capacity, tiny.convention) == ("tiny", 10, Convention.EUC_2D)
    assert tiny.comment == "Six nodes by hand; the depot is node 3"
    assert tiny.coords.tolist() == [[0, 0], [0, 30], [40, 0], [30, 40], [0, -7], [-1.5, 2]]
    assert tiny.demands.tolist() == [0, 4, 5, 6, 1, 10]
    assert tiny.weights is None


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
    np.testing.assert_array_equal(vrplib.read(path).weights, MATRIX)
