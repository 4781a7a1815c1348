"""The checker F and the cost C of a tour, computed from the instance alone.

This module shares nothing with the code that builds solutions.
"""

import numpy as np

from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing.base import Violation
from specahd.routing.geometry import path_length


def check(instance: TSPInstance, solution: Solution) -> tuple[Violation, ...]:
    """Return every violation of coverage and of fixed edges; empty means feasible.

    Kinds: ``unknown_node``, ``missing_node``, ``duplicated_node`` and ``fixed_edge``. The edge
    from the last node to the first is part of every tour. Details number
    the nodes from 1, as instance files do, unless they have names.
    """
    visits = np.fromiter(solution, np.int64, len(solution))
    known = (visits >= 0) & (visits < instance.size)
    counts = np.bincount(visits[known], minlength=instance.size)
    if known.all() and (counts == 1).all():
        return _broken_edges(instance, solution)
    quoted_name = instance.labels.quoted_name
    violations = [
        Violation("unknown_node", f"Node {node + 1} does not exist.")
        for node in visits[~known].tolist()
    ]
    violations += [
        Violation("missing_node", f"Node {quoted_name(node)} is not visited.")
        for node in np.flatnonzero(counts == 0).tolist()
    ]
    violations += [
        Violation("duplicated_node", f"Node {quoted_name(node)} is visited {counts[node]} times.")
        for node in np.flatnonzero(counts > 1).tolist()
    ]
    return tuple(violations)


def _broken_edges(instance: TSPInstance, tour: Solution) -> tuple[Violation, ...]:
    following = dict(zip(tour, (*tour[1:], tour[0]), strict=True))
    return tuple(
        Violation("fixed_edge", f"The tour does not follow the fixed edge {start + 1} {end + 1}.")
        for start, end in instance.fixed_edges
        if following[start] != end and following[end] != start
    )


def cost(instance: TSPInstance, solution: Solution) -> float:
    """Return the length of the closed tour in the instance's convention."""
    walk = np.array([*solution, *solution[:1]], np.int64)
    return path_length(instance.coords, walk, instance.convention, instance.matrix)
