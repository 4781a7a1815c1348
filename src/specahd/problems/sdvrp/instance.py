"""SDVRP instances and solutions, and the generated pools (the paper; docs/reference/pools.md)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import IntArray
from specahd.routing.formats import sdvrp
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.generation import LAYOUTS, SIDE, Slot, instances, uniform
from specahd.routing.groups import is_vector
from specahd.routing.vehicles.instance import VehicleInstance

MOST_LOADS = 200_000
"""Maximum number of loads of all demands together; a solution has a route for each load."""


@dataclass(frozen=True, eq=False)
class SDVRPInstance(VehicleInstance):
    """One SDVRP instance; every demand is at least 1 and may exceed ``capacity``."""


def read(path: Path) -> SDVRPInstance:
    """Read a VRPLIB file of TYPE SDVRP, or a file of the classical sets, which has numbers only.

    Raises
    ------
    FileError
        The file is missing, incomplete, or describes no valid instance.
    """
    return from_vrplib(sdvrp.read(path), path)


def from_vrplib(data: VRPLIBData, path: Path) -> SDVRPInstance:
    """Return the instance that a file describes.

    Raises
    ------
    FileError
        The instance is not valid.
    """
    loads = int(data.demands.sum()) // data.capacity
    if loads > MOST_LOADS:
        raise FileError(
            f"{path}: its demands take {loads} loads of the capacity {data.capacity}, "
            f"expected at most {MOST_LOADS}."
        )
    return SDVRPInstance.of(data)


def dumps(instance: SDVRPInstance) -> str:
    """Return the VRPLIB text of an instance; coordinates from scaling are left out."""
    return sdvrp.dumps(instance.data())


class Delivery(NamedTuple):
    """One stop of a route.

    Parameters
    ----------
    customer
        The customer at which the vehicle stops.
    quantity
        The quantity delivered, at least 1; None stands for the customer's whole
        demand, as in solution files that contain routes only.
    """

    customer: int
    quantity: int | None


Route = tuple[Delivery, ...]
Solution = tuple[Route, ...]
"""Routes without the depot. A route stops at a customer once; several routes may stop there."""


def stops(solution: Solution) -> tuple[tuple[int, ...], ...]:
    """Return the customers of each route, in the order in which it visits them."""
    return tuple(tuple(customer for customer, _ in route) for route in solution)


def quantities(solution: Solution, demands: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the deliveries of each route of a feasible solution, stop by stop."""
    whole = demands.tolist()
    return tuple(
        tuple(whole[customer] if quantity is None else quantity for customer, quantity in route)
        for route in solution
    )


def unflat(arrays: Sequence[IntArray]) -> Solution | None:
    """Return the solution of two arrays; None if they are malformed.

    Feasibility is not checked here.

    Parameters
    ----------
    arrays
        Customers with 0 between two routes, and quantities, of the same shape.
    """
    if len(arrays) != 2 or not all(is_vector(array) for array in arrays):
        return None
    customers, given = arrays
    if customers.size != given.size:
        return None
    routes: list[list[Delivery]] = [[]]
    for customer, quantity in zip(customers.tolist(), given.tolist(), strict=True):
        if customer:
            routes[-1].append(Delivery(customer, quantity))
        elif routes[-1]:
            routes.append([])
    return tuple(tuple(route) for route in routes if route)


def joined(pairs: Iterable[tuple[int, Any]]) -> Route:
    """Return the deliveries of one route; those to the same customer are joined at the first."""
    quantities: dict[int, int] = {}
    for customer, quantity in pairs:
        quantities[customer] = quantities.get(customer, 0) + quantity
    return tuple(Delivery(customer, quantity) for customer, quantity in quantities.items())


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


def generate(pool: str, seed: int) -> Iterator[SDVRPInstance]:
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


def _drawn(rng: np.random.Generator, slot: Slot) -> SDVRPInstance:
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
    return SDVRPInstance(
        name=slot.name(f"{family}-{demand}", customers + 1),
        coords=np.concatenate((depot, points)).astype(np.float64),
        demands=demands,
        capacity=capacity,
        comment=slot.comment,
    )
