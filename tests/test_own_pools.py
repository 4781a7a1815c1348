"""Pools of one's own instances: as ``solve`` reads them, exact when read back, and trained on."""

import json
import shutil
import signal
import time
from dataclasses import fields

import numpy as np
import pytest

from commands import TINY, call, start, tree
from routing.formats.good_files import NUMBERS, PLANE, SOLOMON, WINDOWS
from specahd import api
from specahd.api.own_pools import pool_folder, read_files, split_instances
from specahd.core.errors import ConfigError, FileError
from specahd.core.settings import Pools, TableOptions
from specahd.routing.base import POOLS
from specahd.routing.formats.text import digest
from specahd.tracking.description import Description

FORMS = {
    "plane": ("name,x,y,demand\nd,0,0,\na,0.1,-3.3,1.25\nb,6,8,{}\n", {"capacity": 8.5}),
    "degrees": ("name,lon,lat,demand\nd,13.4,52.5,\na,13.5,52.6,1\nb,13.41,52.7,{}\n",
                {"capacity": 9}),
    "times": ("x,y,demand,ready,due,service\n0,0,,0,,7\n0.3,4,1,3,,1.1\n6,8,{},,900.7,2\n",
              {"capacity": 9, "speed": 0.7}),
    "clock": ("lon,lat,demand,due\n13.4,52.5,,\n13.5,52.6,1,\n13.41,52.7,{},23:59\n",
              {"capacity": 9, "speed": 8.3}),
    "parts": ("name,x,y,demand\nd,0,0,\na,0.1,-3.3,25\nb,6,8,{}\n",
              {"capacity": 9, "split": True}),
    "tour": ("name,x,y,phone\nd,0,0,1\na,0.1,-3.3,2\nb,6,{},3\nc,1,1,4\n", {"ignore": "phone"}),
    "distances": ("0,8.25,9\n8.25,0,{}\n9,{},0\n", {}),
    "solomon": (SOLOMON.replace("45.5", "45.{}"), {}),
    "windows": (WINDOWS.replace("3 0 5\n", "3 0 5.{}\n"), {}),
    "sets": (NUMBERS.replace("4 25", "4 2{}"), {}),
    "tsplib": (PLANE.replace("40  0", "4{}.1  0"), {}),
}  # fmt: skip


def same(one, other):
    """Say whether two values are equal to the last bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "service"):
        return all(same(getattr(one, name), getattr(other, name))
                   for name in ("ready", "due", "service"))  # fmt: skip
    return one == other


@pytest.mark.parametrize("form", FORMS)
def test_an_instance_of_a_pool_is_the_one_that_solve_reads(form, tmp_path):
    text, options = FORMS[form]
    (tmp_path / "days").mkdir()
    for number in range(4, 9):
        (tmp_path / "days" / f"{number}.txt").write_text(text.format(*[number] * 2)
                                                         if "{" in text else text)  # fmt: skip
    read = [api.read(path, **options) for path in sorted((tmp_path / "days").iterdir())]
    problem = read[0].problem
    given = {"files": str(tmp_path / "days"), "near": 1, **options}
    folder = pool_folder(problem, Pools(str(tmp_path / "pools"), **given))
    sources = json.loads((folder / "manifest.json").read_text())["sources"]
    assert len(sources) == 5
    for given, source in zip(read, sources, strict=True):
        [again] = [
            each.data
            for each in api.read_pool(problem, source["pool"], folder)
            if each.name == source["name"]
        ]
        for each in fields(given.data):
            # A stated number of vehicles is no limit.
            if each.name not in ("labels", "name", "vehicles"):
                one, other = getattr(given.data, each.name), getattr(again, each.name)
                assert same(one, other), each.name
        solution = problem.baseline(given.data)
        assert problem.baseline(again) == solution
        assert problem.cost(again, solution) == problem.cost(given.data, solution)
        path = tmp_path / "days" / source["file"]
        assert (source["sha256"], source["file"]) == (digest(path), path.name)


def write_days(folder, count, stops=9):
    """Write days of one company, each with its own stops."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        rng = np.random.default_rng(number)
        rows = ["name,x,y,demand", "depot,50,50,"]
        rows += [f"s{i},{x},{y},{d}" for i, (x, y, d) in
                 enumerate(rng.integers(1, 99, (stops, 3)).tolist())]  # fmt: skip
        (folder / f"day-{number}.csv").write_text("\n".join(rows) + "\n")


OPTIONS = ["pools.files=days", "pools.capacity=200"]


