"""Make a program smaller while it keeps a property."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy


def reduced(source: str, keeps: Callable[[str], bool], attempts: int = 80) -> str:
    """Return a smaller program of which ``keeps`` is true, as it is of ``source``.

    Takes out statements, puts blocks in the place of what holds them and parts of expressions
    in the place of the whole, as long as any of it goes.

    Parameters
    ----------
    attempts
        How often ``keeps`` may be called.
    """
    source = ast.unparse(ast.parse(source)) + "\n"
    # The search starts again after each success; what was tried in vain is not tried twice.
    tried = {source}
    progress = True
    while progress and attempts > 0:
        progress = False
        for smaller in _smaller(source):
            if smaller in tried or attempts <= 0:
                continue
            tried.add(smaller)
            attempts -= 1
            if keeps(smaller):
                source, progress = smaller, True
                break
    return source


def _smaller(source: str) -> Iterator[str]:
    """Yield programs with less in them, those with much less first."""
    tree = ast.parse(source)
    found = []
    for index, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            copy = deepcopy(tree)
            [twin] = [other for place, other in enumerate(ast.walk(copy)) if place == index]
            change(twin)
            try:
                text = ast.unparse(ast.fix_missing_locations(copy)) + "\n"
                ast.parse(text)
            except (SyntaxError, ValueError):
                continue
            found.append(text)
    shorter = (text for text in set(found) if len(text) < len(source))
    # Texts of one length come in the order of the alphabet, since that of a set differs by process.
    yield from sorted(shorter, key=lambda text: (len(text), text))


def _changes(node: ast.AST) -> Iterator[Callable[[ast.AST], None]]:
    """Yield what may be done to a node, as functions of its twin in a copy of the tree."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            for place, statement in enumerate(value):
                inner = getattr(statement, "body", None)
                if len(value) > 1:
                    yield lambda twin, name=name, place=place: getattr(twin, name).pop(place)
                if isinstance(inner, list):
                    yield lambda twin, name=name, place=place: _unwrap(getattr(twin, name), place)
        elif isinstance(value, ast.expr):
            for part in ast.iter_child_nodes(value):
                if isinstance(part, ast.expr):
                    position = list(ast.iter_child_nodes(value)).index(part)
                    yield lambda twin, name=name, position=position: _promote(twin, name, position)


def _unwrap(block: list[ast.stmt], place: int) -> None:
    block[place : place + 1] = block[place].body  # type: ignore[attr-defined]


def _promote(node: ast.AST, name: str, position: int) -> None:
    """Put a part of an expression in its place."""
    setattr(node, name, list(ast.iter_child_nodes(getattr(node, name)))[position])
