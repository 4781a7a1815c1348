"""Freeze, thaw, verify: equal bytes for equal runs, no altered byte goes unnoticed."""

import compileall
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from commands import tree
from foreign import rewrite
from specahd.checkpoint.frozen import Checkpoint, freeze, thaw
from specahd.checkpoint.manifest import verify_checksums
from specahd.core.errors import CheckpointError
from specahd.core.program import Level, Outcome, Tier
from specahd.core.repair_options import RepairOptions
from specahd.core.settings import Accept
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.repair.router import ResponseArchive, Utilities
from specahd.routing.base import Region, contracts

PROBLEM = CVRP()
CONTRACTS = {level: contracts(PROBLEM.operator)[level] for level in Level}
WIDTH = len(PROBLEM.descriptor_names)


def checkpoint():
    width = len(PROBLEM.descriptor_names)
    table = ResponseTable(
        [RepairTask(f"x#{k}", k, Region((1, 2, 3)), (0.1 * k,) * width) for k in range(3)]
    )
    lower = CONTRACTS[Level.LOWER].seed
    table.add(lower.id, [Response(Outcome.OK, 10.0, 9.0 + k) for k in range(3)])
    archive = ResponseArchive(PROBLEM.descriptor_names)
    archive.extend(table)
    return Checkpoint(
        problem="cvrp",
        settings={"baseline": "nearest", "max_regions": 8, "max_size": 50},
        uppers=(CONTRACTS[Level.UPPER].seed,),
        repertoire=(lower,),
        archive=archive,
        statistics=archive.statistics(),
        accept=Accept.IMPROVING,
        neighbours=5,
    )


def several():
    upper = CONTRACTS[Level.UPPER].seed
    uppers = tuple(replace(upper, id=name) for name in ("upper-b", "upper-a"))
    return replace(checkpoint(), uppers=uppers, passes=8, tries=3)


@pytest.fixture
def frozen(tmp_path):
    freeze(checkpoint(), tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


@pytest.mark.parametrize(
    "made",
    [
        checkpoint(),
        several(),
        replace(checkpoint(), portfolio=True),
        replace(checkpoint(), training={"seed": 0}),
    ],
    ids=("plain", "several", "portfolio", "training"),
)
def test_round_trip_in_bytes(tmp_path, made):
    freeze(made, tmp_path / "checkpoint")
    read = thaw(tmp_path / "checkpoint")
    freeze(read, tmp_path / "again")
    assert tree(tmp_path / "checkpoint") == tree(tmp_path / "again")
    assert [program.id for program in read.uppers] == [program.id for program in made.uppers]
    for field in ("passes", "tries", "portfolio", "training"):
        assert getattr(read, field) == getattr(made, field)
    assert read.system().portfolio is made.portfolio
    assert (read.system().passes, read.system().tries) == (made.passes, made.tries)
    assert read.system().router.choose is not None
    read.admit(PROBLEM)
    other = read.system(RepairOptions(passes=2, tries=1))
    assert (other.passes, other.tries, other.accept) == (2, 1, Accept.IMPROVING)
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint", "again"}


def choosing():
    """Return the problem of a checkpoint that chooses its upper program, and the checkpoint."""
    problem = CVRP(repair="insertion")
    seeds = {level: one.seeds for level, one in contracts(problem.operator).items()}
    by_tier = {
        level: tuple(replace(one, tier=Tier.COMPILED) for one in seeds[level]) for level in Level
    }
    width = len(problem.descriptor_names)
    archive = ResponseArchive(problem.descriptor_names)
    made = replace(
        checkpoint(),
        uppers=by_tier[Level.UPPER][:2],
        repertoire=by_tier[Level.LOWER],
        archive=archive,
        statistics=archive.statistics(),
        utilities=Utilities(((1.0,) * width, (-0.1,) * width), ((0.3, 0.1), (0.0, 0.2))),
    )
    return problem, made


def test_what_chooses_an_upper_program_is_kept(tmp_path):
    problem, made = choosing()
    freeze(made, tmp_path / "checkpoint")
    read = thaw(tmp_path / "checkpoint")
    freeze(read, tmp_path / "again")
    assert tree(tmp_path / "checkpoint") == tree(tmp_path / "again")
    assert read.utilities == made.utilities
    read.admit(problem)
    near, far = (np.array(each) for each in made.utilities.descriptors)
    alone = replace(read, neighbours=1).system().choice
    assert (alone.choose(near), alone.choose(far)) == (0, 1)
    with pytest.raises(CheckpointError, match="chooses an upper program where all take turns"):
        replace(checkpoint(), uppers=several().uppers, utilities=made.utilities).admit(PROBLEM)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"uppers": []},
        {"utilities": {"descriptors": [], "saved": [[], []]}},
        {"utilities": {"descriptors": [[1.0]], "saved": [[0.1], [0.2]]}},
        {"utilities": {"descriptors": [[1.0] * WIDTH], "saved": [[0.1]]}},
        {"utilities": {"descriptors": [[1.0] * WIDTH], "saved": [[0.1], [0.2, 0.3]]}},
        {"utilities": {"descriptors": [[1e16] * WIDTH], "saved": [[0.1], [0.2]]}},
        {"utilities": {"descriptors": [[1.0] * WIDTH], "saved": [[0.1], ["x"]]}},
        {"utilities": None},
    ],
)
def test_what_chooses_fits_the_programs_or_is_refused(tmp_path, change):
    freeze(choosing()[1], tmp_path / "checkpoint")
    rewrite(tmp_path / "checkpoint", lambda manifest: manifest.update(change))
    with pytest.raises(CheckpointError, match="is not a manifest"):
        thaw(tmp_path / "checkpoint")


