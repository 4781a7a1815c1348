"""The compiled tier: lower programs as first-class numba functions in compiled loops.

A problem's construction loop is compiled once and cached on disk; it takes the
program as an argument. The program is compiled in the child process that runs it and is
not cached. It may use only what :mod:`specahd.routing.compiled.language` lists. It
raises where the interpreter's result might differ from that of compiled code; such a
call is repeated by the interpreter (:attr:`CompiledRunner.interpreted`). Answers that
are no node (``None``, or the end of the function without ``return``) become
:data:`NO_ANSWER`, which the loops refuse as the interpreted runners refuse ``None``.
"""

import ast
import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.typed import List

from specahd.core.answer import Answer
from specahd.core.errors import NotCompiled
from specahd.core.interface import Interface
from specahd.core.loop_cache import njit
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.compiled.compiler_pipeline import ProgramCompiler
from specahd.routing.compiled.runtime_checks import clip, next_step
from specahd.routing.distances import ComputedDistances
from specahd.routing.kernels.order import argsort

NO_ANSWER = -(2**63 - 1)
"""Value that a compiled program returns where Python returns None."""

NUMBER = types.int64
REAL = types.float64
VECTOR = types.Array(types.int64, 1, "C", readonly=True)
REALS = types.Array(types.float64, 1, "C", readonly=True)
MATRIX = types.Array(types.float64, 2, "C", readonly=True)
"""Types of arguments of programs and loops: read-only, as in the interpreted tier."""
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
    "tuple[int, int]": types.UniTuple(NUMBER, 2),
    "IntArray": types.Array(types.int64, 1, "C"),
}
"""Types by their names in tables of arguments (:mod:`specahd.core.interface`)."""

_WARM_UP = """
def warm_up(number, vector, matrix):
    row = matrix[number][vector]
    amounts = vector[vector]
    largest = np.max(amounts)
    share = amounts[0] / largest if largest > 0 else 0
    share = max(0.5 / number, min(0.5, share), amounts.sum() / max(number, 1), 0.1)
    scores = np.log(row + 1.0) + np.sqrt(np.abs(row)) * np.exp(-row) + np.maximum(row, 0.0) ** 2
    scores += np.where(row > row.mean(), np.minimum(row, scores), row.sum() + row.std()) * share
    scores -= matrix[number, vector] / max(1.0, np.max(scores) - np.min(scores))
    scores *= 1 / (row + 1) + amounts / max(amounts.max(), 1) - amounts.mean()
    total = vector[np.argmin(scores)] + vector[np.argmax(scores)] + int(vector.sum())
    between = matrix[vector][:, vector]
    for index in range(len(vector)):
        total += 1 if between[index].min() > scores[index] else 0
    for index in np.argsort(scores):
        node = vector[index]
        if node != number and largest >= amounts[index]:
            return node
    return total
"""


_HIGHLIGHTS = re.compile(r"\x1b\[[\d;]*m")
"""Pattern of the escape sequences with which numba formats its errors."""
_ARGSORT, _CLIP, _STEP = "__argsort", "__clip", "__next_step"
"""Names of our functions in compiled programs; the guard refuses them in programs."""


class Untranslatable(NotCompiled):
    """Error for a program that numba refuses, or that has an answer of another type."""


class CompiledRunner:
    """Runner of a lower program in compiled code, called like a function of ``construct``.

    Parameters
    ----------
    arguments
        Types of the program's arguments: :data:`NUMBER`, :data:`REAL`,
        :data:`VECTOR`, :data:`REALS` or :data:`MATRIX`.
    answer
        Type of what the program returns: :data:`NUMBER` or a tuple of it.
    run
        Calls the construction loop with ``(program, arrays, inputs)``.
    interpreted
        The interpreted counterpart of ``run``, which is called after ``run`` raised. None if only
        compiled programs run.
    """

    def __init__(
        self,
        arguments: Sequence[types.Type],
        answer: types.Type,
        run: Callable[[Any, Mapping[str, Any], Sequence[IntArray]], Answer],
        interpreted: Callable[[Any, Mapping[str, Any], Sequence[IntArray]], Answer] | None,
    ) -> None:
        self.interpreted = interpreted
        self._arguments = tuple(arguments)
        self._answer = answer
        self._run = run
        function = types.FunctionType(answer(*arguments))
        self._hold = njit(types.ListType(function)(function), cache=True)(in_list)
        # The numba list holds addresses only; these references keep the programs alive.
        self._programs: list[Any] = []

    def warm_up(self) -> None:
        """Compile the parts of numba that most programs need, before the child is confined."""
        warm_up()

    def translate(self, source: str, name: str) -> Any:
        """Compile a guarded program and return it in the form that a loop takes.

        Raises
        ------
        Untranslatable
            The message is the reason in one line.
        """
        program = compiled(source, name, self._arguments, self._answer)
        self._programs.append(program)
        return self._hold(program)

    def __call__(
        self, program: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]
    ) -> Answer:
        return self._run(program, arrays, inputs)


