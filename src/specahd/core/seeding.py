"""Randomness: every generator of a run is derived from its seed and a path of names."""

import zlib

import numpy as np


def generator(seed: int, *path: int | str) -> np.random.Generator:
    """Return the generator that belongs to ``path`` under ``seed``.

    The same seed and path give the same stream on every machine, whatever was
    drawn before; different paths give independent streams.

    Parameters
    ----------
    seed
        The run's or the pool's seed, at least 0.
    path
        Purpose of the stream, as names and indices: ``("lower", 2, 17)``.
    """
    words = [zlib.crc32(step.encode()) if isinstance(step, str) else step for step in path]
    return np.random.default_rng([seed, *words])
