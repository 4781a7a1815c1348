"""Files that describe no instance get one sentence; the smallest instances there are, a repair.

Every problem of conf/problem has good files of its own, and says how they are spoilt
(``tests/problems/NAME/described.py``).
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from commands import call
from offered import PROBLEMS
from problems.described import described
from specahd.config import CONF_DIR
from specahd.core.errors import FileError
from specahd.core.program import Level, Outcome
from specahd.core.settings import Accept, CallLimits
from specahd.repair.cases import make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.router import Router
from specahd.repair.system import RepairSystem
from specahd.routing.base import contracts


def problem_of(name):
    return instantiate(OmegaConf.load(CONF_DIR / "problem" / f"{name}.yaml"))


def refusal(name, path, reader="read"):
    with pytest.raises(FileError) as caught:
        getattr(problem_of(name), reader)(path)
    return str(caught.value)


def assert_refused(name, path, *words, reader="read"):
    """Check that a file gets one sentence, which has these words."""
    sentence = refusal(name, path, reader)
    assert sentence.startswith((f"{path}: ", f"{path} "))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    # One sentence: no full stop but the last is followed by a space, or that of a column's name.
    said = sentence.removeprefix(str(path))
    assert ". " not in said.replace("COORD. ", "")
    assert len(said) < 250
    for word in words:
        assert word in said


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_file_that_is_spoilt_is_good(name, tmp_path):
    path = tmp_path / "good"
    path.write_text(described(name).text(5))
    problem = problem_of(name)
    instance = problem.read(path)
    assert problem.check(instance, problem.baseline(instance)) == ()


@pytest.mark.parametrize(
    ("name", "what"), [(name, what) for name in PROBLEMS for what in described(name).spoilt]
)
def test_a_spoilt_file_gets_one_sentence(name, what, tmp_path):
    spoil, *words = described(name).spoilt[what]
    path = tmp_path / "bad"
    path.write_bytes(spoil(described(name).text(5)))
    assert_refused(name, path, *words)


@pytest.mark.parametrize("name", PROBLEMS)
def test_too_few_nodes_are_refused(name, tmp_path):
    kind = described(name)
    path = tmp_path / "bad"
    path.write_text(kind.text(kind.least - 1))
    assert_refused(name, path, "DIMENSION", f"expected at least {kind.least}")
    path.write_text(kind.text(kind.least))
    assert problem_of(name).read(path).size == kind.size


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("reader", ["read", "read_solution"])
def test_what_is_no_file_is_refused(name, reader, tmp_path):
    """At once: a reader would wait for ever on a FIFO, and come to no end of a device."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, what in (
        (tmp_path, "a directory"),
        (fifo, "a FIFO"),
        (Path("/dev/zero"), "a device"),
        (tmp_path / "missing", "No such file"),
        (tmp_path / ("x" * 300), "too long"),
    ):
        sentence = refusal(name, path, reader)
        # The middle of a long path is left out.
        assert sentence.startswith(f"Cannot read {path.parent}")
        assert what in sentence


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("reader", ["read", "read_solution"])
def test_odd_contents_get_one_sentence(name, reader, tmp_path):
    path = tmp_path / "odd"
    good = described(name).text(5) if reader == "read" else "Route #1: 1 2 3 4\n"
    for content, words in (
        (b"", "missing" if reader == "read" else "holds no route"),
        (b"\n" * 1000, "missing" if reader == "read" else "holds no route"),
        (bytes(range(256)), "text"),
        (b"\x7fELF" + bytes(100), "binary"),
        (good.encode("utf-16-le"), "binary"),
        (good.encode("utf-32-le"), "binary"),
        ("NAME : Köln\x81\n".encode("latin-1"), "0xf6 at 8"),
        (b"1 " * 100_000, ""),
        (b"x" * 1_000_000, "line 1"),
        # A pattern that goes back over these takes minutes.
        *((start + b" " * 500_000 + b"x", "line 1") for start in (b"a", b"route", b"cost")),
        (b"#" + b" " * 500_000 + b"x", "TYPE is missing" if reader == "read" else "line 1"),
        (b"1" * 500_000 + b"x", "line 1"),
    ):
        path.write_bytes(content)
        assert_refused(name, path, words, reader=reader)
    # Editors of one kind put a mark before the text, and end lines in their own way.
    path.write_bytes(good.replace("\n", "\r\n").encode("utf-8-sig"))
    getattr(problem_of(name), reader)(path)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("reader", ["read", "read_solution"])
