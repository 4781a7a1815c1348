"""Novelty: the verdict on a program, and the normalised source, which detects duplicates."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specahd.core.syntax import parse


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of comparing a program with the earlier ones of its level.

    Parameters
    ----------
    duplicate_of
        The earlier program that this one repeats, None if it is new.
    nearest
        The most similar earlier program, None if none was compared.
    similarity
        Its similarity by encoder, in [0, 1], and the mean of these as ``fused``.
    """

    duplicate_of: str | None = None
    nearest: str | None = None
    similarity: Mapping[str, float] = field(default_factory=dict)

    @property
    def record(self) -> dict[str, Any]:
        """The journal's record of the verdict, in plain values."""
        return {
            "duplicate_of": self.duplicate_of,
            "nearest": self.nearest,
            "similarity": dict(self.similarity),
        }


def normalised_source(source: str) -> str:
    """Return a text; two functions share it if and only if they differ at most in local names."""
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
