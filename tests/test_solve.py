"""``specahd solve``: from a file to routes or a tour, as a user meets it."""

import csv
import hashlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from itertools import permutations
from pathlib import Path

import numpy as np
import psutil
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from commands import call, run, start
from specahd import __main__, api
from specahd.config import SAMPLES
from specahd.config.cli import result_inputs
from specahd.config.words import check_output_path, output_names, quote_files
from specahd.core.errors import ConfigError, UserError
from specahd.engine.improver import SandboxedEngine

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"


@pytest.fixture
def place(tmp_path):
    """Where a user stands, with a tiny file, and files of 200 customers and of 200 nodes."""
    shutil.copy(DATA / "tiny.vrp", tmp_path / "my.vrp")
    for problem in map(api.make_problem, ("cvrp", "tsp")):
        path = tmp_path / f"large{problem.suffix}"
        path.write_text(problem.dumps(next(problem.generate("validation", 1))))
    return tmp_path


def cost_of(solution, instance):
    """Return what the solution in a file costs; it is feasible, and states that if any cost."""
    found = api.read(instance)
    routes, stated = found.problem.read_solution(solution)
    assert found.problem.check(found.data, routes) == ()
    cost = found.problem.cost(found.data, routes)
    assert stated == (None if Path(solution).suffix == ".tour" else pytest.approx(cost))
    return cost


