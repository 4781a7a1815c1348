"""Novelty: the verdict on a program, and the normalised source, which detects duplicates."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specahd.programs.parsed import function_of


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
    function = function_of(source)
    assigned: dict[str, str] = {}
    # In order of appearance, so that a consistent renaming gives the same text.
    for node in ast.walk(function):
        names = []
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names = [node.id]
        elif isinstance(node, ast.Lambda):
            names = [argument.arg for argument in node.args.args]
        for name in names:
            assigned.setdefault(name, f"v{len(assigned)}")
    return _renamed(function, assigned)


def _renamed(part: Any, names: Mapping[str, str]) -> str:
    """Return a part of a tree as text, with other names of variables."""
    if isinstance(part, list):
        return f"[{', '.join(_renamed(item, names) for item in part)}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    values = dict(ast.iter_fields(part))
    if isinstance(part, ast.Name):
        values["id"] = names.get(part.id, part.id)
    elif isinstance(part, ast.arg):
        values["arg"] = names.get(part.arg, part.arg)
    return f"{type(part).__name__}({', '.join(_renamed(one, names) for one in values.values())})"
