"""What the trusted side knows of each problem that the engine solves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specahd.engine.schedule import many_on_short_routes, neighbour_count, on_short_routes


def _never(instance: Any) -> bool:
    return False


def _by_size(instance: Any) -> int:
    return neighbour_count(instance.size)


@dataclass(frozen=True, slots=True)
class Family:
    """How one problem is solved.

    Parameters
    ----------
    name
        Of the problem, and of the checkpoint that comes with specahd.
    groups, positions
        ``module:name`` of what runs upper programs in the sandbox's child, and of what compiles
        lower ones.
    hot
        The share of :func:`specahd.engine.schedule.temperatures` at which a search begins.
    neighbours
        How many neighbours of a node the engine is told at most.
    looks_up
        Whether straight distances between few nodes are looked up, not computed.
    timed
        Whether customers have time windows, which have a say in who is near.
    parted
        Whether several processes can share the routes: none of them have a customer in common.
    exchanges
        How many exchanges of tails are tried for each group.
    evolved
        On which instances the checkpoint that comes with specahd is better than the programs by
        hand (benchmarks/notes/2026-11-22-do-evolved-programs-pay.md); None for the others, which
        nobody chose.
    in_turn
        On which the program by hand does as :func:`specahd.engine.written.in_turn` says.
    """

    name: str
    groups: str
    positions: str
    hot: float = 1.5
    neighbours: Callable[[Any], int] = _by_size
    looks_up: bool = True
    timed: bool = False
    parted: bool = False
    exchanges: Callable[[Any], int] = lambda instance: 0
    evolved: Callable[[Any], bool] | None = None
    in_turn: Callable[[Any], bool] = _never


_RUNNER = "specahd.engine.runner:"
CVRP = Family(
    name="cvrp",
    groups=_RUNNER + "GROUPS",
    positions=_RUNNER + "POSITIONS",
    parted=True,
    in_turn=many_on_short_routes,
)
VRPTW = Family(
    name="vrptw",
    groups=_RUNNER + "TIMED_GROUPS",
    positions=_RUNNER + "TIMED_POSITIONS",
    # Routes in time are rebuilt at greater cost:
    # benchmarks/notes/2026-11-22-what-the-rest-stands-on.md
    hot=3.0,
    neighbours=lambda instance: 100 if on_short_routes(instance) else 50,
    timed=True,
    parted=True,
    # They pay on long routes, of which groups take but a small part out:
    # benchmarks/notes/2026-11-23-exchanges-of-tails.md
    exchanges=lambda instance: 0 if on_short_routes(instance) else 128,
    evolved=on_short_routes,
)
SDVRP = Family(name="sdvrp", groups=CVRP.groups, positions=_RUNNER + "SPLIT_POSITIONS")
TSP = Family(
    name="tsp",
    groups=_RUNNER + "TOUR_GROUPS",
    positions=_RUNNER + "TOUR_POSITIONS",
    # Measured on pr2392 and rl11849.
    hot=1.0,
    neighbours=lambda instance: 24,
    # Passes over a tour compute a straight distance in less time than they look it up.
    looks_up=False,
)
FAMILIES = (CVRP, VRPTW, SDVRP, TSP)
