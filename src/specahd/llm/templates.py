"""Templates of Python source with holes: fill them, match them, drop unused lines.

A hole is a name of the template that the caller lists. A template's trees are
shared between programs and never altered.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from functools import cache
from typing import Any

from specahd.core.syntax import parse

Number = int | float


@cache
def parse_template(text: str) -> Any:
    """Return a template's expression, or its list of statements if it has any."""
    body = parse(text).body
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else body


def fill_template(node: Any, holes: Mapping[str, Callable[[], ast.expr]]) -> Any:
    """Return a copy of a template with its holes filled, each with an expression of its own."""
    if isinstance(node, list):
        return [fill_template(item, holes) for item in node]
    if isinstance(node, ast.Name) and node.id in holes:
        return holes[node.id]()
    if isinstance(node, ast.AST):
        # Nodes without fields (operators, contexts) are singletons of the parser.
        fields = [fill_template(getattr(node, name), holes) for name in node._fields]
        copy = type(node)(*fields) if fields else node
        # Unparse needs the line of a statement.
        return ast.copy_location(copy, node) if isinstance(node, ast.stmt) else copy
    return node


def number_expression(value: Number) -> ast.expr:
    """Return the expression of a number."""
    literal = ast.Constant(abs(value))
    return ast.UnaryOp(ast.USub(), literal) if value < 0 else literal


def read_number(node: Any) -> Number | None:
    """Return the number that an expression is; None if it is something else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = read_number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and not isinstance(node.value, bool):
        return node.value if isinstance(node.value, int | float) else None
    return None


def match(text: str, node: Any, holes: Collection[str]) -> dict[str, Any] | None:
    """Match a template against an expression or a function body.

    Lines of the template that may be dropped may be missing.

    Returns
    -------
    dict or None
        The expression in each hole; None if the two differ elsewhere.
    """
    found: dict[str, Any] = {}
    template = parse_template(text)
    names = droppable_names(text, holes) if isinstance(template, list) else frozenset()
    return found if _match(template, node, holes, names, found) else None


def _match(
    template: Any,
    node: Any,
    holes: Container[str],
    names: frozenset[str],
    found: dict[str, Any],
) -> bool:
    if isinstance(template, ast.Name) and template.id in holes:
        if template.id in found:
            return ast.dump(found[template.id]) == ast.dump(node)
        found[template.id] = node
        return isinstance(node, ast.expr)
    if isinstance(template, list):
        return isinstance(node, list) and _match_lists(template, node, holes, names, found)
    if isinstance(template, ast.AST):
        return type(template) is type(node) and all(
            _match(item, getattr(node, name), holes, names, found)
            for name, item in ast.iter_fields(template)
            if name not in ("ctx", "kind", "type_comment")
        )
    return type(template) is type(node) and bool(template == node)


def _match_lists(
    templates: list[Any],
    nodes: list[Any],
    holes: Container[str],
    names: frozenset[str],
    found: dict[str, Any],
) -> bool:
    position = 0
    for template in templates:
        if position < len(nodes) and _match(template, nodes[position], holes, names, found):
            position += 1
        elif _target(template) not in names:
            return False
    return position == len(nodes)


def droppable_names(text: str, holes: Iterable[str]) -> frozenset[str]:
    """Return the names that a body sets once and without a hole; these lines may be dropped."""
    return _droppable(text, tuple(holes))


@cache
def _droppable(text: str, holes: tuple[str, ...]) -> frozenset[str]:
    nodes = list(ast.walk(parse(text)))
    stored = [
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    assignments = [node for node in nodes if isinstance(node, ast.Assign)]
    with_a_hole = {
        _target(assignment)
        for assignment in assignments
        for part in ast.walk(assignment.value)
        if isinstance(part, ast.Name) and part.id in holes
    }
    targets = {target for node in assignments if (target := _target(node)) is not None}
    return frozenset(name for name in targets - with_a_hole if stored.count(name) == 1)


def drop_unused(source: str, names: frozenset[str]) -> str:
    """Return a function without the assignments to ``names`` that nothing reads.

    It is written as :func:`ast.unparse` writes, a line for each assignment.
    """
    while True:
        counts = Counter(re.findall(r"\w+", source))
        unused = {name for name in names if counts[name] == 1}
        if not unused:
            return source
        lines = source.splitlines()
        source = "\n".join(line for line in lines if line.split(" = ")[0].lstrip() not in unused)


def _target(node: Any) -> str | None:
    """The name that a plain assignment sets."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None
