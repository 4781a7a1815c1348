"""Tables of stops and distance matrices (CSV): what they mean, and a sentence for each mistake."""

import math

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import ConfigError, FileError

XY = "name,x,y,demand\ndepot,0,0,\na,3,4,5\nb,6,8,6\nc,0,10,7\n"
TIMED = (
    "name,x,y,demand,ready,due,service\n"
    "depot,0,0,,0,400,\na,3,4,5,0,50,2\nb,6,8,6,60,90,2\nc,0,10,7,,,1\n"
)
PLACES = "lon,lat,demand\n13.40,52.52,\n13.41,52.52,1\n13.40,52.53,1\n"
MATRIX = "0,3,4\n3,0,5\n4,5,0\n"


def read(tmp_path, text, **options):
    (tmp_path / "stops.csv").write_text(text)
    return api.read(tmp_path / "stops.csv", **options)


def test_coordinates_are_measured_straight_and_unrounded(tmp_path):
    instance = read(tmp_path, XY, capacity=10)
    assert (instance.problem.name, instance.name, instance.size) == ("cvrp", "stops", 3)
    assert instance.data.demands.tolist() == [0, 5, 6, 7]
    assert instance.problem.cost(instance.data, ((1,), (2,), (3,))) == 50
    one = instance.problem.cost(instance.data, ((1, 2), (3,)))
    assert one == pytest.approx(5 + 5 + 10 + 20)
    # Split deliveries may exceed the capacity.
    split = read(tmp_path, XY, capacity=4, split=True)
    assert split.problem.name == "sdvrp"
    assert split.problem.check(split.data, split.problem.baseline(split.data)) == ()


def test_the_row_named_depot_is_the_depot_wherever_it_stands(tmp_path):
    lines = XY.splitlines()
    moved = "\n".join([lines[0], *lines[2:], lines[1].replace("depot", "Depot")])
    first, second = read(tmp_path, XY, capacity=10), read(tmp_path, moved, capacity=10)
    assert np.array_equal(first.data.coords, second.data.coords)
    # Without a name the first row is.
    nameless = "\n".join(line.partition(",")[2] for line in lines)
    third = read(tmp_path, nameless, capacity=10)
    assert np.array_equal(first.data.coords, third.data.coords)


def test_customers_count_in_the_order_of_the_file_without_the_depot(tmp_path):
    instance = read(tmp_path, "name,x,y,demand\na,3,4,5\ndepot,0,0,\nb,6,8,6\n", capacity=6)
    (tmp_path / "x.sol").write_text("Route #1: 1\nRoute #2: 2\n")
    solution, _ = instance.problem.read_solution(tmp_path / "x.sol", instance.data)
    places = [[instance.data.coords[node].tolist() for node in route] for route in solution]
    assert places == [[[3, 4]], [[6, 8]]]


def test_a_tour_numbers_the_nodes_as_the_file_whatever_its_rows_are_called(tmp_path):
    text = "name,x,y\na,0,0\nb,10,0\ndepot,10,10\nc,0,10\nd,5,20\n"
    instance = read(tmp_path, text)
    assert instance.data.coords.tolist() == [[0, 0], [10, 0], [10, 10], [0, 10], [5, 20]]
    around = instance.problem.solution_files("x", (0, 1, 2, 4, 3), 52.36)[".tour"]
    assert "TOUR_SECTION\n1\n2\n3\n5\n4\n-1" in around
    (tmp_path / "km.csv").write_text(",a,depot,b\na,0,3,4\ndepot,3,0,5\nb,4,5,0\n")
    instance = read(tmp_path, "name,x,y\na,0,0\ndepot,3,0\nb,4,0\n", matrix=tmp_path / "km.csv")
    assert instance.data.matrix.tolist() == [[0, 3, 4], [3, 0, 5], [4, 5, 0]]


@pytest.mark.parametrize("sign", [";", "\t"])
def test_other_separators_and_spellings_are_read(tmp_path, sign):
    text = XY.replace(",", sign).replace(f"name{sign}x", f"ID{sign} X")
    assert read(tmp_path, text, capacity=10).size == 3


def test_columns_that_say_nothing_behind_the_others_are_left_out(tmp_path):
    """Excel writes them where cells once had something."""
    text = XY.replace("\n", ",,\n")
    assert read(tmp_path, text, capacity=10).data.coords.tolist() == (
        read(tmp_path, XY, capacity=10).data.coords.tolist()
    )
    one_says_something = text.replace(",7,,", ",7,,heavy")
    with pytest.raises(FileError, match="line 1 holds no heading for column 5"):
        read(tmp_path, one_says_something, capacity=10)


