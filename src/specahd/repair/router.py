"""The archive A of responses, and the router that looks a region up in it (eq. response_router).

An instance is looked up in the utilities of upper programs by the same router.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from specahd.repair.merge import EPSILON
from specahd.repair.responses import RepairTask, Response, ResponseTable
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


@dataclass(frozen=True, slots=True)
class Statistics:
    """Mean and divisor of each descriptor coordinate over the distinct archived tasks."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]

    @classmethod
    def of(cls, raw: FloatArray) -> Self:
        """Return the standardisation of descriptors, shape (tasks, coordinates)."""
        if not len(raw):
            return cls((0.0,) * raw.shape[1], (1.0,) * raw.shape[1])
        scale = raw.std(axis=0)
        # Equal values can leave a spread of rounding errors only.
        scale[scale <= 1e-12 * np.maximum(1.0, np.abs(raw).max(axis=0))] = 1.0
        return cls(tuple(raw.mean(axis=0).tolist()), tuple(scale.tolist()))


@dataclass(frozen=True, slots=True)
class Utilities:
    """What upper programs saved from training solutions: one is chosen by it for an instance.

    Parameters
    ----------
    descriptors
        Raw φ of each solution as one region (:meth:`specahd.repair.cases.Case.describe`).
    saved
        By program, U - λΩ from each solution.
    """

    descriptors: tuple[tuple[float, ...], ...]
    saved: tuple[tuple[float, ...], ...]

    def router(self, n_neighbors: int) -> Router:
        """Return the router that chooses among the programs."""
        raw = np.array(self.descriptors)
        statistics = Statistics.of(raw)
        return Router(
            raw,
            np.array(self.saved).T,
            mean=np.array(statistics.mean),
            scale=np.array(statistics.scale),
            n_neighbors=n_neighbors,
        )


class ResponseArchive:
    """A: the responses in every completed table of a run, by task and program; older tasks first.

    Parameters
    ----------
    descriptor_names
        Coordinates of Φ.
    """

    def __init__(self, descriptor_names: Sequence[str]) -> None:
        self.descriptor_names = tuple(descriptor_names)
        self.tasks: dict[str, RepairTask] = {}
        self.responses: dict[tuple[str, str], Response] = {}

    def extend(self, table: ResponseTable) -> None:
        """Add a completed table: A ∪ S."""
        for column, task in enumerate(table.tasks):
            self.tasks.setdefault(task.key, task)
            for program, row in table.rows.items():
                self.responses.setdefault((task.key, program), row[column])

    def descriptors(self) -> FloatArray:
        """Return raw φ of the distinct tasks, shape (tasks, coordinates)."""
        shape = (len(self.tasks), len(self.descriptor_names))
        return np.array([task.descriptor for task in self.tasks.values()]).reshape(shape)

    def statistics(self) -> Statistics:
        """Return the current standardisation; a coordinate without variance has divisor 1."""
        return Statistics.of(self.descriptors())

    def router(
        self, programs: Sequence[str], *, n_neighbors: int, statistics: Statistics | None = None
    ) -> Router:
        """Return the router over a repertoire, with a copy of the archive's current content."""
        scores = np.full((len(self.tasks), len(programs)), np.nan)
        for row, task in enumerate(self.tasks):
            for column, program in enumerate(programs):
                response = self.responses.get((task, program))
                if response is not None:
                    scores[row, column] = response.score
        statistics = statistics or self.statistics()
        return Router(
            self.descriptors(),
            scores,
            mean=np.array(statistics.mean),
            scale=np.array(statistics.scale),
            n_neighbors=n_neighbors,
        )

    def means(self, programs: Sequence[str]) -> list[float]:
        """Return the mean response of each program over the tasks that all of them answered."""
        common = [
            [self.responses[task, program].score for program in programs]
            for task in self.tasks
            if all((task, program) in self.responses for program in programs)
        ]
        return np.mean(common, axis=0).tolist() if common else [0.0] * len(programs)

    def copy(self) -> "ResponseArchive":
        """Return a copy that later additions do not change."""
        copy = ResponseArchive(self.descriptor_names)
        copy.tasks = dict(self.tasks)
        copy.responses = dict(self.responses)
        return copy
