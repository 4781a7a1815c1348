"""Settings with which the engine solves the TSP."""

from specahd.engine.family import Family

FAMILY = Family(
    name="tsp",
    runners="specahd.problems.tsp.runners",
    # Measured on pr2392 and rl11849.
    hot=1.0,
    neighbours=lambda instance: 24,
    # In passes over a tour, computing a straight distance is faster than a lookup.
    looks_up=False,
)
