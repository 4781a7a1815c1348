"""From the text of a reply to one function and its idea, or to the reason why not.

SPEC section 6: what a model may add around and inside its answer is discarded
silently; anything else is a failure and is never repaired.
"""

import ast
import re

from specahd.core.contract import Contract
from specahd.core.program import canonical_source
from specahd.core.syntax import parse

MAX_LENGTH = 100_000
"""Longest reply that is read, in characters."""

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`~]*$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?def\s", re.MULTILINE)
_CODE = re.compile(
    r"(?:async\s+)?def\s|class\s+\w+\s*[:(]|@\w|import\s+\w|from\s+[\w.]+\s+import\b|\w+\s*=[^=]"
)
_HARMLESS = {("numpy", "np"), ("math", None)}


class ParseError(ValueError):
    """A reply is not one idea and one function of the contract; says why."""


def parse_reply(text: str, contract: Contract) -> tuple[str, str]:
    """Return the canonical source and the idea of the program in a reply.

    Raises
    ------
    ParseError
        The reply holds anything but one design sentence in braces and one
        function with the contract's name and arguments.
    """
    if len(text) > MAX_LENGTH:
        raise ParseError(f"The reply has {len(text)} characters, more than {MAX_LENGTH}.")
    prose, code = _split(_without_thoughts(text.replace("\r\n", "\n")))
    try:
        function = _only_function(parse(code))
        _check_signature(function, contract)
        source = canonical_source(function)
        idea = _only_idea(prose)
        # A lone surrogate could be read, but never be written to a journal.
        (source + idea).encode()
    except ParseError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ParseError(f"The code is not Python: {error}.") from error
    return source, idea


def _without_thoughts(text: str) -> str:
    text = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL)
    # Some servers cut off the opening mark; a reply cut short has no closing one.
    return text.rpartition("</think>")[2].partition("<think>")[0]


def _split(text: str) -> tuple[str, str]:
    """Part a reply into what surrounds its code, and its code."""
    pieces = _FENCE.split(text)
    # Odd pieces stand between two fences, or after one that is never closed.
    blocks = [piece for piece in pieces[1::2] if _DEFINITION.search(piece)]
    if len(blocks) > 1:
        raise ParseError("Expected one block of code, got several.")
    if blocks:
        [block] = blocks
        lines = block.split("\n")
        start = next((i for i, line in enumerate(lines) if _CODE.match(line)), 0)
        surroundings = [piece for piece in pieces if piece is not block]
        return "\n".join([*surroundings, *lines[:start]]), "\n".join(lines[start:])
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if _CODE.match(line)]
    if not starts:
        raise ParseError("Expected a function, got none.")
    end = 1 + max(
        i
        for i, line in enumerate(lines)
        if _CODE.match(line) or (line[:1].isspace() and line.strip())
    )
    return "\n".join(lines[: starts[0]] + lines[end:]), "\n".join(lines[starts[0] : end])


def _only_function(module: ast.Module) -> ast.FunctionDef:
    module = ast.fix_missing_locations(_WithoutHarmlessImports().visit(module))
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            raise ParseError(f"Expected no import but numpy and math, got {ast.unparse(node)!r}.")
    if len(module.body) != 1:
        raise ParseError(f"Expected one function, got {len(module.body)} statements.")
    [function] = module.body
    if not isinstance(function, ast.FunctionDef):
        raise ParseError(f"Expected a plain function, got {type(function).__name__}.")
    return function


def _check_signature(function: ast.FunctionDef, contract: Contract) -> None:
    if function.name != contract.name:
        raise ParseError(f"Expected a function {contract.name}, got {function.name}.")
    if function.decorator_list:
        raise ParseError("Expected no decorator.")
    if getattr(function, "type_params", None):
        raise ParseError("Expected no type parameter.")
    given = function.args
    if given.defaults or given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg:
        raise ParseError("Expected plain arguments without defaults.")
    names = tuple(argument.arg for argument in given.args)
    if names != contract.arguments:
        raise ParseError(f"Expected arguments {contract.arguments}, got {names}.")


def _only_idea(prose: str) -> str:
    ideas: list[str] = []
    depth = start = 0
    for position, character in enumerate(prose):
        if character == "{":
            start = position + 1 if depth == 0 else start
            depth += 1
        elif character == "}" and depth:
            depth -= 1
            if depth == 0:
                ideas.append(" ".join(prose[start:position].split()))
    if len(ideas) != 1:
        raise ParseError(f"Expected one design sentence in braces, got {len(ideas)}.")
    if not ideas[0]:
        raise ParseError("The design sentence is empty.")
    return ideas[0]


class _WithoutHarmlessImports(ast.NodeTransformer):
    """Drops ``import numpy as np`` and ``import math``, wherever they stand."""

    def visit_Import(self, node: ast.Import) -> ast.Import | None:
        harmless = all((alias.name, alias.asname) in _HARMLESS for alias in node.names)
        return None if harmless else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        # A block that held nothing else still needs a statement.
        if not isinstance(node, ast.Module) and getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node
