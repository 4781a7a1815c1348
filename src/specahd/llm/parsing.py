"""Parsing of a reply into one function and its idea, or into the reason why that fails.

Common additions of models around and inside the answer are discarded
silently; any other deviation is a failure and is never repaired.
"""

import ast
import re
from enum import StrEnum

from specahd.core.contract import Contract
from specahd.core.program import canonical_source
from specahd.core.proposer import LENGTH, Reply
from specahd.core.syntax import parse
from specahd.programs.parsed import parsed, plain_arguments

MAX_LENGTH = 100_000
"""Longest reply that is read, in characters, without the thoughts."""
MAX_TEXT = 4000
"""Longest text that is kept of a reply, in characters: later prompts may contain it."""

# These are matched against untrusted text, so none of them may backtrack far.
_TAGS = ("think", "thinking", "thoughts?", "reasoning", "seed:think")
_MARKS = (
    *((rf"(?i:<{tag}>)", rf"(?i:</{tag}>)") for tag in _TAGS),
    (r"\[THINK\]", r"\[/THINK\]"),
    ("◁think▷", "◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    # The channels of gpt-oss, and what is left of them without the special tokens.
    (
        r"<\|channel\|>(?:analysis|commentary)[^<\n]{0,99}(?:<\|constrain\|>\w{0,99})?<\|message\|>",
        r"<\|channel\|>final[^<\n]{0,99}<\|message\|>",
    ),
    (r"\Aanalysis(?=[A-Z\W])", "assistantfinal"),
)
"""Marks before and after the thoughts of models."""
_THOUGHT = re.compile(
    "|".join(f"(?P<open{n}>{open})|(?P<end{n}>{end})" for n, (open, end) in enumerate(_MARKS))
)
# Tokens that end a turn, which some servers leave in the text.
_TURN = re.compile(
    r"<\|(?:im_)?start\|>assistant|<\|(?:end|return|call|im_end|eot_id|endoftext"
    r"|(?:begin|end)_of_solution|(?:START|END)_RESPONSE)\|>"
)
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^`~]*)")
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?def\s", re.MULTILINE)
_CODE = re.compile(
    r"(?:async\s+)?def\s|class\s+\w+\s*[:(]|@\w|import\s+\w|from\s+[\w.]+\s+import\b|\w+\s*=[^=]"
)
# Lines below the function in its block: an idea, comments, a fence within the fence.
_NO_CODE = re.compile(r"[ \t]*$|#|\{|[ \t]*(?:```|~~~)")
_HARMLESS = {("numpy", "np"), ("math", None)}


class ParseError(ValueError):
    """A reply is not one idea and one function of the contract; the message is the reason.

    ``kind`` is the kind of a reply without any program, None if it has something of one.
    """

    def __init__(self, message: str, kind: "Useless | None" = None) -> None:
        super().__init__(message)
        self.kind = kind


class Useless(StrEnum):
    """Kinds of replies that hold no program, as a model sends them in a row."""

    TRUNCATED = "truncated at the token limit"
    EMPTY = "empty"
    NO_CODE = "without code"


def parse_program(reply: Reply, contract: Contract) -> tuple[str, str]:
    """Return what :func:`parse_reply` does; an error also says how the reply ended.

    Raises
    ------
    ParseError
        As in :func:`parse_reply`.
    """
    cut = reply.finish_reason == LENGTH
    try:
        if cut and is_empty(reply.text):
            raise ParseError("It has nothing but thoughts.")
        return parse_reply(reply.text, contract)
    except ParseError as error:
        end = f" (finish_reason={reply.finish_reason})" if reply.finish_reason else ""
        if cut:
            message = f"The reply is {Useless.TRUNCATED}{end}: {error}"
            raise ParseError(message, Useless.TRUNCATED) from None
        # Replies of earlier versions, without a provider, keep the message that they had.
        if reply.provider is not None and is_empty(reply.text):
            raise ParseError(f"The reply is empty{end}.", Useless.EMPTY) from None
        raise


def is_empty(text: str) -> bool:
    """Return whether a reply has nothing but thoughts."""
    return not _without_thoughts(text).strip()


def parse_reply(text: str, contract: Contract) -> tuple[str, str]:
    """Return the canonical source and the idea of the program in a reply.

    Raises
    ------
    ParseError
        The reply does not hold exactly one design sentence in braces and one
        function with the contract's name and arguments.
    """
    text = text.removeprefix("\ufeff")
    # Where all of a reply is marked as thoughts, its answer is among them.
    text = _without_thoughts(text) if not is_empty(text) else _THOUGHT.sub("", text)
    if len(text) > MAX_LENGTH:
        raise ParseError(f"The reply has {len(text)} characters, more than {MAX_LENGTH}.")
    prose, code = _split(text.replace("\r\n", "\n").replace("\r", "\n"))
    try:
        function = _only_function(code)
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


