"""Solving with limits and prices of vehicles; PyVRP gives a second opinion of every solution."""

import json
import re
import warnings

import numpy as np
import pytest
from pyvrp import CostEvaluator, Solution

from specahd import api
from specahd.api.fleets import servable, start_of
from specahd.core.errors import ConfigError, FileWarning
from specahd.engine import tiles
from specahd.repair.cases import Case
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.baselines import problem_data
from specahd.routing.vehicles.fleet import relaxed
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.solve import main as command


@pytest.fixture(scope="module")
def stops(tmp_path_factory):
    """A table of 60 stops without times, and one with windows that a third of them have."""
    rng = np.random.default_rng(3)
    places = rng.integers(0, 1000, (61, 2)).tolist()
    demands = rng.integers(1, 6, 61).tolist()
    folder = tmp_path_factory.mktemp("stops")
    plain, timed = ["name,x,y,demand"], ["name,x,y,demand,ready,due,service"]
    for number, ((x, y), demand) in enumerate(zip(places, demands, strict=True)):
        name = "depot" if number == 0 else f"s{number}"
        demand = demand if number else 0
        plain.append(f"{name},{x},{y},{demand}")
        window = "1500,3500,20" if number % 3 == 1 else "0,,20"
        timed.append(f"{name},{x},{y},{demand},{window if number else '0,6000,0'}")
    paths = folder / "plain.csv", folder / "timed.csv"
    for path, lines in zip(paths, (plain, timed), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def second_opinion(found, routes):
    """Return PyVRP's cost of routes, in the file's unit; they are feasible to it."""
    data = found.data
    theirs = problem_data(data, data.whole_matrix("pyvrp"))
    solution = Solution(theirs, [[node - 1 for node in route] for route in routes])
    assert solution.is_feasible() == (found.problem.check(found.data, routes) == ())
    parts = theirs.distance_matrix(0)[0, 1] / data.between(0, 1)
    return CostEvaluator([1], 1, 1).penalised_cost(solution) / float(parts) / data.parts


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (0, {"max_distance": 3200.0}),
        (0, {"max_duration": 3200.0, "fixed_cost": 250.0}),
        (0, {"vehicles": 10, "fixed_cost": 10.0}),
        (1, {"vehicles": 12}),
        (1, {"fixed_cost": 400.0}),
    ],
)
def test_the_solution_holds_to_every_limit_by_both_checkers(stops, table, options):
    found = api.read(stops[table], capacity=20, **options)
    solved = api.solve(found, repairs=60_000, seed=1)
    assert found.problem.check(found.data, solved.data) == ()
    assert solved.cost == pytest.approx(found.problem.cost(found.data, solved.data), rel=1e-12)
    assert second_opinion(found, solved.routes) == pytest.approx(solved.cost, rel=1e-4)
    assert solved.cost < solved.incumbent_cost
    again = api.solve(found, repairs=60_000, seed=1)
    assert again.data == solved.data


@pytest.fixture
def tight(tmp_path):
    """A table whose construction takes 20 vehicles, where 18 have room for all demands."""
    rng = np.random.default_rng(5)
    places = rng.integers(0, 1000, (61, 2)).tolist()
    demands = [0, *rng.integers(3, 12, 61).tolist()[1:]]
    lines = [f"s{n},{x},{y},{demands[n]}" for n, (x, y) in enumerate(places)]
    path = tmp_path / "tight.csv"
    path.write_text("\n".join(["name,x,y,demand", *lines]) + "\n")
    return path


def test_the_fleet_is_kept_from_a_start_with_more_vehicles(tight):
    free = api.read(tight, capacity=24)
    assert len(free.problem.baseline(free.data, "savings")) == 20
    solved = api.solve(api.read(tight, capacity=24, vehicles=18), repairs=60_000)
    assert len(solved.routes) == 18
    assert solved.unserved == []


def test_a_fleet_that_cannot_serve_all_serves_as_many_as_it_can(tight, tmp_path):
    """The demands of all fill more than 17 vehicles."""
    found = api.read(tight, capacity=24, vehicles=12)
    with pytest.warns(UserWarning, match=r"\d+ of the stops that must be served are left out: s"):
        solved = api.solve(found, repairs=60_000)
    assert len(solved.routes) == 12
    missing = [int(row["name"][1:]) for row in solved.unserved]
    assert {row["reason"] for row in solved.unserved} == {"no vehicle with room"}
    violations = found.problem.check(found.data, solved.data)
    assert [each.kind for each in violations] == ["missing_customer"] * len(missing)
    # The lightest ones fit in greatest number.
    demands = np.sort(found.data.demands[1:])
    most = int((np.cumsum(demands) <= 12 * 24).sum())
    assert 60 - most <= len(missing) <= 60 - most + 2
    assert solved.cost == found.problem.cost(found.data, solved.data)
    assert all(cost < 1e5 for _, cost, _ in solved.history)
    with warnings.catch_warnings():
        # The file states the cost without what is left out.
        warnings.filterwarnings("error", category=FileWarning)
        warnings.filterwarnings("ignore", "tight: ")
        path = solved.write(tmp_path / "rest.sol")
        again = api.solve(found, repairs=1000, incumbent=path)
    assert len(again.unserved) <= len(missing)
    assert again.incumbent_cost == solved.cost


