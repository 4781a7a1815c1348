"""The hash of every file of a checkpoint, so that nothing in it is altered by accident."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from specahd.core.errors import CheckpointError, FileError
from specahd.core.folders import oddity
from specahd.core.plain import content, told
from specahd.repair.archive import FILES as ARCHIVE

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
_TEXT, _TABLE = 4 << 20, 256 << 20
"""Bytes that a file of text may have, and one of the archive."""


def files_of(directory: Path) -> Iterator[str]:
    """Yield the names of all files but the sums, in order."""
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name != SUMS:
            yield name


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(directory: Path) -> None:
    """Write the hash of every other file."""
    sums = "".join(f"{_hash(directory / name)}  {name}\n" for name in files_of(directory))
    (directory / SUMS).write_text(sums)


def verify(directory: Path) -> None:
    """Compare every file of a checkpoint with its recorded hash.

    Raises
    ------
    CheckpointError
        The directory is no checkpoint, or a file is missing, extra, altered, huge or a link.
    """
    if not (directory / SUMS).is_file() or not (directory / MANIFEST).is_file():
        raise CheckpointError(
            f"No checkpoint at {directory}: expected a directory with {MANIFEST} and {SUMS}, "
            "as a training run leaves in its checkpoint/."
        )
    odd = oddity(directory)
    if odd is not None:
        raise CheckpointError(f"The checkpoint {directory} has {told(odd)}, which is no file.")
    text = text_of(directory, SUMS).decode(errors="replace")
    lines = [line.split("  ", 1) for line in text.splitlines()]
    recorded = {line[1]: line[0] for line in lines if len(line) == 2}
    present = set(files_of(directory))
    for name in sorted(present | set(recorded)):
        if name not in present:
            raise CheckpointError(f"The checkpoint {directory} lacks {told(name)}.")
        size, most = (directory / name).stat().st_size, _TABLE if name in ARCHIVE else _TEXT
        if size > most:
            raise CheckpointError(
                f"The checkpoint {directory} has {told(name)} of {size:,} bytes, which is too much."
            )
        if recorded.get(name) != _hash(directory / name):
            raise CheckpointError(
                f"The checkpoint {directory} was altered: {told(name)} does not match {SUMS}."
            )
    # A last byte of SHA256SUMS itself can change without changing any line.
    if text != "".join(f"{recorded[name]}  {name}\n" for name in files_of(directory)):
        raise CheckpointError(f"The checkpoint {directory} was altered: {SUMS} is not as written.")


def text_of(directory: Path, name: str) -> bytes:
    """Return what is in a file of text.

    Raises
    ------
    CheckpointError
        It cannot be read, or is too long.
    """
    try:
        return content(directory / name, _TEXT)
    except FileError as error:
        raise CheckpointError(str(error)) from None
