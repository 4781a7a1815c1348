"""Conversion of ragged lists in the sandbox child: incumbents going in, proposals coming out.

Imports NumPy and the standard library only, so that a fresh child starts fast. The
results are not trusted: the validator checks the proposals.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import InvalidAnswer
from specahd.routing.base import IntArray

UNUSABLE = -(2**63)
"""Value that replaces an entry of a proposal that is not an integer; no node has this number."""

MAX_GROUPS = 10_000


def views(lengths: IntArray, values: IntArray) -> list[IntArray]:
    """Return the non-empty lists that ``concatenated`` joined, as read-only views of one copy."""
    nodes = values.copy()
    nodes.flags.writeable = False
    ends = np.cumsum(lengths).tolist()
    return [
        nodes[end - length : end]
        for end, length in zip(ends, lengths.tolist(), strict=True)
        if length
    ]


def flattened(groups: Any, max_entries: int) -> list[IntArray]:
    """Return the groups of an upper program: their lengths, and their entries concatenated.

    Returns ``[-1]`` and an empty array if ``groups`` is not a list of sequences.

    Raises
    ------
    InvalidAnswer
        The answer has far more groups or entries than any instance could use.
    """
    if not isinstance(groups, list | tuple) or not all(map(_is_sequence, groups)):
        return [np.array([-1], dtype=np.int64), np.zeros(0, dtype=np.int64)]
    lengths = [len(group) for group in groups]
    if len(lengths) > MAX_GROUPS or sum(lengths) > max_entries:
        raise InvalidAnswer(f"{len(lengths)} groups of {sum(lengths)} entries in all.")
    entries = [_integral(entry) for group in groups for entry in group]
    return [np.array(lengths, dtype=np.int64), np.array(entries, dtype=np.int64)]


def integer(answer: Any) -> int:
    """Return the answer of a lower program, which must be an integer.

    Raises
    ------
    InvalidAnswer
        The answer is something else, for example a bool.
    """
    if type(answer) is int or isinstance(answer, np.integer):
        return int(answer)
    raise InvalidAnswer(f"Expected an integer, got {type(answer).__name__}.")


def actions(answer: list[Any] | NDArray[Any], ndim: int) -> Sequence[Any] | NDArray[Any]:
    """Return the actions of a lower program's plan, of which those of a list are not yet read.

    Parameters
    ----------
    ndim
        The number of dimensions of a plan that is an array.

    Raises
    ------
    InvalidAnswer
        The plan is empty, or an array of other numbers or dimensions.
    """
    if type(answer) is np.ndarray and (answer.ndim != ndim or answer.dtype.kind not in "iu"):
        raise InvalidAnswer(
            f"Expected a plan as an array of integers with ndim={ndim}, got {answer.dtype.name} "
            f"with ndim={answer.ndim}."
        )
    if not len(answer):
        raise InvalidAnswer("Expected a plan of one action at least, got none.")
    return answer


def _is_sequence(group: Any) -> bool:
    return group.ndim == 1 if isinstance(group, np.ndarray) else isinstance(group, list | tuple)


def _integral(entry: Any) -> int:
    if isinstance(entry, float | np.floating) and float(entry).is_integer():
        entry = int(entry)
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        number = int(entry)
        if -(2**63) <= number < 2**63:
            return number
    return UNUSABLE