def parse_text(text: str) -> str:
    """Return the text of a reply, truncated and without thoughts and control characters.

    The text is empty if the reply has no letter or digit.
    """
    text = _without_thoughts(text.removeprefix("\ufeff")).replace("\r\n", "\n")
    # Unprintable characters, and lone surrogates, could not be sent again.
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in text[:MAX_LENGTH]).strip()
    text = text[:MAX_TEXT].rstrip()
    return text if any(map(str.isalnum, text)) else ""


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    start = 0
    closing: str | None = None
    for mark in _THOUGHT.finditer(text):
        group = str(mark.lastgroup)
        if closing is None and group.startswith("open"):
            kept.append(text[start : mark.start()])
            closing = group.replace("open", "end")
        elif group.startswith("end") and closing in (None, group):
            # Some servers cut off the opening mark.
            if closing is None:
                kept.clear()
            closing, start = None, mark.end()
    # A truncated reply may have no closing mark.
    return _TURN.sub("", "".join(kept if closing else [*kept, text[start:]]))


def _split(text: str) -> tuple[str, str]:
    """Split a reply into the text around its code, and the code."""
    outside, blocks = _split_fences(text)
    programs = [block for block in blocks if _DEFINITION.search(block)]
    if len(programs) > 1:
        raise ParseError("Expected one block of code, got several.")
    if not programs:
        return _split_at_function(text.split("\n"), fenced=False)
    if any(_begins_function(line) for piece in outside for line in piece.split("\n")):
        raise ParseError("Expected one function, got another outside the block of code.")
    prose, code = _split_at_function(programs[0].split("\n"), fenced=True)
    others = [block for block in blocks if block is not programs[0]]
    return "\n".join([*outside, *others, prose]), code


def _split_fences(text: str) -> tuple[list[str], list[str]]:
    """Split a text into the text outside fences, and the blocks inside."""
    outside: list[str] = []
    blocks: list[str] = []
    lines: list[str] = []
    opening: re.Match[str] | None = None
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if fence is None or (opening is not None and not _closes(fence, opening)):
            lines.append(line)
            continue
        (outside if opening is None else blocks).append("\n".join(lines))
        lines = []
        opening = fence if opening is None else None
    # The last block may never be closed.
    (outside if opening is None else blocks).append("\n".join(lines))
    return outside, blocks


def _closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Return whether a fence ends a block by Markdown's rules, rather than being part of it."""
    shallow = len(fence["indent"]) <= max(3, len(opening["indent"]))
    return shallow and fence["marks"].startswith(opening["marks"]) and not fence["info"].strip()


def _begins_function(line: str) -> bool:
    return bool(_DEFINITION.match(line)) and line.rstrip().endswith((":", "("))


def _split_at_function(lines: list[str], *, fenced: bool) -> tuple[str, str]:
    """Split lines into the text before and after a function, and the function.

    Inside a fence every line is code unless it has another recognised form. Outside,
    only lines in the form of code are code. An idea may be in a comment above or below
    the function, but not inside it.
    """
    starts = [i for i, line in enumerate(lines) if _CODE.match(line)]
    if not (starts or fenced):
        raise ParseError("Expected a function, got none.", Useless.NO_CODE)
    start = starts[0] if starts else 0
    if fenced:
        end = 1 + max(i for i, line in enumerate(lines) if not _NO_CODE.match(line))
    else:
        end = 1 + max(
            i
            for i, line in enumerate(lines)
            if _CODE.match(line) or (line[:1].isspace() and line.strip())
        )
    code = lines[start:end]
    head = next((i for i, line in enumerate(code) if _DEFINITION.match(line)), 0)
    comments = [line for line in code[:head] if line.startswith("#")]
    return "\n".join([*lines[:start], *comments, *lines[end:]]), "\n".join(code)


def _only_function(code: str) -> ast.FunctionDef:
    # With a line break at its end, a canonical source is the text that the guard reads.
    module = parse(code) if "import" in code else parsed(f"{code}\n")
    if "import" in code:
        module = ast.fix_missing_locations(_WithoutHarmlessImports().visit(module))
        for node in ast.walk(module):
            if isinstance(node, ast.Import | ast.ImportFrom):
                raise ParseError(
                    f"Expected no import but numpy and math, got {ast.unparse(node)!r}."
                )
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
    names = plain_arguments(function.args)
    if names is None:
        raise ParseError("Expected plain arguments without defaults.")
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
    if not any(map(str.isalnum, ideas[0])):
        raise ParseError("The design sentence is empty.")
    return ideas[0]


class _WithoutHarmlessImports(ast.NodeTransformer):
    """A transformer that removes ``import numpy as np`` and ``import math`` from all blocks."""

    def visit_Import(self, node: ast.Import) -> ast.Import | None:
        harmless = all((alias.name, alias.asname) in _HARMLESS for alias in node.names)
        return None if harmless else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        # A block that held nothing else still needs a statement.
        if not isinstance(node, ast.Module) and getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node
