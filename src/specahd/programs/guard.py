"""The guard: an allow-list of a generated program's syntax and names.

The guard reads the program's syntax tree and never runs it. It refuses everything that is
not in the list. So it keeps honest programs within the rules (no randomness, no recursion,
no state between calls) and makes attacks by hostile programs hard. The kernel's
confinement (:mod:`specahd.sandbox.confinement`) does not rely on it.

The rules for constants limit sizes, and exclude causes of answers that differ from run to run:
uninitialised memory, the addresses of objects, and the clock. A program can reach the
last two only through a set or a string (:mod:`specahd.programs.definition`).
"""

import ast
from collections.abc import Iterator, Sequence

from specahd.core.syntax import refuse_uncompilable
from specahd.programs import language
from specahd.programs.definition import bound_names, is_checked, numpy_options
from specahd.programs.language import GuardRefusal
from specahd.programs.parsed import parsed, plain_arguments


def check_constant(node: ast.Constant) -> None:
    """Refuse constants that are too large, or of a kind that no program needs."""
    value = node.value
    if isinstance(value, str):
        if len(value) > language.MAX_STRING:
            raise GuardRefusal(f"a string is longer than {language.MAX_STRING} characters", node)
        if "__" in value:
            raise GuardRefusal("strings with double underscores are not allowed", node)
        # Formatting an object shows its address, which differs from run to run.
        if "%" in value:
            raise GuardRefusal("strings with a percent sign are not allowed", node)
    elif isinstance(value, (bytes, complex)):
        raise GuardRefusal(f"{type(value).__name__} constants are not allowed", node)
    elif isinstance(value, int) and value > language.MAX_INTEGER:
        raise GuardRefusal("an integer is larger than 2**64 - 1", node)


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
    if "where" in keywords and callee not in language.REDUCTIONS:
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
        return call.func.attr in language.READING_METHODS and view in call.args[:1]
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name in bound:
        return False
    if name in ("max", "min"):
        return call.args == [view]
    return view in call.args[: language.READERS.get(name, 0)]


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
    return isinstance(function, ast.Attribute) and function.attr in language.MAKERS


