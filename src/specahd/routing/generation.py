"""Common parts of the generators: the slots of the pools, and their instances."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.seeding import generator
from specahd.routing.base import POOLS, I


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
