"""Files and folders that appear whole or not at all, and paths as users are told of them."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from specahd.core.errors import WriteError

LONGEST_NAME = 200
"""Bytes of a file's name without its ending; file systems take 255 with it."""


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Yield a draft folder that takes the place of ``target`` when the block ends well.

    When it does not, the draft is removed and ``target`` is left as it was. One
    process at a time may write a folder: drafts that a killed one left are removed.

    Raises
    ------
    WriteError
        The disk is full, or only to be read.
    """
    with writing(target), _draft(target.parent, target.name) as draft:
        yield draft
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)


@contextmanager
def together(target: Path) -> Iterator[Path]:
    """Yield a draft folder inside of ``target``, whose files move there when the block ends well.

    When it does not, none of them does.

    Raises
    ------
    WriteError
        The disk is full, or only to be read: at the beginning, if that is known by then.
    """
    with _draft(target, "new") as draft:
        try:
            yield draft
        except WriteError as error:
            raise WriteError(str(error).replace(str(draft), str(target))) from error
        with writing(target):
            for path in draft.iterdir():
                path.replace(target / path.name)


@contextmanager
def _draft(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new folder in another one; what is left of it, or of earlier ones, is removed."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f".{name}-*"):
            shutil.rmtree(stale, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
    try:
        draft.chmod(0o755)
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def new_folder(path: Path) -> Path:
    """Make a folder that nobody else has, with ``-2``, ``-3`` … behind the name if need be.

    Raises
    ------
    OSError
        The system refuses to make any.
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


def write_whole(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all; one that is there is replaced.

    Raises
    ------
    WriteError
        The disk is full, or only to be read.
    """
    draft = path.with_name(f".{path.name}.draft")
    with writing(path):
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
        except OSError:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell in one sentence what the system refuses while a file or folder is written.

    Raises
    ------
    WriteError
        In place of any OSError.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteError(f"Cannot write {path}: {reason}.") from error


def short(path: Path) -> Path:
    """Return the path relative to where the user stands, if it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def file_name(words: str, otherwise: str) -> str:
    """Return the words of a file, which may be any, as the name of another, without an ending.

    Parameters
    ----------
    otherwise
        The name where nothing of the words can stand in one.
    """
    name = re.sub(r"[^\w.+-]", "_", words).lstrip(".")
    return name.encode()[:LONGEST_NAME].decode(errors="ignore") or otherwise
