"""What each vehicle does stop by stop, as drivers, spreadsheets and maps get it."""

import csv
import io
import json
from types import SimpleNamespace

import pytest

from specahd import api
from specahd.core.errors import ConfigError
from specahd.routing import itinerary

PLANE = "name,x,y,demand,ready,due,service\nb,6,8,6,60,90,2\nhome,0,0,,5,400,3\na,3,4,5.5,0,50,2\n"


def rows(instance, routes, ending=".csv"):
    text = itinerary.FORMATS[ending](instance.data, routes)
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def read(tmp_path, text, **options):
    (tmp_path / "stops.csv").write_text(text)
    return api.read(tmp_path / "stops.csv", **options)


def test_a_vehicle_leaves_just_in_time_and_waits_later(tmp_path):
    text = PLANE.replace("home", "depot")
    instance = read(tmp_path, text, capacity=12, speed=0.5)
    [route] = [((2, 1),)]
    found = itinerary.visits(instance.data, route)
    assert instance.problem.check(instance.data, route) == ()
    [vehicle] = found
    assert [node for node, _ in vehicle] == [0, 2, 1, 0]
    lines = [list(row.values()) for _, row in vehicle]
    # vehicle, order, name, arrival, wait, start, departure, quantity, load, distance, duration
    assert lines == [
        [1, 0, "depot", None, None, 5, 8, 0, 11.5, 0, 0],
        [1, 1, "a", 18, 0, 18, 20, 5.5, 6, 5, 10],
        [1, 2, "b", 30, 30, 60, 62, 6, 0, 10, 20],
        [1, 3, "depot", 82, None, None, None, 0, 0, 20, 40],
    ]
    [early] = itinerary.visits(instance.data, ((1, 2),))
    # Nothing waits for a window before the first stop but the vehicle in the depot.
    assert early[0][1]["departure"] == 40
    assert (early[1][1]["arrival"], early[1][1]["wait"]) == (60, 0)


def test_only_what_has_a_meaning_has_a_column(tmp_path, data):
    tour = read(tmp_path, "name,x,y\na,0,0\nb,3,4\nc,6,8\n")
    assert rows(tour, [(2, 0, 1)]) == [
        {"vehicle": "1", "order": "0", "name": "a", "distance": "0"},
        {"vehicle": "1", "order": "1", "name": "b", "distance": "5"},
        {"vehicle": "1", "order": "2", "name": "c", "distance": "10"},
        {"vehicle": "1", "order": "3", "name": "a", "distance": "20"},
    ]
    # Without the last digits, which a sum alone has.
    tenths = rows(read(tmp_path, "x,y\n0,0\n0.2,0\n0.9,0\n"), [(0, 1, 2)])
    assert [row["distance"] for row in tenths] == ["0", "0.2", "0.9", "1.8"]
    plain = rows(api.read(data / "tiny.vrp"), [(3,), (1, 2)])
    assert list(plain[0]) == ["vehicle", "order", "name", "quantity", "load", "distance"]
    assert [row["name"] for row in plain] == ["depot", "3", "depot", "depot", "1", "2", "depot"]
    nine = rows(api.read(data / "nine.tsp"), [tuple(range(9))])
    assert [row["name"] for row in nine] == [*"1234567891"]
    times = read(tmp_path, "x,y,due\n0,0,9\n1,0,\n")
    assert "load" not in rows(times, [(1,)])[0]


def test_a_name_is_no_formula_and_no_control_character_in_a_spreadsheet(tmp_path):
    text = 'name,x,y\na\x1b[31m,0,0\n"=HYPERLINK(""http://h"")",3,4\n\u202eb,6,8\n'
    found = rows(read(tmp_path, text), [(0, 1, 2)])
    names = [row["name"] for row in found]
    assert names == ["a\\x1b[31m", '\'=HYPERLINK("http://h")', "\\u202eb", "a\\x1b[31m"]


