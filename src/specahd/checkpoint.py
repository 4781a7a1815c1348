"""Freeze and thaw: a trained (g, H, A) as a directory of plain files (SPEC section 11).

``manifest.json`` says what it is, ``programs/*.py`` hold the sources,
``tasks.parquet`` and ``responses.parquet`` the archive, ``SHA256SUMS`` the hash of
every other file. Nothing in it depends on workers, host or date: equal runs
give equal bytes.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specahd.core.errors import CheckpointError
from specahd.core.folders import whole
from specahd.core.program import Level, Program, Tier
from specahd.repair.archive import ResponseArchive, Statistics
from specahd.repair.merge import Accept
from specahd.repair.system import RepairSystem
from specahd.routing.base import RepairOperator, contracts
from specahd.sandbox.guard import guard

SCHEMA = 2
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Checkpoint:
    """A frozen repair system with its upper program.

    Parameters
    ----------
    problem
        Name of the problem, as in ``conf/problem/<name>.yaml``.
    settings
        The problem's scalars (baseline, region budget, …).
    neighbours
        k of the router.
    """

    problem: str
    settings: Mapping[str, Any]
    upper: Program
    repertoire: tuple[Program, ...]
    archive: ResponseArchive
    statistics: Statistics
    accept: Accept
    neighbours: int

    def system(self, accept: Accept | None = None) -> RepairSystem:
        """Return the repair system, under another acceptance policy if one is given."""
        router = self.archive.router(
            [program.id for program in self.repertoire],
            neighbours=self.neighbours,
            statistics=self.statistics,
        )
        return RepairSystem("checkpoint", self.repertoire, router, accept or self.accept)

    def admit(self, operator: RepairOperator) -> None:
        """Guard every source again, as if it had just been generated.

        Raises
        ------
        CheckpointError
            A source is refused.
        """
        known = contracts(operator)
        for program in (self.upper, *self.repertoire):
            contract = known[program.level]
            if program.contract != contract.id:
                raise CheckpointError(
                    f"The checkpoint's program {program.id} is written for the contract "
                    f"{program.contract!r}, expected {contract.id!r}."
                )
            objection = guard(program.source, contract.name, contract.arguments)
            if objection is not None:
                raise CheckpointError(f"The checkpoint's program {program.id}: {objection}")


def freeze(checkpoint: Checkpoint, directory: Path) -> None:
    """Write a checkpoint, all of it or nothing; an earlier one at the same place is replaced."""
    with whole(directory) as draft:
        _write(checkpoint, draft)


def _write(checkpoint: Checkpoint, directory: Path) -> None:
    programs = directory / "programs"
    programs.mkdir()
    for program in (checkpoint.upper, *checkpoint.repertoire):
        (programs / f"{program.id}.py").write_text(program.source)
    checkpoint.archive.write(directory)
    manifest = {
        "schema": SCHEMA,
        "problem": checkpoint.problem,
        "settings": dict(checkpoint.settings),
        "accept": checkpoint.accept,
        "neighbours": checkpoint.neighbours,
        "upper": _describe(checkpoint.upper),
        "repertoire": [_describe(program) for program in checkpoint.repertoire],
        "descriptor": {
            "names": list(checkpoint.archive.descriptor_names),
            "mean": list(checkpoint.statistics.mean),
            "scale": list(checkpoint.statistics.scale),
        },
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False)
    (directory / MANIFEST).write_text(text + "\n")
    sums = "".join(f"{_hash(directory / name)}  {name}\n" for name in _files(directory))
    (directory / SUMS).write_text(sums)


def _describe(program: Program) -> dict[str, Any]:
    return {
        "id": program.id,
        "idea": program.idea,
        "contract": program.contract,
        "operator": program.operator,
        "parents": list(program.parents),
        "skills": list(program.skills),
        "tier": program.tier or Tier.INTERPRETED,
    }


def _files(directory: Path) -> Iterator[str]:
    """Yield the names of all files but the sums, in order."""
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name != SUMS:
            yield name


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def verify(directory: Path) -> None:
    """Compare every file of a checkpoint with its recorded hash.

    Raises
    ------
    CheckpointError
        The directory is no checkpoint, or a file is missing, extra or altered.
    """
    if not (directory / SUMS).is_file() or not (directory / MANIFEST).is_file():
        raise CheckpointError(
            f"No checkpoint at {directory}: expected a directory with {MANIFEST} and {SUMS}, "
            "as a training run leaves in its checkpoint/."
        )
    text = (directory / SUMS).read_text(errors="replace")
    lines = [line.split("  ", 1) for line in text.splitlines()]
    recorded = {line[1]: line[0] for line in lines if len(line) == 2}
    present = set(_files(directory))
    for name in sorted(present | set(recorded)):
        if name not in present:
            raise CheckpointError(f"The checkpoint {directory} lacks {name}.")
        if recorded.get(name) != _hash(directory / name):
            raise CheckpointError(
                f"The checkpoint {directory} was altered: {name} does not match {SUMS}."
            )
    # A last byte of SHA256SUMS itself can change without changing any line.
    if text != "".join(f"{recorded[name]}  {name}\n" for name in _files(directory)):
        raise CheckpointError(f"The checkpoint {directory} was altered: {SUMS} is not as written.")


def thaw(directory: Path) -> Checkpoint:
    """Read a checkpoint back, after :func:`verify`.

    Raises
    ------
    CheckpointError
        It does not verify, or was written by a later version.
    """
    verify(directory)
    manifest = json.loads((directory / MANIFEST).read_text())
    if manifest["schema"] != SCHEMA:
        raise CheckpointError(
            f"The checkpoint {directory} has schema {manifest['schema']}; "
            f"this version reads schema {SCHEMA}."
        )
    descriptor = manifest["descriptor"]
    return Checkpoint(
        problem=manifest["problem"],
        settings=manifest["settings"],
        upper=_program(directory, Level.UPPER, manifest["upper"]),
        repertoire=_repertoire(directory, manifest["repertoire"]),
        archive=ResponseArchive.read(directory),
        statistics=Statistics(tuple(descriptor["mean"]), tuple(descriptor["scale"])),
        accept=Accept(manifest["accept"]),
        neighbours=manifest["neighbours"],
    )


def _repertoire(directory: Path, entries: Sequence[Mapping[str, Any]]) -> tuple[Program, ...]:
    return tuple(_program(directory, Level.LOWER, entry) for entry in entries)


def _program(directory: Path, level: Level, entry: Mapping[str, Any]) -> Program:
    return Program(
        id=entry["id"],
        level=level,
        source=(directory / "programs" / f"{entry['id']}.py").read_text(),
        idea=entry["idea"],
        operator=entry["operator"],
        parents=tuple(entry["parents"]),
        skills=tuple(entry["skills"]),
        tier=Tier(entry["tier"]),
        contract=entry["contract"],
    )
