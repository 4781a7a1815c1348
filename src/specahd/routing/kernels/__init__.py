"""Loops over customers, compiled by numba and cached on disk.

numba looks at the file of the outermost function alone: what it compiled from an older kernel that
this one calls would be run unseen. So all of it is compiled again after any compiled file changed.
"""

from contextlib import suppress
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]


def forget_older(package: Path) -> None:
    """Remove what numba keeps of a package that is older than one of the files it is made of.

    A file is one of these if numba keeps something of it. Where nothing can be removed, all stays.
    """
    kept = list(package.glob("**/__pycache__/*.nbi"))
    sources = {index.parents[1] / f"{index.name.partition('.')[0]}.py" for index in kept}
    with suppress(OSError):
        newest = max((source.stat().st_mtime for source in sources if source.exists()), default=0.0)
        for index in kept:
            if index.stat().st_mtime < newest:
                index.unlink(missing_ok=True)


forget_older(_PACKAGE)
