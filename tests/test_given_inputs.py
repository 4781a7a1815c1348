"""What a script has in its hands is taken: DataFrames, arrays, lists, solutions, our own files."""

import json

import numpy as np
import pandas as pd
import pytest

from specahd import api
from specahd.api.incumbents import incumbent_case
from specahd.api.solutions import Solution
from specahd.core.errors import ConfigError, FileError
from specahd.repair.cases import make_case

MATRIX = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


@pytest.fixture
def frame():
    """Return a table of stops whose index has the names; the depot has no demand."""
    columns = {"x": [0, 3, 5], "y": [0, 4, 1.5], "demand": [np.nan, 4, 7]}
    return pd.DataFrame(columns, index=["depot", "north", "=south"])


def constructed(instance):
    case = make_case(instance.problem, instance.data)
    return Solution(instance.problem, case, case.baseline, case.cost)


def started(instance, incumbent):
    return incumbent_case(instance.problem, instance.data, incumbent).baseline


def write_record(solution, path):
    path.write_text(json.dumps({"routes": solution.named_routes, "cost": solution.cost}))
    return path


def test_a_frame_is_a_table_of_stops(frame):
    instance = api.read(frame, capacity=11)
    assert (instance.problem.name, instance.name) == ("cvrp", "DataFrame")
    assert instance.data.labels.names == ("depot", "north", "=south")
    assert instance.data.demands.tolist() == [0, 4, 7]
    numbered = api.read(frame.reset_index(drop=True), capacity=11)
    assert numbered.data.labels.names is None
    solved = api.solve(frame.drop(columns="demand"), repairs=10)
    assert solved.name == "DataFrame"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame(MATRIX), "DataFrame: expected a table of stops, with columns of name, x"),
        (pd.DataFrame(), "DataFrame: expected a table of stops"),
        (pd.DataFrame({"x": [0, 1], "y": [0, "b"]}), "DataFrame: line 3 holds the y b, expected"),
        (7, "Expected a file or a DataFrame, got int."),
    ],
)
def test_what_is_no_table_is_refused(table, sentence):
    with pytest.raises((ConfigError, FileError), match=sentence):
        api.read(table)


@pytest.mark.parametrize("given", [list, np.array, pd.DataFrame])
def test_distances_are_taken_in_any_form(frame, given):
    instance = api.read(frame, capacity=11, matrix=given(MATRIX))
    assert instance.data.matrix.tolist() == MATRIX


def test_names_of_distances_must_be_those_of_the_stops(frame):
    named = pd.DataFrame(MATRIX, index=frame.index, columns=frame.index)
    assert api.read(frame, capacity=11, matrix=named).data.matrix.tolist() == MATRIX
    turned = named.iloc[::-1, ::-1]
    with pytest.raises(FileError, match="matrix: row 1 is named '=south', expected 'depot'"):
        api.read(frame, capacity=11, matrix=turned)
    with pytest.raises(FileError, match="matrix: expected the same names in index and columns"):
        api.read(frame, capacity=11, matrix=named.iloc[::-1])


@pytest.mark.parametrize("matrix", [[[0], [1, 0]], [["a"]], 5])
def test_what_are_no_distances_is_refused(frame, matrix):
    with pytest.raises(FileError, match=r"^matrix: .*expected .*numbers in"):
        api.read(frame, capacity=11, matrix=matrix)


@pytest.mark.parametrize("problem", ["cvrp", "sdvrp", "tsp"])
def test_a_solution_is_taken_in_any_form(tmp_path, frame, data, problem):
    if problem == "tsp":
        instance = api.read(data / "nine.tsp")
    else:
        split = problem == "sdvrp"
        instance = api.read(frame, capacity=5 if split else 7, split=split)
    solution = constructed(instance)
    forms = [solution, solution.named_routes, solution.write(tmp_path / "a.csv")]
    forms += [solution.write(tmp_path / "a.sol"), write_record(solution, tmp_path / "a.json")]
    if problem == "sdvrp":
        forms.append(solution.data)
    else:
        forms += [
            solution.routes,
            # A route without a stop is none.
            [[], [0, 0], *([0, *route, 0] for route in solution.routes)],
        ]
    if problem == "tsp":
        forms[-1] = [*solution.data]
    for form in forms:
        assert instance.problem.cost(instance.data, started(instance, form)) == solution.cost
        assert len(started(instance, form)) == len(solution.data)


def test_a_map_is_taken(tmp_path):
    columns = {"lon": [1.0, 1.1, 1.2], "lat": [50.0, 50.1, 50.3], "demand": [0, 4, 7]}
    instance = api.read(pd.DataFrame(columns), capacity=5, split=True)
    solution = constructed(instance)
    assert started(instance, solution.write(tmp_path / "a.geojson")) == solution.data


@pytest.mark.parametrize(
    ("incumbent", "sentence"),
    [
        (5, "Expected the incumbent as a file, a solution, or a list of routes, .* got int"),
        ([[1, 2], "3"], "got the route '3'"),
        ([["x"]], "Expected stops of tiny by their numbers, or by their names as text, got 'x'"),
        ([[1.5]], "got 1.5"),
        ([[10**400]], "got 1000"),
        ([[True]], "got True"),
        ([[(1, 2)]], "Expected stops without quantities: only problem=sdvrp splits deliveries"),
        ([[1, 2]], "the incumbent does not solve tiny: Customer 3 is not visited"),
    ],
)
def test_what_is_no_solution_is_refused(data, incumbent, sentence):
    with pytest.raises((ConfigError, FileError), match=sentence):
        started(api.read(data / "tiny.vrp"), incumbent)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "x,y\n1,2\n", "a.csv: expected the columns vehicle, order and name"),
        ("a.csv", "vehicle,order,name\n1,0,elsewhere\n", "a.csv: expected stops of tiny by"),
        ("a.json", "[1]", "a.json: expected a JSON object, as specahd solve writes it"),
        ("a.json", "{" * 100_000, "a.json: expected a JSON object"),
        ("a.json", "{}", "a.json: expected the list 'routes'"),
        ("a.json", '{"routes": [["9"]]}', "a.json: expected stops of tiny by their numbers"),
        ("a.geojson", '{"features": [1]}', "a.geojson: expected the columns vehicle"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, data, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=sentence):
        started(api.read(data / "tiny.vrp"), tmp_path / name)


def test_the_cost_that_a_record_states_is_compared(tmp_path, data):
    instance = api.read(data / "tiny.vrp")
    path = write_record(constructed(instance), tmp_path / "a.json")
    path.write_text(path.read_text().replace('"cost": 240', '"cost": 241'))
    with pytest.warns(UserWarning, match=r"a.json: states the cost 241, but costs 240"):
        started(instance, path)


def test_solving_starts_from_a_list(data):
    solved = api.solve(data / "tiny.vrp", incumbent=[[1, 3], [2, 4], [5]], repairs=10)
    assert solved.incumbent_cost == 206
    again = api.solve(data / "tiny.vrp", incumbent=solved, repairs=10)
    assert again.incumbent_cost == solved.cost
