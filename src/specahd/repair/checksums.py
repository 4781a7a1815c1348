"""Checksums of a checkpoint's files, which detect accidental changes."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from specahd.core.errors import CheckpointError, FileError
from specahd.core.folders import exists
from specahd.core.plain import NAME, printable, read_bytes
from specahd.repair.archive import FILES as ARCHIVE

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
_TEXT, _TABLE = 4 << 20, 256 << 20
"""Largest size of a text file and of a file of the archive, in bytes."""
_FILE = re.compile(rf"{SUMS}|manifest\.json|(tasks|responses)\.parquet|programs/{NAME.pattern}\.py")


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


def verify_checksums(directory: Path) -> set[str]:
    """Compare every listed file of a checkpoint with its recorded hash; return their names.

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
    text = read_text(directory, SUMS).decode(errors="replace")
    recorded = {
        name: each for each, _, name in (line.partition("  ") for line in text.splitlines())
    }
    for name in sorted({MANIFEST, *ARCHIVE, *recorded}):
        _require_file(directory, name)
        size = (directory / name).stat().st_size
        if size > (_TABLE if name in ARCHIVE else _TEXT):
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
    return set(recorded)


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


def read_text(directory: Path, name: str) -> bytes:
    """Read a text file.

    Raises
    ------
    CheckpointError
        It cannot be read, or is too long.
    """
    try:
        return read_bytes(directory / name, _TEXT)
    except FileError as error:
        raise CheckpointError(str(error)) from None
