"""How a tour is given to the engine and taken back; ``test_solve.py`` solves files."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from specahd import api
from specahd.core.errors import ConfigError
from specahd.engine import blocks
from specahd.problems.tsp.problem import TSP
from specahd.routing.geometry import Convention

NINE = Path(__file__).parent / "data" / "nine.tsp"


def test_passes_compute_straight_distances_and_look_up_others():
    straight = api.read(NINE).data
    sphere = replace(straight, convention=Convention.GEO)
    for instance, held in ((straight, "convention"), (sphere, "distance_matrix")):
        with closing(blocks.shared_block(TSP(), instance)) as shared:
            assert held in shared.arrays(0)


def test_what_cannot_be_a_tour_is_no_solution():
    problem, instance = TSP(), api.read(NINE).data
    [flat] = problem.flat(instance, (3, 4, 0, 1, 2, 5, 6, 7, 8))
    assert flat.tolist() == [1, 2, 5, 6, 7, 8, 3, 4]
    assert problem.unflat(instance, [flat]) == (0, 1, 2, 5, 6, 7, 8, 3, 4)
    assert problem.unflat(instance, [flat, flat]) is None
    assert problem.unflat(instance, [flat.repeat(2)]) is None


def test_fixed_edges_are_refused():
    fixed = replace(api.read(NINE).data, fixed_edges=((0, 1),))
    with pytest.raises(ConfigError, match="fixed edges"):
        api.solve(api.ProblemInstance(TSP(), fixed), repairs=10)
