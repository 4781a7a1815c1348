"""Text files from anywhere: one way to read them, within bounds."""

import stat
from pathlib import Path

from specahd.core.errors import FileError

LARGEST_FILE = 32 << 20
"""Most bytes of a file that is read: its words take up to 1 GiB; public ones have 2 MiB at most."""
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_text(path: Path) -> str:
    """Return the text of a regular file of at most :data:`LARGEST_FILE` bytes.

    Nothing else is opened, so that reading neither waits nor fills the memory.

    Raises
    ------
    FileError
        The file cannot be read, is no regular file, is too large, or is not
        UTF-8 text.
    """
    try:
        kind = _KINDS.get(stat.S_IFMT(path.stat().st_mode))
        if kind is not None:
            raise FileError(f"Cannot read {path}: it is {kind}, expected a regular file.")
        with path.open("rb") as file:
            # A file may grow while it is read, and those of the kernel state no size.
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    if len(content) > LARGEST_FILE:
        raise FileError(f"{path} is larger than {LARGEST_FILE >> 20} MiB, the most that is read.")
    if b"\0" in content:
        raise FileError(f"{path}: expected a text file, got binary data.")
    try:
        # Some editors put a mark before the text.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: expected a text file in UTF-8, which the byte "
            f"0x{content[error.start]:02x} at {error.start} is not."
        ) from None