def test_what_is_as_in_the_paper_reads_as_it_always_did(frozen):
    told = json.loads((frozen / "manifest.json").read_text()).keys()
    assert not told & {"uppers", "passes", "tries", "portfolio", "training", "utilities"}


def test_every_flipped_byte_is_noticed(frozen):
    for name, content in tree(frozen).items():
        path = frozen / name
        # Every byte of the sums and a spread over the rest.
        step = 1 if path.name == "SHA256SUMS" else max(1, len(content) // 23)
        for position in range(0, len(content), step):
            altered = bytearray(content)
            altered[position] ^= 1
            path.write_bytes(bytes(altered))
            with pytest.raises(CheckpointError, match=frozen.name):
                verify_checksums(frozen)
        path.write_bytes(content)
    verify_checksums(frozen)


def test_a_missing_file_and_one_that_is_not_listed_are_noticed(frozen):
    sums = frozen / "SHA256SUMS"
    lines = sums.read_text().splitlines(keepends=True)
    for name in ("manifest.json", "programs/lower-seed.py", "tasks.parquet"):
        sums.write_text("".join(line for line in lines if name not in line))
        with pytest.raises(CheckpointError, match=name):
            thaw(frozen)
    sums.write_text("".join(lines))
    (frozen / "tasks.parquet").unlink()
    with pytest.raises(CheckpointError, match=r"lacks tasks\.parquet"):
        verify_checksums(frozen)


def test_swapped_programs_are_noticed(frozen):
    first, second = sorted((frozen / "programs").iterdir())
    text = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(text)
    with pytest.raises(CheckpointError, match=r"programs/lower-seed\.py"):
        verify_checksums(frozen)


def test_what_lies_beside_listed_files_is_never_read(frozen):
    before = thaw(frozen)
    (frozen / "programs" / "extra.py").write_text("x = 1\n")
    (frozen / "programs" / "loop").symlink_to(frozen)
    assert compileall.compile_dir(frozen / "programs", quiet=2)
    os.mkfifo(frozen / "pipe")
    after = thaw(frozen)
    assert (after.upper, after.repertoire) == (before.upper, before.repertoire)


def test_no_checkpoint_there(tmp_path):
    with pytest.raises(CheckpointError, match="No checkpoint at"):
        thaw(tmp_path)


def test_a_later_one_replaces_the_earlier(frozen):
    freeze(replace(checkpoint(), neighbours=3), frozen)
    assert thaw(frozen).neighbours == 3


def test_every_program_is_guarded_again():
    made = several()
    made.admit(PROBLEM)
    first, second = made.uppers
    hostile = replace(second, source="import os\n" + second.source)
    with pytest.raises(CheckpointError, match="upper-a"):
        replace(made, uppers=(first, hostile)).admit(PROBLEM)


@pytest.mark.parametrize(
    ("field", "odd"),
    [
        *(("portfolio", odd) for odd in (1, "yes", None)),
        *(("training", odd) for odd in (None, "yes", [["seed", 0]], 3)),
        *((name, odd) for name in ("passes", "tries") for odd in (0, -3, 1.5, "2", None, True)),
        *(("uppers", odd) for odd in (None, "x", [{}], {"id": "a"})),
    ],
)
def test_a_field_is_of_its_kind_or_is_not_told(tmp_path, field, odd):
    freeze(several(), tmp_path / "several")
    rewrite(tmp_path / "several", lambda manifest: manifest.update({field: odd}))
    with pytest.raises(CheckpointError, match=rf"{field}(\[0\])?: "):
        thaw(tmp_path / "several")


def test_the_first_of_several_upper_programs_is_the_one_told_alone(tmp_path):
    freeze(several(), tmp_path / "several")
    manifest = json.loads((tmp_path / "several" / "manifest.json").read_text())
    first, second = manifest["uppers"]
    assert manifest["upper"] == first
    for wrong in ([second, first], [first], [first, first], [first, second, second]):
        rewrite(tmp_path / "several", lambda manifest, wrong=wrong: manifest.update(uppers=wrong))
        with pytest.raises(CheckpointError, match=r"uppers|every program once|upper-a"):
            thaw(tmp_path / "several")


@pytest.mark.parametrize("change", [{"passes": 2}, {"tries": 2}, {"uppers": several().uppers}])
def test_where_there_is_one_pass_several_are_refused(change):
    made = replace(checkpoint(), **change)
    made.admit(PROBLEM)
    for problem, portfolio in (
        (CVRP(repair="construct"), False),
        (CVRP(repair="insertion"), False),
        (PROBLEM, True),
    ):
        refused = replace(made, portfolio=portfolio)
        names = tuple(problem.descriptor_names)
        if names != made.archive.descriptor_names:
            archive = ResponseArchive(names)
            refused = replace(refused, archive=archive)
        with pytest.raises(CheckpointError, match="several passes or tries where"):
            refused.admit(problem)
