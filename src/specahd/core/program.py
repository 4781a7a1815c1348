"""Generated programs, and the enumeration of their outcomes."""

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from specahd.core.syntax import parse


class Level(StrEnum):
    """The two levels of the search: where to repair, and how."""

    UPPER = "upper"
    LOWER = "lower"


class Outcome(StrEnum):
    """What became of a program, a call or a task."""

    OK = "ok"
    PARSE_ERROR = "parse_error"
    GUARD_REJECTED = "guard_rejected"
    DUPLICATE = "duplicate"
    LAUNCH_FAILED = "launch_failed"
    NOT_COMPILED = "not_compiled"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    INVALID_OUTPUT = "invalid_output"
    EMPTY_REGIONS = "empty_regions"
    INFEASIBLE_MERGE = "infeasible_merge"
    TRANSPORT_FAILED = "transport_failed"


class Tier(StrEnum):
    """How a program runs. NumPy and numba differ in the last bits, so the tier is part of it."""

    INTERPRETED = "interpreted"
    COMPILED = "compiled"


@dataclass(frozen=True, slots=True)
class Program:
    """One executable heuristic and where it came from.

    Parameters
    ----------
    id
        Unique within a run: ``lower-2-0017`` is sample 17 of the lower level in
        round 2; ``lower-seed`` is the contract's seed program.
    source
        Canonical Python source of exactly one function (see :func:`canonical_source`).
    idea
        The design sentence that came with it.
    operator
        The variation operator that asked for it, or ``seed``.
    parents, skills
        Identifiers of the programs and skill records that the request carried.
    tier
        How it runs, fixed when it is first measured; None before.
    contract
        The ``id`` of the contract that it was written for.
    """

    id: str
    level: Level
    source: str
    idea: str
    operator: str
    parents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    tier: Tier | None = None
    contract: str = field(kw_only=True)


_REMOVED = (": ", "->", '"')
"""What a text has, as Python writes it, that holds an annotation or a docstring."""


def canonical_source(function: ast.FunctionDef) -> str:
    """Return the function's source without docstring, annotations and comments.

    Two programs that differ only in those have equal canonical sources. The
    given tree is left as it was.
    """
    text = ast.unparse(function)
    if not any(mark in text for mark in _REMOVED):
        return f"{text}\n"
    # A round trip through text copies the tree.
    [copy] = parse(text).body
    assert isinstance(copy, ast.FunctionDef)
    arguments = copy.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    copy.returns = None
    if ast.get_docstring(copy, clean=False) is not None:
        copy.body = copy.body[1:] or [ast.Pass()]
    # `x: int = 1` says the same as `x = 1`; a bare `x: int` says nothing.
    return ast.unparse(ast.fix_missing_locations(_WithoutAnnotations().visit(copy))) + "\n"


class _WithoutAnnotations(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)
