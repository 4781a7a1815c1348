"""How the loop calls programs: with the values that a table of arguments says."""

from typing import Any

from numba import njit

from specahd.core.interface import Interface
from specahd.engine import changes

DETOUR, DISTANCE_BEFORE, DISTANCE_BEHIND, REST, SLACK, SHIFT = range(6)
"""Rows of the positions found for a customer: what it adds, the distances from the node before
and to the node behind, and what lower programs see besides."""
QUANTITY = SLACK
"""The row that has the quantities of the SDVRP."""
EDGE = REST
"""The row that has the distance between the nodes around a position on a tour."""
OPENS, CLOSES, EARLIEST, LATEST = range(4)
"""The rows of the ``views`` of the VRPTW: windows, and the times of the current solution."""


def groups_call(interface: Interface) -> Any:
    """Return :func:`specahd.engine.steps.choose_groups` for programs of an interface."""
    return _call(interface, "state, instance, program, noise, now, max_groups, max_size")


def position_call(interface: Interface) -> Any:
    """Return :func:`specahd.engine.steps.choose` for programs of an interface."""
    names = "state, instance, scratch, program, count, noise, customer, wanted, now"
    return _call(interface, names)


def _call(interface: Interface, names: str) -> Any:
    values = ", ".join(argument.value for argument in interface.arguments)
    # Values name rows of the arrays that the loop has.
    namespace = {**vars(changes), **globals()}
    exec(f"def call({names}):\n    return program({values})\n", namespace)
    # The loop keeps it on disk as a part of itself.
    return njit(forceinline=True)(namespace["call"])
