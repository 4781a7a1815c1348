"""Cache of compiled loops for a problem outside this package.

The cache entry of a loop names the types that the loop was compiled for. If it named a type of
another package, it could not be read where that package is absent, and a change of that type would
not be detected. So the engine's loops have entries of their own for each such package, under a hash
of its sources too.
"""

import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from specahd.core.loop_cache import keep

_PACKAGE = __name__.partition(".")[0]


def keep_apart(kind: type) -> None:
    """Cache this process's loops by the sources beside a class outside this package, too."""
    module, root = sys.modules[kind.__module__], kind.__module__.partition(".")[0]
    if root == _PACKAGE or module.__file__ is None:
        return
    others = tuple(sorted(Path(module.__file__).parent.glob("*.py")))
    loops = {
        id(value): value
        for name, each in tuple(sys.modules.items())
        if name.partition(".")[0] in (_PACKAGE, root)
        for value in vars(each).values()
        if isinstance(value, Dispatcher) and value.stats.cache_path is not None
    }
    for loop in loops.values():
        keep(loop, others)
