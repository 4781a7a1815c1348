"""Files that describe no instance get one sentence; the smallest instances there are, a repair.

Every problem of conf/problem writes a good file of its own, which is then spoilt. The
formats that only one problem has are spoilt by hand below.
"""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from commands import call
from specahd.config import CONF_DIR
from specahd.core.errors import FileError
from specahd.core.program import Level, Outcome
from specahd.core.settings import Accept, CallLimits
from specahd.repair.cases import make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.router import Router
from specahd.repair.system import RepairSystem
from specahd.routing.base import contracts

PROBLEMS = sorted(path.stem for path in (CONF_DIR / "problem").glob("*.yaml"))
VEHICLES = [name for name in PROBLEMS if name != "tsp"]


def problem_of(name):
    return instantiate(OmegaConf.load(CONF_DIR / "problem" / f"{name}.yaml"))


def text_of(name, nodes):
    """Return a file of a few nodes: a square and its middle, the depot first."""
    points = [(50, 50), (0, 0), (100, 0), (100, 100), (0, 100)][:nodes]
    lines = [f"NAME : few\nTYPE : {name.upper()}\nDIMENSION : {nodes}\nEDGE_WEIGHT_TYPE : EUC_2D"]
    if name in VEHICLES:
        lines.append("CAPACITY : 10")
    lines.append("NODE_COORD_SECTION")
    lines += [f"{node} {x} {y}" for node, (x, y) in enumerate(points, 1)]
    if name in VEHICLES:
        lines.append("DEMAND_SECTION")
        lines += [f"{node} {4 if node > 1 else 0}" for node in range(1, nodes + 1)]
    if name == "vrptw":
        lines.append("SERVICE_TIME_SECTION")
        lines += [f"{node} {10 if node > 1 else 0}" for node in range(1, nodes + 1)]
        lines.append("TIME_WINDOW_SECTION")
        lines += [f"{node} {0 if node == 1 else 80} 400" for node in range(1, nodes + 1)]
    if name in VEHICLES:
        lines.append("DEPOT_SECTION\n1\n-1")
    return "\n".join([*lines, "EOF"]) + "\n"


def spoilt(pattern, replacement):
    """Return a function that replaces the one place of a file that a pattern finds."""

    def spoil(text):
        changed, times = re.subn(pattern, replacement, text, count=1, flags=re.DOTALL)
        assert times == 1
        return changed.encode()

    return spoil


def torn(section):
    """Return a function that ends a file one line into a section."""
    return lambda text: re.match(rf".*{section}\n[^\n]*\n", text, re.DOTALL)[0].encode()


