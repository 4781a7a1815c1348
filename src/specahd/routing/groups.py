"""Ragged lists as two integer arrays, and the validator's rules for customer groups.

The vehicle problems share these rules; a TSP segment has rules of its own.
"""

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

import numpy as np

from specahd.routing.base import IntArray, Region, Rejection, Validation

Groups = tuple[tuple[int, ...], ...]


def concatenated(groups: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Return the lengths of the groups, and their members one after another."""
    lengths = np.fromiter(map(len, groups), np.int64, len(groups))
    return lengths, np.fromiter(chain.from_iterable(groups), np.int64, int(lengths.sum()))


def nested(lengths: IntArray, values: IntArray) -> Groups:
    """Return the groups from the output of :func:`concatenated`."""
    members = tuple(values.tolist())
    ends = accumulate(lengths.tolist(), initial=0)
    return tuple(members[start:end] for start, end in pairwise(ends))


def separated(values: IntArray) -> Groups:
    """Return the groups of an array in which zeros separate them."""
    ends = np.flatnonzero(np.append(values, 0) == 0)
    lengths = np.diff(ends, prepend=-1) - 1
    return nested(lengths[lengths > 0], values[values != 0])


def validate_groups(
    output: Sequence[IntArray], largest: int, max_regions: int, max_size: int
) -> Validation:
    """Apply the shared rules of the paper's appendix B to the answer of an upper program.

    Parameters
    ----------
    output
        ``[lengths, values]`` of the proposed groups; ``lengths == [-1]`` means
        that the program did not return a list of sequences. Both come from
        untrusted code.
    largest
        Customers are 1 to ``largest``; anything else is dropped.
    max_regions, max_size
        Most regions kept, most customers in each.

    Returns
    -------
    The kept groups, and a rejection for every other group: ``malformed``, ``empty``
    (fewer than 2 customers left), ``oversized`` or ``over_budget``.
    """
    if not is_consistent(output):
        return Validation(1, (), (Rejection(0, "malformed"),))
    proposals = nested(*output)
    regions: list[Region] = []
    rejections: list[Rejection] = []
    used: set[int] = set()
    for index, proposal in enumerate(proposals):
        if len(regions) == max_regions:
            rejections.append(Rejection(index, "over_budget"))
            continue
        # A dict drops repetitions and keeps the order.
        nodes = tuple(
            node for node in dict.fromkeys(proposal) if 1 <= node <= largest and node not in used
        )
        if len(nodes) < 2:
            rejections.append(Rejection(index, "empty"))
        elif len(nodes) > max_size:
            rejections.append(Rejection(index, "oversized"))
        else:
            regions.append(Region(nodes))
            used.update(nodes)
    return Validation(len(proposals), tuple(regions), tuple(rejections))


def is_consistent(output: Sequence[IntArray]) -> bool:
    """Return whether arrays are lengths of groups and values, as many as the lengths' sum."""
    if len(output) != 2 or not all(is_vector(array) for array in output):
        return False
    lengths, values = output
    if lengths.size and (lengths.min() < 0 or lengths.max() > values.size):
        return False
    return int(lengths.sum()) == values.size


def is_vector(array: object) -> bool:
    """Return whether an object is a one-dimensional array of int64."""
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1
