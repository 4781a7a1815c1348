"""The values of compiled programs: their types, and the conditions of the checks."""

from typing import Any

from numba import types
from numba.core.types.common import SimpleIteratorType

_SCALARS = {types.int64: "i", types.float64: "f", types.boolean: "b"}
_OPAQUE = (
    *(types.NoneType, types.Module, types.Function, types.BoundFunction, types.NumberClass),
    *(types.DType, types.EllipsisType, types.SliceType, types.RangeType, types.StringLiteral),
)


def kind(value: Any) -> str | None:
    """Return ``i``, ``f`` or ``b`` for integers, floats and truth values, alone or in an array."""
    element = value.dtype if isinstance(value, types.Array) else types.unliteral(value)
    return _SCALARS.get(element)


def ndim(value: Any) -> int:
    """Return an array's number of dimensions, 0 for anything else."""
    return int(value.ndim) if isinstance(value, types.Array) else 0


def integer(value: Any) -> bool:
    """Return whether a value is one integer."""
    return kind(value) == "i" and not ndim(value)


def constant(value: Any) -> int | None:
    """Return the number of an integer literal; None for any other value."""
    literal = getattr(value, "literal_value", None)
    return literal if integer(value) and isinstance(literal, int) else None


def allowed(value: Any) -> bool:
    """Return whether a variable of a compiled program may have a type.

    Integers and floats have 64 bits: other sizes behave at their limits as in NumPy only. numba's
    sets and dicts iterate in another order than Python's. Complex numbers and texts have no use.
    """
    if isinstance(value, types.Array):
        return kind(value) is not None and 1 <= ndim(value) <= 3
    if isinstance(value, types.List):
        return allowed(value.dtype) and not counted(value.dtype)
    if isinstance(value, types.UniTuple | types.Optional):
        return allowed(value.type if isinstance(value, types.Optional) else value.dtype)
    if isinstance(value, types.BaseTuple):
        return all(map(allowed, parts(value)))
    if isinstance(value, types.Pair):
        return allowed(value.first_type) and allowed(value.second_type)
    if isinstance(value, SimpleIteratorType):
        return allowed(value.yield_type)
    return kind(value) is not None or isinstance(value, _OPAQUE)


def counted(value: Any) -> bool:
    """Return whether numba counts references to a value: an array, a list or their container."""
    if isinstance(value, types.Optional):
        return counted(value.type)
    if isinstance(value, types.BaseTuple):
        return any(map(counted, parts(value)))
    return isinstance(value, types.Array | types.List)


def parts(value: Any) -> tuple[Any, ...]:
    """Return the types of a tuple's parts, or the type itself alone."""
    several: Any = value
    return tuple(several) if isinstance(value, types.BaseTuple) else (value,)


def elements(value: Any) -> list[Any]:
    """Return the types of the numbers and arrays that an argument holds."""
    if isinstance(value, types.List | types.UniTuple):
        return elements(value.dtype)
    if isinstance(value, types.BaseTuple):
        return [element for part in parts(value) for element in elements(part)]
    return [value]
