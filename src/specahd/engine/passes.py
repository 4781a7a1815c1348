"""The passes of the engine over a solution, compiled.

The upper program sees the current solution and names groups; each group is taken out, put in
again where the lower programs say, and stays or is taken back. What programs answer becomes an
index only after it was checked.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from specahd.engine.changes import (
    BEST,
    BETTER,
    CURRENT,
    EXCHANGES,
    EXPOSURES,
    FREE,
    KEPT,
    PASSES,
    POSITIONS_MENDED,
    REPAIRS,
    TURN,
    keep_best,
    mark,
)
from specahd.engine.families import (
    choose,
    exchange_tails,
    find_positions,
    push,
    refresh,
    restore,
)
from specahd.engine.links import BEFORE, BEHIND, INSERTED, REMOVED, link, note, undo, unlink
from specahd.engine.naming import NOISE_PER_GROUP, ask, next_group
from specahd.engine.programs import (
    BACK,
    THERE,
)
from specahd.engine.random import refill, uniform
from specahd.engine.unowned import unowned
from specahd.routing.compiled.runner import NO_ANSWER
from specahd.routing.kernels.distances import between

NOISE = 4096
"""How many numbers the noise of positions is cut from."""
RENEWED = 256
"""How many of them are new in every pass."""
EMPTY_PASSES = 100
"""So many passes in a row whose upper program names no customer end a slice."""


@njit(cache=True)
def depot_row(distances: Any, nodes: int) -> Any:
    """Return the distances from the depot to so many nodes."""
    row = np.empty(nodes)
    for node in range(nodes):
        row[node] = between(distances, 0, node)
    return row


# A program that raises has answered nothing. Caught here, it costs the programs no function of
# their own around them, which would take as long to compile as they do.
@njit(cache=True)
def _position_chosen(
    times: Any,
    lower: Any,
    found: Any,
    count: int,
    noise: Any,
    demand: float,
    home: float,
    capacity: float,
    now: float,
) -> Any:
    try:
        return choose(times, lower, found, count, noise, demand, home, capacity, now)
    except Exception:  # noqa: BLE001  a program may raise anything
        return NO_ANSWER


@njit(cache=True)
def _search(
    uppers: Any,
    lowers: Any,
    choices: Any,
    instance: Any,
    capacity: int,
    times: Any,
    state: Any,
    repairs: int,
    max_groups: int,
    max_size: int,
    progress: float,
    end_progress: float,
    temperature: float,
    end_temperature: float,
    given: Any,
    scratch: Any,
) -> None:
    (
        nodes,
        edges,
        route_loads,
        free,
        shown,
        _,
        marks,
        changed,
        best,
        generator,
        noise,
        costs,
        counts,
        numbers,
    ) = state
    upper = uppers[0]
    distances, neighbours, neighbour_distances, depot_distances, demands = instance
    customers = len(demands) - 1
    group, log, log_distances, found, before, upper_noise = scratch
    detours = found[0]
    falling = math.log(end_temperature / temperature) if temperature > 0 else 0.0
    began = counts[REPAIRS]
    done = 0
    empty = 0
    while done < repairs:
        share = done / repairs
        now = progress + (end_progress - progress) * share
        heat = temperature * math.exp(falling * share)
        counts[PASSES] += 1
        stamp = counts[PASSES]
        refill(generator, noise, numbers[TURN], numbers[TURN] + RENEWED)
        numbers[TURN] = (numbers[TURN] + RENEWED) % NOISE
        named = given
        if len(given) == 0:
            named = ask(
                upper,
                distances,
                neighbours,
                neighbour_distances,
                depot_distances,
                demands,
                capacity,
                times,
                state,
                upper_noise,
                max_groups,
                max_size,
                now,
            )
        place = 0
        inserted = 0
        for _ in range(max_groups):
            size, place = next_group(named, place, stamp, customers, marks, group, counts)
            if size == 0:
                break
            lower = lowers[choices[int(uniform(generator) * len(choices))]]
            cost = costs[CURRENT]
            lines = 0
            for member in range(size):
                customer = group[member]
                ahead = nodes[customer, BEFORE]
                behind = nodes[customer, BEHIND]
                joined = between(
                    distances,
                    0 if ahead > customers else ahead,
                    0 if behind > customers else behind,
                )
                note(log, log_distances, lines, REMOVED, nodes, edges, customer, joined)
                lines += 1
                cost -= edges[customer, BEFORE] + edges[customer, BEHIND] - joined
                unlink(nodes, edges, route_loads, demands[customer], customer, joined)
                shown[EXPOSURES, customer] += 1
            refresh(times, nodes, edges, log, lines)
            allowed = costs[CURRENT]
            if heat > 0.0:
                allowed -= heat * math.log(1.0 - uniform(generator))
            available = numbers[FREE]
            for member in range(size):
                customer = group[member]
                room = capacity - demands[customer]
                home = depot_distances[customer]
                terminal = customers + 1 + free[available - 1]
                count = find_positions(
                    times,
                    customer,
                    distances,
                    neighbours,
                    neighbour_distances,
                    depot_distances,
                    room,
                    allowed - cost,
                    nodes,
                    edges,
                    route_loads,
                    terminal,
                    found,
                    before,
                )
                offset = int(uniform(generator) * NOISE)
                chosen = _position_chosen(
                    times,
                    lower,
                    found,
                    count,
                    noise[offset : offset + count],
                    float(demands[customer]),
                    home,
                    float(capacity),
                    now,
                )
                if chosen < 0 or chosen >= count:
                    chosen = np.argmin(detours[:count])
                    counts[POSITIONS_MENDED] += 1
                if chosen == count - 1:
                    available -= 1
                ahead = before[chosen]
                joined = edges[ahead, BEHIND]
                there = found[THERE, chosen]
                back = found[BACK, chosen]
                cost += there + back - joined
                link(nodes, edges, route_loads, demands[customer], customer, ahead, there, back)
                push(times, nodes, edges, customer)
                note(log, log_distances, lines, INSERTED, nodes, edges, customer, joined)
                lines += 1
                inserted += 1
                # Insertions only add where the triangle inequality holds: the group is lost.
                if cost > allowed:
                    break
            if cost > allowed:
                undo(log, log_distances, lines, nodes, edges, route_loads, demands)
                restore(times)
                continue
            counts[KEPT] += 1
            costs[CURRENT] = cost
            for line in range(lines):
                mark(log[line, 1], marks, changed, numbers)
                mark(log[line, 2], marks, changed, numbers)
                mark(log[line, 3], marks, changed, numbers)
            numbers[FREE] = available
            for line in range(size):
                # A route that lost its last customer is free; its terminal stood on both sides.
                terminal = log[line, 2]
                if (
                    terminal > customers
                    and terminal == log[line, 3]
                    and nodes[terminal, BEHIND] == terminal
                ):
                    free[numbers[FREE]] = terminal - customers - 1
                    numbers[FREE] += 1
        exchange_tails(times, instance, capacity, state, numbers[EXCHANGES] * max_groups, heat)
        done += inserted
        counts[REPAIRS] = began + done
        if costs[CURRENT] < costs[BEST] - 1e-9 * abs(costs[BEST]):
            counts[BETTER] += 1
            keep_best(nodes, best, costs, marks, changed, numbers)
        empty = 0 if inserted else empty + 1
        if empty == EMPTY_PASSES:
            break


@njit(cache=True)
def improve(
    uppers: Any,
    lowers: Any,
    choices: Any,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    times: Any,
    state: Any,
    repairs: int,
    max_groups: int,
    max_size: int,
    progress: float,
    end_progress: float,
    temperature: float,
    end_temperature: float,
    given: Any,
) -> None:
    """Make passes until so many customers were inserted; all of ``state`` is changed in place.

    Fewer are inserted if :data:`EMPTY_PASSES` in a row name none.

    Progress grows evenly with the repairs, the temperature falls by equal factors.

    Parameters
    ----------
    choices
        Positions in ``lowers``; each group is repaired by one of them, drawn evenly.
    given
        The one group of every pass; none where the upper program is asked for them.
    """
    most = 2 * neighbours.shape[1] + 1
    scratch = (
        np.empty(max_size, np.int64),
        np.empty((2 * max_size, 5), np.int32),
        np.empty((2 * max_size, 3)),
        np.empty((6, most)),
        np.empty(most, np.int64),
        np.empty(NOISE_PER_GROUP * max_groups),
    )
    _search(
        uppers,
        lowers,
        unowned(choices),
        unowned((distances, neighbours, neighbour_distances, depot_distances, demands)),
        capacity,
        unowned(times),
        unowned(state),
        repairs,
        max_groups,
        max_size,
        progress,
        end_progress,
        temperature,
        end_temperature,
        unowned(given),
        unowned(scratch),
    )
    # numba lets go of an array after its last use, and nothing above counts as one.
    scratch[0][0] = 0
