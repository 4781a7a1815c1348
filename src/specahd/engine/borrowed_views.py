"""Views of arrays without reference counts.

When compiled loops pass arrays to functions, numba counts references atomically, which takes a
third of the engine's time. Borrowed views are not counted; the code that makes them must keep the
arrays alive. Measurements: benchmarks/notes/2026-11-22-what-the-rest-stands-on.md.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _borrowed(typing: Any, arrays: Any) -> Any:
    """Return the type of the result, and its code generator, for numba."""

    def without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        kinds: Any = kind
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            parts = cgutils.unpack_tuple(builder, value, len(kind))
            views = [
                without_owner(context, builder, *each) for each in zip(kinds, parts, strict=True)
            ]
            return context.make_tuple(builder, kind, views)
        return value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return without_owner(context, builder, signature.args[0], arguments[0])

    return arrays(arrays), generate


borrowed: Any = intrinsic(_borrowed)
"""Function that returns uncounted views of an array, or of a tuple with arrays.

A view is valid as long as a counted reference to its array exists. Make views from arguments, in a
function that passes them on. A function that made the arrays itself must use them once more after
the call, since numba frees them after their last use.
"""
