"""Runners that call a program once and answer with what it returned, in both tiers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit, types

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.programs.compiled import (
    MATRIX,
    NO_ANSWER,
    NUMBER,
    REAL,
    REALS,
    VECTOR,
    compiled,
    in_list,
)

KINDS = {
    "place": "int",
    "total": "int",
    "level": "real",
    "nodes": "ints",
    "amounts": "ints",
    "weights": "reals",
    "matrix": "matrix",
}
_ARGUMENTS = (NUMBER, NUMBER, REAL, VECTOR, VECTOR, REALS, MATRIX)


def _given(arrays: Mapping[str, Any]) -> tuple[Any, ...]:
    place, total = arrays["numbers"].tolist()
    return (place, total, float(arrays["level"][0]), *(arrays[name] for name in list(KINDS)[3:]))


def interpreted(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[Any]
) -> Answer:
    with np.errstate(all="ignore"):
        answer = program(*_given(arrays))
    if type(answer) is not int and not isinstance(answer, np.integer):
        raise InvalidAnswer(f"Expected a node, got {type(answer).__name__}.")
    if not -(2**63) <= int(answer) < 2**63:
        raise InvalidAnswer("Expected a node, got a larger integer.")
    return Answer([np.array([int(answer)])])


def one_more(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[Any]
) -> Answer:
    """Answer wrongly, as no tier should."""
    [answer] = interpreted(program, arrays, inputs).arrays
    return Answer([answer + 1])


_FUNCTION = types.FunctionType(NUMBER(*_ARGUMENTS))


@njit(NUMBER(types.ListType(_FUNCTION), *_ARGUMENTS), cache=True)
def _answer(
    programs: Any,
    place: int,
    total: int,
    level: float,
    nodes: Any,
    amounts: Any,
    weights: Any,
    matrix: Any,
) -> Any:
    return programs[0](place, total, level, nodes, amounts, weights, matrix)


class CompiledRunner:
    """Calls compiled programs."""

    def __init__(self, run: Callable[..., Answer]) -> None:
        self._run = run
        self._hold = njit(types.ListType(_FUNCTION)(_FUNCTION), cache=True)(in_list)
        # The numba list holds addresses only; these references keep the programs alive.
        self._programs: list[Any] = []

    def warm_up(self) -> None:
        """Compile a program: numba imports modules late, which a confined child cannot."""
        self.translate(f"def answer({', '.join(KINDS)}):\n    return total * place\n", "answer")

    def translate(self, source: str, name: str) -> Any:
        program = compiled(source, name, _ARGUMENTS, NUMBER)
        self._programs.append(program)
        return self._hold(program)

    def __call__(self, program: Any, arrays: Mapping[str, Any], inputs: Sequence[Any]) -> Answer:
        return self._run(program, arrays)


def _once(programs: Any, arrays: Mapping[str, Any]) -> Answer:
    answer = _answer(programs, *_given(arrays))
    if answer == NO_ANSWER:
        raise InvalidAnswer("Expected a node, got None.")
    return Answer([np.array([answer])])


def _read_unwritten(programs: Any, arrays: Mapping[str, Any]) -> Answer:
    """Answer with what nobody wrote, as no tier should."""
    return Answer([np.empty(4096, np.int64)[2000:2001]])


COMPILED = CompiledRunner(_once)
STALE = CompiledRunner(_read_unwritten)