# How a file is spoilt, the field or section that its sentence names, and what else it says.
EVERY = {
    "NaN coordinate": (spoilt("\n3 100 0", "\n3 nan 0"), "NODE_COORD_SECTION", "nan"),
    "infinite coordinate": (spoilt("\n3 100 0", "\n3 100 -inf"), "NODE_COORD_SECTION", "-inf"),
    "huge coordinate": (spoilt("\n3 100 0", "\n3 1e300 0"), "NODE_COORD_SECTION", "[-1e9, 1e9]"),
    "word for a coordinate": (spoilt("\n3 100 0", "\n3 0x1 0"), "NODE_COORD_SECTION", "0x1"),
    "a node twice": (spoilt("\n3 100 0", "\n2 100 0"), "NODE_COORD_SECTION", "twice"),
    "a dimension too large": (
        spoilt("DIMENSION : 5", "DIMENSION : 6"), "NODE_COORD_SECTION", "DIMENSION 6",
    ),
    "a dimension too small": (
        spoilt("DIMENSION : 5", "DIMENSION : 4"), "NODE_COORD_SECTION", "DIMENSION 4",
    ),
    "an absurd dimension": (
        spoilt("DIMENSION : 5", "DIMENSION : 9999999999"), "DIMENSION", "9999999999",
    ),
    "no node": (spoilt("DIMENSION : 5", "DIMENSION : 0"), "DIMENSION", "0"),
    "no dimension": (spoilt("DIMENSION : 5\n", ""), "DIMENSION", "missing"),
    "an unknown distance": (spoilt("EUC_2D", "TAXI"), "EDGE_WEIGHT_TYPE", "TAXI"),
    "another problem": (spoilt("TYPE : [A-Z]+", "TYPE : HCP"), "TYPE", "HCP"),
    "a field twice": (spoilt("TYPE : ", "TYPE : X\nTYPE : "), "TYPE", "twice"),
    "torn in the coordinates": (torn("NODE_COORD_SECTION"), "NODE_COORD_SECTION", "15"),
    "torn before them": (spoilt("DIMENSION.*", ""), "DIMENSION", "missing"),
    "torn within a line": (spoilt("MENSION.*", ""), "line 3", "'DI'"),
    "empty": (lambda text: b"", "TYPE", "missing"),
    "binary": (lambda text: bytes(range(256)), "text", ""),
    "UTF-16": (lambda text: text.encode("utf-16"), "text", ""),
}  # fmt: skip
VEHICLE = {
    "a negative demand": (spoilt("\n2 4", "\n2 -4"), "DEMAND_SECTION", "-4"),
    "half a demand": (spoilt("\n2 4", "\n2 3.5"), "DEMAND_SECTION", "3.5"),
    "NaN demand": (spoilt("\n2 4", "\n2 nan"), "DEMAND_SECTION", "nan"),
    "demand of the depot": (spoilt("\n1 0\n2 4", "\n1 1\n2 4"), "DEMAND_SECTION", "depot"),
    "zero capacity": (spoilt("CAPACITY : 10", "CAPACITY : 0"), "CAPACITY", "[1, "),
    "negative capacity": (spoilt("CAPACITY : 10", "CAPACITY : -1"), "CAPACITY", "[1, "),
    "no capacity": (spoilt("CAPACITY : 10\n", ""), "CAPACITY", "missing"),
    "a depot that is not there": (spoilt("SECTION\n1\n-1", "SECTION\n6\n-1"), "DEPOT", "1 to 5"),
    "torn in the demands": (torn("DEMAND_SECTION"), "DEMAND_SECTION", "10"),
    "torn before the depot": (spoilt("DEPOT_SECTION.*", ""), "DEPOT_SECTION", "missing"),
}
OWN = {
    "cvrp": {"demand above capacity": (spoilt("\n2 4", "\n2 11"), "DEMAND_SECTION", "CAPACITY 10")},
    "tsp": {},
    "sdvrp": {
        "a customer without demand": (spoilt("\n2 4", "\n2 0"), "DEMAND_SECTION", "[1, "),
        "a flood of loads": (
            spoilt("CAPACITY : 10(.*)\n2 4", r"CAPACITY : 1\1\n2 2000000000"), "capacity", "loads",
        ),
    },
    "vrptw": {
        "demand above capacity": (spoilt("\n2 4", "\n2 11"), "DEMAND", "CAPACITY 10"),
        "a window that closes before it opens": (
            spoilt("\n2 80 400", "\n2 400 80"), "TIME_WINDOW_SECTION", "closing",
        ),
        "a window that opens before time": (
            spoilt("\n2 80 400", "\n2 -1 400"), "TIME_WINDOW_SECTION", "-1",
        ),
        "a window without an end": (
            spoilt("\n2 80 400", "\n2 80 inf"), "TIME_WINDOW_SECTION", "inf",
        ),
        "a customer too far to be in time": (
            spoilt("\n2 80 400", "\n2 0 70"), "TIME_WINDOW", "from the depot",
        ),
        "a customer too far to be back": (
            spoilt("\n2 80 400", "\n2 390 400"), "TIME_WINDOW", "back",
        ),
        "a negative service time": (
            spoilt("\n2 10\n", "\n2 -10\n"), "SERVICE_TIME_SECTION", "-10",
        ),
        "torn in the windows": (torn("TIME_WINDOW_SECTION"), "DEPOT_SECTION", "missing"),
    },
}  # fmt: skip
CASES = [
    (name, what)
    for name in PROBLEMS
    for what in [*EVERY, *(VEHICLE if name in VEHICLES else ()), *OWN.get(name, ())]
]


def refusal(problem, path):
    with pytest.raises(FileError) as caught:
        problem.read(path)
    return str(caught.value)


def assert_one_sentence(sentence, path, *words):
    assert sentence.startswith((f"{path}: ", f"{path} "))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    # One sentence: no full stop but the last is followed by a space.
    said = sentence.removeprefix(str(path))
    assert ". " not in said
    assert len(said) < 250
    for word in words:
        assert word in said


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_file_that_is_spoilt_is_good(name, tmp_path):
    path = tmp_path / "good"
    path.write_text(text_of(name, 5))
    problem = problem_of(name)
    instance = problem.read(path)
    assert problem.check(instance, problem.baseline(instance)) == ()


@pytest.mark.parametrize(("name", "what"), CASES)
def test_a_spoilt_file_gets_one_sentence(name, what, tmp_path):
    spoil, *words = {**EVERY, **VEHICLE, **OWN.get(name, {})}[what]
    path = tmp_path / "bad"
    path.write_bytes(spoil(text_of(name, 5)))
    assert_one_sentence(refusal(problem_of(name), path), path, *words)


