"""Files of JSON lines; those that are appended to survive a kill at any byte."""

import fcntl
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from inspect import isfunction
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError, JournalError, RunFailed
from specahd.core.folders import write_atomically
from specahd.core.plain import convert, parse_json

Record = Mapping[str, Any]
_OWNERS = ("sample", "carried", "instance", "record")
"""Fields that identify the subject of a record."""


def dumps(record: Record) -> str:
    """Return the record as one canonical line; equal records give equal bytes."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file, the same bytes for the same values.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    write_atomically(path, json_text(values))


def json_text(values: Mapping[str, Any]) -> str:
    """Return the text of a JSON file, the same one for the same values."""
    return json.dumps(values, indent=2, sort_keys=True) + "\n"


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write a file of records, one per line.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    write_atomically(path, "".join(f"{dumps(record)}\n" for record in records))


def read_records(path: Path, kind: Any = dict[str, Any]) -> Iterator[Any]:
    """Yield the complete records of a file; skip a torn last line.

    Parameters
    ----------
    kind
        The type of the records (:mod:`specahd.core.plain`), or a function from record to type.

    Raises
    ------
    FileError
        The file cannot be read, or was altered: a complete line is not a record of the type.
    """
    if not path.exists():
        return
    try:
        if not path.is_file():
            raise FileError(f"{path} is not a file.")
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    record = parse_json(line, dict[str, Any])
                    yield convert(record, kind(record) if isfunction(kind) else kind)
                except ValueError as error:
                    raise damaged_line_error(path, number, str(error)) from None
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from None


def damaged_line_error(path: Path, number: int, reason: str) -> FileError:
    """Return the error for a line that is not a valid record."""
    return FileError(
        f"{path}: line {number} is not a JSON record ({reason}); "
        "restore the file from a copy, or begin anew elsewhere."
    )


def describe_difference(known: bytes, again: bytes) -> str:
    """Return in parentheses the first field that differs in two records, and their subject."""
    try:
        one, other = (parse_json(line, dict[str, Any]) for line in (known, again))
    except ValueError:
        return ""
    fields = (key for key in sorted(one | other) if one.get(key) != other.get(key))
    owner = next((f" of {one[key]}" for key in _OWNERS if key in one), "")
    return f" ({next(fields, 'spelling')}{owner})"


class JournalFile:
    """One file of records, open for appending.

    Opening cuts off a torn last line that a kill left behind.

    Parameters
    ----------
    sync
        Whether a record is on disk when :meth:`append` returns.
    repeat
        Whether the run that wrote the file is being repeated from its start. If so, the
        run must append the existing records again, unchanged and in the same order, and
        they are not written twice.

    Raises
    ------
    JournalError, RunFailed
        The file cannot be written (any method); a repeated record differs (:meth:`append`).
    """

    def __init__(self, path: Path, *, sync: bool = False, repeat: bool = False) -> None:
        self.path = path
        self._sync = sync
        self._line = 0
        self._known: deque[bytes] = deque()
        self._failure: str | None = None
        try:
            self._file = path.open("ab+", buffering=0)
            self._repair()
            if repeat:
                self._known.extend(path.read_bytes().splitlines(keepends=True))
        except OSError as error:
            raise JournalError(f"Cannot write {path}: {error.strerror}.") from error

    def _repair(self) -> None:
        end = self._file.seek(0, os.SEEK_END)
        keep = end
        while keep > 0:
            start = max(0, keep - 65536)
            self._file.seek(start)
            newline = self._file.read(keep - start).rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                break
            keep = start
        if keep < end:
            self._file.truncate(keep)

    def claim(self) -> None:
        """Lock the file, so that no other process writes it.

        Raises
        ------
        FileError
            Another process holds the lock.
        """
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(f"Another process is writing the run in {self.path.parent}.") from None

    @property
    def repeating(self) -> bool:
        """Whether the next record was written by the run that is being repeated."""
        return bool(self._known)

    def append(self, record: Record) -> None:
        """Add one record; the operating system has the record when the call returns."""
        line = dumps(record).encode() + b"\n"
        self._line += 1
        if self._known:
            known = self._known.popleft()
            if known != line:
                raise RunFailed(
                    f"{self.path}: line {self._line} is not reproduced"
                    f"{describe_difference(known, line)}; "
                    "the program, its libraries or this file changed since."
                )
            return
        if self._failure is not None:
            raise JournalError(self._failure)
        end = self._file.seek(0, os.SEEK_END)
        try:
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
            if self._sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            self._failure = f"Cannot write {self.path}: {error.strerror}."
            # Nothing may follow a torn line.
            with suppress(OSError):
                self._file.truncate(end)
            raise JournalError(self._failure) from error

    def close(self) -> None:
        """Sync the file to disk and close it."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise JournalError(f"Cannot write {self.path}: {error.strerror}.") from error
        finally:
            self._file.close()
