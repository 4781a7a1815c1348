"""The router: it chooses the member of the repertoire for a region (eq. response_router)."""

import numpy as np

from specahd.repair.merge import EPSILON
from specahd.routing.base import FloatArray


class Router:
    """Weighted nearest-neighbour lookup in archived responses; deterministic, read-only.

    Parameters
    ----------
    descriptors
        Raw φ of the archived tasks, shape (tasks, coordinates), older first.
    scores
        Observed s, shape (tasks, repertoire), NaN where never evaluated.
    mean, scale
        Standardisation of the coordinates; ``scale`` is positive.
    n_neighbors
        k, at least 1.
    """

    def __init__(
        self,
        descriptors: FloatArray,
        scores: FloatArray,
        *,
        mean: FloatArray,
        scale: FloatArray,
        n_neighbors: int,
    ) -> None:
        self._mean = mean
        self._scale = scale
        self._tasks = (descriptors - mean) / scale
        self._norms = np.sqrt((self._tasks**2).sum(axis=1))
        self._observed = ~np.isnan(scores)
        self._scores = np.where(self._observed, scores, 0.0)
        self._n_neighbors = n_neighbors
        counts = self._observed.sum(axis=0)
        self._archive_means: FloatArray = self._scores.sum(axis=0) / np.maximum(1, counts)

    def estimate(self, descriptor: FloatArray) -> FloatArray:
        """Return Q, the estimated response of each member to a region with raw φ."""
        if not len(self._tasks):
            return self._archive_means.copy()
        query = (descriptor - self._mean) / self._scale
        norm = float(np.sqrt((query**2).sum()))
        cosine = (self._tasks * query).sum(axis=1) / np.maximum(EPSILON, self._norms * norm)
        nearest = np.argsort(-cosine, kind="stable")[: self._n_neighbors]
        weights = np.maximum(0.0, cosine[nearest])
        if not weights.any():
            weights = np.ones(len(nearest))
        observed = self._observed[nearest] * weights[:, None]
        mass = observed.sum(axis=0)
        estimate = (observed * self._scores[nearest]).sum(axis=0) / np.where(mass > 0, mass, 1.0)
        known: FloatArray = np.where(mass > 0, estimate, self._archive_means)
        return known

    def rank(self, descriptor: FloatArray, count: int) -> list[int]:
        """Return ``count`` members by Q, the largest first; ties by archive mean, then by index."""
        ranked = np.lexsort((-self._archive_means, -self.estimate(descriptor)))
        best: list[int] = ranked[:count].tolist()
        return best

    def choose(self, descriptor: FloatArray) -> int:
        """Return the first member of the :meth:`rank`."""
        return self.rank(descriptor, 1)[0]
