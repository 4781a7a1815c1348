"""Evaluations of public sets: what rows hold, and that nothing is done again after a kill."""

import json
from functools import partial
from itertools import islice
from types import SimpleNamespace

import pytest

from frozen import freeze_seeds, problem_of
from offered import PROBLEMS
from specahd import api
from specahd.api.incumbents import incumbent_case
from specahd.core.errors import ConfigError, FileError
from specahd.core.events import Observer
from specahd.core.journal import read_records
from specahd.evaluation.rows import pass_seconds
from specahd.repair.cases import make_case
from specahd.routing.best_known import BestKnown, best_known
from specahd.routing.problem import RoutingProblem
from specahd.sandbox.executor import LocalExecutor

COLUMNS = "set,name,bks,kind,convention,source,vehicles,verified_cost,note"
SAME = ("evaluation.json", "rows.jsonl", "rows-steps.jsonl", "study.jsonl")


def made(problem, folder):
    """Write a public set of three instances, of which the first has a value."""
    group = problem.public_sets[0].name
    (folder / group).mkdir(parents=True)
    publish(folder, group, ["euc2d-rounded(nint)"])
    pool = sorted(islice(problem.generate("lower_train", 0), 8), key=lambda one: one.size)[:3]
    for number, instance in enumerate(pool):
        path = folder / group / f"{'abc'[number]}{problem.suffix}"
        path.write_text(problem.dumps(instance))
    return sorted((folder / group).iterdir())


def publish(folder, group, conventions):
    """Write values of the instance A, 100 in the first convention, 101 in the second."""
    rows = [f'{group},A,{100 + n},,"{words}",,,,' for n, words in enumerate(conventions)]
    (folder / "bks.csv").write_text("\n".join([COLUMNS, *rows, ""]))


def evaluated(checkpoint, files, out, workers=1, **options):
    execution = api.Execution(partial(LocalExecutor, workers=workers))
    loaded = api.load(checkpoint, execution=execution)
    return api.evaluate(loaded, files, out=out, **options)