@pytest.mark.parametrize(
    ("file", "suffix", "construction", "route"),
    [("large.vrp", ".sol", "savings", " routes\n"), ("large.tsp", ".tour", "two_opt", "1 route\n")],
)
def test_a_file_is_solved_and_everything_is_written(place, file, suffix, construction, route):
    done = run("specahd", "solve", file, "time_limit=1", "target=1", "plot=routes.png", cwd=place)
    assert done.returncode == 0, done.stderr
    [solution] = (place / "solutions").glob(f"*/*{suffix}")
    statistics = json.loads(solution.with_suffix(".json").read_text())
    assert cost_of(solution, place / file) == statistics["cost"]
    assert (statistics["set"], statistics["best_known"], statistics["gap"]) == (None, None, None)
    assert statistics["cost"] < statistics["start"]["cost"]
    assert statistics["start"]["source"] == construction
    assert (statistics["ended"], statistics["failure"]) == ("time", "")
    seconds, costs, repairs = zip(*statistics["history"], strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(costs) == sorted(costs, reverse=True)
    assert costs[-1] == statistics["cost"]
    assert repairs[-1] <= statistics["repairs"]
    assert (place / "routes.png").read_bytes().startswith(b"\x89PNG")
    written = str(solution.relative_to(place))
    for words in (construction, route, "repairs", "gap +", written, "routes.png"):
        assert words in done.stdout
    assert "repairs/s" in done.stderr
    assert "s left" in done.stderr


@pytest.mark.parametrize("file", ["large.vrp", "large.tsp"])
def test_equal_seeds_and_repairs_are_equal_bytes(place, file):
    options = [f"instance={file}", "repairs=10000"]
    call("solve", *options, "out=one.sol", cwd=place)
    call("solve", *options, "out=two.sol", cwd=place, cold=True)
    call("solve", *options, "seed=1", "out=other.sol", cwd=place)
    one, two, other = ((place / f"{name}.sol").read_bytes() for name in ("one", "two", "other"))
    assert one == two != other
    statistics = json.loads((place / "one.json").read_text())
    assert statistics["ended"] == "repairs"
    assert statistics["repairs"] >= 10_000
    assert not (place / "solutions").exists()


def test_the_shortest_tour_of_few_nodes_is_found(place):
    nine = DATA / "nine.tsp"
    call("solve", f"instance={nine}", "repairs=3000", "out=tiny.sol", cwd=place)
    given = api.read(nine)
    costs = (given.problem.cost(given.data, (0, *order)) for order in permutations(range(1, 9)))
    assert cost_of(place / "tiny.sol", nine) == min(costs)
    programs = json.loads((place / "tiny.json").read_text())["programs"]
    assert programs == ["upper-neighbouring-strings", "lower-greedy-with-blinks"]


@pytest.mark.parametrize("capacity", [60, 400])
def test_several_workers_are_equal_bytes_and_never_worse(place, capacity):
    """Short routes and long ones, of which parts are exchanged."""
    rng = np.random.default_rng(0)
    rows = [f"{x},{y},{x % 9 + 1}" for x, y in rng.integers(0, 1000, (1000, 2)).tolist()]
    (place / "many.csv").write_text("\n".join(["x,y,demand", "500,500,", *rows]))
    options = ["instance=many.csv", f"capacity={capacity}", "workers=3", "repairs=30000"]
    done = call("solve", *options, "out=one.sol", cwd=place)
    call("solve", *options, "out=two.sol", cwd=place)
    assert (place / "one.sol").read_bytes() == (place / "two.sol").read_bytes()
    statistics = json.loads((place / "one.json").read_text())
    assert statistics["workers"] == 2
    assert statistics["cost"] < statistics["start"]["cost"]
    assert "many keeps 2 of 3 workers busy: each should have 500 customers." in done.stderr
    assert "/s, 2 workers)" in done.stdout


def test_a_small_instance_is_solved_as_by_one_worker(place):
    options = ["instance=large.vrp", "repairs=3000"]
    call("solve", *options, "out=one.sol", cwd=place)
    several = ["workers=2", "cluster=nowhere:1"]
    done = call("solve", *options, *several, "out=two.sol", cwd=place)
    assert (place / "one.sol").read_bytes() == (place / "two.sol").read_bytes()
    assert "keeps 1 of 2 workers busy" in done.stderr
    assert "nowhere:1 is not used." in done.stderr


def test_a_public_instance_has_its_gap(place):
    (place / "sets" / "cvrp_x").mkdir(parents=True)
    (place / "large.vrp").rename(place / "sets" / "cvrp_x" / "large.vrp")
    columns = "set,name,bks,convention,verified_cost,note"
    (place / "sets" / "bks.csv").write_text(f"{columns}\ncvrp_x,large,100,euc2d-rounded,,\n")
    call("solve", "instance=sets/cvrp_x/large.vrp", "repairs=300", "out=one.sol", cwd=place)
    told = json.loads((place / "one.json").read_text())
    assert (told["set"], told["best_known"]) == ("cvrp_x", 100.0)
    assert told["gap"] == pytest.approx(told["cost"] / 100 - 1)
    assert told["baseline_gap"] == pytest.approx(told["baseline_cost"] / 100 - 1)


def test_deliveries_are_split_and_an_incumbent_with_parts_is_never_spoilt(place):
    problem = api.make_problem("sdvrp")
    (place / "parts.vrp").write_text(problem.dumps(next(problem.generate("validation", 1))))
    call("solve", "instance=parts.vrp", "repairs=3000", "plot=parts.png", "out=one.sol", cwd=place)
    assert "\nDelivery #1: " in (place / "one.sol").read_text()
    statistics = json.loads((place / "one.json").read_text())
    good = cost_of(place / "one.sol", place / "parts.vrp")
    assert statistics["start"]["source"] == "nearest"
    assert good == statistics["cost"] < statistics["start"]["cost"]
    assert (place / "parts.png").exists()
    again = ["instance=parts.vrp", "incumbent=one.sol", "repairs=300", "seed=3", "out=again.sol"]
    call("solve", *again, cwd=place)
    assert cost_of(place / "again.sol", place / "parts.vrp") <= good
    start = json.loads((place / "again.json").read_text())["start"]
    assert start == {"source": "one.sol", "cost": good}


@pytest.mark.parametrize(
    ("problem", "table", "options"),
    [
        ("sdvrp", "x,y,demand\n0,0,\n3,4,5\n6,8,39\n0,10,7\n", {"capacity": 11, "split": True}),
        ("tsp", "0,3,4,2\n3,0,5,9\n4,5,0,1\n2,9,1,0\n", {}),
    ],
)
def test_a_table_is_solved_as_its_options_say(place, problem, table, options):
    file = place / "my stops, all.csv"
    file.write_text(table)
    words = [f"{name}={value}" for name, value in options.items()]
    call("solve", file.name, *words, "repairs=200", "out=routes.sol", cwd=place)
    instance = api.read(file, **options)
    assert instance.problem.name == problem
    routes, _ = instance.problem.read_solution(place / "routes.sol")
    assert instance.problem.check(instance.data, routes) == ()


def test_a_driver_gets_a_table_and_the_record_says_what_decided_it(place):
    file = place / "tour=1.csv"
    text = "Name;lon;lat;Demand;due;phone\ndépôt;13,4;52,52;;18:00;1\n"
    text += "Süd;13,41;52,52;0,5;09:00;2\nNord;13,4;52,53;1,5;;3\n"
    file.write_text(text, encoding="latin-1")
    words = [file.name, "capacity=1.5", "speed=8.3", "ignore=phone", "repairs=100"]
    done = call("solve", *words, "out=routes.csv", cwd=place)
    assert "tour=1.csv is not in UTF-8 and was read as Windows-1252" in done.stderr
    head, *lines = (place / "routes.csv").read_text("utf-8-sig").splitlines()
    # As the table is written, so that the same spreadsheet reads it.
    assert head.startswith("vehicle;order;name;arrival;wait;start;departure;quantity;load;dist")
    assert {line.split(";")[7] for line in lines} == {"0", "0,5", "1,5"}
    assert {line.split(";")[2] for line in lines} == {"dépôt", "Süd", "Nord"}
    record = json.loads((place / "routes.json").read_text())
    assert sorted(record["routes"]) == [["Nord"], ["Süd"]]
    assert record["vehicles"] == 2
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert record["inputs"]["sha256"] == {file.name: digest}
    options = record["inputs"]["options"]
    assert options["ignore"] == "phone"
    assert (options["capacity"], options["speed"], options["seed"]) == (1.5, 8.3, 0)
    call("solve", *words, "out=routes.geojson", cwd=place)
    collection = json.loads((place / "routes.geojson").read_text())
    assert len(collection["features"]) == 2 * (1 + 3)


def test_one_plan_is_written_in_several_formats_and_takes_few_vehicles(place):
    stops = "".join(f"0,0,{demand}\n" for demand in (4, 3, 3, 4, 3, 3, 2, 2))
    (place / "stops.csv").write_text(f"x,y,demand\n0,0,\n{stops}")
    out = "out=[plan.csv,a plan.sol,record.json,plan.svg]"
    done = call("solve", "stops.csv", "capacity=10", "repairs=500", out, cwd=place)
    record = json.loads((place / "record.json").read_text())
    # As many as the sum of the demands needs, though each stop could have a vehicle at no cost.
    assert (record["cost"], record["vehicles"]) == (0, 3)
    solution = (place / "a plan.sol").read_text().splitlines()
    routes = [line.split(": ")[1].split() for line in solution[:-1]]
    assert routes == record["routes"]
    rows = csv.DictReader((place / "plan.csv").read_text("utf-8-sig").splitlines())
    visits = [row["name"] for row in rows if row["name"] != "depot"]
    assert visits == [name for route in routes for name in route]
    assert (place / "plan.svg").read_text().startswith("<?xml")
    assert record["convention"] == "EXACT_2D"
    assert "\ndistances EXACT_2D: straight, not rounded\n" in done.stdout
    written = [line.split(maxsplit=1)[1] for line in done.stdout.splitlines()[-4:]]
    assert written == ["plan.csv", "a plan.sol", "record.json", "plan.svg"]
    assert not list(place.glob("*plan.json"))


def test_endings_name_files_beside_the_first_and_in_the_folder_of_a_run(place):
    text = "name;lon;lat;demand\nDepot;13,4;52,5;\n=1+1;13,5;52,6;2,5\nKöln;13,3;52,4;1\n"
    (place / "stopps.csv").write_text(text)
    options = ["stopps.csv", "capacity=3", "repairs=100"]
    done = call(
        "solve", *options, "out=touren/plan.a.sol,.csv,.geojson,.html,.svg,.json", cwd=place
    )
    written = [line.split(maxsplit=1)[1] for line in done.stdout.splitlines()[-6:]]
    endings = ("sol", "csv", "geojson", "html", "svg", "json")
    assert written == [f"touren/plan.a.{ending}" for ending in endings]
    assert sorted(path.name for path in (place / "touren").iterdir()) == sorted(
        f"plan.a.{ending}" for ending in endings
    )
    record = json.loads((place / "touren" / "plan.a.json").read_text())
    content = (place / "touren" / "plan.a.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines(), delimiter=";"))
    assert [row["name"] for row in rows if row["order"] == "1"] == [
        "'=1+1" if route == ["=1+1"] else route[0] for route in record["routes"]
    ]
    assert [visit["name"] for vehicle in record["visits"] for visit in vehicle] == [
        row["name"].removeprefix("'") for row in rows
    ]
    assert '<td class="left">Köln</td>' in (place / "touren" / "plan.a.html").read_text()
    assert not (place / "solutions").exists()
    # Each of the files is a solution to start from.
    for ending in ("csv", "json", "geojson", "sol"):
        given = api.read(place / "stopps.csv", capacity=3)
        start = api.solve(given, repairs=0, incumbent=place / "touren" / f"plan.a.{ending}")
        assert start.incumbent_cost == record["cost"]
    call("solve", *options, "out=[.html]", cwd=place)
    [folder] = (place / "solutions").iterdir()
    assert {path.name for path in folder.glob("stopps.*")} == {
        "stopps.html", "stopps.sol", "stopps.json",
    }  # fmt: skip


def test_a_solution_is_written_to_all_files_or_to_none(place):
    solved = api.solve(place / "my.vrp", repairs=10)
    assert solved.write(place / "a.sol", place / "a.json", place / "a.html") == place / "a.sol"
    record = json.loads((place / "a.json").read_text())
    assert (record["cost"], record["repairs"] >= 10) == (solved.cost, True)
    assert (place / "a.html").read_text().startswith("<!doctype html>")
    for wrong, sentence in (
        (
            "b.xlsx",
            r"to end in \.sol, \.csv, \.geojson, \.json, \.html, \.png, \.pdf or \.svg, got",
        ),
        ("nowhere/b.csv", "Cannot write .*nowhere"),
    ):
        with pytest.raises(UserError, match=sentence):
            solved.write(place / "b.sol", place / "b.png", place / wrong)
        assert not list(place.glob("*b.*"))


@pytest.mark.integration
def test_control_characters_of_a_name_reach_no_terminal_and_no_picture(place):
    name = "\x1b[31mred\u202e[bold]"
    text = (DATA / "tiny.vrp").read_text()
    (place / "my.vrp").write_text(re.sub("NAME.*", f"NAME : {name}", text, count=1))
    done = call("solve", "my.vrp", "repairs=10", "plot=routes.svg", "out=routes.csv", cwd=place)
    for shown in (done.stdout, done.stderr, (place / "routes.svg").read_text()):
        assert r"\x1b[31mred\u202e[bold]: " in shown
        assert not {"\x1b", "\u202e"} & set(shown)


@pytest.mark.integration
def test_more_vehicles_than_a_file_states_are_told(place):
    text = (place / "my.vrp").read_text()
    for stated, told in ((1, True), (0, False), (5, False)):
        (place / "my.vrp").write_text(text.replace("TYPE", f"VEHICLES: {stated}\nTYPE", 1))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solved = api.solve(place / "my.vrp", repairs=10)
        said = [str(each.message) for each in caught]
        words = f"tiny takes {len(solved.routes)} vehicles, and its file states {stated}: vehicles"
        assert any(one.startswith(words) for one in said) is told
    few = (DATA / "elsewhere" / "few-solomon.txt").read_text()
    (place / "few.txt").write_text(
        re.sub(r"^(\s*)\d+(\s+\d+)\s*$", r"\g<1>1\2", few, count=1, flags=re.M)
    )
    with pytest.warns(UserWarning, match="and its file states 1: vehicles=1 makes that the limit"):
        api.solve(place / "few.txt", repairs=10)


def test_a_problem_without_an_engine_is_refused(monkeypatch):
    monkeypatch.setattr(type(api.make_problem("cvrp")), "engine", "")
    with pytest.raises(ConfigError, match="cvrp cannot be solved"):
        api.solve(DATA / "tiny.vrp")


def test_a_search_is_told_whether_its_first_solution_was_given(monkeypatch):
    told, begin = [], SandboxedEngine.start

    def noted(self, solution, *, given=False):
        told.append(given)
        begin(self, solution, given=given)

    monkeypatch.setattr(SandboxedEngine, "start", noted)
    api.solve(DATA / "tiny.vrp", repairs=10)
    api.solve(DATA / "tiny.vrp", repairs=10, incumbent=DATA / "tiny.sol")
    assert told == [False, True]


def test_an_infeasible_incumbent_is_refused_by_name(place):
    (place / "wrong.sol").write_text("Route #1: 1 2 3 4\nCost 1\n")
    done = call("solve", "instance=my.vrp", "incumbent=wrong.sol", cwd=place, check=False)
    assert done.returncode == 2
    [sentence] = done.stderr.splitlines()
    assert re.match(r"wrong\.sol .*\bCustomer 5\b", sentence)
    assert not (place / "solutions").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_a_complete_solution(place, number):
    process = start("specahd.solve", "instance=large.vrp", "time_limit=600", cwd=place)
    deadline = time.monotonic() + 120
    while not list((place / "solutions").glob("*/*.sol")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1].startswith("Interrupted; the best solution until then is in solut")
    [solution] = (place / "solutions").glob("*/*.sol")
    statistics = json.loads(solution.with_suffix(".json").read_text())
    assert statistics["ended"] == "stopped"
    assert cost_of(solution, place / "large.vrp") == statistics["cost"]
    assert "interrupted" in out


@pytest.mark.integration
def test_a_signal_before_the_search_leaves_a_complete_solution(place):
    rng = np.random.default_rng(0)
    places = rng.integers(0, 3000, (30_000, 2)).tolist()
    rows = [f"{x},{y},{demand}" for (x, y), demand in zip(places, rng.integers(1, 9, 30_000))]
    (place / "many.csv").write_text("\n".join(["x,y,demand", "0,0,", *rows]))
    options = ["instance=many.csv", "capacity=100", "time_limit=600", "out=many.sol"]
    # A sandbox of its own, which is a child of the process.
    process = start("specahd.solve", *options, cwd=place, cold=True)
    # The sandbox starts once the file is read, beside the construction.
    deadline = time.monotonic() + 120
    while not psutil.Process(process.pid).children():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    statistics = json.loads((place / "many.json").read_text())
    assert statistics["ended"] == "stopped"
    assert statistics["repairs"] == 0
    instance = api.read(place / "many.csv", capacity=100)
    routes, cost = instance.problem.read_solution(place / "many.sol")
    assert instance.problem.check(instance.data, routes) == ()
    assert cost == pytest.approx(statistics["cost"])


WAITING = """
import sys
from specahd import solve
from specahd.tracking import observers

observers._INTERVAL = 0.1
sys.exit(solve.main())
"""


@pytest.mark.integration
def test_waiting_before_the_search_is_told_and_ends_with_it(place):
    words = [sys.executable, "-c", WAITING, "my.vrp", "time_limit=1", "out=my.sol"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    before, _, after = done.stderr.partition("cost ")
    assert "preparing, 0 s gone" in before
    assert "gone" not in after


PRESSED = """
import os, signal, sys
from specahd import solve

signal.signal(signal.SIGINT, signal.SIG_DFL)

def press(*words, **options):
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)

setattr(solve, sys.argv.pop(1), press)
sys.exit(solve.main())
"""


@pytest.mark.integration
@pytest.mark.parametrize("function", ["_instance", "find"])
def test_ctrl_c_before_there_is_a_solution_says_that_nothing_was_written(place, function):
    before = sorted(place.iterdir())
    words = [sys.executable, "-c", PRESSED, function, "my.vrp", "out=my.sol"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "Interrupted; nothing was written.\n"
    assert sorted(place.iterdir()) == before


def test_a_file_may_stand_without_its_option(tmp_path, monkeypatch):
    assert quote_files(["a b.vrp", "seed=1"]) == ["instance='a b.vrp'", "seed=1"]
    (tmp_path / "a=b.vrp").touch()
    (tmp_path / "seed=1").touch()
    monkeypatch.chdir(tmp_path)
    assert quote_files(["a=b.vrp", "seed=1"]) == ["instance='a=b.vrp'", "seed=1"]
    assert quote_files(["a=c.vrp"]) == ["a=c.vrp"]
    assert quote_files(["ignore=a,b c", "-m"]) == ["ignore='a,b c'", "-m"]
    assert quote_files(["--cfg", "job", "it's.vrp"]) == ["instance='it\\'s.vrp'", "--cfg", "job"]
    assert quote_files(["out=x/y.sol"]) == ["out='x/y.sol'", "hydra.run.dir='x'"]
    assert quote_files(["incumbent=a (1).sol", "matrix=größe.csv"]) == [
        "incumbent='a (1).sol'",
        "matrix='größe.csv'",
    ]
    for plain in ("incumbent=null", "out='a b.sol'", "plot=${seed}.png"):
        assert quote_files([plain])[0] == plain
    assert quote_files(["out='a b/c.sol'"]) == ["out='a b/c.sol'", "hydra.run.dir='a b'"]
    several = ["out='[a/b.sol,c.csv]'", "hydra.run.dir='a'"]
    assert quote_files(["out=[a/b.sol,c.csv]"]) == several
    for text in ("a.sol,b.csv", "[a.sol, b.csv]", "['a.sol',\"b.csv\"]"):
        assert output_names(text) == ["a.sol", "b.csv"]
    assert quote_files(["out=a/b.sol,.csv"]) == ["out='a/b.sol,.csv'", "hydra.run.dir='a'"]
    # The folder of a run is one of its own, also of each job.
    for several in ("[.sol,.csv]", ".html"):
        assert quote_files([f"out={several}"]) == [f"out='{several}'"]
        assert quote_files([f"out={several}", "-m"]) == [f"out='{several}'", "-m"]
    with pytest.raises(ConfigError, match="each job would write this file"):
        quote_files(["out=[a.sol,.csv]", "-m"])
    # A comma in the name of one file.
    assert output_names("a,b.sol") == ["a,b.sol"]
    assert quote_files(["out=null", "-m"]) == ["out=null", "-m"]
    assert quote_files(["instance=a.vrp,b.vrp", "-m"]) == ["instance=a.vrp,b.vrp", "-m"]
    assert quote_files(["-m", "seed=0,1"]) == ["-m", "seed=0,1"]
    with pytest.raises(ConfigError, match=r"Expected one file, got a\.vrp and b\.vrp"):
        quote_files(["a.vrp", "b.vrp"])


def test_a_sample_that_is_not_there_is_the_one_that_comes_with_specahd(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours = f"instance='{SAMPLES / 'cvrp.vrp'}'"
    assert quote_files(["samples/cvrp.vrp"]) == quote_files(["instance=samples/cvrp.vrp"]) == [ours]
    assert api.read("samples/cvrp.vrp").name == "sample-cvrp"
    for other in ("samples/none.vrp", "samples/../checkpoints/cvrp.yaml", "cvrp.vrp"):
        assert quote_files([other]) == [f"instance='{other}'"]
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "cvrp.vrp").touch()
    assert quote_files(["samples/cvrp.vrp"]) == ["instance='samples/cvrp.vrp'"]


def test_samples_are_of_every_problem_and_named_where_people_look_first(capsys):
    """``test_extras.py`` solves them."""
    for path in SAMPLES.iterdir():
        options = {"capacity": 30, "speed": 8.3} if path.suffix == ".csv" else {}
        found = api.read(path, **options)
        assert found.problem.name == {"stops": "vrptw"}.get(path.stem, path.stem)
    assert len(list(SAMPLES.iterdir())) == 5
    assert __main__.main([]) == 0
    listed = capsys.readouterr().out
    for told in (
        listed,
        *(((ROOT / name).read_text()) for name in ("README.md", "docs/reference/solve.md")),
    ):
        assert "specahd solve samples/stops.csv capacity=30 speed=8.3" in told
    assert all(path.name in listed for path in SAMPLES.iterdir())


def test_hydra_reads_the_name_of_a_file_as_it_is():
    parser = OverridesParser.create()
    for name in ("it's.vrp", "a\\b.vrp", "a\\'b", "a\\", 'a"b, (c).vrp'):
        [word] = quote_files([name])
        assert parser.parse_override(word).value() == name


@pytest.mark.parametrize("option", ["instance", "matrix", "durations", "fleet"])
def test_no_file_that_is_read_is_written_over(tmp_path, option):
    names = ("instance", "matrix", "durations", "fleet", "incumbent")
    path = tmp_path / "read.csv"
    config = OmegaConf.create({**dict.fromkeys(names), "out": str(path), option: str(path)})
    with pytest.raises(ConfigError, match=f"Expected out to leave {option}=.* as it is"):
        check_output_path("out", config, str(path))
    path.write_text("1")
    assert str(path) in result_inputs(config)["sha256"]
