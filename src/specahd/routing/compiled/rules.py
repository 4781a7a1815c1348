"""Rules of the compiled language for variables, arguments and subscripts."""

from collections.abc import Sequence
from typing import Any

from numba import types
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.types.common import SimpleIteratorType

from specahd.routing.compiled.language import ARRAY_METHODS, FUNCTIONS, LIST_METHODS, CallRule
from specahd.routing.compiled.values import elements, kind, ndim, parts

_NOT_NUMBERS = (types.NumberClass, types.DType, types.RangeType, SimpleIteratorType)


class NotInLanguage(Exception):
    """Error for a program that is outside the compiled language."""


def refuse_unassigned(blocks: Any) -> None:
    """Refuse a variable that may have no value yet: there Python raises, and numba reads zeros."""
    dominators = compute_cfg_from_blocks(blocks).dominators()
    homes = {
        statement.target.name: label
        for label, block in blocks.items()
        for statement in block.find_insts(ir.Assign)
    }
    for label, block in blocks.items():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Expr) and value.op == "phi":
                uses = list(zip(value.incoming_values, value.incoming_blocks, strict=True))
            else:
                uses = [(variable, label) for variable in statement.list_vars()]
            for variable, place in uses:
                if variable is ir.UNDEFINED or homes[variable.name] not in dominators[place]:
                    raise NotInLanguage("a variable that may have no value")


def refuse_arguments(entry: CallRule, given: Sequence[Any]) -> None:
    """Refuse arguments that a function's entry does not list."""
    for position, argument in enumerate(given):
        for element in elements(argument):
            kinds = f"{entry.kinds}i" if position and "f" in entry.kinds else entry.kinds
            number = kind(element)
            if isinstance(element, types.NoneType):
                known = "n" in entry.kinds
            elif number is None:
                known = isinstance(element, _NOT_NUMBERS)
            else:
                known = number in kinds and ndim(element) <= entry.ndim
            if not known or (entry.array and not position and not ndim(argument)):
                raise NotInLanguage(f"an argument of {argument}")


def entry_of(function: Any) -> CallRule | None:
    """Return the entry of a function in the language; None if it has none."""
    if isinstance(function, types.NumberClass):
        of = {"i": int, "f": float, "b": bool}.get(kind(function.instance_type) or "")
        return FUNCTIONS.get(of)
    if isinstance(function, types.BoundFunction):
        key = function.typing_key
        name = str(key[1] if isinstance(key, tuple) else key).rpartition(".")[2]
        methods = ARRAY_METHODS if isinstance(function.this, types.Array) else LIST_METHODS
        known = isinstance(function.this, types.Array | types.List)
        return methods.get(name) if known else None
    return FUNCTIONS.get(function.typing_key) if isinstance(function, types.Function) else None


def name_of(function: Any) -> str:
    """Return the name of a function, for messages."""
    return str(getattr(getattr(function, "typing_key", None), "__name__", function))


def selects(index: Any) -> bool:
    """Return whether a subscript of an array may contain an index, alone or beside others."""
    if isinstance(index, types.SliceType | types.NoneType | types.EllipsisType):
        return True
    return kind(index) == "i" and ndim(index) <= 1


def selected_ndim(array: Any, index: Any) -> int:
    """Return the number of dimensions of an array's selection by an index."""
    several = parts(index)
    added = sum(isinstance(part, types.NoneType) for part in several)
    taken = sum(kind(part) == "i" and not ndim(part) for part in several)
    # Arrays of indices share one axis.
    gathered = sum(ndim(part) > 0 for part in several)
    return ndim(array) + added - taken - max(0, gathered - 1)


def fits(new: str | None, into: str | None) -> bool:
    """Return whether elements of one kind can be stored as another kind without loss."""
    return f"{new}{into}" in ("bb", "bi", "bf", "ii", "if", "ff")


def present(value: Any) -> Any:
    """Return the type that a value, which may be None, has when it is not None."""
    return value.type if isinstance(value, types.Optional) else value
