"""Partition of programs into groups of similar programs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Parent
from specahd.memory.structural import StructuralEncoder
from specahd.memory.views import VIEWS

FEATURES = (*VIEWS, "score", "random")
"""Names of the features that programs can be partitioned by: a view (the similarities of a program
to all others in it), the score, or random numbers."""
DIMENSIONS = 10
"""Largest number of dimensions after the reduction by principal components."""
RANDOM = 20
"""Number of random features of a program."""
STARTS, STEPS = 10, 300
"""Number of starts of k-means, and largest number of steps of a start."""

FloatArray = NDArray[np.float64]


def partition_programs(
    parents: Sequence[Parent], features: Sequence[str], count: int, rng: np.random.Generator
) -> list[list[Parent]]:
    """Return at most ``count`` groups by k-means, none of them empty.

    Parameters
    ----------
    parents
        The programs with their scores, at least one.
    features
        Names from :data:`FEATURES`.
    """
    labels = k_means(feature_rows(parents, features, rng), count, rng)
    groups = [
        [parent for parent, label in zip(parents, labels, strict=True) if label == number]
        for number in range(count)
    ]
    return [group for group in groups if group]


def feature_rows(
    parents: Sequence[Parent], features: Sequence[str], rng: np.random.Generator
) -> FloatArray:
    """Return a row for each program: its standardised features, reduced by principal components."""
    columns = []
    for name in features:
        if name == "score":
            columns.append(np.array([[parent.score] for parent in parents]))
        elif name == "random":
            columns.append(rng.normal(size=(len(parents), RANDOM)))
        else:
            encoder = StructuralEncoder(VIEWS[name])
            encoder.add([parent.program for parent in parents])
            columns.append(np.stack([encoder.cosines(row) for row in range(len(parents))]))
    table = np.hstack(columns)
    spread = table.std(axis=0)
    table = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    left, strengths, _ = np.linalg.svd(table, full_matrices=False)
    return np.asarray((left * strengths)[:, :DIMENSIONS])


def k_means(points: FloatArray, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the cluster number of each point in the best partition of several starts.

    Centres begin at points that are likely far from each other (k-means++, Arthur and
    Vassilvitskii 2007). There are fewer clusters than ``count`` if points coincide.
    """
    best, least = np.zeros(len(points), np.intp), np.inf
    for _ in range(STARTS):
        centres = points[rng.integers(len(points))][None]
        while len(centres) < count and (apart := _squares(points, centres).min(axis=1)).any():
            drawn = rng.choice(len(points), p=apart / apart.sum())
            centres = np.vstack([centres, points[drawn]])
        for _ in range(STEPS):
            labels = _squares(points, centres).argmin(axis=1)
            moved = np.stack(
                [
                    points[labels == number].mean(axis=0) if (labels == number).any() else centre
                    for number, centre in enumerate(centres)
                ]
            )
            if np.array_equal(moved, centres):
                break
            centres = moved
        within = float(_squares(points, centres).min(axis=1).sum())
        if within < least:
            best, least = labels, within
    return best


def _squares(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared distances, of shape (points, centres)."""
    return np.asarray(((points[:, None] - centres[None]) ** 2).sum(axis=2))
