"""Loops over customers, compiled by numba and cached on disk.

numba checks only the file of the outermost function: it would run code that it compiled from an old
version of a kernel called there. So all kernels are compiled again after any compiled file changed.
"""

from contextlib import suppress
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_IN_LOOPS = ("interfaces.py", "programs.py")
"""Files whose tables and constants are compiled into the loops beside them."""


def forget_older(package: Path) -> None:
    """Remove numba's cache of a package if any entry is older than a file that it is made of.

    These files are those with an entry in the cache, and those that hold tables or constants of
    loops beside them. If files cannot be removed, the cache stays.
    """
    indices = list(package.glob("**/__pycache__/*.nbi"))
    kept = [*indices, *package.glob("**/__pycache__/*.nbc")]
    sources = {each.parents[1] / f"{each.name.partition('.')[0]}.py" for each in kept}
    sources |= {each.parents[1] / name for each in kept for name in _IN_LOOPS}
    with suppress(OSError):
        newest = max((source.stat().st_mtime for source in sources if source.exists()), default=0.0)
        if any(index.stat().st_mtime < newest for index in indices):
            for index in indices:
                index.unlink(missing_ok=True)


forget_older(_PACKAGE)