def test_no_more_than_memory_allows_is_read(name, reader, tmp_path, monkeypatch):
    monkeypatch.setattr("specahd.routing.formats.text.available_memory", lambda: 1 << 32)
    path = tmp_path / "large"
    with path.open("wb") as file:
        # Without a block on disk.
        file.truncate(1 << 40)
    assert_refused(name, path, "larger than 128 MiB", reader=reader)


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
def test_what_may_be_a_constraint_is_never_passed_over(name, tmp_path):
    """A solution that breaks it would be found feasible, or cost something else."""
    path = tmp_path / "x"
    for stated in (*FIELDS, *SECTIONS):
        lines = f"{stated}\n1 50\n" if stated in SECTIONS else f"{stated} : 50\n"
        path.write_text(described(name).text(5).replace("EOF", f"{lines}EOF"))
        if stated in described(name).limits:
            path.write_text(described(name).text(5).replace("EOF", f"{stated} : 5e5\nEOF"))
            assert problem_of(name).read(path).limited
            continue
        assert_refused(name, path, stated, "expected")


@pytest.mark.parametrize("name", PROBLEMS)
def test_fields_that_change_nothing_are_known(name, tmp_path):
    path = tmp_path / "x"
    path.write_text(described(name).text(5))
    problem = problem_of(name)
    plain = problem.dumps(problem.read(path))
    fields = ["NODE_COORD_TYPE : TWOD_COORDS", "DISPLAY_DATA_TYPE : COORD_DISPLAY"]
    fields += ["EDGE_WEIGHT_FORMAT : FUNCTION"]
    fields += described(name).neutral
    path.write_text("\n".join([*fields, described(name).text(5)]))
    assert problem.dumps(problem.read(path)) == plain


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_file_of_another_problem_is_named_as_what_it_is(name, tmp_path):
    path, kind = tmp_path / "x", described(name).type
    for other in PROBLEMS:
        theirs = described(other)
        for text in (theirs.text(5), *theirs.formats, *theirs.alike):
            path.write_text(text)
            if theirs.type == kind:
                problem_of(name).read(path)
                continue
            assert_refused(name, path, "expected", f"problem={other} reads it", kind)
    path.write_text("Route #1: 1 2\nCost 5\n")
    assert_refused(name, path, "this is a solution", "incumbent=FILE")


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
        assert_refused(name, path, reader="read_solution")


@pytest.mark.parametrize(
    ("name", "good", "spoil", "words"),
    [
        (name, good, *bad)
        for name in PROBLEMS
        for good, listed in described(name).formats.items()
        for bad in listed
    ],
)
def test_a_spoilt_file_of_another_format_gets_one_sentence(name, good, spoil, words, tmp_path):
    path = tmp_path / "few"
    path.write_text(good)
    problem_of(name).read(path)
    path.write_bytes(spoil(good))
    assert_refused(name, path, words)


# The smallest instances.


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_smallest_instances_keep_their_baseline(name, tmp_path):
    problem = problem_of(name)
    instances = []
    kind = described(name)
    for nodes in (kind.least, kind.least + 1):
        path = tmp_path / f"{nodes}{problem.suffix}"
        path.write_text(kind.text(nodes))
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
            repair = evaluator.repair([seed[Level.UPPER]], system, index)
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
    kind = described("sdvrp")
    long = kind.text(3).replace("NAME : few", f"NAME : {'é' * 300}")
    (tmp_path / "two.vrp").write_text(long)
    (tmp_path / "bad.vrp").write_bytes(kind.spoilt["zero capacity"][0](kind.text(3)))
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
    assert done.stderr.startswith("bad.vrp: CAPACITY is '0', expected")
    assert not (tmp_path / "bad.vrp.rows").exists()
