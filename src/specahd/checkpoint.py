"""Freeze and thaw: a trained (g, H, A) as a directory of plain files.

``manifest.json`` says what it is and how it was trained, ``programs/*.py`` hold the sources,
``tasks.parquet`` and ``responses.parquet`` the archive, ``SHA256SUMS`` the hash of every other
file. Nothing in it depends on workers, host or date: equal runs give equal bytes.

A checkpoint may come from a stranger: it is data, all of which is looked at before
any of it is used. The hashes tell that nothing was altered by accident, not who wrote it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.core.errors import CheckpointError
from specahd.core.folders import whole
from specahd.core.plain import NAME, Shape, misfit, parse_json, told
from specahd.core.program import Level, Program, Tier
from specahd.core.repair_options import RepairOptions
from specahd.core.settings import Accept
from specahd.repair.archive import FILES as ARCHIVE
from specahd.repair.archive import ResponseArchive, Statistics
from specahd.repair.passes import single_pass
from specahd.repair.sums import MANIFEST, files_of, seal, text_of, verify
from specahd.repair.system import RepairSystem
from specahd.routing.base import AnyProblem, contracts
from specahd.runs.files import CHECKPOINT
from specahd.sandbox.guard import guard

SCHEMA = 2
_SETTING = re.compile(r"(?!.*\$\{)[^\x00-\x1f\x7f]{0,200}")
_PROGRAM: Shape = {
    "id": NAME,
    "contract": NAME,
    "idea": str,
    "operator": NAME,
    "parents": [NAME],
    "skills": [re.compile(r"[A-Za-z0-9_-]{1,200}/[0-9]{1,9}")],
    "tier": Tier,
}
_MANIFEST: Shape = {
    "schema": int,
    "problem": NAME,
    "settings": dict[str, object],
    "accept": Accept,
    "neighbours": int,
    "upper": _PROGRAM,
    "repertoire": [_PROGRAM],
    "descriptor": {"names": [NAME], "mean": [float], "scale": [float]},
}
_COUNTS = ("passes", "tries")
"""Told where they are not 1."""
_LEAST_SCALE = 1e-12
"""As of :meth:`ResponseArchive.statistics`, which gives no smaller one."""


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
        At least one, in the order of their turns.
    neighbours
        k of the router.
    portfolio, passes, tries
        As of :class:`specahd.repair.system.RepairSystem`.
    training
        Its training (:func:`specahd.api.provenance.provenance`), to be read; empty if old.
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

    @property
    def upper(self) -> Program:
        """The first of the upper programs."""
        return self.uppers[0]

    @property
    def programs(self) -> tuple[Program, ...]:
        """All programs, the upper ones first."""
        return (*self.uppers, *self.repertoire)

    def system(self, asked: RepairOptions = RepairOptions()) -> RepairSystem:  # noqa: B008  frozen
        """Return the repair system, which differs from the trained one as is asked."""
        names = [program.id for program in self.repertoire]
        return RepairSystem(
            "checkpoint",
            self.repertoire,
            self.archive.router(names, n_neighbors=self.neighbours, statistics=self.statistics),
            Accept(asked.accept or self.accept),
            self.portfolio,
            asked.passes or self.passes,
            asked.tries or self.tries,
        )

    def admit(self, problem: AnyProblem) -> None:
        """Compare with the problem, and guard every source as if it had just been generated.

        Raises
        ------
        CheckpointError
            It is another problem's, or a source is refused.
        """
        if self.problem != problem.name:
            raise CheckpointError(f"The checkpoint is one of {self.problem}, not {problem.name}.")
        if self.archive.descriptor_names != tuple(problem.descriptor_names):
            raise CheckpointError(
                f"The checkpoint's archive has not the descriptor of {problem.name}."
            )
        where = single_pass(problem, portfolio=self.portfolio)
        if where is not None and max(self.passes, self.tries, len(self.uppers)) > 1:
            raise CheckpointError(f"The checkpoint has several passes or tries {where}.")
        known = contracts(problem.operator)
        for program in self.programs:
            contract = known[program.level]
            if program.contract != contract.id:
                raise CheckpointError(
                    f"The checkpoint's program {program.id} is written for the contract "
                    f"{program.contract!r}, expected {contract.id!r}."
                )
            objection = guard(program.source, contract.name, contract.arguments)
            if objection is None and program.tier is Tier.COMPILED and contract.compiled is None:
                objection = f"{contract.name} is always interpreted."
            if objection is None and contract.tier not in (None, program.tier):
                objection = f"{contract.name} is always {contract.tier}."
            if objection is not None:
                raise CheckpointError(f"The checkpoint's program {program.id}: {objection}")


def freeze(checkpoint: Checkpoint, directory: Path) -> None:
    """Write a checkpoint, all of it or nothing; an earlier one at the same place is replaced."""
    with whole(directory) as draft:
        _write(checkpoint, draft)


def _write(checkpoint: Checkpoint, directory: Path) -> None:
    programs = directory / "programs"
    programs.mkdir()
    for program in checkpoint.programs:
        (directory / _source(program.id)).write_text(program.source, encoding="utf-8")
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
        **({"portfolio": True} if checkpoint.portfolio else {}),
        # The first of several is `upper` too.
        **({"uppers": list(map(_describe, checkpoint.uppers))} if checkpoint.uppers[1:] else {}),
        **{name: count for name in _COUNTS for count in [getattr(checkpoint, name)] if count > 1},
        **({"training": dict(checkpoint.training)} if checkpoint.training else {}),
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")
    seal(directory)


def _source(program: str) -> str:
    """Return where a checkpoint keeps a program's source."""
    if not NAME.fullmatch(program):
        raise CheckpointError(f"{told(program)} is not the name of a program.")
    return f"programs/{program}.py"


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


