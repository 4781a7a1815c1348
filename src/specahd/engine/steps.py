"""What the loop does differently for each problem.

A family is a module with functions of these names, or what it takes of another one. The type of
a state's ``own`` chooses it when the loop is compiled, so that nothing is chosen while it runs.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba.extending import overload

from specahd.engine import capacitated, deliveries, tail_exchange, timed, tours

FAMILIES: dict[type, tuple[ModuleType, ...]] = {
    capacitated.Whole: (capacitated,),
    timed.Times: (timed, tail_exchange, capacitated),
    deliveries.Parts: (deliveries, capacitated),
    tours.Tour: (tours, capacitated),
}
"""By the type of ``own``, where a function is looked for: the first module that has it."""


def _of_family(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have the loop take a family's function of the same name for one of these."""

    def chosen(state: Any, *arguments: Any) -> Any:
        modules = FAMILIES[state[-1].instance_class]
        name = function.__name__
        own = next(vars(module)[name] for module in modules if name in vars(module))

        def call(state: Any, *arguments: Any) -> Any:
            return own(state, *arguments)

        return call

    overload(function, jit_options={"forceinline": True})(chosen)
    return function


@_of_family
def show(state: Any, *_: Any) -> Any:
    """Bring what programs see up to date with the current solution.

    Arguments: the instance.
    """
    raise NotImplementedError


@_of_family
def choose_groups(state: Any, *_: Any) -> Any:
    """Ask an upper program, which may raise.

    Arguments: the instance, the program, its noise, the progress, the most groups, the most
    customers of one.
    """
    raise NotImplementedError


@_of_family
def log_lines(state: Any, *_: Any) -> Any:
    """Return how many lines the log of a group has at most.

    Arguments: the most customers of one.
    """
    raise NotImplementedError


@_of_family
def remove(state: Any, *_: Any) -> Any:
    """Take a customer out; return the next line of the log, and what the solution costs then.

    Arguments: the instance, the scratch, the line, the customer, the cost before.
    """
    raise NotImplementedError


@_of_family
def close_gaps(state: Any, *_: Any) -> Any:
    """Do what is to be done once all customers of a group are out.

    Arguments: the scratch, the lines of its log.
    """
    raise NotImplementedError


@_of_family
def lacking(state: Any, *_: Any) -> Any:
    """Return how much of a customer is to be inserted: its demand where parts can be, else 1.

    Arguments: the instance, the customer.
    """
    raise NotImplementedError


@_of_family
def find_positions(state: Any, *_: Any) -> Any:
    """Write the positions for a customer, that on a new route last; return how many.

    There are none where routes or nodes have run out: the group is taken back.

    Arguments: the instance, the scratch, the customer, how much of it is lacking, the detour
    beyond which the group would be taken back.
    """
    raise NotImplementedError


@_of_family
def choose(state: Any, *_: Any) -> Any:
    """Ask a lower program, which may raise.

    Arguments: the instance, the scratch, the program, how many positions there are, their noise,
    the customer, how much of it is lacking, the progress.
    """
    raise NotImplementedError


@_of_family
def insert(state: Any, *_: Any) -> Any:
    """Put a customer in; return how much of it is lacking then, and what the solution costs.

    Arguments: the instance, the scratch, the line of the log, the customer, how much of it is
    lacking, the position, whether this is the last one, the cost before.
    """
    raise NotImplementedError


@_of_family
def undo(state: Any, *_: Any) -> Any:
    """Take back all that was done to a group.

    Arguments: the instance, the scratch, how many lines of its log are of what was taken out, how
    many there are.
    """
    raise NotImplementedError


@_of_family
def keep(state: Any, *_: Any) -> Any:
    """Free what a group that stays has left.

    Arguments: the scratch, how many lines of its log are of what was taken out.
    """
    raise NotImplementedError


@_of_family
def exchange_tails(state: Any, *_: Any) -> Any:
    """Let tails of two routes change places where that is accepted.

    Arguments: the instance, how many exchanges are tried, the temperature.
    """
    raise NotImplementedError


@_of_family
def keep_best(state: Any) -> Any:
    """Note the current solution as the best one."""
    raise NotImplementedError
