"""The passes of the engine where customers are served in parts (:mod:`specahd.engine.passes`)."""

import math
from typing import Any

import numpy as np
from numba import njit

from specahd.engine.changes import (
    BEST,
    BETTER,
    CURRENT,
    EXPOSURES,
    FREE,
    KEPT,
    PASSES,
    POSITIONS_MENDED,
    REPAIRS,
    TURN,
    mark,
)
from specahd.engine.deliveries import QUANTITY, find_positions, keep_best
from specahd.engine.links import BEFORE, BEHIND, INSERTED, REMOVED, link, note, undo, unlink
from specahd.engine.naming import NOISE_PER_GROUP, ask, next_group
from specahd.engine.passes import EMPTY_PASSES, NOISE, RENEWED
from specahd.engine.programs import (
    BACK,
    DETOUR,
    REST,
    THERE,
)
from specahd.engine.random import refill, uniform
from specahd.routing.compiled.runner import NO_ANSWER
from specahd.routing.kernels.distances import between


@njit(cache=True)
def _position_chosen(
    lower: Any,
    found: Any,
    count: int,
    noise: Any,
    lacking: float,
    home: float,
    capacity: float,
    now: float,
) -> Any:
    try:
        return lower(
            found[DETOUR, :count],
            found[THERE, :count],
            found[REST, :count],
            found[QUANTITY, :count],
            noise,
            lacking,
            home,
            capacity,
            now,
        )
    except Exception:  # noqa: BLE001  a program may raise anything
        return NO_ANSWER


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
    held: Any,
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
    """Make passes as :func:`specahd.engine.passes.improve` does, over deliveries.

    A customer is inserted in as many parts as the lower program chooses positions for it; each
    takes what there is room for. A group for which nodes or routes run out is taken back.

    Parameters
    ----------
    held
        What :mod:`specahd.engine.deliveries` keeps beside the lists.
    """
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
    owners, quantities, heads, more, spare, left, _ = held
    upper = uppers[0]
    deliveries = len(more) - 1
    group = np.empty(max_size, np.int64)
    old_heads = np.empty(max_size, np.int64)
    log = np.empty((2 * deliveries, 5), np.int32)
    log_distances = np.empty((2 * deliveries, 3))
    most = 2 * neighbours.shape[1] + 1
    found = np.empty((6, most))
    before = np.empty(most, np.int64)
    upper_noise = np.empty(NOISE_PER_GROUP * max_groups)
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
                held,
                state,
                upper_noise,
                max_groups,
                max_size,
                now,
            )
        place = 0
        inserted = 0
        for _ in range(max_groups):
            size, place = next_group(named, place, stamp, len(demands) - 1, marks, group, counts)
            if size == 0:
                break
            lower = lowers[choices[int(uniform(generator) * len(choices))]]
            cost = costs[CURRENT]
            lines = 0
            for member in range(size):
                customer = group[member]
                node = heads[customer]
                old_heads[member] = node
                heads[customer] = 0
                shown[EXPOSURES, customer] += 1
                while node != 0:
                    ahead = owners[nodes[node, BEFORE]]
                    joined = between(distances, ahead, owners[nodes[node, BEHIND]])
                    note(log, log_distances, lines, REMOVED, nodes, edges, node, joined)
                    lines += 1
                    cost -= edges[node, BEFORE] + edges[node, BEHIND] - joined
                    unlink(nodes, edges, route_loads, quantities[node], node, joined)
                    node = more[node]
            removed = lines
            allowed = costs[CURRENT]
            if heat > 0.0:
                allowed -= heat * math.log(1.0 - uniform(generator))
            available = numbers[FREE]
            unused = left[0]
            full = False
            for member in range(size):
                customer = group[member]
                home = depot_distances[customer]
                lacking = demands[customer]
                while lacking > 0:
                    full = available == 0 or unused == 0
                    if full:
                        break
                    count = find_positions(
                        held,
                        customer,
                        lacking,
                        distances,
                        neighbours,
                        neighbour_distances,
                        home,
                        capacity,
                        nodes,
                        edges,
                        route_loads,
                        deliveries + 1 + free[available - 1],
                        found,
                        before,
                    )
                    offset = int(uniform(generator) * NOISE)
                    chosen = _position_chosen(
                        lower,
                        found,
                        count,
                        noise[offset : offset + count],
                        float(lacking),
                        home,
                        float(capacity),
                        now,
                    )
                    if chosen < 0 or chosen >= count:
                        chosen = np.argmin(found[DETOUR, :count])
                        counts[POSITIONS_MENDED] += 1
                    if chosen == count - 1:
                        available -= 1
                    unused -= 1
                    node = spare[unused]
                    quantity = int(found[QUANTITY, chosen])
                    owners[node] = customer
                    quantities[node] = quantity
                    more[node] = heads[customer]
                    heads[customer] = node
                    ahead = before[chosen]
                    joined = edges[ahead, BEHIND]
                    there = found[THERE, chosen]
                    back = found[BACK, chosen]
                    cost += there + back - joined
                    link(nodes, edges, route_loads, quantity, node, ahead, there, back)
                    note(log, log_distances, lines, INSERTED, nodes, edges, node, joined)
                    lines += 1
                    lacking -= quantity
                    if cost > allowed:
                        break
                inserted += 1
                # Insertions only add where the triangle inequality holds: the group is lost.
                if full or cost > allowed:
                    break
            if full or cost > allowed:
                undo(log, log_distances, lines, nodes, edges, route_loads, quantities)
                for member in range(size):
                    heads[group[member]] = old_heads[member]
                continue
            counts[KEPT] += 1
            costs[CURRENT] = cost
            for line in range(lines):
                mark(log[line, 1], marks, changed, numbers)
                mark(log[line, 2], marks, changed, numbers)
                mark(log[line, 3], marks, changed, numbers)
            numbers[FREE] = available
            for line in range(removed):
                spare[unused] = log[line, 1]
                unused += 1
                # A route that lost its last customer is free; its terminal stood on both sides.
                terminal = log[line, 2]
                if (
                    terminal > deliveries
                    and terminal == log[line, 3]
                    and nodes[terminal, BEHIND] == terminal
                ):
                    free[numbers[FREE]] = terminal - deliveries - 1
                    numbers[FREE] += 1
            left[0] = unused
        done += inserted
        counts[REPAIRS] = began + done
        if costs[CURRENT] < costs[BEST] - 1e-9 * abs(costs[BEST]):
            counts[BETTER] += 1
            keep_best(held, nodes, best, costs, marks, changed, numbers)
        empty = 0 if inserted else empty + 1
        if empty == EMPTY_PASSES:
            break
