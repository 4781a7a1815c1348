"""Cache of compiled loops for a problem outside this package.

numba's cache of a loop names the types that the loop was compiled for. If this package's cache
named a type of another package, numba could not read it where that package is absent, and would not
detect a change of it. So the loops of another package's problem are cached beside its module, under
a hash of the names and modification times of their sources.
"""

import hashlib
import shutil
import sys
from pathlib import Path
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher

from specahd.routing import kernels

_PACKAGE = __name__.partition(".")[0]
_OURS = (Path(__file__).parent, Path(kernels.__file__).parent)


def keep_beside(kind: type) -> None:
    """Cache this process's engine loops beside the module of a class outside this package."""
    module, root = sys.modules[kind.__module__], kind.__module__.partition(".")[0]
    if root == _PACKAGE or module.__file__ is None:
        return
    home = Path(module.__file__).parent
    files = [file for folder in (home, *_OURS) for file in sorted(folder.glob("*.py"))]
    stamps = [f"{file} {file.stat().st_mtime_ns}" for file in files]
    digest = hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16]
    folder = home / "__pycache__" / f"engine-{digest}"
    for older in set(home.glob("__pycache__/engine-*")) - {folder}:
        shutil.rmtree(older, ignore_errors=True)
    loops = {
        id(value): value
        for name, each in tuple(sys.modules.items())
        if name.partition(".")[0] in (_PACKAGE, root)
        for value in vars(each).values()
        if isinstance(value, Dispatcher) and value.stats.cache_path is not None
    }
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        for loop in loops.values():
            loop.enable_caching()
    finally:
        config.CACHE_DIR = before