def contents(folder, names=SAME):
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.integration
@pytest.mark.parametrize("name", PROBLEMS)
def test_an_evaluation_that_was_killed_ends_with_the_same_bytes(tmp_path, name):
    problem = problem_of(name)
    files = made(problem, tmp_path / "public")
    checkpoint = freeze_seeds(name, tmp_path / "seeds")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    first = evaluated(checkpoint, files, whole, study="routing")
    assert len(first.solutions) == 3
    evaluated(checkpoint, files, broken, workers=2, study="routing")
    assert contents(whole) == contents(broken)
    # As a kill leaves it: the first row whole, the second torn, of the third all but its row.
    one, two, _ = (broken / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (broken / "rows.jsonl").write_bytes(one + two[:-9])
    with (broken / "rows-timings.jsonl").open("ab") as torn:
        torn.write(b'{"inst')
    done = broken / f"{json.loads(one)['instance']}.sol"
    done.write_text("kept")
    again = evaluated(checkpoint, files, broken, workers=2, study="routing")
    assert contents(whole) == contents(broken)
    assert done.read_text() == "kept"
    assert (len(again.solutions), again.summary) == (2, first.summary)
    assert [each["instance"] for each in again.timings] == [row["instance"] for row in again.rows]
    assert again.study == first.study
    # Of what is complete nothing is left to do.
    assert not evaluated(checkpoint, files, broken, study="routing").solutions


def test_rows_tell_what_they_are_of(tmp_path):
    files = made(problem_of("cvrp"), tmp_path / "public")
    checkpoint = freeze_seeds("cvrp", tmp_path / "seeds")
    found = evaluated(checkpoint, files, tmp_path / "out")
    row, other = found.rows[0], found.rows[1]
    known = [row[key] for key in ("set", "best_known", "best_known_convention")]
    assert known == ["cvrp_small", 100.0, "euc2d-rounded(nint)"]
    assert row["gap"] == row["cost"] / 100.0 - 1.0
    assert row["baseline_gap"] == row["baseline_cost"] / 100.0 - 1.0
    assert (other["set"], other["best_known"], other["gap"]) == (None, None, None)
    nodes = {node for step in row["steps"] for node in step["nodes"]}
    assert 0 < row["region_share"] == len(nodes) / row["size"] <= 1
    assert found.gaps == [row["gap"]]
    [steps, *_] = read_records(tmp_path / "out" / "rows-steps.jsonl")
    assert len(steps["steps"]) == len(row["steps"]) > 0
    width = len(problem_of("cvrp").descriptor_names)
    for step in steps["steps"]:
        # The archive has one task, on which the only member had gained a tenth.
        assert (step["pass"], len(step["descriptor"]), step["estimates"]) == (1, width, [0.1])
    [timings, *_] = read_records(tmp_path / "out" / "rows-timings.jsonl")
    assert timings["baseline"] >= 0
    # The seconds of an evaluation leave B out.
    stages = [each for name, each in timings.items() if name not in ("instance", "baseline")]
    assert pass_seconds(timings) == pytest.approx(sum(stages))


def test_a_directory_keeps_one_evaluation(tmp_path):
    files = made(problem_of("cvrp"), tmp_path / "public")
    checkpoint = freeze_seeds("cvrp", tmp_path / "seeds")
    evaluated(checkpoint, files[:1], tmp_path / "out")
    before = contents(tmp_path / "out", SAME[:3])
    for name, value in {"accept": "improving", "passes": 2, "study": "routing"}.items():
        with pytest.raises(FileError, match=rf"another evaluation \({name} "):
            evaluated(checkpoint, files[:1], tmp_path / "out", **{name: value})
    with pytest.raises(FileError, match=r"another evaluation \(the instance "):
        evaluated(checkpoint, files[1:], tmp_path / "out")
    assert contents(tmp_path / "out", SAME[:3]) == before
    # More instances are no other evaluation.
    assert len(evaluated(checkpoint, files, tmp_path / "out").rows) == 3


def test_an_incumbent_may_be_what_solve_takes(tmp_path, data):
    checkpoint = freeze_seeds("cvrp", tmp_path / "seeds")
    routes = [[1, 3], [2, 4], [5]]
    solved = api.solve(data / "tiny.vrp", incumbent=routes, repairs=10)
    given = [routes, solved, solved.write(tmp_path / "a.csv"), str(tmp_path / "a.csv")]
    for number, incumbent in enumerate(given):
        out = tmp_path / str(number)
        found = evaluated(checkpoint, [data / "tiny.vrp"], out, incumbent=incumbent)
        assert found.rows[0]["baseline_cost"] == (206.0 if number == 0 else solved.cost)
        # Of the same evaluation nothing is left to do.
        again = evaluated(checkpoint, [data / "tiny.vrp"], out, incumbent=incumbent)
        assert (len(found.solutions), len(again.solutions)) == (1, 0)
    with pytest.raises(FileError, match=r"another evaluation \(incumbent "):
        evaluated(checkpoint, [data / "tiny.vrp"], tmp_path / "0", incumbent=routes[::-1])
    with pytest.raises(FileError, match="the incumbent does not solve tiny"):
        evaluated(checkpoint, [data / "tiny.vrp"], tmp_path / "new", incumbent=routes[:2])
    assert not (tmp_path / "new").exists()


def test_a_problem_that_makes_no_solution_of_routes_says_so():
    class OwnProblem(RoutingProblem):
        name = "own"

        def __init__(self):
            pass

    with pytest.raises(ConfigError, match="file of its own"):
        incumbent_case(OwnProblem(), SimpleNamespace(name="x"), [[1, 2]])


@pytest.mark.parametrize(
    ("convention", "published", "expected"),
    [
        ("dimacs", ["dimacs-trunc1 (distance only)"], (100.0, True)),
        ("float", ["dimacs-trunc1 (distance only)"], (100.0, False)),
        ("float", ["dimacs-trunc1 (distance only)", "float (distance only, bound)"], (101.0, True)),
        ("dimacs", ["float (hierarchical: vehicles then distance)"], None),
        ("float", ["float (hierarchical: vehicles then distance)"], None),
    ],
)
def test_values_compare_in_one_convention_alone(tmp_path, convention, published, expected):
    publish(tmp_path, "solomon", published)
    problem = api.make_problem("vrptw", convention=convention)
    path = tmp_path / "solomon" / "a.txt"
    path.parent.mkdir()
    path.write_text(SOLOMON)
    found = best_known(problem, problem.read(path), path)
    assert (found and (found.value, found.comparable)) == expected
    if found is not None:
        assert found.gap(found.value) == (0.0 if found.comparable else None)


def test_instances_that_cannot_be_repaired_are_left_out_and_told_of(tmp_path, monkeypatch):
    files = made(problem_of("cvrp"), tmp_path / "public")
    checkpoint = freeze_seeds("cvrp", tmp_path / "seeds")
    refused = problem_of("cvrp").read(files[1]).name

    def make(problem, instance, kept):
        if instance.name == refused:
            raise ConfigError("It has fixed edges.")
        return make_case(problem, instance, kept)

    monkeypatch.setattr("specahd.api.evaluation.make_case", make)
    told = []
    observer = Observer()
    observer.on_warning = told.append
    found = evaluated(checkpoint, files, tmp_path / "out", observer=observer)
    assert told[-1] == f"Without {refused}: It has fixed edges."
    assert refused not in [row["instance"] for row in found.rows]
    assert found.summary.instances == 2
    with pytest.raises(ConfigError, match="fixed edges"):
        evaluated(checkpoint, files[1:2], tmp_path / "alone")
    assert not (tmp_path / "alone").exists()


def test_an_instance_of_which_programs_do_not_see_all_is_left_out_among_several(tmp_path):
    files = made(problem_of("cvrp"), tmp_path / "public")
    files[1].write_text(files[1].read_text().replace("EOF", "DISTANCE : 5e5\nEOF"))
    told = []
    observer = Observer()
    observer.on_warning = told.append
    checkpoint = freeze_seeds("cvrp", tmp_path / "seeds")
    found = evaluated(checkpoint, files, tmp_path / "out", observer=observer)
    assert "limits or prices vehicles" in told[-1]
    assert found.summary.instances == 2


def test_files_of_equal_name_are_called_like_their_files(tmp_path):
    text = problem_of("cvrp").dumps(next(problem_of("cvrp").generate("lower_train", 0)))
    for name in ("one.vrp", "two.vrp"):
        (tmp_path / name).write_text(text)
    checkpoint = freeze_seeds("cvrp", tmp_path / "seeds")
    found = evaluated(checkpoint, [tmp_path / "one.vrp", tmp_path / "two.vrp"], tmp_path / "out")
    assert [row["instance"] for row in found.rows] == ["one", "two"]
    assert len({row["instance_hash"] for row in found.rows}) == 1


@pytest.mark.public
def test_the_first_customers_of_a_file_have_values_of_their_own(public):
    path = public / "solomon" / "C101.txt"
    problem = api.make_problem("vrptw", customers=25)
    found = best_known(problem, problem.read(path), path)
    assert found == BestKnown("solomon_25_50", 191.3, "dimacs-trunc1 (distance only)", True)


SOLOMON = """a

VEHICLE
NUMBER     CAPACITY
  2         10

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE   TIME

    0      0         0          0          0       100          0
    1      3         4          5          0        90          1
    2      6         8          5          0        90          1
"""
