"""Atomic writes of files and folders, and the form of paths in messages."""

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EISDIR
from pathlib import Path

from specahd.core.errors import WriteError

LONGEST_NAME = 200
"""Most bytes of a file's name without its ending; file systems allow 255 with it."""


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield a draft folder that replaces ``target`` when the block ends without an error.

    After an error the draft is removed and ``target`` is left as it was. Drafts that a killed
    process left are removed, so only one process at a time may write a folder.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    with write_errors(target), _draft_folder(target.parent, target.name) as draft:
        yield draft
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)


@contextmanager
def atomic_files(target: Path) -> Iterator[Path]:
    """Yield a draft folder whose files move to ``target`` when the block ends without an error.

    After an error none of them moves.

    Raises
    ------
    WriteError
        The disk is full or read-only; raised before the block if the draft cannot be made.
    """
    with _draft_folder(target, "new") as draft:
        try:
            yield draft
        except WriteError as error:
            raise WriteError(str(error).replace(str(draft), str(target))) from error
        with write_errors(target):
            for path in draft.iterdir():
                path.replace(target / path.name)


@contextmanager
def _draft_folder(folder: Path, name: str) -> Iterator[Path]:
    """Remove earlier drafts, yield a new folder inside ``folder``, and remove it at the end."""
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f".{name}-*"):
            shutil.rmtree(stale, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
    try:
        draft.chmod(0o755)
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def make_new_folder(path: Path) -> Path:
    """Make a new folder; append ``-2``, ``-3`` … to the name if it is taken.

    Raises
    ------
    OSError
        The folder cannot be made.
    """
    place, number = path, 1
    while True:
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            number += 1
            place = path.with_name(f"{path.name}-{number}")
        else:
            return place


def write_atomically(path: Path, text: str | bytes) -> None:
    """Write a file atomically and replace an older one; text is written as UTF-8.

    A link in place of the file is replaced, not followed.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    write_together({path: text})


def write_together(files: Mapping[Path, str | bytes]) -> None:
    """Write files as :func:`write_atomically` does; none of them if one cannot be written.

    Raises
    ------
    WriteError
        The disk is full or read-only, or a folder has the name of a file.
    """
    drafts: dict[Path, Path] = {}
    try:
        for path, text in files.items():
            with write_errors(path):
                if path.is_dir():
                    raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
                draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
                # A new file of an unforeseeable name: nobody can put a link in its place.
                number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
                drafts[path] = draft
                with os.fdopen(number, "wb") as file:
                    file.write(text.encode() if isinstance(text, str) else text)
        for path, draft in drafts.items():
            with write_errors(path):
                draft.replace(path)
    except BaseException:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        raise


def exists(path: Path) -> bool:
    """Return whether a path exists; one that the system does not take, as an overlong one, none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Convert a system error of the block, which writes ``path``, into a WriteError.

    Raises
    ------
    WriteError
        The block raised an OSError. The message is one sentence.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteError(f"Cannot write {path}: {reason}.") from error


def display_path(path: Path) -> Path:
    """Return the path relative to the working directory, if it lies below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def safe_file_name(words: str, otherwise: str) -> str:
    """Return a file name without ending, made from any text.

    Parameters
    ----------
    otherwise
        The name that is returned if the result would be empty.
    """
    name = re.sub(r"[^\w.+-]", "_", words).lstrip(".")
    return name.encode()[:LONGEST_NAME].decode(errors="ignore") or otherwise
