"""Freeze and thaw: a trained (g, H, A) as a directory of plain files.

``manifest.json`` says what it is and how it was trained, ``programs/*.py`` hold the sources,
``tasks.parquet`` and ``responses.parquet`` the archive, ``SHA256SUMS`` the hash of every other
file. Nothing in it depends on workers, host or date: equal runs give equal bytes. What else lies
there, such as byte code that pip makes, is never read.

A checkpoint may come from a stranger: it is data, all of which is looked at before
any of it is used. The hashes tell that nothing was altered by accident, not who wrote it.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.core.errors import CheckpointError, FileError
from specahd.core.folders import whole
from specahd.core.plain import NAME, Shape, content, misfit, parse_json, told
from specahd.core.program import Level, Program, Tier
from specahd.core.settings import Accept
from specahd.repair.archive import FILES as ARCHIVE
from specahd.repair.archive import ResponseArchive, Statistics
from specahd.repair.system import RepairSystem
from specahd.routing.base import AnyProblem, contracts
from specahd.runs.files import CHECKPOINT
from specahd.sandbox.guard import guard

SCHEMA = 2
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
_TEXT, _TABLE = 4 << 20, 256 << 20
"""Bytes that a file of text may have, and one of the archive."""
_FILE = re.compile(rf"{SUMS}|manifest\.json|(tasks|responses)\.parquet|programs/{NAME.pattern}\.py")
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
_LEAST_SCALE = 1e-12
"""As of :meth:`ResponseArchive.statistics`, which gives no smaller one."""


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
    portfolio
        As of :class:`specahd.repair.system.RepairSystem`.
    training
        Its training (:func:`specahd.api.provenance.provenance`), to be read; empty if old.
    """

    problem: str
    settings: Mapping[str, Any]
    upper: Program
    repertoire: tuple[Program, ...]
    archive: ResponseArchive
    statistics: Statistics
    accept: Accept
    neighbours: int
    portfolio: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)

    def system(self, accept: Accept | None = None) -> RepairSystem:
        """Return the repair system, under another acceptance policy if one is given."""
        names = [program.id for program in self.repertoire]
        router = self.archive.router(names, n_neighbors=self.neighbours, statistics=self.statistics)
        accept = accept or self.accept
        return RepairSystem("checkpoint", self.repertoire, router, accept, self.portfolio)

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
            raise CheckpointError(f"The checkpoint has not the descriptor of {problem.name}.")
        known = contracts(problem.operator)
        for program in (self.upper, *self.repertoire):
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
    (directory / "programs").mkdir()
    for program in (checkpoint.upper, *checkpoint.repertoire):
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
        **({"training": dict(checkpoint.training)} if checkpoint.training else {}),
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")
    paths = [path for path in directory.rglob("*") if path.is_file()]
    hashes = {path.relative_to(directory).as_posix(): _hash(path) for path in paths}
    (directory / SUMS).write_text(_listing(hashes))


def _listing(hashes: Mapping[str, str]) -> str:
    """Return what :data:`SUMS` says of files of these hashes."""
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))


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


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(directory: Path) -> set[str]:
    """Compare every listed file of a checkpoint with its recorded hash; return their names.

    Raises
    ------
    CheckpointError
        The directory is no checkpoint, or a listed file is missing, odd, altered, huge or a link.
    """
    if not (directory / SUMS).is_file() or not (directory / MANIFEST).is_file():
        raise CheckpointError(
            f"No checkpoint at {directory}: expected a directory with {MANIFEST} and {SUMS}, "
            "as a training run leaves in its checkpoint/."
        )
    _require_file(directory, SUMS)
    text = _text(directory, SUMS).decode(errors="replace")
    recorded = {
        name: each for each, _, name in (line.partition("  ") for line in text.splitlines())
    }
    for name in sorted({MANIFEST, *ARCHIVE, *recorded}):
        _require_file(directory, name)
        size = (directory / name).stat().st_size
        if size > (_TABLE if name in ARCHIVE else _TEXT):
            raise CheckpointError(
                f"The checkpoint {directory} has {told(name)} of {size:,} bytes, which is too much."
            )
        if recorded.get(name) != _hash(directory / name):
            raise CheckpointError(
                f"The checkpoint {directory} was altered: {told(name)} does not match {SUMS}."
            )
    # A last byte of SHA256SUMS itself can change without changing any line.
    if text != _listing(recorded):
        raise CheckpointError(f"The checkpoint {directory} was altered: {SUMS} is not as written.")
    return set(recorded)


def _require_file(directory: Path, name: str) -> None:
    """Refuse a name of no file of a checkpoint, or at which there is none, or a link or a pipe."""
    path = directory / name
    if not path.exists() and not path.is_symlink():
        raise CheckpointError(f"The checkpoint {directory} lacks {told(name)}.")
    inside = _FILE.fullmatch(name) and path.resolve() == directory.resolve() / name
    if not inside or not path.is_file():
        raise CheckpointError(f"The checkpoint {directory} has {told(name)}, which is no file.")


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
    manifest = _manifest(directory, verify(directory))
    descriptor = manifest["descriptor"]
    archive = ResponseArchive.read(directory)
    if archive.descriptor_names != tuple(descriptor["names"]):
        raise CheckpointError(f"The archive of the checkpoint {directory} has another descriptor.")
    return Checkpoint(
        problem=manifest["problem"],
        settings=manifest["settings"],
        upper=_program(directory, Level.UPPER, manifest["upper"]),
        repertoire=tuple(_program(directory, Level.LOWER, each) for each in manifest["repertoire"]),
        archive=archive,
        statistics=Statistics(tuple(descriptor["mean"]), tuple(descriptor["scale"])),
        accept=Accept(manifest["accept"]),
        neighbours=manifest["neighbours"],
        portfolio="portfolio" in manifest,
        training=manifest.get("training", {}),
    )


def _manifest(directory: Path, listed: set[str]) -> dict[str, Any]:
    """Return the manifest, every field as a training run writes it, for the files of a list."""
    path = directory / MANIFEST
    try:
        manifest = parse_json(_text(directory, MANIFEST))
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
    named = {_source(entry["id"]) for entry in (manifest["upper"], *manifest["repertoire"])}
    if odd := listed - {MANIFEST, *ARCHIVE} ^ named:
        raise CheckpointError(
            f"The checkpoint {directory} lists other programs than its manifest, for example "
            f"{told(min(odd))}."
        )
    return dict(manifest)


def _wrong(manifest: Mapping[str, Any]) -> str | None:
    """Return which part of a manifest of the right shape no training run writes."""
    for part, shape in (
        (manifest, {**_MANIFEST, "portfolio": bool, "training": dict}),
        (manifest["descriptor"], _MANIFEST["descriptor"]),
        *((entry, _PROGRAM) for entry in (manifest["upper"], *manifest["repertoire"])),
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
    names = [entry["id"] for entry in (manifest["upper"], *manifest["repertoire"])]
    return "repertoire" if len(names) == 1 or len(set(names)) < len(names) else None


def _text(directory: Path, name: str) -> bytes:
    try:
        return content(directory / name, _TEXT)
    except FileError as error:
        raise CheckpointError(str(error)) from None


def _program(directory: Path, level: Level, entry: Mapping[str, Any]) -> Program:
    try:
        source = _text(directory, _source(entry["id"])).decode()
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
