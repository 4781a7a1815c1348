"""Calls of programs from the loop, with the values in the interface's table of arguments."""

from typing import Any

from specahd.core.interface import Interface
from specahd.core.loop_cache import njit
from specahd.engine import changes

DETOUR, DISTANCE_BEFORE, DISTANCE_BEHIND, REST, SLACK, SHIFT = range(6)
"""Rows of the positions found for a customer: the detour, the distances from the node before and
to the node behind, and further inputs of lower programs."""
QUANTITY = SLACK
"""Row of the quantities in the SDVRP."""
EDGE = REST
"""Row of the distance between the nodes around a position on a tour."""
OPENS, CLOSES, EARLIEST, LATEST = range(4)
"""Rows of the ``views`` of the VRPTW: windows, and the times of the current solution."""


def groups_call(interface: Interface) -> Any:
    """Return :func:`specahd.engine.steps.choose_groups` for programs of an interface."""
    names = "state, instance, program, noise, now, max_groups, max_size"
    return _call(interface, names, "state.counts[STEPS:]")


def position_call(interface: Interface) -> Any:
    """Return :func:`specahd.engine.steps.choose` for programs of an interface."""
    names = "state, instance, scratch, program, count, noise, customer, wanted, now"
    return _call(interface, names)


def _call(interface: Interface, names: str, *further: str) -> Any:
    values = ", ".join([*(argument.value for argument in interface.arguments), *further])
    # A row of the table states an argument once, for prompts, types and this call. Calls written by
    # hand are as quick, and would state each again. Values name rows of the loop's arrays.
    namespace = {**vars(changes), **globals()}
    exec(f"def call({names}):\n    return program({values})\n", namespace)
    # It needs no cache: numba caches it on disk as a part of the loop.
    return njit(forceinline=True)(namespace["call"])
