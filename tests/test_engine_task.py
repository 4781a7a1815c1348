"""Table C of the comparison: which solutions are made again, and what the table says of them."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "comparison" / "engine_task.py"


@pytest.fixture(scope="module")
def task():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(method, seed, instance, cost, *, size=100, seconds=2.0, failure="", problem="cvrp"):
    return {
        "problem": problem, "method": method, "seed": seed, "instance": instance, "size": size,
        "seconds": seconds, "cost": cost, "repairs": 2000, "failure": failure,
        "checkpoint": "", "start": 200.0,
    }  # fmt: skip


def cells(document):
    return [line.split(" | ") for line in document.markdown().splitlines() if "|" in line][2:]


def test_gains_are_over_the_engine_as_it_is_by_seed(task):
    base = [row(task.AS_IT_IS, 0, "a", 100.0), row(task.AS_IT_IS, 0, "b", 400.0, size=200)]
    rows = [
        *base,
        row("eoh", 0, "a", 99.0),
        row("eoh", 0, "b", 404.0, size=200),
        row("eoh", 1, "a", 98.0, failure="timeout"),
        row("eoh", 1, "b", 400.0, size=200),
    ]
    engine, eoh = cells(task.table(rows, 2.0))
    assert engine == [f"| {task.AS_IT_IS}", "100.0", "400.0", "+0.000%", "1,000", "0 |"]
    # Gains of 1 and -1 % on seed 0, of 2 and 0 % on seed 1.
    assert eoh == ["| eoh", "98.5", "402.0", "+0.500% ± 0.707", "1,000", "1 |"]


def test_only_instances_that_all_have_solved_are_compared(task):
    rows = [
        row(task.AS_IT_IS, 0, "a", 100.0),
        row(task.AS_IT_IS, 0, "b", 500.0),
        row("eoh", 0, "a", 90.0),
        row("eoh", 0, "b", 450.0),
        row("lhns", 0, "a", 80.0),
    ]
    document = task.table(rows, 2.0)
    assert [line[1:3] for line in cells(document)] == [
        ["100.0", "+0.000%"],
        ["90.0", "+10.000%"],
        ["80.0", "+20.000%"],
    ]
    assert "2 s each on 1 instances." in document.markdown()


def test_a_torn_line_and_other_seconds_are_no_solutions(task, tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps(row("eoh", 0, "a", 1.0)), json.dumps(row("eoh", 0, "b", 1.0, seconds=9.0))]
    path.write_text("\n".join([*lines, lines[0][:30]]))
    assert list(task.read(path, 2.0)) == [("cvrp", "eoh", 0, "a")]
    assert path.read_text().splitlines() == lines
