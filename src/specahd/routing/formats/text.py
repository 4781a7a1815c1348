"""Reading of untrusted text files, and of tables as text, within a limit on their size."""

import hashlib
import stat
import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from pathlib import Path

from specahd.core.errors import FileError, FileWarning
from specahd.core.memory_limit import available_memory

_EXPANSION = 32
"""Memory that the words of a text take, as a multiple of the text's bytes."""
_ALWAYS = 32 << 20
"""Size in bytes up to which a file is always read; public files have 2 MiB at most."""
# UTF-32's first bytes begin with those of UTF-16.
_MARKS = {BOM_UTF32_LE: "utf-32", BOM_UTF32_BE: "utf-32"} | {
    BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
}
"""Encodings by their byte order marks."""
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "a workbook of Excel: save it as CSV",
    b"\x1f\x8b": "what gzip has compressed: unpack it",
}
"""What other files are, and their cures, by their first bytes."""
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular_file(path: Path) -> int:
    """Return the size of a regular file in bytes; refuse others, since reading them may block.

    Raises
    ------
    FileError
        The path does not exist, or is not a regular file.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise FileError(f"Cannot read {str(path)[:200]}: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the path
        raise FileError(f"Cannot read {str(path)[:200]!r}: {error}.") from None
    if (kind := _KINDS.get(stat.S_IFMT(found.st_mode))) is not None:
        raise FileError(f"Cannot read {path}: it is {kind}, expected a regular file.")
    return found.st_size


def digest(path: Path) -> str:
    """Return the SHA-256 of a regular file.

    Raises
    ------
    FileError
        The file cannot be read, or is no regular file.
    """
    read_regular_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error


def read_text(path: Path) -> str:
    """Return the text of a regular file that fits into the available memory.

    A workbook (.xlsx) or a Parquet file is returned as CSV.

    Raises
    ------
    FileError
        The file cannot be read, is no regular file, is too large, or is no text in UTF-8,
        in UTF-16 or UTF-32 with a byte order mark or in Windows-1252.

    Warns
    -----
    FileWarning
        The file was read as Windows-1252, a superset of Latin-1.
    """
    size = read_regular_file(path)
    available = available_memory()
    most = _ALWAYS if available is None else max(_ALWAYS, available // _EXPANSION)
    try:
        with path.open("rb") as file:
            # A file may grow while it is read, and the kernel's own files report no size.
            content = b"" if size > most else file.read(most + 1)
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    if max(size, len(content)) > most:
        raise FileError(
            f"{path} is larger than {most >> 20} MiB, the most that is read with the memory that "
            "is available."
        )
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise FileError(
                    f"{path}: expected a text file in {encoding.upper()} as its first bytes say, "
                    f"got the byte 0x{content[error.start]:02x} at {error.start}."
                ) from None
    if content.startswith((b"PK\3\4", b"PAR1")):
        # Few files are no text.
        from specahd.routing.formats import sheets

        table = sheets.workbook_text if content[:2] == b"PK" else sheets.parquet_text
        return table(path, most)
    for mark, cure in _OTHERS.items():
        if content.startswith(mark):
            raise FileError(f"{path}: expected a text file, got {cure}.")
    if b"\0" in content:
        raise FileError(
            f"{path}: expected a text file, got binary data, or UTF-16 without a byte order mark."
        )
    try:
        # Some editors write a byte order mark before the text, some programs one more.
        return content.decode("utf-8-sig").lstrip("\ufeff")
    except UnicodeDecodeError as error:
        place = error.start
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        raise FileError(
            f"{path}: expected a text file in UTF-8 or Windows-1252, got the byte "
            f"0x{content[place]:02x} at {place}."
        ) from None
    warnings.warn(
        f"{path} is not in UTF-8 and was read as Windows-1252 (Latin-1).", FileWarning, stacklevel=1
    )
    return text
