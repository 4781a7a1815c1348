"""Routes with a limit on their length: what the engine does otherwise than for the CVRP."""

from typing import Any, NamedTuple

import numpy as np

from specahd.engine import capacitated
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND, JOINED_NOTED, NODE_NOTED, ROUTE
from specahd.engine.programs import DETOUR, REST
from specahd.engine.state import State

show = capacitated.show
choose_groups = capacitated.choose_groups
log_lines = capacitated.log_lines
close_gaps = capacitated.close_gaps
lacking = capacitated.lacking
choose = capacitated.choose
keep = capacitated.keep
exchange_tails = capacitated.no_exchange
keep_best = capacitated.keep_best


class Lengths(NamedTuple):
    """The length of each route, and the most that one may have."""

    lengths: Any
    longest: float


def limited(state: State, longest: float) -> State:
    """Return a state of routes with their lengths."""
    routes, edges = state.nodes[1:, ROUTE], state.edges[1:, BEHIND]
    used = routes >= 0
    lengths = np.bincount(routes[used], edges[used], len(state.route_loads))
    return state._replace(own=Lengths(lengths, longest))


@inlined
def remove(
    state: Any, instance: Any, scratch: Any, line: int, customer: int, cost: float
) -> tuple[int, float]:
    route = state.nodes[customer, ROUTE]
    line, less = capacitated.remove(state, instance, scratch, line, customer, cost)
    state.own.lengths[route] += less - cost
    return line, less


@inlined
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    count = capacitated.find_positions(state, instance, scratch, customer, wanted, most)
    nodes, own, found, before = state.nodes, state.own, scratch.found, scratch.before
    kept = 0
    for place in range(count):
        # A route of its own, the last position, is never too long.
        length = own.lengths[nodes[before[place], ROUTE]] + found[DETOUR, place]
        if length <= own.longest or place == count - 1:
            for row in range(DETOUR, REST + 1):
                found[row, kept] = found[row, place]
            before[kept] = before[place]
            kept += 1
    return kept


@inlined
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
    wanted, more = capacitated.insert(
        state, instance, scratch, line, customer, wanted, chosen, cost
    )
    state.own.lengths[state.nodes[customer, ROUTE]] += more - cost
    return wanted, more


@inlined
def undo(state: Any, instance: Any, scratch: Any, removed: int, lines: int) -> None:
    nodes, lengths = state.nodes, state.own.lengths
    for line in range(removed, lines):
        lengths[nodes[scratch.log[line, NODE_NOTED], ROUTE]] -= _detour(scratch, line)
    capacitated.undo(state, instance, scratch, removed, lines)
    for line in range(removed):
        lengths[nodes[scratch.log[line, NODE_NOTED], ROUTE]] += _detour(scratch, line)


@inlined
def _detour(scratch: Any, line: int) -> Any:
    edges = scratch.log_edges
    return edges[line, BEFORE] + edges[line, BEHIND] - edges[line, JOINED_NOTED]
