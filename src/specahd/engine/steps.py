"""Steps of the loop that differ by problem.

A family is a module with a function of each of these names, its own or another family's. When numba
compiles the loop for a state, it takes them from the family of its ``own`` in :data:`FAMILIES`, so
that nothing is chosen at run time.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba.extending import overload

from specahd.engine import capacitated, deliveries, directed_tours, timed, tours

FAMILIES: dict[type, ModuleType] = {
    capacitated.Loads: capacitated,
    timed.Times: timed,
    deliveries.Parts: deliveries,
    tours.Tour: tours,
    directed_tours.DirectedTour: directed_tours,
}
"""The families by the type of a state's ``own``; a problem of another family adds its own."""


def _of_family(function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a function, in compiled code, by the family's function of the same name."""

    def chosen(state: Any, *arguments: Any) -> Any:
        # The last field of a state is `own`.
        own = getattr(FAMILIES[state[-1].instance_class], function.__name__)

        def call(state: Any, *arguments: Any) -> Any:
            return own(state, *arguments)

        return call

    overload(function, jit_options={"forceinline": True})(chosen)
    return function


@_of_family
def show(state: Any, instance: Any) -> None:
    """Update the inputs of upper programs to the current solution."""
    raise NotImplementedError


@_of_family
def choose_groups(
    state: Any, instance: Any, upper: Any, noise: Any, now: float, max_groups: int, max_size: int
) -> Any:
    """Call an upper program at a progress ``now`` in [0, 1]; it may raise."""
    raise NotImplementedError


@_of_family
def log_lines(state: Any, max_size: int) -> int:
    """Return the maximum number of lines in the log of a group of ``max_size`` customers."""
    raise NotImplementedError


@_of_family
def remove(
    state: Any, instance: Any, scratch: Any, line: int, customer: int, cost: float
) -> tuple[int, float]:
    """Remove a customer; return the next line of the log, and the new cost."""
    raise NotImplementedError


@_of_family
def close_gaps(state: Any, scratch: Any, removed: int) -> float:
    """Finish the removal of a group, of which the log has ``removed`` lines.

    Returns
    -------
    What it adds to the cost: infinity if it makes a stop late, so that the group is undone.
    """
    raise NotImplementedError


@_of_family
def lacking(state: Any, instance: Any, customer: int) -> Any:
    """Return the quantity of a customer to insert: its demand if it can be split, else 1."""
    raise NotImplementedError


@_of_family
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    """Write the positions for a customer, that on a new route last; return their number.

    The number is 0 if no route or no node is free. The group is then undone.

    Parameters
    ----------
    wanted
        The quantity of the customer that is still to be inserted.
    most
        The detour beyond which the group would be undone.
    """
    raise NotImplementedError


@_of_family
def choose(
    state: Any,
    instance: Any,
    scratch: Any,
    lower: Any,
    count: int,
    noise: Any,
    customer: int,
    wanted: int,
    now: float,
) -> Any:
    """Call a lower program for one of ``count`` positions at a progress ``now``; it may raise."""
    raise NotImplementedError


@_of_family
def insert(
    state: Any,
    instance: Any,
    scratch: Any,
    line: int,
    customer: int,
    wanted: int,
    chosen: int,
    cost: float,
) -> tuple[int, float]:
    """Insert a customer; return how much of its demand is still missing, and the new cost.

    Parameters
    ----------
    line
        The line of the log that notes the insertion.
    chosen
        The position.
    cost
        The cost of the solution before.
    """
    raise NotImplementedError


@_of_family
def undo(state: Any, instance: Any, scratch: Any, removed: int, lines: int) -> None:
    """Undo the changes of a group; the first ``removed`` lines of its log are removals."""
    raise NotImplementedError


@_of_family
def keep(state: Any, scratch: Any, removed: int) -> None:
    """Free the nodes that an accepted group no longer uses."""
    raise NotImplementedError


@_of_family
def exchange_tails(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Try to exchange tails of two routes or runs of a tour, or to turn runs, at a temperature."""
    raise NotImplementedError


@_of_family
def keep_best(state: Any) -> None:
    """Note the current solution as the best one."""
    raise NotImplementedError
