"""Runner of the upper programs of vehicle problems in the sandbox child.

Imports NumPy and the standard library only, so that a fresh child starts fast. The
results are not trusted: the validator V checks them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.routing.answers import flattened, views
from specahd.routing.base import IntArray
from specahd.routing.distances import of_block


def propose(
    program: Callable[..., Any],
    arrays: Mapping[str, Any],
    inputs: Sequence[IntArray],
    further: Sequence[str] = (),
) -> Answer:
    """Run an upper program once.

    Parameters
    ----------
    program
        Follows an upper contract: it takes the incumbent's columns, coordinates, demands,
        capacity, further arrays, distances, and the two limits.
    arrays
        The instance: ``coords`` (n + 1, 2), ``demands`` (n + 1,), ``capacity``
        (1,), which programs receive as a number, the distances, and the further
        arrays of the problem; all are read-only.
    inputs
        The incumbent as lengths of its routes and one or more columns of their
        stops concatenated, then ``[max_regions, max_size]``.
    further
        Names of the further arrays.

    Returns
    -------
    Answer
        Lengths of the proposed groups and their entries concatenated;
        ``[-1]`` and an empty array if the answer is not a list of sequences.

    Raises
    ------
    InvalidAnswer
        The answer has far more groups or entries than any instance could use.
    """
    lengths, *columns, (max_regions, max_size) = inputs
    instance = (
        arrays["coords"],
        arrays["demands"],
        int(arrays["capacity"][0]),
        *(arrays[name] for name in further),
        of_block(arrays),
    )
    incumbent = [views(lengths, column) for column in columns]
    with np.errstate(all="ignore"):
        groups = program(*incumbent, *instance, int(max_regions), int(max_size))
    room = len(arrays["demands"])
    if len(columns) > 1:
        # An incumbent with quantities may stop at a customer more than once.
        room += len(columns[0])
    return Answer(flattened(groups, max_entries=10 * room + 1000))
