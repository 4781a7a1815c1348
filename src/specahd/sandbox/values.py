"""The guard's rules for a program's constants and their uses.

The rules limit sizes, and exclude causes of answers that differ from run to run:
uninitialised memory, the addresses of objects, and the clock. A program can reach the
last two only through a set or a string (:mod:`specahd.sandbox.objects`).
"""

import ast

from specahd.sandbox.allowed import GuardRefusal, words

MAX_STRING = 200
MAX_INTEGER = 2**63

_REDUCTIONS = words("all any max mean min prod std sum var")
_MAKERS = words("array asarray astype copy full full_like ones ones_like zeros zeros_like")
_READERS = {
    **dict.fromkeys(words("all any dict enumerate frozenset iter len list"), 1),
    **dict.fromkeys(words("reversed set sorted sum tuple"), 1),
    **dict.fromkeys(words("filter map zip"), 9),
}
"""Builtins that read their first arguments and store none, with the number of these arguments."""
_READING_METHODS = words(
    """
    difference difference_update extend fromiter fromkeys intersection intersection_update
    isdisjoint issubset issuperset symmetric_difference union update
    """
)


def check_constant(node: ast.Constant) -> None:
    """Refuse constants that are too large, or of a kind that no program needs."""
    value = node.value
    if isinstance(value, str):
        if len(value) > MAX_STRING:
            raise GuardRefusal(f"a string is longer than {MAX_STRING} characters", node)
        if "__" in value:
            raise GuardRefusal("strings with double underscores are not allowed", node)
        # Formatting an object shows its address, which differs from run to run.
        if "%" in value:
            raise GuardRefusal("strings with a percent sign are not allowed", node)
    elif isinstance(value, (bytes, complex)):
        raise GuardRefusal(f"{type(value).__name__} constants are not allowed", node)
    elif isinstance(value, int) and value > MAX_INTEGER:
        raise GuardRefusal("an integer is larger than 2**63", node)


def check_operands(node: ast.BinOp) -> None:
    """Refuse operations that build strings, which could bypass the rules for constants."""
    for side in (node.left, node.right):
        if isinstance(side, ast.Constant) and isinstance(side.value, str):
            raise GuardRefusal("computing with strings is not allowed", node)


def check_call(node: ast.Call, function: ast.FunctionDef) -> None:
    """Refuse ``**`` arguments, and calls that read uninitialised memory."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else None
    if None in keywords:
        raise GuardRefusal("double-starred arguments are not allowed", node)
    if any("__" in keyword for keyword in keywords if keyword):
        raise GuardRefusal("keywords with double underscores are not allowed", node)
    # Elementwise functions with `where` and no `out` return uninitialised memory.
    if "where" in keywords and callee not in _REDUCTIONS:
        if "out" not in keywords:
            raise GuardRefusal("the keyword where needs the keyword out", node)
        if not _is_array(keywords["out"], function):
            raise GuardRefusal(
                "with the keyword where, out must be a new array such as zeros", node
            )


def check_view(node: ast.Call, parent: ast.AST, bound: frozenset[str]) -> None:
    """Refuse ``keys()`` and ``items()`` unless they are read at once.

    Operators on such a view make a set of its elements without a check.
    """
    if isinstance(parent, ast.For | ast.comprehension):
        read = parent.iter is node
    elif isinstance(parent, ast.Call):
        read = _reads(parent, node, bound)
    else:
        read = isinstance(parent, ast.Compare | ast.Starred)
    if not read:
        assert isinstance(node.func, ast.Attribute)
        raise GuardRefusal(f"{node.func.attr}() may only be read at once, as in list()", node)


def _reads(call: ast.Call, view: ast.Call, bound: frozenset[str]) -> bool:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _READING_METHODS and view in call.args[:1]
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name in bound:
        return False
    if name in ("max", "min"):
        return call.args == [view]
    return view in call.args[: _READERS.get(name, 0)]


def _is_array(node: ast.AST, function: ast.FunctionDef) -> bool:
    """Return whether an expression is surely an array, not None: a call or a name of a new one."""
    if not isinstance(node, ast.Name):
        return _makes(node)
    everything = list(ast.walk(function))
    arguments = {n.arg for n in everything if isinstance(n, ast.arg)}
    kept = {n.target for n in everything if isinstance(n, ast.AugAssign)}
    stores = [n for n in everything if _is_stored(n, node.id) and n not in kept]
    assigned = {
        target: n.value for n in everything if isinstance(n, ast.Assign) for target in n.targets
    }
    are_new = (n in assigned and _makes(assigned[n]) for n in stores)
    return node.id not in arguments and bool(stores) and all(are_new)


def _makes(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in _MAKERS


def _is_stored(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
