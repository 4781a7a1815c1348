"""The files of a checkpoint: where they are, their checksums, and the schema of the manifest.

A checkpoint may be untrusted (``docs/explanation/threat-model.md``): unknown fields are refused,
and every name and number is checked. Checksums detect accidental changes.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from specahd.core.errors import CheckpointError, FileError
from specahd.core.folders import exists
from specahd.core.plain import NAME, Name, parse_json, printable, read_bytes
from specahd.core.program import Tier
from specahd.core.settings import Accept
from specahd.runs.files import CHECKPOINT

SCHEMA, SCHEMA_WITH_UTILITIES = 2, 3
"""The version of manifests without and with utilities of upper programs."""
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
TASKS_FILE = "tasks.parquet"
RESPONSES_FILE = "responses.parquet"
_ARCHIVE = (TASKS_FILE, RESPONSES_FILE)
_TEXT, _TABLE = 4 << 20, 256 << 20
"""Largest size of a text file and of a file of the archive, in bytes."""
_FILE = re.compile(rf"{SUMS}|manifest\.json|(tasks|responses)\.parquet|programs/{NAME.pattern}\.py")

_Setting = Annotated[str, Meta(pattern=r"^(?!.*\$\{)[^\x00-\x1f\x7f]{0,200}\Z")]
_Option = Annotated[str, Meta(pattern=r"^[A-Za-z0-9-][A-Za-z0-9_-]{0,199}\Z")]
_Skill = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,200}/[0-9]{1,9}\Z")]
_Count = Annotated[int, Meta(ge=1, le=2**63 - 1)]
_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Number = Annotated[float, Meta(ge=-1e300, le=1e300)]
_Finite = Annotated[float, Meta(ge=-1e15, le=1e15)]


class Entry(Struct, forbid_unknown_fields=True, frozen=True):
    """A program's entry in the manifest; its source is a separate file."""

    id: Name
    idea: str
    contract: Name
    operator: Name
    parents: Sequence[Name]
    skills: Sequence[_Skill]
    tier: Tier


class Descriptor(Struct, forbid_unknown_fields=True, frozen=True):
    """The names of the descriptor's coordinates, and how they are standardised.

    ``scale`` is no smaller than :meth:`ResponseArchive.statistics` gives it.
    """

    names: Sequence[Name]
    mean: Sequence[_Number]
    scale: Sequence[Annotated[float, Meta(ge=1e-12, le=1e300)]]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.mean) == len(self.scale):
            raise ValueError("Expected as many means and scales as names")


class SavedByUppers(Struct, forbid_unknown_fields=True, frozen=True):
    """What each upper program saved from training solutions, and the solutions' descriptors.

    A row of ``saved`` for each program in turn, a row of ``descriptors`` for each solution.
    """

    descriptors: Annotated[Sequence[Sequence[_Finite]], Meta(min_length=1, max_length=10_000)]
    saved: Sequence[Sequence[_Finite]]


class Manifest(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True, kw_only=True):
    """``manifest.json``; a field that has its default is not written.

    Parameters
    ----------
    uppers
        All upper programs if there are several; the first is ``upper`` too.
    utilities
        By them one of several upper programs is chosen for an instance; None: they take turns.
    """

    schema: int
    problem: Name
    settings: dict[str, Any]
    accept: Accept
    neighbours: _Count
    upper: Entry
    repertoire: Annotated[list[Entry], Meta(min_length=1)]
    descriptor: Descriptor
    uppers: list[Entry] = []
    portfolio: bool = False
    passes: _Count = 1
    tries: _Count = 1
    training: dict[str, Any] = {}
    utilities: SavedByUppers | None = None

    def __post_init__(self) -> None:
        if self.uppers and (len(self.uppers) == 1 or self.uppers[0] != self.upper):
            raise ValueError("Expected uppers to be several, the first of them upper")
        if (self.utilities is None) != (self.schema == SCHEMA):
            raise ValueError(f"Expected utilities with schema {SCHEMA_WITH_UTILITIES} alone")
        if self.utilities is not None:
            described, saved = self.utilities.descriptors, self.utilities.saved
            if not self.uppers or len(saved) != len(self.uppers):
                raise ValueError("Expected utilities of each of several uppers")
            if {*map(len, described)} != {len(self.descriptor.names)}:
                raise ValueError("Expected utilities with descriptors of the names")
            if {*map(len, saved)} != {len(described)}:
                raise ValueError("Expected as many utilities as descriptors")
        for name, value in self.settings.items():
            try:
                convert({name: value}, dict[_Option, _Setting | _Integer | _Number | bool | None])
            except ValidationError:
                raise ValueError(f"Expected no settings.{name} like this") from None
        names = [entry.id for entry in self.programs]
        if len(set(names)) < len(names):
            raise ValueError("Expected every program once")

    @property
    def turns(self) -> list[Entry]:
        """The upper programs in the order of their turns."""
        return self.uppers or [self.upper]

    @property
    def programs(self) -> list[Entry]:
        """All programs, the upper ones first."""
        return [*self.turns, *self.repertoire]


