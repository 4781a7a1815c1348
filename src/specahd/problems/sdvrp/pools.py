"""The generated pools of the SDVRP (the paper, appendix C; docs/reference/pools.md)."""

from collections.abc import Iterator

import numpy as np

from specahd.routing.base import IntArray
from specahd.routing.generation import LAYOUTS, SIDE, Slot, instances, uniform
from specahd.routing.vehicles.instance import VehicleInstance

_SERIALS = {
    "lower_train": range(60),
    "upper_train": range(100, 160),
    "selection": range(200, 260),
    "validation": range(300, 360),
}
_VALIDATION_SIZES = (200, 250, 300, 400, 500)


def boards(rng: np.random.Generator, count: int) -> IntArray:
    """Return points like TSPLIB's drilling boards: holes on a few grids, and some anywhere."""
    number = int(rng.integers(3, 7))
    pitch = rng.integers(8, 31, size=(number, 2))
    holes = rng.integers(5, 16, size=(number, 2))
    corner = rng.integers(0, SIDE + 1 - (holes - 1) * pitch)
    chosen = rng.integers(number, size=count)
    points = corner[chosen] + pitch[chosen] * rng.integers(0, holes[chosen])
    loose = rng.integers(5, size=count) == 0
    scattered = uniform(rng, count)
    return np.where(loose[:, None], scattered, points)


FAMILIES = {
    "uniform": uniform,
    "clustered": LAYOUTS["clustered"],
    "ring": LAYOUTS["ring"],
    "tsplib": boards,
}
"""Spatial families by their name in an instance's NAME."""

DEMANDS = {"medium": (10, 50), "heavy": (70, 90), "mixed": (10, 90)}
"""Least and largest demand in percent of the capacity: the upper three of the six
classes of Belenguer, Martinez and Mota (2000), in which splitting matters most."""

_KINDS = [(family, demand) for demand in DEMANDS for family in FAMILIES]


def generate(pool: str, seed: int) -> Iterator[VehicleInstance]:
    """Yield the instances of a pool in order.

    A name like ``sdvrp-ring-heavy-n301-s2024017`` states the spatial family, the
    demand class, the number of nodes (with the depot, as in CVRPLIB) and 1000
    times the seed plus a serial number that no two instances of the pools share.
    Every pool has five instances of each family with each class.

    Parameters
    ----------
    pool
        ``validation`` has 200, 250, 300, 400 and 500 customers, each size with
        every family and class; the other pools have any number from 200 to 500.
    seed
        As for :func:`~specahd.routing.generation.instances`, which lists the exceptions.
    """
    return instances("sdvrp", pool, seed, _SERIALS, _drawn)


def _drawn(rng: np.random.Generator, slot: Slot) -> VehicleInstance:
    size, kind = divmod(slot.number, len(_KINDS))
    family, demand = _KINDS[kind]
    customers = int(rng.integers(200, 501))
    if slot.pool == "validation":
        customers = _VALIDATION_SIZES[size]
    capacity = int(rng.integers(100, 201))
    low, high = DEMANDS[demand]
    demands = np.zeros(customers + 1, np.int64)
    # The minimum demand is rounded up, the maximum down.
    demands[1:] = rng.integers(
        -(-capacity * low // 100), capacity * high // 100 + 1, size=customers
    )
    depot = uniform(rng, 1)
    points = FAMILIES[family](rng, customers)
    return VehicleInstance(
        name=slot.name(f"{family}-{demand}", customers + 1),
        coords=np.concatenate((depot, points)).astype(np.float64),
        demands=demands,
        capacity=capacity,
        splits=True,
        comment=slot.comment,
    )
