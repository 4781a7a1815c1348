"""Runners that call a program once and answer with what it returned, in both tiers.

A construction loop shows a wrong answer only if it leads to another route; these show all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.routing.compiled.runner import (
    MATRIX,
    NO_ANSWER,
    NUMBER,
    REAL,
    REALS,
    VECTOR,
    CompiledRunner,
    program_type,
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


@njit(NUMBER(program_type(_ARGUMENTS, NUMBER), *_ARGUMENTS), cache=True)
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


def _run(programs: Any, arrays: Mapping[str, Any], inputs: Sequence[Any]) -> Answer:
    answer = _answer(programs, *_given(arrays))
    if answer == NO_ANSWER:
        raise InvalidAnswer("Expected a node, got None.")
    return Answer([np.array([answer])])


COMPILED = CompiledRunner(_ARGUMENTS, NUMBER, _run, interpreted)


def _read_unwritten(programs: Any, arrays: Mapping[str, Any], inputs: Sequence[Any]) -> Answer:
    """Answer with what nobody wrote, as no tier should."""
    return Answer([np.empty(4096, np.int64)[2000:2001]])


STALE = CompiledRunner(_ARGUMENTS, NUMBER, _read_unwritten, interpreted)