def _is_stored(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


_MODULES = {"np": language.NUMPY, "math": language.MATH, "np.linalg": language.LINALG}
_VIEWS = frozenset({"items", "keys"})


def guard(source: str, name: str, arguments: Sequence[str]) -> str | None:
    """Return the reason why a program is refused, None if it is allowed.

    Parameters
    ----------
    source
        Canonical source: one function, no docstring needed, no annotations.
    name, arguments
        The signature that its contract fixes.

    Returns
    -------
    str or None
        One sentence that names the rule and, if there is one, the line.
    """
    try:
        function = _only_function(_parse(source))
        _check_signature(function, name, arguments)
        _check_body(function)
        _check_lambdas(function)
        _compile(function)
    except GuardRefusal as refusal:
        return str(refusal)
    return None


def _parse(source: str) -> ast.Module:
    if len(source) > language.MAX_SOURCE:
        raise GuardRefusal(f"the source is longer than {language.MAX_SOURCE:,} characters")
    if not source.isascii():
        raise GuardRefusal("the source has characters outside ASCII")
    try:
        tree = parsed(source)
    except SyntaxError as error:
        raise GuardRefusal(
            f"the source is not Python ({error.msg}, line {error.lineno})"
        ) from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise GuardRefusal("the source is not Python that the parser can hold") from error
    _check_size(tree)
    return tree


def _check_size(tree: ast.Module) -> None:
    nodes = 0
    level: list[ast.AST] = [tree]
    for _ in range(language.MAX_DEPTH):
        nodes += len(level)
        if nodes > language.MAX_NODES:
            raise GuardRefusal(f"the program has more than {language.MAX_NODES:,} syntax nodes")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise GuardRefusal(f"the program is nested deeper than {language.MAX_DEPTH} levels")


def _only_function(tree: ast.Module) -> ast.FunctionDef:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            raise GuardRefusal(
                language.REASONS.get(type(node), "a program is one function, nothing else"), node
            )
    if len(tree.body) != 1:
        raise GuardRefusal(f"a program is one function, not {len(tree.body)}")
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    return function


def _check_signature(function: ast.FunctionDef, name: str, arguments: Sequence[str]) -> None:
    if function.decorator_list:
        raise GuardRefusal("decorators are not allowed", function)
    if function.name != name:
        raise GuardRefusal(f"the function must be called {name}, not {function.name}", function)
    if _parameters(function.args, function) != tuple(arguments):
        raise GuardRefusal(f"the arguments must be ({', '.join(arguments)})", function)
    if function.returns is not None:
        raise GuardRefusal(language.REASONS[ast.AnnAssign], function)


def _parameters(arguments: ast.arguments, node: ast.AST) -> tuple[str, ...]:
    """Return the names of plain positional arguments, and refuse any other kind."""
    names = plain_arguments(arguments)
    if names is None:
        raise GuardRefusal("arguments must be plain, without star, slash or default", node)
    for argument in arguments.args:
        if argument.annotation is not None:
            raise GuardRefusal(language.REASONS[ast.AnnAssign], argument)
    return names


def _check_body(function: ast.FunctionDef) -> None:
    nodes = list(ast.walk(function))
    bound = bound_names(nodes)
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in _in_order(function):
        if not isinstance(node, language.NODES):
            kind = type(node).__name__
            raise GuardRefusal(language.REASONS.get(type(node), f"{kind} is not allowed"), node)
        if isinstance(node, ast.FunctionDef) and node is not function:
            raise GuardRefusal(language.RULED_OUT["nested functions"][0], node)
        if isinstance(node, ast.Constant):
            check_constant(node)
        elif isinstance(node, ast.Attribute):
            _check_attribute(node, parents[node])
        elif isinstance(node, ast.Name):
            _check_name(node, parents[node], function.name, bound)
        elif isinstance(node, ast.Lambda):
            for parameter in _parameters(node.args, node):
                _check_binding(parameter, node, function.name)
        elif isinstance(node, ast.Call):
            check_call(node, function)
            if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
                check_view(node, parents[node], bound)
        elif isinstance(node, ast.BinOp):
            check_operands(node)
        elif isinstance(node, ast.GeneratorExp) and not isinstance(parents[node], ast.Call):
            raise GuardRefusal("a generator expression may only be an argument of a call", node)
        elif isinstance(node, ast.comprehension) and node.is_async:
            raise GuardRefusal(language.REASONS[ast.AsyncFunctionDef], node.target)
    numpy_options(nodes, bound)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in source order, so that the first violation is reported."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _check_attribute(node: ast.Attribute, parent: ast.AST) -> None:
    if not isinstance(node.ctx, ast.Load):
        raise GuardRefusal("attributes cannot be assigned", node)
    if isinstance(node.value, ast.Attribute):
        _check_attribute(node.value, node)
    base = ast.unparse(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
    if base == "np" and node.attr == "linalg":
        if not isinstance(parent, ast.Attribute):
            raise GuardRefusal("np.linalg may only stand before a dot", node)
    elif node.attr not in _MODULES.get(base, language.METHODS):
        where = base if base in _MODULES else ""
        raise GuardRefusal(f"the attribute {where}.{node.attr} is not allowed", node)
    called = isinstance(parent, ast.Call) and parent.func is node
    if not called and (is_checked(node) or node.attr in _VIEWS):
        raise GuardRefusal(f"{node.attr} may only be called", node)


def _check_name(node: ast.Name, parent: ast.AST, own: str, bound: frozenset[str]) -> None:
    if isinstance(node.ctx, ast.Store):
        _check_binding(node.id, node, own)
    elif node.id == own:
        raise GuardRefusal(language.RULED_OUT["recursion"][0], node)
    elif node.id in _MODULES:
        if not isinstance(parent, ast.Attribute):
            raise GuardRefusal(f"{node.id} may only stand before a dot", node)
    elif node.id not in bound and node.id not in language.BUILTINS:
        raise GuardRefusal(f"the name {node.id} is not allowed", node)


def _check_binding(name: str, node: ast.AST, own: str) -> None:
    if name in _MODULES or name == own:
        raise GuardRefusal(f"{name} cannot be assigned", node)
    if "__" in name:
        raise GuardRefusal(f"the name {name} has a double underscore", node)


def _check_lambdas(function: ast.FunctionDef) -> None:
    """Refuse lambdas that call themselves, directly or through one another.

    A lambda may use the named lambdas of the function (``key = lambda …``) as
    long as no chain of uses leads back to it. Recursion that this check misses (a
    lambda passed to itself) ends in a RecursionError in the child.
    """
    helpers: dict[str, list[ast.Lambda]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets = [name for target in node.targets for name in ast.walk(target)]
            for target in targets:
                if isinstance(target, ast.Name) and (lambdas := _lambdas_in(node.value)):
                    helpers.setdefault(target.id, []).extend(lambdas)
    uses = {name: _names_in(bodies) & set(helpers) for name, bodies in helpers.items()}
    for name, bodies in helpers.items():
        reached, frontier = set[str](), set(uses[name])
        while frontier:
            reached |= frontier
            frontier = {use for step in frontier for use in uses[step]} - reached
        if name in reached:
            raise GuardRefusal(f"the lambda {name} calls itself", bodies[0])
    for node in ast.walk(function):
        if isinstance(node, ast.Lambda):
            own = {argument.arg for argument in node.args.args}
            for call in ast.walk(node.body):
                callee = call.func if isinstance(call, ast.Call) else None
                while isinstance(callee, ast.Subscript):
                    callee = callee.value
                if isinstance(callee, ast.Name) and callee.id in own:
                    raise GuardRefusal("a lambda may not call its own argument", callee)


def _lambdas_in(value: ast.expr) -> list[ast.Lambda]:
    """Return the lambdas that a value is or contains, except those inside its calls."""
    if isinstance(value, ast.Lambda):
        return [value]
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        parts = value.elts
    elif isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    else:
        return []
    return [found for part in parts for found in _lambdas_in(part)]


def _names_in(bodies: Sequence[ast.Lambda]) -> set[str]:
    nodes = (node for body in bodies for node in ast.walk(body.body))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _compile(function: ast.FunctionDef) -> None:
    try:
        refuse_uncompilable(ast.Module([function], []))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise GuardRefusal("the source does not compile") from error