class _Schema(Struct):
    """The version of a manifest, which is compared first."""

    schema: int


def located(directory: Path) -> Path:
    """Return the directory of a checkpoint, given that directory or the one of its run."""
    inner = directory / CHECKPOINT
    return inner if exists(inner) and not exists(directory / MANIFEST) else directory


def source_file(program: str) -> str:
    """Return the path of a program's source in a checkpoint.

    Raises
    ------
    CheckpointError
        It is not the name of a program.
    """
    if not NAME.fullmatch(program):
        raise CheckpointError(f"{printable(program)} is not the name of a program.")
    return f"programs/{program}.py"


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest, and check its fields.

    Raises
    ------
    CheckpointError
        It cannot be read, or is none of this version.
    """
    path, text = directory / MANIFEST, _read_text(directory, MANIFEST)
    try:
        schema = parse_json(text, _Schema).schema
        if schema not in (SCHEMA, SCHEMA_WITH_UTILITIES):
            raise CheckpointError(
                f"The checkpoint {directory} has schema {printable(str(schema))}; "
                f"this version reads schema {SCHEMA} and {SCHEMA_WITH_UTILITIES}."
            )
        manifest: Manifest = parse_json(text, Manifest)
    except ValueError as error:
        raise CheckpointError(f"{path} is not a manifest: {error}.") from None
    return manifest


def read_source(directory: Path, program: str) -> str:
    """Read the source of a program.

    Raises
    ------
    CheckpointError
        It cannot be read, is too long, or is no text.
    """
    name = source_file(program)
    try:
        return _read_text(directory, name).decode()
    except UnicodeDecodeError:
        raise CheckpointError(f"{directory / name} is not UTF-8.") from None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_checksums(directory: Path) -> None:
    """Write the hash of every other file."""
    paths = [path for path in directory.rglob("*") if path.is_file()]
    hashes = {path.relative_to(directory).as_posix(): _sha256(path) for path in paths}
    (directory / SUMS).write_text(_listing(hashes))


def _listing(hashes: Mapping[str, str]) -> str:
    """Return the text of :data:`SUMS` for these hashes."""
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))


def _recorded(text: str) -> dict[str, str]:
    """Return the hash of each file by its name, from the text of :data:`SUMS`."""
    return {name: each for each, _, name in (line.partition("  ") for line in text.splitlines())}


def remove_unlisted(directory: Path) -> None:
    """Remove the files of a copy that its checksums do not list, if it has any checksums."""
    sums = directory / SUMS
    if not sums.is_file():
        return
    listed = _recorded(sums.read_text(errors="replace"))
    for path in [path for path in directory.rglob("*") if path.is_file() and path != sums]:
        if path.relative_to(directory).as_posix() not in listed:
            path.unlink()


def verify_checksums(directory: Path) -> set[str]:
    """Compare every listed file with its recorded hash; return the names of the programs' files.

    Raises
    ------
    CheckpointError
        The directory is no checkpoint, or a listed file is missing, altered, too large or not a
        regular file, or has an invalid name.
    """
    if not exists(directory / SUMS) or not exists(directory / MANIFEST):
        raise CheckpointError(
            f"No checkpoint at {str(directory)[:200]}: expected a directory with {MANIFEST} and "
            f"{SUMS}, as a training run leaves in its checkpoint/."
        )
    _require_file(directory, SUMS)
    text = _read_text(directory, SUMS).decode(errors="replace")
    recorded = _recorded(text)
    for name in sorted({MANIFEST, *_ARCHIVE, *recorded}):
        _require_file(directory, name)
        size = (directory / name).stat().st_size
        if size > (_TABLE if name in _ARCHIVE else _TEXT):
            raise CheckpointError(
                f"The checkpoint {directory} has {printable(name)} of {size:,} bytes, "
                "which is too much."
            )
        if recorded.get(name) != _sha256(directory / name):
            raise CheckpointError(
                f"The checkpoint {directory} was altered: {printable(name)} does not match {SUMS}."
            )
    # A last byte of SHA256SUMS itself can change without changing any line.
    if text != _listing(recorded):
        raise CheckpointError(f"The checkpoint {directory} was altered: {SUMS} is not as written.")
    return recorded.keys() - {MANIFEST, *_ARCHIVE}


def digest(directory: Path) -> str:
    """Return the hash of a checkpoint's content: the hash of its list of checksums."""
    return _sha256(directory / SUMS)


def _require_file(directory: Path, name: str) -> None:
    """Check that a name is one of a checkpoint's files, and that it is a regular file."""
    path = directory / name
    if not path.exists() and not path.is_symlink():
        raise CheckpointError(f"The checkpoint {directory} lacks {printable(name)}.")
    inside = _FILE.fullmatch(name) and path.resolve() == directory.resolve() / name
    if not inside or not path.is_file():
        raise CheckpointError(
            f"The checkpoint {directory} has {printable(name)}, which is no file."
        )


def _read_text(directory: Path, name: str) -> bytes:
    try:
        return read_bytes(directory / name, _TEXT)
    except FileError as error:
        raise CheckpointError(str(error)) from None