@pytest.mark.parametrize("table", [0, 1])
def test_stops_are_left_out_at_their_prizes_by_both_objectives(stops, table):
    rng = np.random.default_rng(8)
    prizes = [None, *rng.integers(0, 400, 59).tolist()]
    found = api.read(stops[table], capacity=20, prizes=prizes)
    solved = api.solve(found, repairs=60_000, seed=1)
    missing = [int(row["name"][1:]) for row in solved.unserved]
    assert 5 < len(missing) < 55
    assert 1 not in missing
    assert {row["reason"] for row in solved.unserved} == {"not worth it"}
    assert found.problem.check(found.data, solved.data) == ()
    lost = sum(prizes[node - 1] for node in missing)
    assert sum(row["prize"] for row in solved.unserved) == lost
    plain = api.read(stops[table], capacity=20)
    assert solved.cost == pytest.approx(plain.problem.cost(plain.data, solved.data) + lost)
    assert second_opinion(found, solved.routes) == pytest.approx(solved.cost, rel=1e-4)
    # Every stop is worth its prize.
    for route in solved.routes:
        for node in set(route) - {1}:
            less = tuple(tuple(each for each in one if each != node) for one in solved.data)
            assert found.problem.cost(found.data, tuple(filter(None, less))) >= solved.cost
    theirs = found.problem.baseline(found.data, "pyvrp")
    assert found.problem.check(found.data, theirs) == ()
    assert solved.cost < 1.03 * found.problem.cost(found.data, theirs)


def test_all_outputs_say_what_is_left_out_and_why(tmp_path):
    path = tmp_path / "day.csv"
    path.write_text(
        "name,lon,lat,demand,ready,due,prize\ndepot,13.40,52.52,,08:00,16:00,\n"
        "heavy,13.41,52.52,99,,,\nfar,14.90,52.52,1,,09:00,\nworthless,13.60,52.60,1,,,5\n"
        "near,13.41,52.53,1,,,\nworthy,13.42,52.53,1,,,90000\n"
    )
    found = api.read(path, capacity=10, speed=10)
    with pytest.warns(UserWarning, match=r"2 of the stops that must be served are left out: heavy"):
        solved = api.solve(found, repairs=200)
    reasons = {"heavy": "too heavy", "far": "out of reach in time", "worthless": "not worth it"}
    assert {row["name"]: row["reason"] for row in solved.unserved} == reasons
    assert solved.unserved[2]["prize"] == 5
    endings = (".sol", ".json", ".csv", ".geojson", ".html")
    files = {ending: tmp_path / f"out{ending}" for ending in endings}
    solved.write(*files.values())
    text = {ending: file.read_text() for ending, file in files.items()}
    assert json.loads(text[".json"])["unserved"] == solved.unserved
    table = [line.split(",") for line in text[".csv"].splitlines()]
    assert [(row[0], row[2], row[-1]) for row in table[-3:]] == [
        ("", *each) for each in reasons.items()
    ]
    points = [each["properties"] for each in json.loads(text[".geojson"])["features"]]
    assert {row["name"]: row["reason"] for row in points if "reason" in row} == reasons
    [_, listed] = text[".html"].split("<h2>Left out")
    for name, reason in reasons.items():
        assert f"{name}: left out, {reason}" in text[".html"]
        assert re.search(rf">{name}</t[hd]>.*{reason}", listed)
    for ending in endings[:-1]:
        with pytest.warns(UserWarning, match="must be served"):
            again = api.solve(found, repairs=10, incumbent=files[ending])
        assert again.cost <= solved.cost


def test_a_limited_fleet_starts_with_the_routes_of_most_stops():
    data = VehicleInstance(
        "x", np.zeros((5, 2)), np.array([0, 1, 1, 1, 1]), 9, Convention.EUC_2D, fleet=1
    )
    seen = relaxed(data)
    built, nodes = servable(seen)
    start = Case(built, ((2,), (1, 3, 4)), 0.0, "savings")
    found = start_of(api.make_problem("cvrp"), seen, start, nodes)
    assert (found.baseline, found.source) == (((1, 3, 4),), "savings, 1 left out")


def test_one_worker_searches_where_stops_may_be_left_out(stops, monkeypatch):
    monkeypatch.setattr(tiles, "LEAST_CUSTOMERS", 30)
    found = api.read(stops[0], capacity=20, prizes=[9] * 60)
    with pytest.warns(UserWarning, match="One worker searches plain, whose stops may be left out"):
        api.solve(found, repairs=100, workers=2)


def test_prizes_of_nothing_are_refused(stops):
    with pytest.raises(ConfigError, match="plain: no stop that can be served has a prize above 0"):
        api.solve(api.read(stops[0], capacity=20, prizes=[0] * 60), repairs=10)


