"""The generated pools of the VRPTW (the paper, appendix C; docs/reference/pools.md).

They follow Homberger's rules. Only integers are drawn, and all further arithmetic is exact,
so a seed gives the same bytes on every machine. Coordinates and times are in tenths of
Homberger's unit, so that rounding distances to integers matters as little as the DIMACS rounding
of his instances.

Reference: H. Gehring and J. Homberger, Proceedings of EUROGEN99, 1999; the
numbers below are those of the published instances.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from specahd.routing.base import IntArray
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.generation import Slot, instances
from specahd.routing.vehicles.instance import VehicleInstance

_SERIALS = {
    "lower_train": range(60),
    "upper_train": range(300, 360),
    "selection": range(400, 460),
    "validation": range(500, 560),
}
# Customers, and the side of the square they lie in.
_SIDES = {200: 1400, 400: 2000, 600: 3000, 800: 4000, 1000: 5000}
_CLUSTER_DEMANDS = np.array([10, 10, 10, 10, 20, 20, 20, 20, 30, 40])


@dataclass(frozen=True, slots=True)
class _Class:
    """Capacity and times of one family and type.

    Parameters
    ----------
    base, slope
        The depot closes at ``base + slope * side / 2``.
    widths
        Mean and largest deviation of the windows' widths; an instance has one of these pairs.
    """

    capacity: int
    service: int
    base: int
    slope: int
    widths: tuple[tuple[int, int], ...]


_CLASSES = {
    "c1": _Class(200, 900, 12_000, 2, ((600, 360), (1500, 1400), (4800, 2800))),
    "c2": _Class(700, 900, 35_000, 2, ((1600, 0), (5000, 3000), (8800, 0))),
    "r1": _Class(200, 100, 1500, 7, ((100, 0), (300, 0), (1200, 1000))),
    "r2": _Class(1000, 100, 6000, 28, ((1200, 1000), (2400, 0), (4800, 2000))),
    "rc1": _Class(200, 100, 1500, 7, ((300, 0), (600, 0), (1500, 0))),
    "rc2": _Class(1000, 100, 6000, 28, ((1200, 0), (2400, 0), (6000, 0))),
}


def generate(pool: str, seed: int) -> Iterator[VehicleInstance]:
    """Yield the instances of a pool in order.

    Each pool has two instances of every family (clustered, random, half of
    each), type (1: narrow windows and small vehicles, 2: the opposite) and size
    (200 to 1,000 customers). A name like ``vrptw-rc1-n400-s2024017`` states
    family and type, the number of customers (as Homberger counts) and 1000 times the
    seed plus a serial number that no two instances of the pools share.

    Parameters
    ----------
    pool
        One of :data:`~specahd.routing.base.POOLS`.
    seed
        As for :func:`~specahd.routing.generation.instances`, which lists the exceptions.
    """
    return instances("vrptw", pool, seed, _SERIALS, _drawn)


def _drawn(rng: np.random.Generator, slot: Slot) -> VehicleInstance:
    names, sizes = list(_CLASSES), list(_SIDES)
    name = names[slot.number % len(names)]
    customers = sizes[slot.number // len(names) % len(sizes)]
    rules, side = _CLASSES[name], _SIDES[customers]
    closing = rules.base + rules.slope * side // 2
    coords = _points(rng, name, customers, side)
    demands = np.zeros(customers + 1, np.int64)
    demands[1:] = _demands(rng, name, customers)
    if name.startswith("c"):
        centres = _visits(coords, demands, rules, closing)
    else:
        depot_distances = _distances(coords[0], coords)
        centres = depot_distances + rng.integers(closing - rules.service - 2 * depot_distances + 1)
    return VehicleInstance(
        name=slot.name(name, customers),
        coords=coords.astype(np.float64),
        demands=demands,
        capacity=rules.capacity,
        windows=_windows(rng, coords, centres, rules, closing),
        comment=slot.comment,
    )


def _points(rng: np.random.Generator, name: str, customers: int, side: int) -> IntArray:
    """Return the depot in the middle, then the customers, those in clusters first."""
    clustered = {"c": customers, "r": 0, "rc": customers // 2}[name[:-1]]
    uniform = rng.integers(0, side + 1, size=(customers - clustered, 2))
    centres = rng.integers(side // 20, side - side // 20 + 1, size=(max(1, clustered // 20), 2))
    # A sum of four uniforms is nearly normal.
    offsets = rng.integers(-side // 40, side // 40 + 1, size=(4, clustered, 2)).sum(axis=0)
    chosen = np.sort(rng.integers(len(centres), size=clustered))
    members = np.clip(centres[chosen] + offsets, 0, side)
    return np.concatenate((np.full((1, 2), side // 2), members, uniform))


def _demands(rng: np.random.Generator, name: str, customers: int) -> IntArray:
    if name.startswith("c"):
        chosen: IntArray = _CLUSTER_DEMANDS[rng.integers(len(_CLUSTER_DEMANDS), size=customers)]
        return chosen
    bell: IntArray = 18 + rng.integers(-7, 8, size=(4, customers)).sum(axis=0)
    return np.maximum(bell, 1)


def _visits(coords: IntArray, demands: IntArray, rules: _Class, closing: int) -> IntArray:
    """Return when each node is served on routes to the farthest customer, then to the nearest.

    One solution can keep all windows around these times, as in Solomon's clustered
    instances. The depot's time is 0.
    """
    times = np.zeros(len(coords), np.int64)
    depot_distances = _distances(coords[0], coords)
    unserved = np.arange(1, len(coords))
    current, time, rest = 0, 0, rules.capacity
    while len(unserved):
        arrivals = time + _distances(coords[current], coords[unserved])
        returns = arrivals + rules.service + depot_distances[unserved]
        fits = (demands[unserved] <= rest) & (returns <= closing)
        if not fits.any():
            current, time, rest = 0, 0, rules.capacity
            continue
        # The farthest customer opens a route, so a nearest-neighbour baseline finds other routes.
        far = arrivals if current else -arrivals
        place = int(np.argmin(np.where(fits, far, closing)))
        current = int(unserved[place])
        times[current] = arrivals[place]
        time = int(arrivals[place]) + rules.service
        rest -= int(demands[current])
        unserved = np.delete(unserved, place)
    return times


def _windows(
    rng: np.random.Generator, coords: IntArray, centres: IntArray, rules: _Class, closing: int
) -> TimeWindows:
    """Return windows around the centres for 25, 50, 75 or 100 per cent of the customers."""
    size = len(coords)
    mean, deviation = rules.widths[rng.integers(len(rules.widths))]
    spread = rng.integers(-deviation // 4, deviation // 4 + 1, size=(4, size)).sum(axis=0)
    half = np.maximum(mean + spread, 50) // 2
    bound = rng.permutation(size) < size * int(rng.integers(1, 5)) // 4
    depot_distances = _distances(coords[0], coords)
    # A vehicle that starts service no later than this is back in time.
    latest = closing - rules.service - depot_distances
    ready = np.where(bound, np.maximum(centres - half, depot_distances), 0)
    due = np.where(bound, np.minimum(centres + half, latest), latest)
    service = np.full(size, rules.service)
    ready[0], due[0], service[0] = 0, closing, 0
    return TimeWindows(*(times.astype(np.float64) for times in (ready, due, service)))


def _distances(start: IntArray, ends: IntArray) -> IntArray:
    """Return EUC_2D distances from one point to many, by integer square roots."""
    squares = np.square(ends - start).sum(axis=1)
    # nint(x) is half of the integer part of 2 x + 1. IEEE rounds square roots correctly, so the
    # integer part of the square root of an integer below 2**52 is exact.
    roots: IntArray = np.sqrt(4 * squares).astype(np.int64)
    return (roots + 1) // 2