def test_a_map_shows_the_control_characters_of_a_name_as_escapes(tmp_path):
    name = "nord\u202e\x85\x7f"
    instance = read(tmp_path, f"name,lat,lon\ndépôt,52.52,13.40\n{name},52.52,13.41\nb,52.5,13.4\n")
    text = itinerary.FORMATS[".geojson"](instance.data, [(0, 1, 2)])
    assert r'"nord\u202e\u0085\u007f"' in text
    assert json.loads(text)["features"][2]["properties"]["name"] == name


def test_parts_are_delivered_as_they_are_split(tmp_path):
    instance = read(tmp_path, "x,y,demand\n0,0,\n3,4,5\n", capacity=3, split=True)
    found = rows(instance, [((1, 3),), ((1, 2),)])
    assert [(row["quantity"], row["load"]) for row in found] == [
        ("0", "3"), ("3", "0"), ("0", "0"), ("0", "2"), ("2", "0"), ("0", "0"),
    ]  # fmt: skip
    [vehicle] = itinerary.visits(instance.data, [((1, None),)])
    assert vehicle[1][1]["quantity"] == 5


@pytest.mark.parametrize("name", ["sdvrp", "tsp", "vrptw"])
def test_distances_add_up_to_the_cost_and_nobody_is_late(name):
    problem = api.make_problem(name)
    instance = next(problem.generate("lower_train", 1))
    solution = problem.baseline(instance, "nearest")
    found = itinerary.visits(instance, [solution] if name == "tsp" else solution)
    last = [vehicle[-1][1] for vehicle in found]
    assert sum(row["distance"] for row in last) == pytest.approx(problem.cost(instance, solution))
    if name == "vrptw":
        due = instance.windows.due / instance.parts
        for vehicle in found:
            assert vehicle[-1][1]["arrival"] <= due[0]
            assert all(row["start"] <= due[node] for node, row in vehicle[:-1])
            assert all(row["wait"] >= 0 for _, row in vehicle[1:-1])


def test_what_is_held_in_tenths_is_told_in_the_unit_of_the_file(data):
    instance = api.read(data / "elsewhere" / "few-solomon.txt")
    assert instance.data.parts == 10
    routes, cost = instance.problem.read_solution(data / "elsewhere" / "few-solomon.sol")
    ends = [vehicle[-1][1] for vehicle in itinerary.visits(instance.data, routes)]
    assert sum(row["distance"] for row in ends) == pytest.approx(cost)
    assert [row["duration"] for row in ends] == [row["distance"] for row in ends]


def test_degrees_are_told_to_maps_and_clock_times_as_such(tmp_path):
    text = "name,lon,lat,due\ndépôt,13.40,52.52,18:00\nnord,13.41,52.52,09:00\n"
    instance = read(tmp_path, text, speed=8.3)
    text = itinerary.FORMATS[".geojson"](instance.data, [(1,)])
    assert '"dépôt"' in text
    found = json.loads(text)
    line, *points = found["features"]
    assert found["type"] == "FeatureCollection"
    assert line["geometry"] == {
        "type": "LineString",
        "coordinates": [[13.40, 52.52], [13.41, 52.52], [13.40, 52.52]],
    }
    assert line["properties"] == {"vehicle": 1, "distance": 1354, "duration": "00:02:43"}
    assert [point["geometry"]["coordinates"][0] for point in points] == [13.40, 13.41, 13.40]
    assert [point["properties"]["name"] for point in points] == ["dépôt", "nord", "dépôt"]
    assert points[1]["properties"]["arrival"] == "00:01:22"


def test_a_map_of_a_plane_is_refused(data, tmp_path):
    solution = api.Solution(
        api.make_problem("cvrp"),
        SimpleNamespace(instance=api.read(data / "tiny.vrp").data, cost=206.0),
        ((1, 2, 3), (4, 5)),
        206.0,
    )
    with pytest.raises(ConfigError, match=r"the columns lon and lat for .*x\.geojson"):
        solution.write(tmp_path / "x.geojson")
    # The byte order mark tells a spreadsheet that letters are in UTF-8.
    content = solution.write(tmp_path / "x.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfvehicle,order,name,quantity")
    assert repr(solution) == "<Solution of tiny: cvrp, cost 206, 2 routes>"
    assert repr(api.read(data / "tiny.vrp")) == "<tiny: cvrp of size 5>"
