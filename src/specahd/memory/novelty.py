"""The novelty filter: which programs are turned away before they are evaluated."""

import ast
from typing import Protocol

from specahd.core.syntax import parse


class NoveltyFilter(Protocol):
    """Remembers the programs of one level and recognises repetitions."""

    def duplicate_of(self, identifier: str, source: str) -> str | None:
        """Return the earlier program that this one repeats; remember it if there is none."""
        ...


class NoFilter:
    """Lets everything pass (the ``no_filter`` ablation)."""

    def duplicate_of(self, identifier: str, source: str) -> str | None:
        return None


class ExactFilter:
    """Turns away a program whose normalised syntax tree was seen before.

    Normalised: comments, layout and the names of local variables do not count.
    """

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def duplicate_of(self, identifier: str, source: str) -> str | None:
        tree = normalised(source)
        earlier = self._seen.setdefault(tree, identifier)
        return None if earlier == identifier else earlier


def normalised(source: str) -> str:
    """Return a text that two functions share if and only if their trees agree up to local names."""
    tree = parse(source)
    assigned: dict[str, str] = {}
    # In order of appearance, so that a consistent renaming gives the same text.
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names = [node.id]
        elif isinstance(node, ast.Lambda):
            names = [argument.arg for argument in node.args.args]
        for name in names:
            assigned.setdefault(name, f"v{len(assigned)}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = assigned.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = assigned.get(node.arg, node.arg)
    return ast.dump(tree)
