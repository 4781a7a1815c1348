"""Python source as syntax trees, from any thread.

CPython 3.11 keeps the recursion depth of its tree builder per interpreter, so two
threads that parse at once can raise ``SystemError: AST constructor recursion depth
mismatch``. Samplers and the main thread both parse, so all of them call this module, which
has a lock. Python's warnings never become errors here, whatever the user's warning filters.
"""

import ast
import threading
import warnings

_LOCK = threading.Lock()


def parse(source: str) -> ast.Module:
    """Parse a module; raises what :func:`ast.parse` raises."""
    with _LOCK, warnings.catch_warnings(action="ignore"):
        return ast.parse(source)


def refuse_uncompilable(tree: ast.Module) -> None:
    """Compile the tree; raises what :func:`compile` raises."""
    with _LOCK, warnings.catch_warnings(action="ignore"):
        compile(tree, "<program>", "exec")
