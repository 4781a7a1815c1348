"""Any folder: what each file is, and whether each solution is what it states."""

import os
import shutil
import warnings

import pytest

from offered import PROBLEMS as NAMES
from offered import problem
from specahd.api.problems import make_problem
from specahd.core.errors import FileError
from specahd.problems.cvrp.problem import CVRP
from specahd.routing import verification
from specahd.routing.verification import Status

# Every problem of conf/problem in each of its conventions.
PROBLEMS = {
    name: {
        convention: make_problem(name, **({"convention": convention} if convention else {}))
        for convention in problem(name).conventions or [""]
    }
    for name in NAMES
}
SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10 0
3 10 10
4 0 10
EOF
"""
TOUR = "NAME : square\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n"
HEAD = "set,name,bks,kind,convention,source,vehicles,verified_cost,note\n"


def verified(folder):
    paths = verification.files(folder)
    steps = []
    found = list(verification.verify(PROBLEMS, folder, paths, lambda: steps.append(0)))
    assert len(steps) == len(paths)
    # No file is passed over in silence.
    for path in paths:
        assert any(str(path) in finding.sentence for finding in found)
    return [(one.status, one.sentence.replace(f"{folder}/", "")) for one in found]


@pytest.fixture
def folder(tmp_path, data):
    """An instance and its solution."""
    folder = tmp_path / "some"
    folder.mkdir()
    for name in ("tiny.vrp", "tiny.sol"):
        shutil.copy(data / name, folder)
    return folder


def rewrite(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "status", "words"),
    [
        ("Cost 206", "Cost 205", Status.MISMATCH, "it costs 206, published is 205"),
        ("Cost 206", "Cost 206.02", Status.MISMATCH, "it costs 206, published is 206.02"),
        ("Cost 206\n", "", Status.CHECKED, "it costs 206, none is stated"),
        ("3: 5", "3: 4", Status.MISMATCH, "Customer 5 is not visited"),
        ("3: 5", "3: x", Status.REFUSED, "line 3 holds 'x'"),
    ],
)
def test_a_solution_is_held_to_what_it_states(folder, old, new, status, words):
    rewrite(folder / "tiny.sol", old, new)
    _, (found, sentence) = verified(folder)
    assert found is status
    assert words in sentence


def test_an_instance_that_is_refused_and_its_solution(folder):
    rewrite(folder / "tiny.vrp", "CAPACITY", "MAX_DISTANCE : 5\nCAPACITY")
    (status, sentence), (other, _) = verified(folder)
    assert (status, other) == (Status.REFUSED, Status.UNCHECKED)
    assert sentence.startswith("tiny.vrp: MAX_DISTANCE")


def test_files_that_are_nothing_by_their_text(folder):
    (folder / "notes.md").write_text("Information on this folder.\n")
    (folder / "picture.png").write_bytes(bytes(range(256)))
    (folder / ".hidden").write_text("")
    os.mkfifo(folder / "fifo")
    # Their names say what they should be.
    (folder / "torn.vrp").write_text("NAME : torn\n")
    (folder / "noise.tsp").write_bytes(bytes(range(256)))
    (folder / "empty.sol").write_text("")
    os.mkfifo(folder / "fifo.vrp")
    found = verified(folder)
    refused = [sentence for status, sentence in found if status is Status.REFUSED]
    assert [status for status, _ in found[:3]] == [Status.OTHER] * 3
    assert [sentence.partition(":")[0] for sentence in refused] == [
        *("Cannot read fifo.vrp", "noise.tsp", "torn.vrp", "empty.sol"),
    ]
    assert len(found) == 3 + len(refused) + 2


def test_solutions_lie_beside_their_instance_or_below(folder):
    (folder / "tours").mkdir()
    (folder / "square.tsp").write_text(SQUARE)
    (folder / "tours" / "SQUARE.opt.tour").write_text(TOUR)
    (folder / "tours" / "square.40.sol").write_text("Route #1: 1 2 3\nCost 40\n")
    (folder / "tours" / "other.sol").write_text("Route #1: 1 2 3\nCost 40\n")
    # The nearest of one name.
    (folder / "deep").mkdir()
    (folder / "deep" / "tiny.tsp").write_text(SQUARE)
    (folder / "deep" / "tiny.sol").write_text("Route #1: 1 2 3\nCost 41\n")
    assert verified(folder) == [
        (Status.READ, "deep/tiny.tsp: read, tsp of size 4"),
        (Status.MISMATCH, "deep/tiny.sol: it costs 40, published is 41"),
        (Status.READ, "square.tsp: read, tsp of size 4"),
        (
            Status.CHECKED,
            "tours/SQUARE.opt.tour: solves square.tsp, it costs 40, none is stated",
        ),
        (Status.CHECKED, "tours/square.40.sol: solves square.tsp, it costs 40 as stated"),
        (Status.READ, "tiny.vrp: read, cvrp of size 5"),
        (Status.CHECKED, "tiny.sol: solves tiny.vrp, it costs 206 as stated"),
        (Status.UNCHECKED, "tours/other.sol: a solution without an instance of its name"),
    ]


def test_a_sentence_tells_of_a_doubt_and_of_another_convention(data):
    with warnings.catch_warnings(action="error"):
        found = [sentence for _, sentence in verified(data / "elsewhere")]
    for name, words in (
        ("few-solomon.txt", "nothing in the file tells whether it is whole"),
        ("unrounded.sol", "as stated with problem.convention=float"),
    ):
        [sentence] = [sentence for sentence in found if sentence.startswith(name)]
        assert words in sentence


def test_published_values_stand_in_for_what_files_do_not_state(folder):
    (folder / "cvrp_x").mkdir()
    for name in ("tiny.vrp", "tiny.sol"):
        (folder / name).rename(folder / "cvrp_x" / name)
    rewrite(folder / "cvrp_x" / "tiny.sol", "Cost 206\n", "")
    table = folder / "bks.csv"
    for row, status in (
        ("cvrp_x,TINY,205,optimal,euc2d,,,,\n", Status.MISMATCH),
        ("cvrp_x,TINY,206,optimal,euc2d,,,205,\n", Status.MISMATCH),
        ("cvrp_x,TINY,205,optimal,euc2d,,,,shipped .sol costs more\n", Status.KNOWN),
        ("", Status.CHECKED),
        ("tsplib,tiny,205,,,,,,\n", Status.CHECKED),
        ("cvrp_x,tiny,a word,,,,,,\n", Status.CHECKED),
        ("cvrp_x\n", Status.CHECKED),
    ):
        table.write_text(HEAD + row)
        assert verified(folder)[-1][0] is status


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)), "binary data"),
        (b"", "the column set is missing"),
        (b"set,name\n", "the column bks is missing"),
        (HEAD.encode() + b"x" * 200_000, "expected a table of values"),
    ],
)
def test_a_table_that_is_none_gets_one_sentence(folder, content, words):
    (folder / "bks.csv").write_bytes(content)
    with pytest.raises(FileError, match=f"^{folder}/bks.csv: .*{words}") as caught:
        verified(folder)
    assert "\n" not in str(caught.value)


def test_counts(folder):
    (folder / "cvrp_x").mkdir()
    (folder / "cvrp_x" / "torn.vrp").write_text("")
    paths = verification.files(folder)
    counts = verification.tallies(verification.verify(PROBLEMS, folder, paths))
    assert counts == {
        "cvrp_x": {Status.REFUSED: 1},
        ".": {Status.READ: 1, Status.CHECKED: 1},
    }
    assert counts["."].line("some").split() == (
        ["some", "1", "read", "1", "solutions", "checked", "0", "mismatches", "0", "refused"]
    )


def test_a_problem_of_the_users_own_has_the_files_with_its_endings(folder):
    class OwnProblem(CVRP):
        name = "own"
        suffix = ".own"
        endings = (".plan", ".sol")

    (folder / "tiny.vrp").rename(folder / "tiny.own")
    shutil.copy(folder / "tiny.sol", folder / "tiny.plan")
    (folder / "square.tsp").write_text(SQUARE)
    found = list(
        verification.verify(PROBLEMS, folder, verification.files(folder), own={"": OwnProblem()})
    )
    read = [one.sentence for one in found if one.status is Status.READ]
    assert read == [
        f"{folder}/square.tsp: read, tsp of size 4",
        f"{folder}/tiny.own: read, own of size 5",
    ]
    assert [one.status for one in found].count(Status.CHECKED) == 2
    # Without it, content tells: the plan is no solution by its ending, but by its text.
    assert (Status.READ, "tiny.own: read, cvrp of size 5") in verified(folder)