@pytest.mark.parametrize("name", PROBLEMS)
def test_too_few_nodes_are_refused(name, tmp_path):
    least = 3 if name == "tsp" else 2
    path = tmp_path / "bad"
    path.write_text(text_of(name, least - 1))
    assert_one_sentence(
        refusal(problem_of(name), path), path, "DIMENSION", f"expected at least {least}"
    )
    path.write_text(text_of(name, least))
    assert problem_of(name).read(path).size == (3 if name == "tsp" else 1)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("reader", ["read", "read_solution"])
def test_what_is_no_file_is_refused(name, reader, tmp_path):
    """At once: a reader would wait for ever on a FIFO, and come to no end of a device."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, what in (
        (tmp_path, "it is a directory, expected a regular file"),
        (fifo, "it is a FIFO, expected a regular file"),
        (Path("/dev/zero"), "it is a device, expected a regular file"),
        (tmp_path / "missing", "No such file or directory"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        with pytest.raises(FileError) as caught:
            getattr(problem_of(name), reader)(path)
        assert str(caught.value) == f"Cannot read {path}: {what}."


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("reader", ["read", "read_solution"])
def test_odd_contents_get_one_sentence(name, reader, tmp_path):
    path = tmp_path / "odd"
    good = text_of(name, 5) if reader == "read" else "Route #1: 1 2 3 4\n"
    for content, words in (
        (b"", "missing" if reader == "read" else "holds no route"),
        (b"\n" * 1000, "missing" if reader == "read" else "holds no route"),
        (bytes(range(256)), "text"),
        (b"\x7fELF" + bytes(100), "binary"),
        (good.encode("utf-16"), "text"),
        (good.encode("utf-32"), "binary"),
        ("NAME : Köln\n".encode("latin-1"), "0xf6 at 8"),
        (b"1 " * 100_000, ""),
        (b"x" * 1_000_000, "line 1"),
        # A pattern that goes back over these takes minutes.
        *((start + b" " * 500_000 + b"x", "line 1") for start in (b"a", b"route", b"cost", b"#")),
        (b"1" * 500_000 + b"x", "line 1"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError) as caught:
            getattr(problem_of(name), reader)(path)
        assert_one_sentence(str(caught.value), path, words)
    # Editors of one kind put a mark before the text, and end lines in their own way.
    path.write_bytes(good.replace("\n", "\r\n").encode("utf-8-sig"))
    getattr(problem_of(name), reader)(path)


@pytest.mark.parametrize("reader", ["read", "read_solution"])
def test_no_more_than_a_bound_is_read(reader, tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        # Without a block on disk.
        file.truncate(1 << 40)
    with pytest.raises(FileError) as caught:
        getattr(problem_of("cvrp"), reader)(path)
    assert str(caught.value) == f"{path} is larger than 32 MiB, the most that is read."


FIELDS = (
    "VEHICLES_MAX_DISTANCE", "MAX_DISTANCE", "DISTANCE", "DURATION", "MAX_DURATION",
    "VEHICLES_MAX_DURATION", "DROP_TIME", "VEHICLES_FIXED_COST", "VEHICLES_UNIT_DISTANCE_COST",
    "SCALE", "SALESMEN", "SPEED", "DEPOTS", "NEVER_HEARD_OF",
)  # fmt: skip
SECTIONS = (
    "VEHICLES_MAX_DISTANCE_SECTION", "PRIZE_SECTION", "BACKHAUL_SECTION", "RELEASE_TIME_SECTION",
    "PICKUP_AND_DELIVERY_SECTION", "NEVER_HEARD_OF_SECTION",
)  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("stated", [*FIELDS, *SECTIONS])
def test_what_may_be_a_constraint_is_never_passed_over(name, stated, tmp_path):
    """A solution that breaks it would be found feasible, or cost something else."""
    path = tmp_path / "x"
    lines = f"{stated}\n1 50\n" if stated in SECTIONS else f"{stated} : 50\n"
    path.write_text(text_of(name, 5).replace("EOF", f"{lines}EOF"))
    assert_one_sentence(refusal(problem_of(name), path), path, stated, "expected")


@pytest.mark.parametrize("name", PROBLEMS)
def test_fields_that_change_nothing_are_known(name, tmp_path):
    path = tmp_path / "x"
    path.write_text(text_of(name, 5))
    problem = problem_of(name)
    plain = problem.dumps(problem.read(path))
    fields = ["NODE_COORD_TYPE : TWOD_COORDS", "DISPLAY_DATA_TYPE : COORD_DISPLAY"]
    fields += ["EDGE_WEIGHT_FORMAT : FUNCTION"]
    # Fleets are unlimited here, as the published values assume.
    fields += ["VEHICLES : 2"] if name in VEHICLES else []
    path.write_text("\n".join([*fields, text_of(name, 5)]))
    assert problem.dumps(problem.read(path)) == plain


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_file_of_another_problem_is_named_as_what_it_is(name, tmp_path):
    texts = {other: [text_of(other, 5)] for other in PROBLEMS}
    texts["vrptw"] += [SOLOMON, text_of("vrptw", 5).replace("VRPTW", "CVRPTW")]
    texts["sdvrp"] += [NUMBERS]
    texts["tsp"] += [EXPLICIT]
    path = tmp_path / "x"
    for other, forms in texts.items():
        for text in forms:
            path.write_text(text)
            if other == name:
                problem_of(name).read(path)
                continue
            sentence = refusal(problem_of(name), path)
            assert_one_sentence(sentence, path, "expected", f"problem={other} reads it")
            assert name.upper() in sentence
    path.write_text("Route #1: 1 2\nCost 5\n")
    sentence = refusal(problem_of(name), path)
    assert_one_sentence(sentence, path, "this is a solution", "incumbent=FILE")


@pytest.mark.parametrize("name", PROBLEMS)
def test_solutions_are_read_alike(name, tmp_path):
    """What one problem accepts beside the routes, all do; and so with what one refuses."""
    path = tmp_path / "x.sol"
    routes = "Route #1: 1 2 3 4\n"
    problem = problem_of(name)
    path.write_text(routes)
    plain, _ = problem.read_solution(path)
    for notes, cost in (
        ("Cost 5\n", 5), ("cost: 5.5\n", 5.5), ("Optimal: True\n", None), ("Time 3\n", None),
        ("Comment: by hand\nCost 5\n", 5), ("run-time: 0.50 seconds\n", None),
        ("Delivery #1: * * * *\n", None),
    ):  # fmt: skip
        path.write_text(f"{routes}{notes}")
        assert problem.read_solution(path) == (plain, cost)
    path.write_text("Solution results\n====\n # routes: 1\nRoutes\n---\nRoute #1: C0 C1 C2 C3\n")
    assert problem.read_solution(path) == (plain, None)
    for line in ("Rout #1: 2", "Cost five", "1 2 3", "Route #2: x", "Delivery #1: 1", "words"):
        path.write_text(f"{routes}{line}\n")
        with pytest.raises(FileError) as caught:
            problem.read_solution(path)
        assert_one_sentence(str(caught.value), path)


# Formats of one problem.

SOLOMON = """few
VEHICLE
NUMBER CAPACITY
9 10
CUSTOMER
CUST NO. XCOORD. YCOORD. DEMAND READY TIME DUE DATE SERVICE TIME
0 50 50 0 0 400 0
1 0 0 4 80 400 10
2 100 0 4 80 400 10
"""
NUMBERS = "2 10\n4 25\n50 50\n0 0\n100 0\n"
EXPLICIT = """TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : UPPER_ROW
EDGE_WEIGHT_SECTION
1 2 3
4 5
6
EOF
"""
FORMATS = {
    ("vrptw", SOLOMON): [
        (spoilt("\n2 100", "\n2 nan"), "XCOORD. of customer 2 is nan"),
        (spoilt("\n2 100 0", "\n2 100 inf"), "YCOORD. of customer 2 is inf"),
        (spoilt("0 4 80", "0 -4 80"), "DEMAND of customer 1 is -4"),
        (spoilt("0 4 80", "0 40 80"), "DEMAND of customer 1 is 40"),
        (spoilt("80 400 10", "400 80 10"), "DUE DATE of customer 1 is 80"),
        (spoilt("80 400 10", "0 60 10"), "TIME_WINDOW of customer 1 is 0 to 60"),
        (spoilt("9 10", "9 0"), "CAPACITY is 0"),
        (spoilt("\n1 0 0.*", "\n"), "CUSTOMER holds 1 rows, expected at least 2"),
        (spoilt(" 400 10\n2", " 400\n2"), "line 8"),
        (spoilt("NUMBER CAPACITY", "NUMBER"), "NUMBER CAPACITY"),
    ],
    ("sdvrp", NUMBERS): [
        (spoilt("100 0", "nan 0"), "customer 2 is at (nan, 0)"),
        (spoilt("100 0", "100 -inf"), "customer 2 is at (100, -inf)"),
        (spoilt("4 25", "-4 25"), "demand of customer 1 is -4"),
        (spoilt("2 10", "2 0"), "capacity is 0"),
        (spoilt("2 10", "0 10"), "number of customers is 0"),
        (spoilt("2 10.*", "2"), "capacity is missing"),
        (spoilt("2 10", "3 10"), "holds 10 numbers, expected 13"),
        (spoilt("100 0\n", "100"), "holds 9 numbers, expected 10"),
    ],
    ("tsp", EXPLICIT): [
        (spoilt("4 5", "4 nan"), "EDGE_WEIGHT_SECTION holds nan"),
        (spoilt("4 5", "4 -5"), "EDGE_WEIGHT_SECTION holds -5"),
        (spoilt("\n6", ""), "EDGE_WEIGHT_SECTION holds 5 numbers, expected 6"),
        (spoilt("UPPER_ROW", "DIAGONAL"), "EDGE_WEIGHT_FORMAT is 'DIAGONAL'"),
        (spoilt("DIMENSION : 4", "DIMENSION : 2"), "DIMENSION is 2, expected at least 3"),
    ],
}


@pytest.mark.parametrize(
    ("name", "good", "spoil", "words"),
    [(*key, *bad) for key, listed in FORMATS.items() for bad in listed],
)
def test_a_spoilt_file_of_another_format_gets_one_sentence(name, good, spoil, words, tmp_path):
    path = tmp_path / "few"
    path.write_text(good)
    problem_of(name).read(path)
    path.write_bytes(spoil(good))
    sentence = refusal(problem_of(name), path)
    assert words in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


# The smallest instances.


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_smallest_instances_keep_their_baseline(name, tmp_path):
    problem = problem_of(name)
    instances = []
    for nodes in (3, 4) if name == "tsp" else (2, 3):
        path = tmp_path / f"{nodes}{problem.suffix}"
        path.write_text(text_of(name, nodes))
        instances.append(problem.read(path))
    cases = make_cases(problem, instances)
    width = len(problem.descriptor_names)
    empty = Router(
        np.zeros((0, width)), np.zeros((0, 1)), mean=np.zeros(width), scale=np.ones(width),
        n_neighbors=5,
    )  # fmt: skip
    seed = {level: contracts(problem.operator)[level].seed for level in Level}
    system = RepairSystem("seed", (seed[Level.LOWER],), empty, Accept.IMPROVING)
    evaluator = Evaluator(problem, cases, share_arrays(problem, cases), CallLimits())
    try:
        for index, case in enumerate(cases):
            repair = evaluator.repair(seed[Level.UPPER], system, index)
            assert repair.outcome in (Outcome.OK, Outcome.EMPTY_REGIONS), repair.detail
            assert repair.solution == case.baseline
            assert repair.cost == case.cost
    finally:
        evaluator.close()


def evaluated(place, instance):
    options = [f"instance={instance}", f"hydra.run.dir={instance}.rows", "executor.workers=1"]
    return call("evaluate", "checkpoint=run/checkpoint", *options, cwd=place, check=False)


def test_the_command_says_the_sentence_or_repairs(tmp_path):
    """From a training without any program, through a real process each."""
    call(
        "train", "problem=sdvrp", "tracking=none", "budget=smoke", "budget.programs=0",
        "budget.rounds=1", "budget.lower_train=1", "budget.upper_train=1", "budget.selection=1",
        "budget.validation=1", "hydra.run.dir=run", "executor.workers=1", cwd=tmp_path,
    )  # fmt: skip
    # Its NAME is longer than a file's may be.
    long = text_of("sdvrp", 3).replace("NAME : few", f"NAME : {'é' * 300}")
    (tmp_path / "two.vrp").write_text(long)
    (tmp_path / "bad.vrp").write_bytes(VEHICLE["zero capacity"][0](text_of("sdvrp", 3)))
    done = evaluated(tmp_path, "two.vrp")
    assert done.returncode == 0, done.stderr
    [row] = map(json.loads, (tmp_path / "two.vrp.rows" / "rows.jsonl").open())
    assert (row["status"], row["feasible"]) == ("ok", True)
    assert row["cost"] == row["baseline_cost"] > 0
    [written] = (tmp_path / "two.vrp.rows").glob("*.sol")
    assert f"Cost {row['cost']:.0f}\n" in written.read_text()
    done = evaluated(tmp_path, "bad.vrp")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip() == (
        "bad.vrp: CAPACITY is '0', expected an integer in [1, 2147483647]."
    )
    assert not (tmp_path / "bad.vrp.rows").exists()
