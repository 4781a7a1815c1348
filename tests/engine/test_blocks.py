"""What the engine's process is given of an instance."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from specahd import api
from specahd.engine import blocks
from specahd.engine.neighbours import nearest_neighbours, neighbours_around
from specahd.routing.distances import CONVENTION, MATRIX
from specahd.routing.geometry import Convention, distances
from specahd.routing.kernels.distances import CODES


@pytest.mark.parametrize("name", ["cvrp", "vrptw"])
def test_of_many_nodes_distances_are_computed(name, monkeypatch):
    problem = api.make_problem(name)
    instance = next(problem.generate("lower_train", 3))
    monkeypatch.setattr(blocks, "MATRIX_NODES", instance.size)
    with closing(blocks.shared_block(problem, instance)) as shared:
        held = shared.arrays(0)
        assert MATRIX not in held
        assert held[CONVENTION] == [CODES[getattr(instance, "measure", instance.convention)]]
    monkeypatch.setattr(blocks, "MATRIX_NODES", instance.size + 1)
    with closing(blocks.shared_block(problem, instance)) as shared:
        assert shared.arrays(0)[MATRIX].shape == (instance.size + 1,) * 2


def test_a_tour_has_neighbours_on_all_sides_unless_a_matrix_tells_its_distances():
    problem = api.make_problem("tsp")
    instance = next(problem.generate("lower_train", 3))
    around = neighbours_around(instance.coords, instance.convention, 24, 2)
    matrix = distances(instance.coords[:, None], instance.coords[None], instance.convention)
    nearest = nearest_neighbours(instance.coords, Convention.EXPLICIT, matrix, 24, depot=True)
    assert (around[1] > nearest[1]).any()
    told = replace(instance, convention=Convention.EXPLICIT, matrix=matrix)
    for given, expected in ((instance, around), (told, nearest)):
        with closing(blocks.shared_block(problem, given)) as shared:
            assert np.array_equal(shared.arrays(0)["neighbours"], expected[0])
            assert np.array_equal(shared.arrays(0)["neighbour_distances"], expected[1])


def test_distances_of_a_file_are_kept(monkeypatch):
    given = api.read("tests/data/tiny-explicit.vrp")
    monkeypatch.setattr(blocks, "MATRIX_NODES", 1)
    with closing(blocks.shared_block(given.problem, given.data)) as shared:
        assert np.array_equal(shared.arrays(0)[MATRIX], given.data.matrix)
