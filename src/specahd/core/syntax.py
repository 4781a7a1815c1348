"""Python source as syntax trees, from any thread.

CPython 3.11 keeps the recursion depth of its tree builder per interpreter, so two
threads that parse at once can raise ``SystemError: AST constructor recursion depth
mismatch``. Samplers and the main thread both parse; all of them do it here.
"""

import ast
import threading

_LOCK = threading.Lock()


def parse(source: str) -> ast.Module:
    """Return the tree of a module; raises what :func:`ast.parse` does."""
    with _LOCK:
        return ast.parse(source)


def refuse_uncompilable(tree: ast.Module) -> None:
    """Raise what :func:`compile` does if the tree is no program."""
    with _LOCK:
        compile(tree, "<program>", "exec")