def test_where_nothing_is_worth_it_no_vehicle_leaves(tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("name,x,y,demand,prize\ndepot,0,0,,\na,30,40,1,1\nb,-3,4,1,2\n")
    solved = api.solve(api.read(path, capacity=10), repairs=200)
    assert (solved.routes, solved.cost) == ((), 3.0)
    solved.write(tmp_path / "x.sol", tmp_path / "x.csv", tmp_path / "x.html", tmp_path / "x.json")
    assert "a,not worth it" in (tmp_path / "x.csv").read_text()


def test_a_price_of_vehicles_saves_vehicles(tight):
    solved = api.solve(api.read(tight, capacity=24, fixed_cost=5000.0), repairs=60_000)
    assert len(solved.routes) == 18


def test_the_baseline_of_pyvrp_knows_the_limits_too(stops):
    found = api.read(stops[0], capacity=20, max_distance=3200.0, fixed_cost=100.0)
    solution = found.problem.baseline(found.data, "pyvrp")
    assert found.problem.check(found.data, solution) == ()


FLEET = "name,count,capacity,fixed_cost,cost_per_distance\nvan,6,20,50,0.6\ntruck,,45,200,1.1\n"


def test_a_table_of_types_is_an_option_of_the_command(stops, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fleet.csv").write_text(FLEET)
    monkeypatch.setattr(
        "sys.argv",
        ["solve", f"instance={stops[0]}", "fleet=fleet.csv", "repairs=20000", "out=a.json,a.sol"],
    )
    assert command() == 0
    record = json.loads((tmp_path / "a.json").read_text())
    assert len(record["types"]) == record["vehicles"] == len(record["routes"])
    assert 1 <= record["types"].count("van") <= 6
    assert record["unserved"] == []
    assert f"Types: {', '.join(record['types'])}\n" in (tmp_path / "a.sol").read_text()
    assert "fleet.csv" in record["inputs"]["sha256"]
    monkeypatch.setattr("sys.argv", ["solve", f"instance={stops[0]}", "fleet=a.json"])
    assert command() == 2
    assert "a.json" in capsys.readouterr().err


def test_all_outputs_name_the_type_of_each_route(tmp_path):
    (tmp_path / "fleet.csv").write_text(
        "name;count;capacity;cost_per_distance;shift_start\nVan <b>;1;2,5;0,5;09:00\nTruck;;6;1;\n"
    )
    (tmp_path / "day.csv").write_text(
        "name,lon,lat,demand,ready,due\ndepot,13.40,52.52,,08:00,16:00\na,13.41,52.52,2,,\n"
        "b,13.45,52.55,4,,\nc,13.30,52.50,1.5,,\n"
    )
    found = api.read(tmp_path / "day.csv", speed=10, fleet=tmp_path / "fleet.csv")
    assert found.data.capacity == 60
    solved = api.solve(found, repairs=2000)
    assert sorted(solved.types) == ["Truck", "Van <b>"]
    endings = (".sol", ".json", ".csv", ".geojson", ".html")
    files = {ending: tmp_path / f"out{ending}" for ending in endings}
    solved.write(*files.values())
    text = {ending: file.read_text() for ending, file in files.items()}
    assert json.loads(text[".json"])["types"] == solved.types
    rows = [line.split(",") for line in text[".csv"].splitlines()]
    assert rows[0][1] == "type"
    assert {(row[0], row[1]) for row in rows[1:]} == set(zip("12", solved.types, strict=True))
    features = json.loads(text[".geojson"])["features"]
    lines = [each["properties"] for each in features if each["geometry"]["type"] == "LineString"]
    assert [line["type"] for line in lines] == solved.types
    assert "(Van &lt;b&gt;)" in text[".html"]
    assert "</a> Van &lt;b&gt;</td>" in text[".html"]
    # A vehicle of the type leaves in its shift.
    place = solved.types.index("Van <b>")
    assert all(row["departure"] >= "09:00" for _, row in solved.visits()[place][:-1])
    for ending in endings[:-1]:
        again = api.solve(found, repairs=10, incumbent=files[ending])
        assert again.incumbent_cost == pytest.approx(solved.cost, rel=1e-12)


def test_too_few_vehicles_of_all_types_serve_as_many_stops_as_they_can(stops):
    fleet = [
        {"name": "van", "count": 2, "capacity": 20},
        {"name": "truck", "count": 1, "capacity": 45},
    ]
    found = api.read(stops[0], fleet=fleet)
    with pytest.warns(UserWarning, match=r"\d+ of the stops that must be served are left out"):
        solved = api.solve(found, repairs=60_000)
    assert sorted(solved.types) == ["truck", "van", "van"]
    lightest = np.sort(found.data.demands[1:])
    most = int((np.cumsum(lightest) <= 85).sum())
    assert 0 <= 60 - len(solved.unserved) - most + 3 <= 3
    assert solved.cost == found.problem.cost(found.data, solved.data)
