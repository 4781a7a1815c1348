"""Folders that appear whole or not at all, and paths as users are told of them."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST_NAME = 200
"""Bytes of a file's name without its ending; file systems take 255 with it."""


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Yield a draft folder that takes the place of ``target`` when the block ends well.

    When it does not, the draft is removed and ``target`` is left as it was. One
    process at a time may write a folder: drafts that a killed one left are removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for stale in target.parent.glob(f".{target.name}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        draft.chmod(0o755)
        yield draft
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)
    finally:
        # Nothing is left of a draft that was renamed.
        shutil.rmtree(draft, ignore_errors=True)


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