def located(directory: Path) -> Path:
    """Return the directory of a checkpoint; that of a run stands for the one in it."""
    inner = directory / CHECKPOINT
    return inner if inner.is_dir() and not (directory / MANIFEST).exists() else directory


def thaw(directory: Path) -> Checkpoint:
    """Read a checkpoint back, after :func:`verify`.

    Nothing of it is run, and what it says of itself is believed only as far as it can be
    checked here; :meth:`Checkpoint.admit` compares it with its problem.

    Raises
    ------
    CheckpointError
        It does not verify, is not what a training run freezes, or was written by a later
        version.
    """
    verify(directory)
    manifest = _manifest(directory)
    descriptor = manifest["descriptor"]
    archive = ResponseArchive.read(directory)
    if archive.descriptor_names != tuple(descriptor["names"]):
        raise CheckpointError(f"The archive of the checkpoint {directory} has another descriptor.")
    return Checkpoint(
        problem=manifest["problem"],
        settings=manifest["settings"],
        uppers=tuple(_program(directory, Level.UPPER, each) for each in uppers_of(manifest)),
        repertoire=tuple(_program(directory, Level.LOWER, each) for each in manifest["repertoire"]),
        archive=archive,
        statistics=Statistics(tuple(descriptor["mean"]), tuple(descriptor["scale"])),
        accept=Accept(manifest["accept"]),
        neighbours=manifest["neighbours"],
        portfolio="portfolio" in manifest,
        **{name: manifest[name] for name in _COUNTS if name in manifest},
        training=manifest.get("training", {}),
    )


def _manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest, every field of which is as a training run writes it."""
    path = directory / MANIFEST
    try:
        manifest = parse_json(text_of(directory, MANIFEST))
    except ValueError as error:
        raise CheckpointError(f"{path} is not a manifest: {error}.") from None
    schema = manifest.get("schema") if isinstance(manifest, dict) else None
    if isinstance(schema, int) and schema != SCHEMA:
        raise CheckpointError(
            f"The checkpoint {directory} has schema {told(str(schema))}; "
            f"this version reads schema {SCHEMA}."
        )
    wrong = misfit(manifest, _MANIFEST) or _wrong(manifest)
    if wrong is not None:
        raise CheckpointError(
            f"{path} is not a manifest: {wrong} is missing or not as a training run writes it."
        )
    found = {name for name in files_of(directory) if name != MANIFEST and name not in ARCHIVE}
    named = {_source(entry["id"]) for entry in _programs(manifest)}
    if found != named:
        odd = min(found ^ named)
        verb = "has" if odd in found else "lacks"
        raise CheckpointError(
            f"The checkpoint {directory} {verb} {told(odd)}, and its manifest says otherwise."
        )
    return dict(manifest)


def uppers_of(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what a manifest says of its upper programs, in the order of their turns."""
    uppers: list[Mapping[str, Any]] = manifest.get("uppers", [manifest["upper"]])
    return uppers


def _programs(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*uppers_of(manifest), *manifest["repertoire"]]


def _wrong(manifest: Mapping[str, Any]) -> str | None:
    """Return which part of a manifest of the right shape no training run writes."""
    if "uppers" in manifest:
        uppers = manifest["uppers"]
        if misfit(uppers, [_PROGRAM]) or len(uppers) < 2 or uppers[0] != manifest["upper"]:
            return "uppers"
    for name in _COUNTS:
        if misfit(manifest.get(name, 2), int) or manifest.get(name, 2) < 2:
            return name
    for part, shape in (
        (manifest, {**_MANIFEST, **dict.fromkeys(("portfolio", "training", "uppers", *_COUNTS))}),
        (manifest["descriptor"], _MANIFEST["descriptor"]),
        *((entry, _PROGRAM) for entry in _programs(manifest)),
    ):
        if extra := part.keys() - shape.keys():
            return told(min(extra))
    for name, value in manifest["settings"].items():
        if not NAME.fullmatch(name) or name.startswith("_"):
            return f"settings.{told(name)}"
        if misfit(value, (_SETTING, int, float, bool, None)) is not None:
            return f"settings.{name}"
    if manifest["neighbours"] < 1:
        return "neighbours"
    if manifest.get("portfolio", True) is not True:
        return "portfolio"
    if misfit(manifest.get("training", {}), dict[str, object]) is not None:
        return "training"
    descriptor = manifest["descriptor"]
    if not len(descriptor["names"]) == len(descriptor["mean"]) == len(descriptor["scale"]):
        return "descriptor"
    if any(scale < _LEAST_SCALE for scale in descriptor["scale"]):
        return "descriptor.scale"
    names = [entry["id"] for entry in _programs(manifest)]
    lacking = not manifest["repertoire"]
    return "repertoire" if lacking or len(set(names)) < len(names) else None


def _program(directory: Path, level: Level, entry: Mapping[str, Any]) -> Program:
    try:
        source = text_of(directory, _source(entry["id"])).decode()
    except UnicodeDecodeError:
        raise CheckpointError(f"{directory / _source(entry['id'])} is not UTF-8.") from None
    return Program(
        id=entry["id"],
        level=level,
        source=source,
        idea=entry["idea"],
        operator=entry["operator"],
        parents=tuple(entry["parents"]),
        skills=tuple(entry["skills"]),
        tier=Tier(entry["tier"]),
        contract=entry["contract"],
    )
