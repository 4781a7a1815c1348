"""Views of arrays that count no references.

Where compiled loops hand arrays to functions, numba counts who holds them, atomically: a third
of the engine's time. Views that own nothing are not counted; whoever makes them keeps the arrays.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _unowned(typing: Any, held: Any) -> Any:
    """Tell numba the type of the answer, and what makes it."""

    def without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        kinds: Any = kind
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            parts = cgutils.unpack_tuple(builder, value, len(kind))
            made = [
                without_owner(context, builder, *each) for each in zip(kinds, parts, strict=True)
            ]
            return context.make_tuple(builder, kind, made)
        return value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return without_owner(context, builder, signature.args[0], arguments[0])

    return held(held), generate


unowned: Any = intrinsic(_unowned)
"""Returns the same arrays, uncounted: of an array or of a tuple with arrays.

They are valid as long as someone else holds the arrays: take them from arguments, in a function
that hands them on. Arrays that this function made itself it must use once more behind the call,
since numba lets go of them after their last use.
"""
