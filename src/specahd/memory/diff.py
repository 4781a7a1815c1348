"""Describe in one line how a program differs from its parent."""

import ast
import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from specahd.core.program import Program
from specahd.programs.parsed import function_of

IDEA = 200
"""Longest idea in a description, in characters."""
CODE = 300
"""Longest description of the code, in characters; a longer one is left out."""
KEPT = 0.5
"""Least share of common lines of two programs that count as variants."""
LONG = 100
"""Number of statements of a body above which its frequent lines are not matched."""
PIECE = 70
"""Longest piece of code in a description, in characters."""

_ORDER = ("became", "new", "gone")
_Part = ast.AST | list[ast.stmt]
_Change = tuple[str, str]
"""One of ``_ORDER``, and its text."""


def describe_child(child: Program, parent: Program) -> str:
    """Return the child's idea and, if they are small, the changes of its code."""
    idea = textwrap.shorten(child.idea, IDEA, placeholder=" ...")
    account = changed_parts(parent.source, child.source)
    return f"{idea} Code: {account}." if account else idea


def are_related(one: Program, other: Program) -> bool:
    """Return whether two programs are variants: they share half of their lines."""
    lines, others = (program.source.splitlines()[1:] for program in (one, other))
    return SequenceMatcher(None, lines, others, autojunk=False).ratio() >= KEPT


def changed_parts(old: str, new: str) -> str:
    """Return the smallest parts in which one function differs from another.

    Replaced parts come first, then new parts, then removed parts. The text is empty if
    it would exceed ``CODE`` characters, because single pieces of a rewritten function do
    not describe it.
    """
    found = dict.fromkeys(_changes(function_of(old).body, function_of(new).body))
    changes = sorted(found, key=lambda change: _ORDER.index(change[0]))
    sentence = "; ".join(text for _, text in changes) or "as before"
    return sentence if len(sentence) <= CODE else ""


def _changes(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> Iterator[_Change]:
    before, after = ([ast.unparse(statement) for statement in body] for body in (old, new))
    gone: list[ast.stmt] = []
    come: list[ast.stmt] = []
    # Long bodies are repetitive; comparing all pairs of their lines would take seconds.
    matcher = SequenceMatcher(None, before, after, autojunk=max(len(old), len(new)) > LONG)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "equal":
            gone += old[start:end]
            come += new[first:last]
    successors: dict[str, list[ast.stmt]] = {}
    for statement in come:
        successors.setdefault(_head(statement), []).append(statement)
    for statement in gone:
        waiting = successors.get(_head(statement))
        if waiting:
            yield from _change(statement, waiting.pop(0))
        else:
            yield "gone", f"gone {_text(statement)}"
    left = {id(statement) for waiting in successors.values() for statement in waiting}
    yield from (("new", f"new {_text(statement)}") for statement in come if id(statement) in left)


def _head(statement: ast.stmt) -> str:
    """Return the part of a statement that a new version keeps: its target, or else its type."""
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0])
    return type(statement).__name__


def _change(old: ast.AST, new: ast.AST) -> Iterator[_Change]:
    """Yield the change between two trees, by their smallest differing parts that are meaningful."""
    pairs = _below(old, new)
    if not all(_is_meaningful(before) or _is_meaningful(after) for before, after in pairs):
        pairs = []
    if not pairs:
        yield "became", f"{_text(old)} became {_text(new)}"
    for before, after in pairs:
        if isinstance(before, list) and isinstance(after, list):
            yield from _changes(before, after)
        elif isinstance(before, ast.AST) and isinstance(after, ast.AST):
            yield from _change(before, after)


def _below(old: ast.AST, new: ast.AST) -> list[tuple[_Part, _Part]]:
    """Return the parts in which two trees differ; an empty list if their forms differ."""
    parts, others = list(_parts(old)), list(_parts(new))
    if type(old) is not type(new) or [name for name, _ in parts] != [name for name, _ in others]:
        return []
    pairs = ((one, other) for (_, one), (_, other) in zip(parts, others, strict=True))
    return [(one, other) for one, other in pairs if _dump(one) != _dump(other)]


def _parts(node: ast.AST) -> Iterator[tuple[str, _Part]]:
    """Yield the parts of a tree, each with its field's name; a block of statements is one part."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and name in ("body", "orelse"):
            yield name, value
        elif isinstance(value, list):
            yield from ((name, item) for item in value)
        elif isinstance(value, ast.AST):
            yield name, value
        else:
            yield f"{name}={value!r}", []


def _is_meaningful(part: _Part) -> bool:
    """Return whether a part is meaningful alone, unlike a number, a name or an operator."""
    if isinstance(part, ast.AST):
        return isinstance(part, ast.expr) and not isinstance(part, ast.Constant | ast.Name)
    return True


def _dump(part: Any) -> str:
    return ast.dump(part) if isinstance(part, ast.AST) else "\n".join(map(ast.dump, part))


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return f"`{text if len(text) <= PIECE else text[: PIECE - 4] + ' ...'}`"
