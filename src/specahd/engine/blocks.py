"""Shared block of the instances' arrays that the engine's process reads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from specahd.core.memory_limit import require_memory
from specahd.engine.neighbours import nearest_neighbours, neighbours_around
from specahd.engine.timed_neighbours import candidates, neighbours_in_time
from specahd.routing.base import AnyProblem
from specahd.routing.distances import CONVENTION, MATRIX
from specahd.routing.geometry import Convention
from specahd.sandbox.shared_arrays import Layout, SharedArrays, block_size

MATRIX_NODES = 2000
"""Most nodes with a matrix. A larger one exceeds the near cache, so computing is faster."""


def shared_block(problem: AnyProblem, *instances: Any) -> SharedArrays:
    """Return the shared block of some instances: the inputs of programs, and lists of neighbours.

    Raises
    ------
    NotEnoughMemory
        The block would not fit; nothing was allocated.
    """
    layouts = [layout(problem, instance) for instance in instances]
    names = instances[0].name if len(instances) == 1 else f"{len(instances)} instances"
    require_memory(sum(map(block_size, layouts)), f"The arrays of {names} need")
    shared = SharedArrays.allocate(layouts)
    for index, instance in enumerate(instances):
        fill(problem, instance, shared.writable(index))
    return shared


def layout(problem: AnyProblem, instance: Any) -> Layout:
    """Return the dtype and the shape of each array that the engine reads of an instance."""
    known = dict(problem.layout(instance))
    nodes = len(instance.coords)
    straight = instance.matrix is None and _measure(instance) is not Convention.GEO
    most = MATRIX_NODES if problem.engine.looks_up else 0
    if straight and MATRIX in known and nodes > most:
        del known[MATRIX]
        known[CONVENTION] = (np.int64, (1,))
    # Node 0 is in no neighbour list: it is the depot, or the start of a tour.
    near = (nodes, max(0, min(problem.engine.neighbours(instance), nodes - 2)))
    return {
        **known,
        "neighbours": (np.int64, near),
        "neighbour_distances": (np.float64, near),
    }


def fill(problem: AnyProblem, instance: Any, arrays: Mapping[str, Any]) -> None:
    """Write an instance to arrays of its :func:`layout`."""
    problem.fill(instance, arrays)
    family, measure = problem.engine, _measure(instance)
    count, timed, each = family.neighbours(instance), family.timed, family.quadrant_neighbours
    looked_at = candidates(len(instance.coords), count) if timed else count
    if each and instance.matrix is None:
        found = neighbours_around(instance.coords, measure, looked_at, each)
    else:
        found = nearest_neighbours(instance.coords, measure, instance.matrix, looked_at, depot=True)
    if timed:
        found = neighbours_in_time(*found, instance.windows, count, instance.durations)
    arrays["neighbours"][:], arrays["neighbour_distances"][:] = found


def _measure(instance: Any) -> Convention:
    measure: Convention = getattr(instance, "measure", instance.convention)
    return measure
