"""The generated pools (the paper, appendix C; docs/pools.md)."""

from collections.abc import Iterator

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.seeding import generator
from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import POOLS
from specahd.routing.vehicles.layouts import LAYOUTS, uniform

_COUNTS = {"lower_train": 256, "upper_train": 60, "selection": 60, "validation": 60}
# Ranges of the last three digits of the serial number in a name.
_FIRST_SERIAL = {"lower_train": 0, "upper_train": 300, "selection": 400, "validation": 500}
_VALIDATION_SIZES = (100, 200, 300, 500, 800)
_VALIDATION_FAMILIES = ("clustered", "ring", "corridor", "mixed")
# Demand d has weight d.
_WEIGHTED_DEMANDS = np.repeat(np.arange(1, 10), np.arange(1, 10))


def generate(pool: str, seed: int) -> Iterator[CVRPInstance]:
    """Yield the instances of a pool in order.

    A name like ``cvrp-uniform-n100-s2024017`` states the spatial family, the
    number of nodes (the depot is one, as in CVRPLIB) and 1000 times the seed
    plus a serial number that no two instances of the pools share.

    Parameters
    ----------
    pool
        ``lower_train``, ``upper_train`` and ``selection`` are uniform with 20
        to 200 nodes; ``validation`` has 100 to 800 customers in other families.
    seed
        Of all pools together, at least 0.

    Raises
    ------
    ConfigError
        There is no such pool, or the seed is negative.
    """
    if pool not in _COUNTS:
        raise ConfigError(f"Expected a pool in {', '.join(POOLS)}, got {pool!r}.")
    if seed < 0:
        raise ConfigError(f"Expected a pool seed of at least 0, got {seed}.")
    for number in range(_COUNTS[pool]):
        rng = generator(seed, "cvrp", pool, number)
        serial = 1000 * seed + _FIRST_SERIAL[pool] + number
        if pool == "validation":
            customers = _VALIDATION_SIZES[number // 12]
            family = _VALIDATION_FAMILIES[number % 4]
        else:
            customers = int(rng.integers(19, 200))
            family = "uniform"
        yield _instance(rng, family, customers, serial, f"{pool} pool, seed {seed}")


def _instance(
    rng: np.random.Generator, family: str, customers: int, serial: int, comment: str
) -> CVRPInstance:
    capacity = int(rng.integers(10, 151))
    demands = np.zeros(customers + 1, np.int64)
    demands[1:] = _WEIGHTED_DEMANDS[rng.integers(len(_WEIGHTED_DEMANDS), size=customers)]
    depot = uniform(rng, 1)
    points = LAYOUTS[family](rng, customers)
    return CVRPInstance(
        name=f"cvrp-{family}-n{customers + 1}-s{serial}",
        coords=np.concatenate((depot, points)).astype(np.float64),
        demands=demands,
        capacity=capacity,
        comment=comment,
    )
