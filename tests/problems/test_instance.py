"""What the instances of every problem have in common."""

import numpy as np
import pytest

from offered import PROBLEMS, problem
from problems.described import described
from problems.instances import instance_of, line

WINDOWS = """SERVICE_TIME_SECTION
1 0
2 1
3 1.5
4 1
TIME_WINDOW_SECTION
1 0 99.5
2 3 30
3 0 30
4 0 30
DEPOT_SECTION"""


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_instance_is_never_written_to(name, tmp_path):
    path = tmp_path / "x"
    path.write_text(described(name).text(5))
    instance = problem(name).read(path)
    assert not instance.coords_from_scaling
    assert instance.matrix is None
    arrays = [instance.coords, *getattr(instance, "columns", {}).values()]
    if name != "tsp":
        arrays.append(instance.demands)
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize("name", PROBLEMS)
def test_explicit_instance_gets_coordinates(name, data, tmp_path):
    text = (data / "tiny-explicit.vrp").read_text().replace("CVRP", name.upper())
    if name == "tsp":
        [text] = described(name).formats
    elif name == "vrptw":
        text = text.replace("DEPOT_SECTION", WINDOWS)
    path = tmp_path / "x"
    path.write_text(text)
    first = problem(name).read(path)
    assert first.coords_from_scaling
    assert first.coords.shape == (4, 2)
    with pytest.raises(ValueError, match="read-only"):
        first.coords[0, 0] = 1.0
    path.write_text(problem(name).dumps(first))
    again = problem(name).read(path)
    assert again.coords_from_scaling
    np.testing.assert_array_equal(again.coords, first.coords)
    np.testing.assert_array_equal(again.matrix, first.matrix)
    assert problem(name).dumps(again) == problem(name).dumps(first)


def test_the_instance_of_some_nodes_has_all_of_their_fields():
    whole = line("vrptw")
    part = whole.at([0, 3, 1], np.array([0, 5, 6]))
    assert (part.size, part.coords[:, 0].tolist()) == (2, [0, 30, 10])
    assert part.windows.due.tolist() == [100, 60, 80]
    split = instance_of("sdvrp", [[0, 0], [10, 0]], [0, 12], matrix=np.array([[0, 7.0], [7, 0]]))
    pieces = split.at([0, 1, 1], np.array([0, 10, 2]))
    assert pieces.matrix.tolist() == [[0, 7, 7], [7, 0, 0], [7, 0, 0]]
    assert problem("cvrp").check(pieces, ((1,), (2,))) == ()
