"""Freeze, thaw, verify: equal bytes for equal runs, no altered byte goes unnoticed."""

import compileall
import dataclasses
import hashlib
import json
import os

import pytest

from specahd.checkpoint import Checkpoint, freeze, thaw
from specahd.core.errors import CheckpointError
from specahd.core.program import Level, Outcome
from specahd.core.repair_options import RepairOptions
from specahd.core.settings import Accept
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.archive import ResponseArchive
from specahd.repair.checksums import verify_checksums
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.routing.base import Region, contracts

PROBLEM = CVRP()
CONTRACTS = {level: contracts(PROBLEM.operator)[level] for level in Level}


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


@pytest.fixture
def frozen(tmp_path):
    freeze(checkpoint(), tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


def files(directory):
    return {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}


def test_round_trip_in_bytes(frozen, tmp_path):
    freeze(thaw(frozen), tmp_path / "again")
    first, second = files(frozen), files(tmp_path / "again")
    assert {name: path.read_bytes() for name, path in first.items()} == {
        name: path.read_bytes() for name, path in second.items()
    }
    assert thaw(frozen).system().router.choose is not None
    assert {path.name for path in frozen.parent.iterdir()} == {"checkpoint", "again"}


def test_every_flipped_byte_is_noticed(frozen):
    for path in files(frozen).values():
        content = path.read_bytes()
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
    with pytest.raises(CheckpointError, match=r"altered: programs/lower-seed\.py does not match"):
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
    before = hashlib.sha256((frozen / "manifest.json").read_bytes()).hexdigest()
    freeze(dataclasses.replace(checkpoint(), neighbours=3), frozen)
    assert thaw(frozen).neighbours == 3
    assert hashlib.sha256((frozen / "manifest.json").read_bytes()).hexdigest() != before


def test_sources_are_guarded_again():
    hostile = dataclasses.replace(
        CONTRACTS[Level.UPPER].seed, source="import os\n" + CONTRACTS[Level.UPPER].seed.source
    )
    with pytest.raises(CheckpointError, match="upper-seed"):
        dataclasses.replace(checkpoint(), uppers=(hostile,)).admit(PROBLEM)
    checkpoint().admit(PROBLEM)


def test_a_portfolio_comes_back_as_one(tmp_path):
    freeze(dataclasses.replace(checkpoint(), portfolio=True), tmp_path / "portfolio")
    assert thaw(tmp_path / "portfolio").system().portfolio is True


def test_what_a_router_chooses_for_reads_as_it_always_did(frozen):
    assert "portfolio" not in json.loads((frozen / "manifest.json").read_text())
    assert thaw(frozen).system().portfolio is False


def altered(frozen, **fields):
    """Write other fields into the manifest, and its hash into the sums."""
    path = frozen / "manifest.json"
    manifest = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    lines = [
        line for line in (frozen / "SHA256SUMS").read_text().splitlines() if line[66:] != path.name
    ]
    lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    (frozen / "SHA256SUMS").write_text(
        "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line[66:]))
    )


@pytest.mark.parametrize("odd", [1, "yes", None])
def test_a_portfolio_is_one_or_is_not_told(frozen, odd):
    altered(frozen, portfolio=odd)
    with pytest.raises(CheckpointError, match="portfolio: expected bool"):
        thaw(frozen)


@pytest.mark.parametrize("odd", [None, "yes", [["seed", 0]], 3])
def test_a_training_is_a_group_of_options_or_is_not_told(frozen, odd):
    altered(frozen, training=odd)
    with pytest.raises(CheckpointError, match="training: expected object"):
        thaw(frozen)


def test_a_checkpoint_from_before_trainings_were_told_is_read(frozen):
    assert "training" not in json.loads((frozen / "manifest.json").read_text())
    assert thaw(frozen).training == {}
    altered(frozen, training={"seed": 0})
    assert thaw(frozen).training == {"seed": 0}


def several():
    upper = CONTRACTS[Level.UPPER].seed
    uppers = tuple(dataclasses.replace(upper, id=name) for name in ("upper-b", "upper-a"))
    return dataclasses.replace(checkpoint(), uppers=uppers, passes=8, tries=3)


def test_upper_programs_passes_and_tries_come_back_in_order(tmp_path):
    freeze(several(), tmp_path / "several")
    read = thaw(tmp_path / "several")
    assert [program.id for program in read.uppers] == ["upper-b", "upper-a"]
    assert (read.upper, read.passes, read.tries) == (read.uppers[0], 8, 3)
    assert (read.system().passes, read.system().tries) == (8, 3)
    other = read.system(RepairOptions(passes=2, tries=1))
    assert (other.passes, other.tries, other.accept) == (2, 1, Accept.IMPROVING)
    read.admit(PROBLEM)
    freeze(read, tmp_path / "again")
    assert {name: path.read_bytes() for name, path in files(tmp_path / "several").items()} == {
        **{name: path.read_bytes() for name, path in files(tmp_path / "again").items()}
    }


def test_one_pass_of_one_upper_program_reads_as_it_always_did(frozen):
    manifest = json.loads((frozen / "manifest.json").read_text())
    assert not manifest.keys() & {"uppers", "passes", "tries"}
    read = thaw(frozen)
    assert (read.uppers, read.passes, read.tries) == ((read.upper,), 1, 1)


@pytest.mark.parametrize(
    ("field", "odd"),
    [
        *((name, odd) for name in ("passes", "tries") for odd in (0, -3, 1.5, "2", None, True)),
        *(("uppers", odd) for odd in (None, "x", [{}], {"id": "a"})),
    ],
)
def test_what_there_are_several_of_is_told_as_training_tells_it(tmp_path, field, odd):
    freeze(several(), tmp_path / "several")
    altered(tmp_path / "several", **{field: odd})
    with pytest.raises(CheckpointError, match=rf"manifest: {field}(\[0\])?: "):
        thaw(tmp_path / "several")


def test_the_first_of_several_upper_programs_is_the_one_told_alone(tmp_path):
    freeze(several(), tmp_path / "several")
    manifest = json.loads((tmp_path / "several" / "manifest.json").read_text())
    first, second = manifest["uppers"]
    assert manifest["upper"] == first
    for wrong in ([second, first], [first], [first, first], [first, second, second]):
        altered(tmp_path / "several", uppers=wrong)
        with pytest.raises(CheckpointError, match=r"uppers|every program once|upper-a"):
            thaw(tmp_path / "several")


def test_every_upper_program_is_guarded():
    first, second = several().uppers
    hostile = dataclasses.replace(second, source="import os\n" + second.source)
    with pytest.raises(CheckpointError, match="upper-a"):
        dataclasses.replace(several(), uppers=(first, hostile)).admit(PROBLEM)


@pytest.mark.parametrize("change", [{"passes": 2}, {"tries": 2}, {"uppers": several().uppers}])
def test_where_there_is_one_pass_several_are_refused(change):
    made = dataclasses.replace(checkpoint(), **change)
    made.admit(PROBLEM)
    for problem, portfolio in (
        (CVRP(repair="construct"), False),
        (CVRP(repair="insertion"), False),
        (PROBLEM, True),
    ):
        refused = dataclasses.replace(made, portfolio=portfolio)
        names = tuple(problem.descriptor_names)
        if names != made.archive.descriptor_names:
            archive = ResponseArchive(names)
            refused = dataclasses.replace(refused, archive=archive)
        with pytest.raises(CheckpointError, match="several passes or tries where"):
            refused.admit(problem)
