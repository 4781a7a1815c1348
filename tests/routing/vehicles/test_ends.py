"""Where vehicles of a type start and end: the reader, the checker by hand, and what outputs say."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from specahd import api
from specahd.api.incumbents import incumbent_case
from specahd.api.solutions import Solution
from specahd.core.errors import ConfigError, FileError
from specahd.repair.cases import Case
from specahd.reporting.route_page import route_page
from specahd.routing import itinerary
from specahd.routing.distances import PRICES, TYPE_TIMES
from specahd.routing.vehicles.assignment import assign
from specahd.routing.vehicles.feasibility import check, cost
from specahd.routing.vehicles.fleet import left_out, penalty, reduced, unservable
from specahd.routing.vehicles.instance import OUT_OF_REACH as OUT

TIMED = """\
name,x,y,demand,ready,due,service
depot,0,0,,0,200,
home,0,10,0,,,
a,3,4,1,,,5
yard,6,8,,,,0
b,0,20,2,,40,5
"""
"""From the depot a and yard are 5 and 10 away in one line, home and b 10 and 20 in another.
The ways from home to a and b are 6.7 and 10, and those from a and b to yard are 5 and 13.4."""
PLAIN = "".join(f"{','.join(line.split(',')[:4])}\n" for line in TIMED.splitlines())
A, B, HOME, YARD = range(1, 5)
VAN = {"name": "van", "capacity": 6}


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(*fleet, text=PLAIN, **options):
    Path("x.csv").write_text(text)
    return api.read("x.csv", fleet=list(fleet), **options).data


def without(text, *names):
    return "".join(x for x in text.splitlines(keepends=True) if x.split(",")[0] not in names)


def details(data, *routes):
    return [violation.detail for violation in check(data, routes)]


@pytest.mark.parametrize(
    ("ends", "named", "length"),
    [
        ({}, (0, 0), 10 + 40),
        ({"start": "depot", "end": "depot"}, (0, 0), 10 + 40),
        ({"start": "home"}, (3, 0), np.hypot(3, 6) + 5 + 10 + 20),
        ({"end": "yard"}, (0, 3), 5 + 5 + 20 + np.hypot(6, 12)),
        ({"start": "home", "end": "yard"}, (3, 4), np.hypot(3, 6) + 5 + 10 + np.hypot(6, 12)),
        ({"start": "home", "end": "home"}, (3, 3), 2 * np.hypot(3, 6) + 20),
    ],
)
def test_a_vehicle_drives_from_its_start_and_to_its_end(ends, named, length):
    data = read(VAN | ends, text=without(PLAIN, *{"home", "yard"} - set(ends.values())))
    assert (data.types[0].start, data.types[0].end) == named
    assert data.size == 2
    assert cost(data, ((1,), (2,))) == pytest.approx(length)
    assert cost(data, ((1,), (), (2,))) == pytest.approx(length)
    assert details(data, (1,), (2,)) == []


ENDS = {"start": "home", "end": "yard"}


@pytest.mark.parametrize(
    ("field", "text", "found"),
    [
        ({"max_distance": 12}, PLAIN, "Route 2 (van) is 23.41640786 long, more than 12."),
        ({"max_duration": 17}, TIMED, "Route 2 (van) takes 28.4164, more than 17."),
        ({"shift_start": 31}, TIMED, "Customer 'b' on route 2 is served at 41, after 40."),
        ({"shift_end": 28}, TIMED, "Route 2 (van) is back at 28.4164, after 28."),
    ],
)
def test_limits_and_shifts_are_checked_from_start_to_end(field, text, found):
    data = read(VAN | ENDS | field, text=text)
    assert details(data, (A,), (B,)) == [found]
    assert details(read(VAN | ENDS, text=text), (A,), (B,)) == []


def test_where_vehicles_start_decides_which_are_in_time():
    """From the depot b is reached at 20, from home at 10; it closes at 15."""
    text = TIMED.replace(",,40,", ",,15,")
    near = VAN | {"name": "near", "start": "home", "fixed_cost": 99}
    data = read(VAN, near, text=without(text, "yard"))
    assert [kind.name for kind in assign(data, ((1,), (2,))).types] == ["van", "near"]
    assert unservable(data) == {}
    assert details(data, (1,), (2,)) == []
    far = read(VAN | {"end": "yard"}, VAN | {"name": "b", "end": "home"}, text=text)
    assert unservable(far) == {2: OUT}


def test_where_vehicles_end_decides_which_are_back_in_time():
    text = without(TIMED.replace("yard,6,8", "yard,6,80"), "home")
    assert unservable(read(VAN | {"end": "yard", "shift_end": 86}, text=text)) == {1: OUT}


@pytest.mark.parametrize("ways", [None, np.array([[0, 99, 104], [99, 0, 5], [104, 5, 0]])])
def test_all_stops_may_be_out_of_reach_from_the_depot(ways):
    text = "name,x,y,demand,ready,due\ndepot,0,0,,0,200\nhome,100,0,,,\na,104,3,1,,9\n"
    data = read(VAN | {"start": "home", "end": "home"}, text=text, matrix=ways)
    assert details(data, (1,)) == []
    with pytest.raises(FileError, match="line 4 holds the due time 9, expected at least 104"):
        read(VAN | {"end": "home"}, text=text, matrix=ways)


WAYS = np.arange(25.0).reshape(5, 5) * (1 - np.eye(5))
"""In the order of the table: depot, home, a, yard, b."""


@pytest.mark.parametrize("coords", [True, False])
def test_distances_and_durations_come_from_the_matrices(coords):
    text = TIMED.replace(",200,", ",2000,").replace(",40,", ",900,")
    if not coords:
        rows = [line.split(",") for line in text.splitlines()]
        text = "".join(f"{','.join(row[:1] + row[3:])}\n" for row in rows)
    kind = VAN | ENDS | {"cost_per_duration": 1}
    data = read(kind, text=text, matrix=WAYS, durations=10 * WAYS)
    assert np.array_equal(data.matrix, WAYS[np.ix_([0, 2, 4], [0, 2, 4])])
    length = WAYS[1, 2] + WAYS[2, 4] + WAYS[4, 3]
    assert cost(data, ((A, B),)) == pytest.approx(length + 10 * length + 10)
    [[*_, last]] = itinerary.visits(data, ((A, B),))
    assert (last[0], last[1]["distance"], last[1]["duration"]) == (YARD, length, 10 * length)
    assert data.coords.shape == (3, 2)
    assert data.sites.coords.shape == (5, 2)


def test_a_way_that_no_vehicle_needs_may_be_missing():
    answer = {"code": "Ok", "distances": WAYS.tolist()}
    for start, end in ((0, 2), (4, 0), (3, 4), (1, 3), (2, 1)):
        answer["distances"][start][end] = None
    Path("ways.json").write_text(json.dumps(answer))
    data = read(VAN | ENDS, matrix="ways.json")
    assert details(data, (A, B)) == []
    columns = reduced(data).type_columns
    assert columns[PRICES][0, 0, 1:].tolist() == WAYS[1, [2, 4]].tolist()
    assert columns[PRICES][0, 1:, 0].tolist() == WAYS[[2, 4], 3].tolist()
    answer["distances"][4][3] = None
    Path("ways.json").write_text(json.dumps(answer))
    with pytest.raises(FileError, match="line 6 holds a stop without a way from b to yard, expec"):
        read(VAN | ENDS, matrix="ways.json")
    answer["distances"][4][3], answer["distances"][1][4] = 1, None
    Path("ways.json").write_text(json.dumps(answer))
    with pytest.raises(FileError, match="line 6 holds a stop without a way from home to b, expec"):
        read(VAN | ENDS, matrix="ways.json")


def test_the_checker_names_a_missing_way():
    answer = {"code": "Ok", "distances": WAYS.tolist()}
    answer["distances"][2][4] = None
    Path("ways.json").write_text(json.dumps(answer))
    data = read(VAN | ENDS, matrix="ways.json")
    assert "Route 1 drives from 'a' to 'b': no such way." in details(data, (A, B))


def test_places_on_the_earth_have_great_circles():
    text = "name,lon,lat,demand\ndepot,13.4,52.5,\nhome,13.5,52.5,\na,13.5,52.6,1\nb,13.4,52.6,2\n"
    data = read(VAN | {"start": "home", "end": "home"}, text=text)
    # A tenth of a degree of latitude is 11,120 m.
    assert cost(data, ((1,),)) == pytest.approx(2 * 11120, rel=1e-3)


def test_the_search_sees_the_ways_and_times_of_each_type():
    fleet = [
        VAN | ENDS | {"fixed_cost": 10, "cost_per_duration": 0.5},
        VAN | {"name": "other", "cost_per_distance": 2.0},
    ]
    data = read(*fleet, text=TIMED)
    seen = reduced(data)
    for kind, alone in enumerate(data.types):
        for route in ((A, B), (B, A), (A,), (B,)):
            walk = [0, *route, 0]
            priced = seen.type_columns[PRICES][kind, walk[:-1], walk[1:]].sum()
            single = replace(data, types=(alone,))
            assert priced == pytest.approx(cost(single, (route,)), rel=1e-12)
    leaving, returning = seen.type_columns[TYPE_TIMES][0]
    assert leaving[1:] == pytest.approx([np.hypot(3, 6), 10])
    assert returning[1:] == pytest.approx([5, np.hypot(6, 12)])
    # Each stop is in time that one of the types serves in time.
    assert seen.durations[0, 1:] == pytest.approx([5, 10])
    assert seen.durations[1:, 0] == pytest.approx([5, np.hypot(6, 12)])


def test_a_far_start_costs_less_than_leaving_a_stop_out():
    text = PLAIN.replace("home,0,10", "home,0,9000")
    data = read(VAN | ENDS, text=text)
    assert penalty(data) > cost(data, ((1,), (2,)))
    prizes = dict.fromkeys("ab", ",8") | {"name": ",prize"}
    text = "".join(f"{x}{prizes.get(x.split(',')[0], ',')}\n" for x in PLAIN.splitlines())
    prized = read(VAN | ENDS, text=text)
    # It costs 11.7 to serve a alone.
    assert left_out(prized, ((B,),)) == [(1, "not worth it", 8.0)]


@pytest.mark.parametrize(
    ("fleet", "text", "options", "found"),
    [
        ("garage,", PLAIN, {}, "fleet.csv: line 2 holds the start garage, expected the name of a"),
        (
            ",garage",
            PLAIN,
            {},
            "fleet.csv: line 2 holds the end garage, expected the name of a row",
        ),
        (
            ",yard",
            PLAIN,
            {"open": True},
            "fleet.csv: line 2 holds the end yard, expected none with",
        ),
        (
            "a,",
            PLAIN,
            {},
            "x.csv: line 4 holds the demand 1 of 'a', where vehicles start or end, expected",
        ),
        ("b,", TIMED.replace("20,2", "20,"), {}, "x.csv: line 6 holds the due 40 of 'b', where"),
        ("yard,", TIMED.replace(",,,0\n", ",0,,0\n"), {}, "x.csv: line 5 holds the ready 0 of"),
        ("yard,", TIMED.replace(",,,0\n", ",,,9\n"), {}, "x.csv: line 5 holds the service 9 of"),
        (
            "home,",
            "name,x,y,demand,prize\ndepot,0,0,,\nhome,1,1,,5\na,3,4,1,\n",
            {},
            "x.csv: line 3 holds the prize 5 of 'home', where vehicles start or end, expected",
        ),
        ("home,", "x,y,demand\n0,0,\n3,4,1\n", {}, "fleet.csv: line 2 holds the start home, expec"),
        (
            "home,",
            "name,x,y,demand\ndepot,0,0,\nhome,0,1,\n",
            {},
            "x.csv: holds no stop beside the depot and the ends of routes.",
        ),
    ],
)
def test_what_is_no_place_is_refused_with_its_line(fleet, text, options, found):
    Path("fleet.csv").write_text(f"name,capacity,start,end\nvan,6,{fleet}\n")
    Path("x.csv").write_text(text)
    with pytest.raises(FileError) as error:
        api.read("x.csv", fleet="fleet.csv", **options)
    assert str(error.value).startswith(found)
    assert len(str(error.value)) < 250


def test_files_without_names_and_tours_have_no_places():
    fleet = [{"name": "van", "start": "5"}]
    with pytest.raises(
        FileError, match="holds the start 5, expected none: sample-cvrp is no table"
    ):
        api.read("samples/cvrp.vrp", fleet=fleet)
    with pytest.raises(ConfigError, match="Expected no fleet for x, which has a tour"):
        read(VAN | ENDS, text="name,x,y\nhome,0,0\nyard,3,4\nc,6,0\n")
    with pytest.raises(ConfigError, match="Expected no fleet for x, whose deliveries are split"):
        read(VAN | ENDS, split=True)


DAY = """\
name,lon,lat,demand,ready,due
depot,13.40,52.52,,08:00,16:00
a,13.41,52.52,2,,
Höfe,13.50,52.60,,,
b,13.45,52.55,4,09:00,
c,13.30,52.50,1,,
home,13.20,52.40,,,
"""


ROUTES = ((1,), (3, 2))


@pytest.fixture
def outputs(tmp_path):
    """The content of each output of two routes, and the instance."""
    Path("day.csv").write_text(DAY)
    fleet = [
        {"name": "van", "capacity": 4, "count": 1, "start": "home", "end": "Höfe"},
        {"name": "truck", "capacity": 9, "fixed_cost": 90000},
    ]
    found = api.read("day.csv", speed=10, fleet=fleet)
    price = found.problem.cost(found.data, ROUTES)
    solution = Solution(found.problem, Case(found.data, ROUTES, price, "x"), ROUTES, price)
    files = [Path(f"x{ending}") for ending in (".sol", ".json", ".csv", ".geojson", ".html")]
    solution.write(*files)
    return {each.suffix: each.read_text() for each in files}, found, solution


def test_tables_and_maps_lead_from_the_start_to_the_end(outputs):
    text, found, solution = outputs
    rows = [line.split(",") for line in text[".csv"].splitlines()]
    names = [row[3] for row in rows[1:] if row[1] == "van"]
    assert names == ["home", "a", "Höfe"]
    assert [row[3] for row in rows[1:] if row[1] == "truck"] == ["depot", "c", "b", "depot"]
    lines = {
        each["properties"]["type"]: each["geometry"]["coordinates"]
        for each in json.loads(text[".geojson"])["features"]
        if each["geometry"]["type"] == "LineString"
    }
    assert lines["van"] == [[13.2, 52.4], [13.41, 52.52], [13.5, 52.6]]
    record = json.loads(text[".json"])
    assert record["routes"] == [["a"], ["c", "b"]]
    assert [row["name"] for row in record["visits"][0]] == names
    data = found.data
    ways = data.between([5, 1], [1, 4])
    [[_, _, last], _] = solution.visits()
    assert last[1]["distance"] == ways.sum()
    begin, arrival, end = itinerary.times(data, ROUTES)[0]
    assert begin["departure"] >= 8 * 3600
    assert arrival["arrival"] - begin["departure"] == pytest.approx(ways[0] / 10)
    assert end["arrival"] - arrival["departure"] == pytest.approx(ways[1] / 10)


def test_the_page_and_the_picture_have_the_places(outputs):
    text, _, solution = outputs
    assert text[".html"].count('<rect class="depot"') == 3
    for name in ("home", "Höfe"):
        assert f"<title>{name}</title></rect>" in text[".html"]
    [van] = [part for part in text[".html"].split("<section") if "Vehicle 1 (van)</h3>" in part]
    assert van.index("home") < van.index(">a<") < van.rindex("Höfe")
    assert "2 vehicles, 3 stops" in text[".html"]
    assert "Left out" not in text[".html"]
    drawn = solution.drawn()
    assert drawn["ends"] == {"before": [(5, 4), (0, 0)], "after": [(5, 4), (0, 0)]}
    assert drawn["names"][4:] == ["Höfe", "home"]
    assert solution.plot().axes[0].lines


@pytest.mark.parametrize("ending", [".sol", ".json", ".csv", ".geojson"])
def test_what_was_written_is_an_incumbent(outputs, ending):
    _, found, _ = outputs
    assert incumbent_case(found.problem, found.data, f"x{ending}").baseline == ROUTES


def test_the_last_stop_of_an_open_route_is_not_drawn_as_left_out():
    data = read(VAN | {"start": "home"}, text=without(PLAIN, "yard"), open=True)
    text = route_page(data, ((1,), (2,)), cost(data, ((1,), (2,))))
    assert 'class="out"' not in text
    assert cost(data, ((1,), (2,))) == pytest.approx(np.hypot(3, 6) + 10)
