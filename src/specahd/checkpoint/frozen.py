"""Freeze and thaw: a trained (g, H, A) as a directory of plain files.

``manifest.json`` describes the checkpoint and its training, ``programs/*.py`` hold the sources,
``tasks.parquet`` and ``responses.parquet`` the archive, ``SHA256SUMS`` the hash of every other
file. Nothing in it depends on workers, host or date: equal runs give equal bytes. Other files in
the directory, such as byte code that pip compiles, are never read.

A checkpoint may come from an untrusted source. It is data, and all of it is checked before any of
it is used. The hashes show that no file was altered by accident; they do not show who wrote it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from specahd.checkpoint.archive import read_archive, write_archive
from specahd.checkpoint.manifest import (
    MANIFEST,
    SCHEMA,
    SCHEMA_WITH_UTILITIES,
    Descriptor,
    Entry,
    Manifest,
    SavedByUppers,
    read_manifest,
    read_source,
    source_file,
    verify_checksums,
    write_checksums,
)
from specahd.core.contract import Contract
from specahd.core.errors import CheckpointError
from specahd.core.folders import atomic_folder
from specahd.core.plain import printable
from specahd.core.program import Level, Program, Tier
from specahd.core.repair_options import AS_TRAINED, RepairOptions
from specahd.core.settings import Accept
from specahd.programs.guard import guard
from specahd.repair.passes import single_pass
from specahd.repair.router import ResponseArchive, Statistics, Utilities
from specahd.repair.system import RepairSystem
from specahd.routing.base import AnyProblem, contracts


@dataclass(frozen=True)
class Checkpoint:
    """A frozen repair system with its upper programs.

    Parameters
    ----------
    problem
        Name of the problem, as in ``conf/problem/<name>.yaml``.
    settings
        The problem's scalars (baseline, region budget, …).
    uppers
        The upper programs, at least one, in the order of their turns.
    neighbours
        k of the routers.
    portfolio, passes, tries
        As in :class:`specahd.repair.system.RepairSystem`.
    training
        Record of the training (:func:`specahd.api.provenance.provenance`); empty if old.
    utilities
        By them one of several upper programs is chosen for an instance; None: they take turns.
    """

    problem: str
    settings: Mapping[str, Any]
    uppers: tuple[Program, ...]
    repertoire: tuple[Program, ...]
    archive: ResponseArchive
    statistics: Statistics
    accept: Accept
    neighbours: int
    portfolio: bool = False
    passes: int = 1
    tries: int = 1
    training: Mapping[str, Any] = field(default_factory=dict)
    utilities: Utilities | None = None

    @property
    def upper(self) -> Program:
        """The first of the upper programs."""
        return self.uppers[0]

    @property
    def programs(self) -> tuple[Program, ...]:
        """All programs, the upper ones first."""
        return (*self.uppers, *self.repertoire)

    def initial_programs(self, contract: Contract) -> tuple[Program, ...]:
        """Return the programs of a contract's level, for a search to begin with.

        The contract may have another ``id`` than theirs, but its function has the same name and
        arguments, as those of ``append`` and ``construct`` have.

        Raises
        ------
        CheckpointError
            The guard refuses a program for the contract, or only the seed program is there.
        """
        found = []
        for program in self.repertoire if contract.level is Level.LOWER else self.uppers:
            objection = guard(program.source, contract.name, contract.arguments)
            if objection is not None:
                raise CheckpointError(
                    f"The checkpoint's program {program.id} is none for {contract.id}: {objection}"
                )
            if program.source != contract.seed.source:
                name = f"{contract.level}-given-{program.id.removeprefix(f'{program.level}-')}"
                source, idea = program.source, program.idea
                found.append(replace(contract.seed, id=name, source=source, idea=idea))
        if not found:
            raise CheckpointError(
                f"The checkpoint holds no {contract.level} program but the seed program."
            )
        return tuple(found)

    def system(self, asked: RepairOptions = AS_TRAINED) -> RepairSystem:
        """Return the repair system, with the options of ``asked`` instead of the trained ones."""
        names = [program.id for program in self.repertoire]
        return RepairSystem(
            "checkpoint",
            self.repertoire,
            self.archive.router(names, n_neighbors=self.neighbours, statistics=self.statistics),
            Accept(asked.accept or self.accept),
            self.portfolio,
            asked.passes or self.passes,
            asked.tries or self.tries,
            choice=self.utilities.router(self.neighbours) if self.utilities else None,
        )

    def admit(self, problem: AnyProblem) -> None:
        """Check that the checkpoint fits the problem and that the guard accepts every source.

        Raises
        ------
        CheckpointError
            The checkpoint does not fit the problem, or the guard refuses a source.
        """
        if self.problem != problem.name:
            raise CheckpointError(f"The checkpoint is one of {self.problem}, not {problem.name}.")
        if self.archive.descriptor_names != tuple(problem.descriptor_names):
            raise CheckpointError(f"The checkpoint has not the descriptor of {problem.name}.")
        where = single_pass(problem, portfolio=self.portfolio)
        in_turn = 1 if self.utilities else len(self.uppers)
        if where is not None and max(self.passes, self.tries, in_turn) > 1:
            raise CheckpointError(f"The checkpoint has several passes or tries {where}.")
        if self.utilities and not problem.operator.repairs_per_customer:
            raise CheckpointError("The checkpoint chooses an upper program where all take turns.")
        known = contracts(problem.operator)
        for program in self.programs:
            contract = known[program.level]
            if program.contract != contract.id:
                raise CheckpointError(
                    f"The checkpoint's program {program.id} is written for the contract "
                    f"{program.contract!r}, expected {contract.id!r}."
                )
            objection = guard(program.source, contract.name, contract.arguments)
            # Earlier versions could run programs of other contracts compiled, with equal results.
            must_compile = contract.tier is Tier.COMPILED
            if objection is None and must_compile and program.tier is not Tier.COMPILED:
                objection = f"{contract.name} is always compiled."
            if objection is not None:
                raise CheckpointError(f"The checkpoint's program {program.id}: {objection}")


def freeze(checkpoint: Checkpoint, directory: Path) -> None:
    """Write a checkpoint atomically; replace an earlier one in the same directory."""
    with atomic_folder(directory) as draft:
        _write(checkpoint, draft)


def _write(checkpoint: Checkpoint, directory: Path) -> None:
    (directory / "programs").mkdir()
    for program in checkpoint.programs:
        (directory / source_file(program.id)).write_text(program.source, encoding="utf-8")
    write_archive(checkpoint.archive, directory)
    chosen = checkpoint.utilities
    manifest = Manifest(
        schema=SCHEMA_WITH_UTILITIES if chosen else SCHEMA,
        problem=checkpoint.problem,
        settings=dict(checkpoint.settings),
        accept=checkpoint.accept,
        neighbours=checkpoint.neighbours,
        upper=_describe(checkpoint.upper),
        repertoire=list(map(_describe, checkpoint.repertoire)),
        descriptor=Descriptor(
            checkpoint.archive.descriptor_names,
            checkpoint.statistics.mean,
            checkpoint.statistics.scale,
        ),
        uppers=list(map(_describe, checkpoint.uppers)) if checkpoint.uppers[1:] else [],
        portfolio=checkpoint.portfolio,
        passes=checkpoint.passes,
        tries=checkpoint.tries,
        training=dict(checkpoint.training),
        utilities=SavedByUppers(chosen.descriptors, chosen.saved) if chosen else None,
    )
    text = json.dumps(to_builtins(manifest), indent=2, sort_keys=True, allow_nan=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")
    write_checksums(directory)


def _describe(program: Program) -> Entry:
    return Entry(
        id=program.id,
        idea=program.idea,
        contract=program.contract,
        operator=program.operator,
        parents=program.parents,
        skills=program.skills,
        tier=program.tier or Tier.INTERPRETED,
    )


def thaw(directory: Path) -> Checkpoint:
    """Read a checkpoint back, after :func:`~specahd.checkpoint.manifest.verify_checksums`.

    No program of the checkpoint is run. Its format is checked here;
    :meth:`Checkpoint.admit` compares its content with the problem.

    Raises
    ------
    CheckpointError
        A checksum is wrong, a file is not as a training run writes it, or the schema is that
        of another version.
    """
    listed, manifest = verify_checksums(directory), read_manifest(directory)
    if odd := listed ^ {source_file(entry.id) for entry in manifest.programs}:
        raise CheckpointError(
            f"The checkpoint {directory} lists other programs than its manifest, for example "
            f"{printable(min(odd))}."
        )
    descriptor = manifest.descriptor
    archive = read_archive(directory)
    if archive.descriptor_names != tuple(descriptor.names):
        raise CheckpointError(f"The archive of the checkpoint {directory} has another descriptor.")
    return Checkpoint(
        problem=manifest.problem,
        settings=manifest.settings,
        uppers=tuple(_program(directory, Level.UPPER, each) for each in manifest.turns),
        repertoire=tuple(_program(directory, Level.LOWER, each) for each in manifest.repertoire),
        archive=archive,
        statistics=Statistics(tuple(descriptor.mean), tuple(descriptor.scale)),
        accept=manifest.accept,
        neighbours=manifest.neighbours,
        portfolio=manifest.portfolio,
        passes=manifest.passes,
        tries=manifest.tries,
        training=manifest.training,
        utilities=_utilities(manifest),
    )


def _utilities(manifest: Manifest) -> Utilities | None:
    if manifest.utilities is None:
        return None
    described, saved = manifest.utilities.descriptors, manifest.utilities.saved
    return Utilities(tuple(map(tuple, described)), tuple(map(tuple, saved)))


def _program(directory: Path, level: Level, entry: Entry) -> Program:
    return Program(
        id=entry.id,
        level=level,
        source=read_source(directory, entry.id),
        idea=entry.idea,
        operator=entry.operator,
        parents=tuple(entry.parents),
        skills=tuple(entry.skills),
        tier=entry.tier,
        contract=entry.contract,
    )