def test_time_windows_make_a_vrptw_and_speed_turns_times_into_distances(tmp_path):
    instance = read(tmp_path, TIMED, capacity=18)
    windows = instance.data.windows
    assert instance.problem.name == "vrptw"
    assert windows.ready.tolist() == [0, 0, 60, 0]
    assert windows.due[:3].tolist() == [400, 50, 90]
    assert windows.service.tolist() == [0, 2, 2, 1]
    # Whoever names no due time is never late.
    assert windows.due[3] >= 400
    assert instance.problem.check(instance.data, ((1, 2, 3),)) == ()
    faster = read(tmp_path, TIMED, capacity=18, speed=2.0).data.windows
    assert faster.due[:3].tolist() == pytest.approx([800, 100, 180])


LATE = "x,y,ready,due,service,name\n9,0,,{due},5,a\n0,0,10,{closes},,depot\n"


@pytest.mark.parametrize("speed", [0.3, 3.0])
def test_what_is_served_too_late_is_told_in_the_numbers_of_the_file(tmp_path, speed):
    arrives = 10 + round(9 / speed)
    back = arrives + 5 + round(9 / speed)
    words = f"line 2 holds the due time {arrives - 1}, expected at least {arrives},"
    with pytest.raises(FileError, match=words):
        read(tmp_path, LATE.format(due=arrives - 1, closes=""), speed=speed)
    words = f"line 2 .* at {arrives} .* at {back}, .* due time {back - 1} in line 3"
    with pytest.raises(FileError, match=words):
        read(tmp_path, LATE.format(due=100, closes=back - 1), speed=speed)
    assert read(tmp_path, LATE.format(due=arrives, closes=back), speed=speed).size == 1


@pytest.mark.parametrize("speed", [0.3, 3.0])
def test_a_route_that_is_late_is_told_in_the_times_of_the_file(tmp_path, speed):
    depot, far, near = (f"{way / speed + more:.10g}" for way, more in ((40, 6), (100, 0), (20, 0)))
    both = f"x,y,due,service\n0,0,{depot},\n0,9,{far},5\n0,20,{near},5\n"
    instance = read(tmp_path, both, speed=speed)
    told = [each.detail for each in instance.problem.check(instance.data, ((1, 2),))]
    assert told == [
        f"Customer 2 on route 1 is served at {20 / speed + 5:g}, after {20 / speed:g}.",
        f"Route 1 is back at {40 / speed + 10:g}, after {40 / speed + 6:g}.",
    ]


def test_a_time_that_is_just_kept_is_kept_at_every_speed(tmp_path):
    # 0.57 * 100 is 56.99999999999999.
    instance = read(tmp_path, "x,y,due\n0,0,\n57,0,100\n", speed=0.57)
    assert instance.problem.check(instance.data, ((1,),)) == ()
    with pytest.raises(FileError, match=r"the due time 99\.999999, expected at least 100,"):
        read(tmp_path, "x,y,due\n0,0,\n57,0,99.999999\n", speed=0.57)


def test_a_stop_without_due_time_is_never_late_however_long_the_services(tmp_path):
    text = "x,y,due,service\n0,0,,\n1,0,,900000000\n1,0,,900000000\n"
    instance = read(tmp_path, text)
    assert instance.problem.check(instance.data, ((1, 2),)) == ()
    assert instance.problem.check(instance.data, ((2, 1),)) == ()


def test_degrees_are_measured_along_great_circles_in_metres(tmp_path):
    instance = read(tmp_path, PLACES, capacity=1).data
    # A hundredth of a degree of latitude; the same of longitude is shorter by its cosine.
    assert instance.matrix[0, 2] == 1112
    assert instance.matrix[0, 1] == round(1111.95 * math.cos(math.radians(52.52)))
    assert np.array_equal(instance.matrix, instance.matrix.T)
    across = np.hypot(*(instance.coords[1] - instance.coords[2]))
    assert across == pytest.approx(instance.matrix[1, 2], rel=1e-2)
    antimeridian = "lon,lat\n179.99,0\n-179.99,0\n180,0\n"
    assert read(tmp_path, antimeridian).data.matrix[0, 1] == 2224


def test_what_has_no_demands_is_a_tsp(tmp_path):
    assert read(tmp_path, "x,y\n0,0\n3,4\n6,8\n").problem.name == "tsp"
    instance = read(tmp_path, MATRIX)
    assert (instance.problem.name, instance.size) == ("tsp", 3)
    assert instance.problem.cost(instance.data, (0, 1, 2)) == 12