def warm_up() -> None:
    """Compile the parts of numba that most programs need."""
    compiled(_WARM_UP, "warm_up", (NUMBER, VECTOR, MATRIX), NUMBER)


def local_distances(matrix: FloatArray | ComputedDistances, nodes: IntArray) -> FloatArray:
    """Return the distances among some nodes."""
    cut: FloatArray
    if isinstance(matrix, ComputedDistances):
        cut = matrix[nodes[:, None], nodes]
    else:
        cut = _cut(matrix, nodes)
    return cut


@njit(types.Array(types.float64, 2, "C")(MATRIX, VECTOR), cache=True)
def _cut(matrix: Any, nodes: Any) -> Any:
    size = len(nodes)
    local = np.empty((size, size))
    # With unsigned indices, the loop does not test each for a negative one.
    columns = nodes.astype(np.uint64)
    for row in range(size):
        source = matrix[nodes[row]]
        target = local[row]
        for column in range(size):
            target[column] = source[columns[column]]
    return local


@njit(NUMBER(types.Array(types.int64, 1, "C"), NUMBER, NUMBER), cache=True)
def place_of(nodes: Any, left: int, node: int) -> int:
    """Return the index of a node among the first ``left``, which ascend; -1 if it is not there."""
    low = 0
    high = left
    while low < high:
        middle = (low + high) // 2
        if nodes[np.uint64(middle)] < node:
            low = middle + 1
        else:
            high = middle
    return low if low < left and nodes[np.uint64(low)] == node else -1


@njit(types.void(types.Array(types.int64, 1, "C"), NUMBER, NUMBER), cache=True)
def drop(nodes: Any, left: int, place: int) -> None:
    """Remove the node at ``place`` from the first ``left`` by moving the later ones forward."""
    end = np.uint64(left - 1)
    for later in range(np.uint64(place), end):
        nodes[later] = nodes[later + np.uint64(1)]


def types_of(interface: Interface) -> tuple[tuple[types.Type, ...], types.Type]:
    """Return the types of a program's arguments and of its answer."""
    arguments = (_ARGUMENTS[argument.kind] for argument in interface.arguments)
    return tuple(arguments), _ANSWERS[interface.answer]


def program_type(arguments: Sequence[types.Type], answer: types.Type) -> types.Type:
    """Return the type of a loop's argument for a program: a list that holds it.

    Passing a function takes numba 20 microseconds, passing a list takes one.
    """
    return types.ListType(types.FunctionType(answer(*arguments)))


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

    The compiled program accesses no memory outside its arrays. It raises where the interpreter's
    result might differ; the caller then uses the interpreter. Only compiled loops may call it,
    from a list (:func:`in_list`): called from Python it would crash the process.

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
    tree = ast.parse(source)
    nothing = str(NO_ANSWER)
    if isinstance(answer, types.UniTuple):
        nothing = f"({', '.join([nothing] * answer.count)})"
    elif isinstance(answer, types.Array):
        nothing = "np.zeros(0, np.int64)"
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    # A function that ends without a return statement returns None too.
    function.body.append(ast.Return(None))
    function.body.insert(0, ast.parse("__steps = 0").body[0])
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == "isinstance":
            # numba evaluates it before types are inferred, and distinguishes fewer types.
            raise Untranslatable("Compiled programs do not ask for types.")
        if isinstance(node, ast.Lambda):
            # numba inlines its body, and drops the parts that are not used.
            raise Untranslatable("Compiled programs have no lambda.")
        if isinstance(node, ast.Return) and _is_none(node.value):
            node.value = ast.parse(nothing, mode="eval").body
        elif isinstance(node, ast.Call) and _is_argsort(node):
            node.func, node.keywords = ast.Name(_ARGSORT, ast.Load()), []
        elif isinstance(node, ast.Call) and (clipped := _clipped(node)):
            node.func, node.args = ast.Name(_CLIP, ast.Load()), clipped
        elif isinstance(node, ast.For | ast.While):
            node.body[:0] = ast.parse(f"__steps = {_STEP}(__steps)").body
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


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
