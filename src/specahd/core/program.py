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
    """Results of a program, a call or a task: success, or the kind of failure."""

    OK = "ok"
    PROMPT_REFUSED = "prompt_refused"
    PARSE_ERROR = "parse_error"
    GUARD_REJECTED = "guard_rejected"
    DUPLICATE = "duplicate"
    LAUNCH_FAILED = "launch_failed"
    NOT_COMPILED = "not_compiled"
    STOPPED = "stopped"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    INVALID_OUTPUT = "invalid_output"
    EMPTY_REGIONS = "empty_regions"
    INFEASIBLE_MERGE = "infeasible_merge"


class Tier(StrEnum):
    """Modes of running a program; its contract says which."""

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
        The sentence that describes its design.
    operator
        The variation operator that requested it, or ``seed``.
    parents, skills
        Identifiers of the programs and skill records in the request.
    tier
        The tier in which it was measured; None before.
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
"""Substrings of an unparsed source; one with an annotation or a docstring contains one of them."""


def canonical_source(function: ast.FunctionDef) -> str:
    """Return the function's source without docstring, annotations and comments.

    Two programs that differ only in those have equal canonical sources. The given
    tree is not changed.
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
    # `x: int = 1` means the same as `x = 1`; a bare `x: int` has no effect.
    return ast.unparse(ast.fix_missing_locations(_WithoutAnnotations().visit(copy))) + "\n"


class _WithoutAnnotations(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)
