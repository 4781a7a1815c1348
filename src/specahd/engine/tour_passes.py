"""The passes of the engine over a closed tour, compiled: for the TSP what
:mod:`specahd.engine.passes` is for routes.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from specahd.engine.changes import (
    BEST,
    BETTER,
    CURRENT,
    EXPOSURES,
    KEPT,
    PASSES,
    POSITIONS_MENDED,
    REPAIRS,
    TURN,
    keep_best,
    mark,
)
from specahd.engine.links import BEHIND
from specahd.engine.naming import NOISE_PER_GROUP, next_group
from specahd.engine.passes import EMPTY_PASSES, NOISE, RENEWED
from specahd.engine.random import refill, uniform
from specahd.engine.tour_naming import ask
from specahd.engine.tours import (
    BACK,
    BEFORE_NOTED,
    BEHIND_NOTED,
    DETOUR,
    EDGE,
    THERE,
    find_positions,
    put_in,
    show,
    take_out,
    undo,
)
from specahd.engine.unowned import unowned
from specahd.routing.compiled.runner import NO_ANSWER

PLACES = 10
"""Next to how many neighbours a node may be inserted, where it has more."""


# A program that raises has answered nothing.
@njit(cache=True)
def _position_chosen(
    lower: Any, found: Any, count: int, noise: Any, removal_gain: float, progress: float
) -> Any:
    try:
        return lower(
            found[DETOUR, :count],
            found[THERE, :count],
            found[EDGE, :count],
            noise,
            removal_gain,
            progress,
        )
    except Exception:  # noqa: BLE001  a program may raise anything
        return NO_ANSWER


@njit(cache=True)
def _search(
    uppers: Any,
    lowers: Any,
    choices: Any,
    instance: Any,
    places: int,
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
        shown,
        gains,
        marks,
        changed,
        best,
        generator,
        noise,
        costs,
        counts,
        numbers,
    ) = state
    distances, neighbours, neighbour_distances = instance
    group, log, log_edges, found, before, upper_noise = scratch
    upper = uppers[0]
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
        show(distances, nodes, edges, shown, gains, marks, changed, numbers)
        named = given
        if len(given) == 0:
            named = ask(
                upper,
                neighbours,
                neighbour_distances,
                shown,
                gains,
                generator,
                upper_noise,
                max_groups,
                max_size,
                now,
            )
        place = 0
        inserted = 0
        for _ in range(max_groups):
            size, place = next_group(named, place, stamp, len(nodes) - 1, marks, group, counts)
            if size == 0:
                break
            lower = lowers[choices[int(uniform(generator) * len(choices))]]
            cost = costs[CURRENT]
            allowed = cost
            if heat > 0.0:
                allowed -= heat * math.log(1.0 - uniform(generator))
            for member in range(size):
                node = group[member]
                cost += take_out(distances, nodes, edges, node, log, log_edges, member)
                shown[EXPOSURES, node] += 1
            lines = size
            for member in range(size):
                node = group[member]
                count = find_positions(
                    distances,
                    node,
                    neighbours,
                    neighbour_distances,
                    places,
                    nodes,
                    edges,
                    found,
                    before,
                )
                offset = int(uniform(generator) * NOISE)
                chosen = _position_chosen(
                    lower, found, count, noise[offset : offset + count], gains[node], now
                )
                if chosen < 0 or chosen >= count:
                    chosen = np.argmin(found[DETOUR, :count])
                    counts[POSITIONS_MENDED] += 1
                ahead = before[chosen]
                log[lines, 0] = node
                log[lines, BEFORE_NOTED] = ahead
                log[lines, BEHIND_NOTED] = nodes[ahead, BEHIND]
                log_edges[lines, 0] = edges[ahead]
                lines += 1
                cost += found[DETOUR, chosen]
                put_in(nodes, edges, node, ahead, found[THERE, chosen], found[BACK, chosen])
                inserted += 1
                # Insertions only add where the triangle inequality holds: the group is lost.
                if cost > allowed:
                    break
            if cost > allowed:
                undo(nodes, edges, log, log_edges, size, lines - size)
                continue
            counts[KEPT] += 1
            costs[CURRENT] = cost
            for line in range(lines):
                mark(log[line, 0], marks, changed, numbers)
                mark(log[line, BEFORE_NOTED], marks, changed, numbers)
                mark(log[line, BEHIND_NOTED], marks, changed, numbers)
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
    places: int,
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
    """Make passes until so many nodes were inserted; all of ``state`` is changed in place.

    What :func:`specahd.engine.passes.improve` says of its parameters holds here too.

    Parameters
    ----------
    places
        Next to how many of its neighbours a node may be inserted.
    """
    most = 2 * places + 1
    scratch = (
        np.empty(max_size, np.int64),
        np.empty((2 * max_size, 3), np.int32),
        np.empty((2 * max_size, 2)),
        np.empty((4, most)),
        np.empty(most, np.int64),
        np.empty(NOISE_PER_GROUP * max_groups),
    )
    _search(
        uppers,
        lowers,
        unowned(choices),
        unowned((distances, neighbours, neighbour_distances)),
        places,
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
