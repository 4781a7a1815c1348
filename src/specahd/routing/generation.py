"""Common parts of the generators: the slots of the pools, and their instances."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.seeding import generator
from specahd.routing.base import POOLS, I, IntArray


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one instance in a pool.

    Parameters
    ----------
    problem, pool, seed
        Arguments of the generator.
    number
        Position in the pool, from 0 on.
    serial
        A number that no two instances of the problem's pools share.
    """

    problem: str
    pool: str
    seed: int
    number: int
    serial: int

    @property
    def comment(self) -> str:
        return f"{self.pool} pool, seed {self.seed}"

    def name(self, kind: str, nodes: int) -> str:
        """Return an instance's name, for example ``cvrp-ring-n101-s2024501``."""
        return f"{self.problem}-{kind}-n{nodes}-s{self.serial}"


def instances(
    problem: str,
    pool: str,
    seed: int,
    serials: Mapping[str, range],
    draw: Callable[[np.random.Generator, Slot], I],
) -> Iterator[I]:
    """Yield the instances of a pool in order.

    Parameters
    ----------
    problem
        Name of the problem, with which the names of instances begin.
    pool
        One of :data:`~specahd.routing.base.POOLS`.
    seed
        The seed of all pools together, at least 0.
    serials
        The last three digits of the serial number of each instance of each pool.
    draw
        Draws an instance with a random generator that is used for its slot only.

    Raises
    ------
    ConfigError
        The pool does not exist, or the seed is negative.
    """
    if pool not in serials:
        raise ConfigError(f"Expected a pool in {', '.join(POOLS)}, got {pool!r}.")
    if seed < 0:
        raise ConfigError(f"Expected a pool seed of at least 0, got {seed}.")
    for number, digits in enumerate(serials[pool]):
        slot = Slot(problem, pool, seed, number, 1000 * seed + digits)
        yield draw(generator(seed, problem, pool, number), slot)


SIDE = 1000
"""Coordinates are integers in [0, SIDE]."""


def uniform(rng: np.random.Generator, count: int) -> IntArray:
    """Draw points anywhere in the square."""
    return rng.integers(0, SIDE + 1, size=(count, 2))


def clustered(rng: np.random.Generator, count: int) -> IntArray:
    """Draw points in 3 to 8 bell-shaped clusters; a sum of four uniforms is nearly normal."""
    centres = rng.integers(100, SIDE - 99, size=(int(rng.integers(3, 9)), 2))
    chosen = centres[rng.integers(len(centres), size=count)]
    offsets = rng.integers(-60, 61, size=(4, count, 2)).sum(axis=0)
    points: IntArray = np.clip(chosen + offsets, 0, SIDE)
    return points


def ring(rng: np.random.Generator, count: int) -> IntArray:
    """Draw points between two circles about the middle."""
    inner = int(rng.integers(200, 401))
    points = np.empty((0, 2), np.int64)
    while len(points) < count:
        drawn = uniform(rng, count)
        squares = np.square(drawn - SIDE // 2).sum(axis=1)
        inside = (squares >= inner**2) & (squares <= (SIDE // 2) ** 2)
        points = np.concatenate((points, drawn[inside]))
    return points[:count]


def corridor(rng: np.random.Generator, count: int) -> IntArray:
    """Draw points along two to four streets each way, a few units off their middle."""
    streets = int(rng.integers(2, 5))
    along = rng.integers(0, SIDE + 1, size=count)
    middle = rng.integers(50, SIDE - 49, size=2 * streets)
    street = rng.integers(2 * streets, size=count)
    across = middle[street] + rng.integers(-12, 13, size=count)
    vertical = street % 2 == 1
    return np.where(vertical[:, None], np.stack((across, along), 1), np.stack((along, across), 1))


def mixed(rng: np.random.Generator, count: int) -> IntArray:
    """Draw points of which half are clustered and half uniform."""
    half = count // 2
    return np.concatenate((clustered(rng, half), uniform(rng, count - half)))


LAYOUTS = {
    "uniform": uniform,
    "clustered": clustered,
    "ring": ring,
    "corridor": corridor,
    "mixed": mixed,
}
"""The layouts by name, which is a part of an instance's NAME."""
