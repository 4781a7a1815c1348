"""Folders that appear whole or not at all, and paths as users are told of them."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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


def oddity(directory: Path) -> str | None:
    """Return the name of something below a directory that is neither a file nor a directory.

    A link leads elsewhere, and opening a pipe waits for ever; None if there is neither.
    """
    for folder, folders, files in os.walk(directory):
        for name in sorted((*folders, *files)):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                return path.relative_to(directory).as_posix()
    return None


def short(path: Path) -> Path:
    """Return the path relative to where the user stands, if it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