def test_prepare_tells_what_it_found(tmp_path):
    write_days(tmp_path / "days", 10)
    shutil.copy(tmp_path / "days" / "day-3.csv", tmp_path / "days" / "copy.csv")
    (tmp_path / "days" / "old.sol").write_text("Route #1: 1 2\nCost 3\n")
    done = call("prepare", "problem=cvrp", *OPTIONS, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert [line.split(":")[0].rpartition("/")[2] for line in lines[:4]] == list(POOLS)
    assert "3 instances of 9 stops, " in lines[0]
    assert " in a full vehicle, " in lines[0]
    assert lines[4].startswith("11 instances: 1 left out as equal to another, 0 near copies")
    before = tree(tmp_path / "pools")
    again = call("prepare", "problem=cvrp", *OPTIONS, cwd=tmp_path)
    assert (again.stdout, tree(tmp_path / "pools")) == (done.stdout, before)


def refusal(command, *words, cwd):
    done = call(command, *words, cwd=cwd, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    [sentence] = done.stderr.splitlines()
    return sentence


def test_what_cannot_be_split_is_refused_in_a_sentence_and_nothing_is_written(tmp_path):
    write_days(tmp_path / "days", 3)
    for command in ("prepare", "train"):
        assert refusal(command, "problem=cvrp", *OPTIONS, cwd=tmp_path) == (
            "Expected at least 4 instances, one for each pool, got 3: add others."
        )
    write_days(tmp_path / "days", 6)
    days = {*tmp_path.iterdir()}
    path = tmp_path / "days" / "day-4.csv"
    good = path.read_text()
    path.write_text(good + "s9,1\n")
    for command in ("prepare", "train"):
        told = refusal(command, "problem=cvrp", *OPTIONS, cwd=tmp_path)
        assert told.startswith("days/day-4.csv: line 12 holds 2 cells, expected 4")
    path.write_text(good)
    told = refusal("prepare", "problem=vrptw", *OPTIONS, cwd=tmp_path)
    assert told == "days/day-0.csv is a table for cvrp, expected problem=cvrp, got problem=vrptw."
    told = refusal("prepare", OPTIONS[0], cwd=tmp_path)
    assert told == "days/day-0.csv has demands, expected pools.capacity=NUMBER."
    (tmp_path / "days" / "notes.txt").write_text("call the depot\n")
    told = refusal("prepare", *OPTIONS, cwd=tmp_path)
    assert told == "Expected capacity with a table of stops (CSV), and days/notes.txt is none."
    assert {*tmp_path.iterdir()} == days


def test_confirmation_is_generated(tmp_path):
    write_days(tmp_path / "days", 5)
    problem = api.make_problem("cvrp")
    pools = Pools(str(tmp_path / "pools"), files=str(tmp_path / "days"), capacity=200)
    folder = pool_folder(problem, pools)
    with pytest.raises(ConfigError, match=r"got confirmation: it is generated, and .* your own"):
        api.read_pool(problem, "confirmation", folder)
    assert len(api.read_pool(problem, "validation", folder)) == 1
    with pytest.raises(ConfigError, match="holds pools of cvrp, not of tsp"):
        api.read_pool("tsp", "validation", folder)


def test_vehicles_with_limits_or_prices_are_refused(tmp_path):
    write_days(tmp_path / "days", 5)
    paths = sorted((tmp_path / "days").iterdir())
    problem, pools = api.make_problem("cvrp"), Pools(str(tmp_path / "pools"))
    for option in ({"fixed_cost": 7}, {"max_distance": 300}, {"vehicles": 9}):
        days = [api.read(path, capacity=200, **option) for path in paths]
        with pytest.raises(ConfigError, match="may or must be left out, got day-0: "):
            split_instances(problem, days, pools)
    assert not (tmp_path / "pools").exists()


@pytest.mark.parametrize("place", ["km", "days/km"])
def test_a_table_may_have_distances_of_its_own(tmp_path, place):
    write_days(tmp_path / "days", 4, stops=2)
    (tmp_path / place).mkdir()
    for number in range(4):
        far = 5 + number
        (tmp_path / place / f"day-{number}.csv").write_text(f"0,3,{far}\n3,0,4\n{far},4,0\n")
    problem = api.make_problem("cvrp")
    given = {"files": str(tmp_path / "days"), "capacity": 200, "matrix": str(tmp_path / place)}
    folder = pool_folder(problem, Pools(str(tmp_path / "pools"), **given))
    found = [each.data for pool in POOLS for each in api.read_pool(problem, pool, folder)]
    assert {(each.name, each.matrix[0, 2]) for each in found} == {
        (f"day-{number}", 5.0 + number) for number in range(4)
    }
    (tmp_path / place / "day-2.csv").unlink()
    with pytest.raises(FileError, match=r"km holds 0 files named day-2, expected one"):
        pool_folder(problem, Pools(str(tmp_path / "more"), **given))


def test_a_single_file_is_named_by_its_last_part(tmp_path):
    write_days(tmp_path / "days", 2)
    options = TableOptions(capacity=200)
    places = [str(tmp_path / "days" / "day-1.csv"), str(tmp_path / "days")]
    assert [each.file for each, _ in read_files(places[:1], options)] == ["day-1.csv"]
    assert [each.file for each, _ in read_files(places[1:], options)] == ["day-0.csv", "day-1.csv"]
    with pytest.raises(FileError, match=r"day-1\.csv is named twice, expected every file once"):
        list(read_files(places, options))


@pytest.mark.integration
def test_a_run_on_ones_own_days_is_evaluated_resumed_and_audited(tmp_path, monkeypatch):
    """Its files may be gone by then: a run states the folder of its pools."""
    write_days(tmp_path / "days", 8)
    words = ["problem=cvrp", *TINY, *OPTIONS, "executor.workers=1"]
    call("train", *words, "tracking=none", "hydra.run.dir=whole", cwd=tmp_path)
    process = start("specahd.train", *words, "tracking=none", "hydra.run.dir=run", cwd=tmp_path)
    while not (journal := tmp_path / "run" / "journal.jsonl").exists() or not journal.read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    [folder] = (tmp_path / "pools").iterdir() if not (tmp_path / "pools" / ".cvrp.lock").exists(
    ) else [each for each in (tmp_path / "pools").iterdir() if each.is_dir()]  # fmt: skip
    (tmp_path / "days").rename(tmp_path / "gone")
    call("train", "resume=run", cwd=tmp_path)
    for name in ("journal.jsonl", "validation.jsonl", "checkpoint/manifest.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert f"files: {folder.relative_to(tmp_path)}" in (tmp_path / "run/config.yaml").read_text()
    names = json.loads((folder / "manifest.json").read_text())["pools"]["validation"]
    place = f"pools.files={folder.relative_to(tmp_path)}"
    call("evaluate", "checkpoint=run", "pool=validation", place, "hydra.run.dir=e", cwd=tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "e/rows.jsonl").read_text().splitlines()]
    assert [f"{row['instance']}.vrp" for row in rows] == list(names)
    sets = Description(tmp_path / "run").datasets()
    assert [each.dataset.name for each in sets] == []
    monkeypatch.chdir(tmp_path)
    sets = Description(tmp_path / "run").datasets()
    assert [each.dataset.name for each in sets] == [f"{folder.name}/{pool}" for pool in POOLS]
    told = refusal("evaluate", "checkpoint=run", "pool=confirmation", place, cwd=tmp_path)
    assert "it is generated" in told
    assert "follow from its replies" in call("report", "audit=run", cwd=tmp_path).stdout
    call("report", "runs=.", "tracking=none", "hydra.run.dir=report", cwd=tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("repair", ["append", "insertion"])
@pytest.mark.parametrize("name", ["cvrp", "sdvrp", "tsp", "vrptw"])
def test_days_of_two_or_three_stops_are_trained_on(name, repair, tmp_path):
    columns = {"tsp": "x,y", "vrptw": "x,y,demand,due"}.get(name, "x,y,demand")
    found = []
    for number in range(6):
        rows = [columns, ",".join(["0", "0", "", ""][: columns.count(",") + 1])]
        for stop in range(2 + number % 2):
            cells = [number + 3 * stop, 7 - number * stop, 1 + stop, 90 + number]
            rows.append(",".join(map(str, cells[: columns.count(",") + 1])))
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(rows) + "\n")
        options = {} if name == "tsp" else {"capacity": 3, "split": name == "sdvrp"}
        found.append(api.read(path, **options))
    budget = api.Budget(4, rounds=1, lower_train=9, upper_train=9, selection=9, validation=9)
    out, pools = tmp_path / "run", tmp_path / "pools"
    problem = api.make_problem(name, repair=repair)
    run = api.train(problem, budget=budget, out=out, pools=pools, instances=found)
    unseen = [summary for summary in run.summaries if summary.pool == "validation"]
    assert (unseen[0].instances, unseen[0].failed) == (2, 0)
    with pytest.raises(ConfigError, match="Expected instances of "):
        api.train("cvrp" if name == "tsp" else "tsp", budget=budget, out=tmp_path / "other",
                  pools=pools, instances=found)  # fmt: skip
