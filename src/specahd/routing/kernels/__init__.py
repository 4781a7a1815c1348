"""Loops over customers, compiled by numba and cached on disk.

numba looks at the file of the outermost function alone: what it compiled from an older kernel that
this one calls would be run unseen. So all of it is compiled again after any compiled file changed.
"""

from contextlib import suppress
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_IN_LOOPS = ("interfaces.py", "programs.py")
"""Files whose tables and constants are compiled into the loops beside them."""


def forget_older(package: Path) -> None:
    """Remove all that numba keeps of a package if any of it is older than a file it is made of.

    A file is one of these if numba ever kept something of it, or if it holds tables or constants
    of loops beside it. Where nothing can be removed, all stays.
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
