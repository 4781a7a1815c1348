"""The files of an evaluation; those of ``evaluate`` grow by instance, so that it can be resumed.

An instance's row is written last, so its other records exist if the row exists. Rows are in the
order of the instances, so that the files do not depend on workers or interruptions.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError, JournalError, WriteError
from specahd.core.folders import write_atomically, write_errors
from specahd.core.journal import (
    JournalFile,
    Record,
    dumps,
    read_records,
    write_json,
    write_records,
)
from specahd.core.plain import parse_json

_EVALUATED = "rows"
"""The name of the rows that ``evaluate`` writes; those of a run have the names of its pools."""
EVALUATION = "evaluation.json"
"""Settings that determine the rows of an evaluation, besides its instances."""
STUDY = "study.jsonl"
"""Results of every member of a repertoire on every region, and those of a routing study."""
STUDIES = ("routing",)
"""What an evaluation may study besides its rows."""
STEPS = f"{_EVALUATED}-steps.jsonl"
"""The descriptors of the steps of ``evaluate``'s rows, and the router's estimates."""
ROUTES = "routes.json"
"""One validation instance of a run before and after repair."""


def rows_file(pool: str = _EVALUATED) -> str:
    """Return the name of the file with a pool's rows, by default with those of ``evaluate``."""
    return f"{pool}.jsonl"


def row_timings_file(pool: str = _EVALUATED) -> str:
    """Return the name of the file with the seconds of these rows."""
    return f"{pool}-timings.jsonl"


class RowFiles:
    """Rows, seconds, steps, solutions and study of an evaluation in one directory.

    Parameters
    ----------
    identity
        Settings that determine the rows, besides the instances; written to ``evaluation.json``.
    hashes
        The content hash of each instance by its name, in order.
    study
        Whether there is a ``study.jsonl``.
    """

    def __init__(
        self,
        directory: Path,
        identity: Mapping[str, Any],
        hashes: Mapping[str, str],
        *,
        study: bool,
    ) -> None:
        self.directory = directory
        self._identity = dict(identity)
        self._hashes = hashes
        side = [row_timings_file(), STEPS, *([STUDY] if study else [])]
        self._side = [directory / name for name in side]
        self._files: dict[str, JournalFile] = {}

    def read(self) -> list[dict[str, Any]]:
        """Return the rows that exist already; nothing is written.

        Raises
        ------
        FileError
            The rows belong to another evaluation, or are damaged.
        """
        rows = list(read_records(self.directory / rows_file()))
        if rows:
            self._expect_identity()
        for row in rows:
            name = str(row.get("instance"))
            if self._hashes.get(name) != row.get("instance_hash"):
                raise self._other(f"the instance {name}")
        return rows

    def read_side(self, name: str, done: Iterable[str]) -> list[dict[str, Any]]:
        """Return the records of another file that belong to the instances that have a row."""
        kept = set(done)
        records = read_records(self.directory / name)
        return [each for each in records if each.get("instance") in kept]

    def open(self, done: Sequence[str]) -> None:
        """Open the files for appending, and cut off side records without a row.

        Raises
        ------
        FileError
            Another process has them open for writing.
        WriteError
            The disk is full or read-only.
        """
        with write_errors(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
        try:
            if not done:
                write_json(self.directory / EVALUATION, self._identity)
            rows = self._open(self.directory / rows_file())
            rows.claim()
            for path in self._side:
                kept = self.read_side(path.name, done)
                if (
                    path.exists()
                    and path.read_bytes() != "".join(f"{dumps(each)}\n" for each in kept).encode()
                ):
                    write_records(path, kept)
                self._open(path)
        except JournalError as error:
            raise WriteError(str(error)) from error

    def append(
        self,
        row: Record,
        solution: Mapping[str, str],
        side: Mapping[str, Sequence[Record]],
    ) -> None:
        """Write everything of one instance, its row last.

        Parameters
        ----------
        solution
            The texts of its solution's files by their names.
        side
            Records for the other files, by their names.

        Raises
        ------
        WriteError
            The disk is full or read-only.
        """
        for name, text in solution.items():
            write_atomically(self.directory / name, text)
        for name, records in side.items():
            self.add(name, records)
        self.add(rows_file(), [row])

    def add(self, name: str, records: Sequence[Record]) -> None:
        """Append records to one of the files.

        Raises
        ------
        WriteError
            The disk is full or read-only.
        """
        try:
            for record in records:
                self._files[name].append(record)
        except JournalError as error:
            raise WriteError(str(error)) from error

    def close(self) -> None:
        """Flush all files to disk and close them.

        Raises
        ------
        WriteError
            The disk is full.
        """
        try:
            for file in self._files.values():
                file.close()
        except JournalError as error:
            raise WriteError(str(error)) from error

    def _open(self, path: Path) -> JournalFile:
        self._files[path.name] = JournalFile(path)
        return self._files[path.name]

    def _expect_identity(self) -> None:
        path = self.directory / EVALUATION
        try:
            stated = parse_json(path.read_bytes(), dict[str, Any])
        except (OSError, ValueError):
            raise self._other(EVALUATION) from None
        for key in sorted(stated | self._identity):
            if stated.get(key) != self._identity.get(key):
                raise self._other(key)

    def _other(self, what: str) -> FileError:
        return FileError(
            f"{self.directory} holds rows of another evaluation ({what} differs); "
            "name another hydra.run.dir, or remove it."
        )
