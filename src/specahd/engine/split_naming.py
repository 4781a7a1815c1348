"""What upper programs name where customers are served in parts (:mod:`specahd.engine.naming`)."""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine.deliveries import show
from specahd.engine.naming import NOISE_PER_GROUP, all_groups, answer_of
from specahd.engine.random import refill


@njit(cache=True)
def ask(
    upper: Any,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    held: Any,
    state: Any,
    upper_noise: Any,
    max_groups: int,
    max_size: int,
    now: float,
) -> Any:
    """Return what an upper program answers about the current solution."""
    nodes, edges, _, _, shown, gains, marks, changed, _, generator, _, _, _, numbers = state
    refill(generator, upper_noise, 0, len(upper_noise))
    show(held, distances, nodes, edges, shown, gains, marks, changed, numbers)
    return answer_of(
        upper,
        shown,
        gains,
        neighbours,
        neighbour_distances,
        depot_distances,
        demands,
        capacity,
        upper_noise,
        max_groups,
        max_size,
        now,
    )


@njit(cache=True)
def name_groups(
    uppers: Any,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    held: Any,
    state: Any,
    max_groups: int,
    max_size: int,
    progress: float,
) -> Any:
    """Return the groups that a pass would repair: how long they are, and their customers."""
    named = ask(
        uppers[0],
        distances,
        neighbours,
        neighbour_distances,
        depot_distances,
        demands,
        capacity,
        held,
        state,
        np.empty(NOISE_PER_GROUP * max_groups),
        max_groups,
        max_size,
        progress,
    )
    _, _, _, _, _, _, marks, _, _, _, _, _, counts, _ = state
    return all_groups(named, len(demands) - 1, max_groups, max_size, marks, counts)
