"""What upper programs name on a closed tour (:mod:`specahd.engine.naming`)."""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine.changes import EXPOSURES, FOLLOWING, PRECEDING
from specahd.engine.naming import NOISE_PER_GROUP, all_groups
from specahd.engine.random import refill
from specahd.engine.tours import show


@njit(cache=True)
def ask(
    upper: Any,
    neighbours: Any,
    neighbour_distances: Any,
    shown: Any,
    gains: Any,
    generator: Any,
    upper_noise: Any,
    max_groups: int,
    max_size: int,
    now: float,
) -> Any:
    """Return what an upper program answers about what it is shown; nothing if it raises."""
    refill(generator, upper_noise, 0, len(upper_noise))
    try:
        return upper(
            shown[PRECEDING],
            shown[FOLLOWING],
            neighbours,
            neighbour_distances,
            gains,
            shown[EXPOSURES],
            upper_noise,
            now,
            max_groups,
            max_size,
        )
    except Exception:  # noqa: BLE001  a program may raise anything
        return np.zeros(0, np.int64)


@njit(cache=True)
def name_groups(
    uppers: Any,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    _places: int,
    state: Any,
    max_groups: int,
    max_size: int,
    progress: float,
) -> Any:
    """Return the groups that a pass would repair: how long they are, and their nodes."""
    nodes, edges, shown, gains, marks, changed, _, generator, _, _, counts, numbers = state
    show(distances, nodes, edges, shown, gains, marks, changed, numbers)
    named = ask(
        uppers[0],
        neighbours,
        neighbour_distances,
        shown,
        gains,
        generator,
        np.empty(NOISE_PER_GROUP * max_groups),
        max_groups,
        max_size,
        progress,
    )
    return all_groups(named, len(nodes) - 1, max_groups, max_size, marks, counts)