def test_a_matrix_stands_for_the_distances_of_a_table(tmp_path):
    (tmp_path / "km.csv").write_text(",a,depot,b\na,0,3,4\ndepot,3,0,5\nb,4,5,0\n")
    table = "name,demand\na,1\ndepot,0\nb,2\n"
    instance = read(tmp_path, table, capacity=3, matrix=tmp_path / "km.csv").data
    assert instance.matrix.tolist() == [[0, 3, 5], [3, 0, 4], [5, 4, 0]]
    assert instance.demands.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (XY.replace("a,3", "a,three"), {"capacity": 10}, "line 3 holds the x three"),
        (XY.replace("a,3", "a,1_0"), {"capacity": 10}, "line 3 holds the x 1_0"),
        (XY.replace("a,3", "a,"), {"capacity": 10}, "line 3 holds no x"),
        (XY.replace(",7", ",7.5"), {"capacity": 9, "split": True}, "line 5 holds the demand 7.5"),
        (XY.replace(",7", ",.1234567"), {"capacity": 10}, "line 5 holds the demand .1234567"),
        (XY.replace(",7", ",-7"), {"capacity": 10}, "line 5 holds the demand -7"),
        (XY, {"capacity": 1}, r"line 3 .* at most the capacity 1 \(split"),
        (XY.replace(",7", ",0"), {"capacity": 9, "split": True}, "line 5 holds the demand 0"),
        (XY.replace(",7", ",7,8"), {"capacity": 10}, "line 5 holds 5 cells, expected 4"),
        (XY.replace("depot,0,0,", "depot,0,0,5"), {"capacity": 10}, "line 2 .* of the depot"),
        (XY.replace("c,0", "depot,0"), {"capacity": 10}, "line 5 holds a second depot"),
        (XY.replace("\nb,", "\n\n'b,").replace("c,0", '"c,0'), {"capacity": 10}, "cannot be read"),
        (XY.replace("name,", "skills,"), {"capacity": 10}, "line 1 holds the column 'skills'"),
        (XY.replace("name,", "x,"), {"capacity": 10}, "line 1 holds the column x twice"),
        (XY.replace(",y,", ",lat,"), {"capacity": 10}, "columns x and y, or lon and lat"),
        ("name,demand\na,1\nb,1\n", {"capacity": 10}, "or matrix=FILE"),
        ("x,y,demand\n1,1,\n", {"capacity": 10}, "holds 1 stops"),
        ("x,y\n1,1\n2,2\n", {}, "holds 2 stops"),
        (PLACES.replace("52.53", "152.53"), {"capacity": 1}, r"line 4 .* lat 152.53, .* \[-90, 90"),
        (TIMED.replace("60,90", "90,60"), {"capacity": 18}, "line 4 holds the due time 60"),
        (TIMED.replace("60,90", "60,9e9"), {"capacity": 18}, "line 4 holds the due 9e9"),
        (XY.replace("name", "service"), {"capacity": 10}, "due or ready beside service"),
        (MATRIX.replace("3,0,5", "3,1,5"), {}, "line 2 holds 1 from a stop to itself"),
        (MATRIX.replace("3,0,5", "3,0,-5"), {}, "line 2 holds the distance '-5'"),
        (MATRIX.replace("3,0,5", "3,0"), {}, "line 2 holds 2 distances"),
        (",a,b,c\n" + MATRIX, {}, "line 2 holds the name '0'"),
        ("0,1\n1,0\n", {}, "holds 2 rows of distances"),
    ],
)
def test_a_bad_row_gets_one_sentence_with_file_and_line(tmp_path, text, options, sentence):
    with pytest.raises(FileError, match=sentence) as refused:
        read(tmp_path, text, **options)
    said = str(refused.value)
    assert said.startswith(f"{tmp_path / 'stops.csv'}: ")
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (XY, {}, "has demands, expected capacity=NUMBER"),
        ("x,y\n0,0\n3,4\n6,8\n", {"capacity": 5}, "has no column demand, expected no capacity"),
        (XY, {"capacity": 0}, r"Expected capacity in \[1e-06, "),
        (XY, {"capacity": 9.5, "split": True}, r"whole capacity with split=true, got 9\.5"),
        (XY.replace(",7", ",.12345"), {"capacity": 3e4}, "capacity of at most 21474.8"),
        (XY, {"capacity": 10, "ignore": "y,fax"}, "Expected ignore .*'fax'"),
        (XY, {"capacity": 10, "speed": 2}, "expected no speed"),
        (TIMED, {"capacity": 18, "speed": 0}, "Expected speed in"),
        (TIMED, {"capacity": 18, "split": True}, "has time windows, expected split=false"),
        (MATRIX, {"capacity": 5}, "Expected capacity with a table of stops"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, text, options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        read(tmp_path, text, **options)


@pytest.mark.parametrize(
    ("heading", "end", "demand", "cured", "works"),
    [
        ("", "", "9", "split=true delivers it in parts", {"split": True}),
        (",due", ",", "9", "a stop may have several rows, each with a part", {}),
        ("", "", "8.5", "a stop may have several rows, each with a part", {}),
    ],
)
def test_the_cure_of_a_demand_over_the_capacity_works(tmp_path, heading, end, demand, cured, works):
    table = f"name,x,y,demand{heading}\ndepot,0,0,{end}\na,3,4,{demand}{end}\nb,6,8,9{end}\n"
    with pytest.raises(FileError, match=rf"at most the capacity 5 \({cured}\)"):
        read(tmp_path, table, capacity=5)
    table = table.replace("b,6,8,9", "b,6,8,2")
    if not works:
        table = table.replace(f"a,3,4,{demand}", f"a1,3,4,4{end}\na2,3,4,{float(demand) - 4:g}")
    assert read(tmp_path, table, capacity=5, **works).size == 3 - len(works)


def test_a_column_that_ignore_cannot_name_gets_another_cure(tmp_path):
    for column, cure in (
        ("fax", "ignore=fax leaves it out"),
        ('"a,b"', "rename it"),
        ("a" * 40, f"ignore={'a' * 40} l"),
        ("a" * 41, "rename it"),
    ):
        with pytest.raises(FileError, match=cure) as told:
            read(tmp_path, f"x,y,{column}\n0,0,1\n3,4,1\n6,8,1\n")
        assert len(str(told.value).removeprefix(str(tmp_path))) < 250


def test_a_table_of_split_deliveries_takes_an_asymmetric_matrix(tmp_path):
    ways = np.array([[0.0, 1, 2], [3, 0, 4], [2, 4, 0]])
    (tmp_path / "stops.csv").write_text("name,x,y,demand\na,0,0,\nb,3,4,1\nc,1,1,1\n")
    found = api.read(tmp_path / "stops.csv", matrix=ways, capacity=2, split=True)
    assert found.data.between([0, 1], [1, 0]).tolist() == [1, 3]
    for cure in ((ways + ways.T) / 2, np.maximum(ways, ways.T)):
        again = api.read(tmp_path / "stops.csv", matrix=cure, capacity=2, split=True)
        assert not again.data.directed


def test_a_matrix_that_does_not_fit_its_table_is_named(tmp_path):
    table = "name,demand\ndepot,\na,1\nb,1\n"
    for text, sentence in (
        ("0,1,2,3\n1,0,2,3\n2,2,0,3\n3,3,3,0\n", "holds the distances of 4 stops, expected 3"),
        (",depot,b,a\ndepot,0,3,4\nb,3,0,5\na,4,5,0\n", "row 2 is named 'b', expected 'a'"),
    ):
        (tmp_path / "km.csv").write_text(text)
        with pytest.raises(FileError, match=sentence):
            read(tmp_path, table, capacity=1, matrix=tmp_path / "km.csv")


def test_commands_that_read_no_tables_say_who_does(data):
    problem = api.make_problem("cvrp")
    with pytest.raises(FileError, match=r"a table of stops, expected CVRP \(specahd solve reads"):
        problem.read(data / "stops.csv")


def test_an_empty_prize_means_that_a_stop_must_be_served(tmp_path):
    heading, depot, *stops = XY.splitlines()
    lines = [f"{heading},Prize", f"{depot},", f"{stops[0]},12.5", f"{stops[1]},", f"{stops[2]},0"]
    found = read(tmp_path, "\n".join(lines), capacity=10)
    assert found.data.prizes.tolist() == [0.0, 12.5, np.inf, 0.0]
    assert read(tmp_path, XY, capacity=10).data.prizes is None
    for cell, sentence in (("-1", "line 3 holds the prize -1"), ("inf", "line 3 holds the prize")):
        with pytest.raises(FileError, match=sentence):
            read(tmp_path, "\n".join(lines).replace("12.5", cell), capacity=10)
    with pytest.raises(FileError, match="line 2 holds the prize 3 of the depot, expected 0 or"):
        read(tmp_path, "\n".join(lines).replace("depot,0,0,,", "depot,0,0,,3"), capacity=10)
    for text, options in (
        ("\n".join(lines), {"capacity": 10, "split": True}),
        ("x,y,prize\n0,0,\n3,4,1\n", {}),
    ):
        with pytest.raises(FileError, match="the column demand, ready or due beside prize, and s"):
            read(tmp_path, text, **options)
