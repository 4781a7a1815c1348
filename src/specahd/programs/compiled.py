"""Compilation of the engine's programs to first-class numba functions.

The engine's loops take programs as arguments. A program is compiled in the child process that
runs it and is not cached. It may use only what :mod:`specahd.programs.language` lists. It
raises where Python would raise, and where Python's result might differ from that of compiled code.
Answers that are no node (``None``, or the end of the function without ``return``) become
:data:`NO_ANSWER`, which the engine refuses.
"""

import ast
import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.typed import List

from specahd.core.errors import NotCompiled
from specahd.core.interface import Interface
from specahd.core.loop_cache import njit
from specahd.programs.compiler import ProgramCompiler
from specahd.programs.runtime import argsort, clip, counted, next_step

NO_ANSWER = -(2**63 - 1)
"""Value that a compiled program returns where Python returns None."""

NUMBER = types.int64
REAL = types.float64
VECTOR = types.Array(types.int64, 1, "C", readonly=True)
REALS = types.Array(types.float64, 1, "C", readonly=True)
MATRIX = types.Array(types.float64, 2, "C", readonly=True)
"""Types of arguments of programs and loops, read-only."""
_ARGUMENTS = {
    "int": NUMBER,
    "float": REAL,
    "IntArray": VECTOR,
    "FloatArray": REALS,
    "IntMatrix": types.Array(types.int64, 2, "C", readonly=True),
    "FloatMatrix": MATRIX,
}
_ANSWERS = {
    "int": NUMBER,
    "IntArray": types.Array(types.int64, 1, "C"),
}
"""Types by their names in tables of arguments (:mod:`specahd.core.interface`)."""

_HIGHLIGHTS = re.compile(r"\x1b\[[\d;]*m")
"""Pattern of the escape sequences with which numba formats its errors."""
_ARGSORT, _CLIP, _STEP, _COUNTED = "__argsort", "__clip", "__next_step", "__counted"
_STEPS, _TAKEN = "__steps", "__taken"
"""Names in compiled programs, which the guard refuses in programs: of our functions, of the number
of steps so far, and of the argument to which it is added at the end."""
_COUNT = types.Array(types.int64, 1, "C")


class Untranslatable(NotCompiled):
    """Error for a program that numba refuses, or that has an answer of another type."""


def types_of(interface: Interface) -> tuple[tuple[types.Type, ...], types.Type]:
    """Return the types of a program's arguments and of its answer.

    A program that answers with an array has one more argument, an array of one number: it adds the
    number of steps of its ``for`` and ``while`` loops.
    """
    arguments = tuple(_ARGUMENTS[argument.kind] for argument in interface.arguments)
    answer = _ANSWERS[interface.answer]
    return (*arguments, _COUNT) if isinstance(answer, types.Array) else arguments, answer


def in_list(program: Any) -> Any:
    """Return a list that holds a program, for loops; compiled with the program's type."""
    programs = List()
    programs.append(program)
    return programs


def compiled(
    source: str,
    name: str,
    arguments: Sequence[types.Type],
    answer: types.Type,
    kept: bool = False,
) -> Any:
    """Compile a guarded program for arguments and an answer of given types.

    The compiled program accesses no memory outside its arrays. It raises where Python's result
    might differ. Only compiled loops may call it, from a list (:func:`in_list`): called from Python
    it would crash the process.

    Parameters
    ----------
    kept
        Whether numba caches it on disk. For sources of this package only: the cache entry under
        the source's hash is run without verification.

    Raises
    ------
    Untranslatable
        The program is outside the compiled language, or numba refuses it.
    """
    namespace: dict[str, Any] = {
        "np": np,
        "math": math,
        _ARGSORT: argsort,
        _STEP: next_step,
        _CLIP: clip,
        _COUNTED: counted,
    }
    prepared = _prepared(source, answer)
    exec(compile(prepared, __file__ if kept else "<program>", "exec"), namespace)
    if kept:
        # The key of the cache, which covers this file and not the program's source.
        namespace[name].__module__ = __name__
        digest = hashlib.sha256(prepared.encode()).hexdigest()[:16]
        namespace[name].__qualname__ = f"{name}-{digest}"
    jit = njit(
        tuple(arguments),
        cache=kept,
        boundscheck=True,
        error_model="numpy",
        pipeline_class=ProgramCompiler,
        no_cpython_wrapper=True,
    )
    try:
        program = jit(namespace[name])
    except Exception as error:
        # Not only numba's own errors: a program may cause any exception in numba's passes.
        reason = " ".join(_HIGHLIGHTS.sub("", str(error)).split())
        raise Untranslatable(f"{type(error).__name__}: {reason}"[:300]) from error
    [signature] = program.nopython_signatures
    if signature.return_type != answer:
        raise Untranslatable(f"Expected an answer of {answer}, not {signature.return_type}.")
    return program


def _prepared(source: str, answer: types.Type) -> str:
    """Return the source in the form that is compiled.

    This form returns no ``None``, counts its steps, and calls our own argsort and clip.
    """
    several = isinstance(answer, types.Array)
    tree = ast.parse(source)
    nothing = "np.zeros(0, np.int64)" if several else str(NO_ANSWER)
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    # A function that ends without a return statement returns None too.
    function.body.append(ast.Return(None))
    function.body.insert(0, ast.parse(f"{_STEPS} = 0").body[0])
    if several:
        function.args.args.append(ast.arg(_TAKEN))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == "isinstance":
            # numba evaluates it before types are inferred, and distinguishes fewer types.
            raise Untranslatable("Compiled programs do not ask for types.")
        if isinstance(node, ast.Lambda):
            # numba inlines its body, and drops the parts that are not used.
            raise Untranslatable("Compiled programs have no lambda.")
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 2**63:
            # numba takes it without a sign, and what it meets for a real number.
            raise Untranslatable("Compiled programs have no integers of 2**63 and above.")
        if isinstance(node, ast.Return):
            if node.value is None or _is_none(node.value):
                node.value = ast.parse(nothing, mode="eval").body
            if several:
                call = ast.parse(f"{_COUNTED}({_TAKEN}, {_STEPS})", mode="eval").body
                assert isinstance(call, ast.Call)
                call.args.insert(0, node.value)
                node.value = call
        elif isinstance(node, ast.Call) and _is_argsort(node):
            node.func, node.keywords = ast.Name(_ARGSORT, ast.Load()), []
        elif isinstance(node, ast.Call) and (clipped := _clipped(node)):
            node.func, node.args = ast.Name(_CLIP, ast.Load()), clipped
        elif isinstance(node, ast.For | ast.While):
            node.body[:0] = ast.parse(f"{_STEPS} = {_STEP}({_STEPS})").body
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _clipped(call: ast.Call) -> list[ast.expr]:
    """Return the values and bounds of a call of ``clip``; empty for another call."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "clip" or call.keywords:
        return []
    values = [] if ast.unparse(call.func.value) == "np" else [call.func.value]
    arguments = [*values, *call.args]
    return arguments if len(arguments) == 3 else []


def _is_argsort(call: ast.Call) -> bool:
    stable = [keyword for keyword in call.keywords if ast.unparse(keyword) == "kind='stable'"]
    plain = len(call.args) == 1 and stable == call.keywords
    return ast.unparse(call.func) == "np.argsort" and plain
