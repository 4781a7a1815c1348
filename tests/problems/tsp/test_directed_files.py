"""Files and tables with directed ways of a tour."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import FileError
from specahd.problems.tsp.problem import TSP


def length(matrix, tour):
    return sum(matrix[a][b] for a, b in zip(tour, (*tour[1:], tour[0]), strict=True))


def test_an_atsp_file_is_read_whatever_its_diagonal_holds(data):
    found = api.read(data / "one-way.atsp")
    assert (found.problem.name, found.name, found.size) == ("tsp", "one-way", 6)
    matrix = found.data.matrix
    assert matrix[0].tolist() == [0, 3, 9, 12, 8, 4]
    assert (matrix.diagonal() == 0).all()
    assert found.data.directed
    assert found.data.coords_from_scaling
    tour = (0, 1, 2, 3, 4, 5)
    assert TSP.cost(found.data, tour) == 3 + 4 + 3 + 4 + 2 + 4
    assert TSP.cost(found.data, tour[::-1]) == 4 + 5 + 13 + 12 + 14 + 11
    assert min(length(matrix, (0, *rest)) for rest in permutations(range(1, 6))) == 20


def test_a_directed_instance_is_written_as_atsp(data, tmp_path):
    found = api.read(data / "one-way.atsp")
    text = TSP.dumps(found.data)
    assert "TYPE : ATSP\n" in text
    (tmp_path / "again.atsp").write_text(text)
    assert np.array_equal(api.read(tmp_path / "again.atsp").data.matrix, found.data.matrix)
    both = replace(found.data, matrix=found.data.matrix + found.data.matrix.T)
    assert "TYPE : TSP\n" in TSP.dumps(both)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("TYPE : ATSP", "TYPE : TSP", "stop 1 to stop 2 is 3, expected 11 .* or TYPE : ATSP"),
        ("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF", "FIXED_EDGES_SECTION stands in an ATSP"),
        ("11 -1 4", "11 -1 -4", "EDGE_WEIGHT_SECTION holds -4"),
        ("11 -1 4", "11 -1", "EDGE_WEIGHT_SECTION holds 35 numbers, expected 36"),
        ("TYPE : ATSP", "TYPE : HCP", "TYPE is 'HCP', expected TSP, ATSP, CVRP"),
    ],
)
def test_a_bad_atsp_file_gets_one_sentence(data, tmp_path, old, new, sentence):
    path = tmp_path / "x.atsp"
    path.write_text((data / "one-way.atsp").read_text().replace(old, new))
    with pytest.raises(FileError, match=sentence) as refused:
        api.read(path)
    assert len(str(refused.value).removeprefix(str(path))) < 250


def test_tables_take_directed_ways_and_answers_of_road_services(tmp_path):
    (tmp_path / "stops.csv").write_text("name,x,y\na,0,0\nb,3,4\nc,1,1\nd,5,5\n")
    ways = [[0, 1, 2, 9], [3, 0, 4, 2], [2, 4, 0, 7], [1, 5, 6, 0]]
    (tmp_path / "osrm.json").write_text(json.dumps({"distances": ways, "durations": ways}))
    (tmp_path / "ways.csv").write_text("\n".join(",".join(map(str, row)) for row in ways))
    for matrix in (ways, tmp_path / "osrm.json", tmp_path / "ways.csv"):
        found = api.read(tmp_path / "stops.csv", matrix=matrix)
        assert found.data.directed
        solved = api.solve(found, repairs=200)
        shortest = min(length(ways, (0, *rest)) for rest in permutations(range(1, 4)))
        assert solved.cost == length(ways, solved.data) == shortest
        assert solved.visits()[0][1][1]["distance"] == ways[0][solved.data[1]]
    assert api.read(tmp_path / "ways.csv").data.directed
