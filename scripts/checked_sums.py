"""A plugin of mypy: the built-in ``sum`` is for integers.

It adds floats otherwise since Python 3.12, so ``specahd.core.sums`` has another one for them. mypy
reports a refused call as one that does not fit the first signature of ``sum``: "expected bool".
"""

from collections.abc import Callable

from mypy.plugin import FunctionContext, Plugin
from mypy.types import AnyType, Instance, Type, flatten_nested_unions, get_proper_type

_REFUSED = "Expected a sum of integers"


class CheckedSums(Plugin):
    """Refuses the built-in ``sum`` where its result may be a float."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return _check if fullname == "builtins.sum" else None


def _check(context: FunctionContext) -> Type:
    for each in map(get_proper_type, flatten_nested_unions([context.default_return_type])):
        if isinstance(each, AnyType) or (
            isinstance(each, Instance) and each.type.has_base("builtins.float")
        ):
            context.api.fail(_REFUSED, context.context)
    return context.default_return_type


def plugin(_: str) -> type[Plugin]:
    """Return the class that mypy asks for."""
    return CheckedSums
