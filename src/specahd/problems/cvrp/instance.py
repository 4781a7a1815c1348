"""CVRP instances: files, and generated pools (the paper, appendix C; docs/reference/pools.md)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specahd.routing.formats import vrplib
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.generation import LAYOUTS, Slot, instances, uniform
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.instance import VehicleInstance


@dataclass(frozen=True, eq=False)
class CVRPInstance(VehicleInstance):
    """One CVRP instance; every demand is from 0 to ``capacity``."""


def read(path: Path, euclidean: Convention = Convention.EUC_2D) -> CVRPInstance:
    """Read a VRPLIB file.

    Parameters
    ----------
    euclidean
        Convention for files with EUC_2D: EUC_2D itself, or EXACT_2D.

    Raises
    ------
    FileError
        The file is missing, incomplete, or describes no valid instance.
    """
    return from_vrplib(vrplib.read(path, euclidean=euclidean), path)


def from_vrplib(data: VRPLIBData, path: Path) -> CVRPInstance:
    """Return the instance that a file describes; its reader has checked it."""
    return CVRPInstance.of(data)


def dumps(instance: CVRPInstance) -> str:
    """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
    return vrplib.dumps(instance.data())


_SERIALS = {
    "lower_train": range(256),
    "upper_train": range(300, 360),
    "selection": range(400, 460),
    "validation": range(500, 560),
}
_VALIDATION_SIZES = (100, 200, 300, 500, 800)
_VALIDATION_FAMILIES = ("clustered", "ring", "corridor", "mixed")
# Demand d has weight d.
_WEIGHTED_DEMANDS = np.repeat(np.arange(1, 10), np.arange(1, 10))


def generate(pool: str, seed: int) -> Iterator[CVRPInstance]:
    """Yield the instances of a pool in order.

    A name like ``cvrp-uniform-n100-s2024017`` states the spatial family, the
    number of nodes (with the depot, as in CVRPLIB) and 1000 times the seed
    plus a serial number that no two instances of the pools share.

    Parameters
    ----------
    pool
        ``lower_train``, ``upper_train`` and ``selection`` are uniform with 20
        to 200 nodes; ``validation`` has 100 to 800 customers in other families.
    seed
        As for :func:`~specahd.routing.generation.instances`, which lists the exceptions.
    """
    return instances("cvrp", pool, seed, _SERIALS, _drawn)


def _drawn(rng: np.random.Generator, slot: Slot) -> CVRPInstance:
    if slot.pool == "validation":
        customers = _VALIDATION_SIZES[slot.number // 12]
        family = _VALIDATION_FAMILIES[slot.number % 4]
    else:
        customers = int(rng.integers(19, 200))
        family = "uniform"
    capacity = int(rng.integers(10, 151))
    demands = np.zeros(customers + 1, np.int64)
    demands[1:] = _WEIGHTED_DEMANDS[rng.integers(len(_WEIGHTED_DEMANDS), size=customers)]
    depot = uniform(rng, 1)
    points = LAYOUTS[family](rng, customers)
    return CVRPInstance(
        name=slot.name(family, customers + 1),
        coords=np.concatenate((depot, points)).astype(np.float64),
        demands=demands,
        capacity=capacity,
        comment=slot.comment,
    )
