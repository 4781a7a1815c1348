"""A search in several processes, which repair disjoint tiles of routes in parallel."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.program import Outcome
from specahd.core.ranges import check_integer
from specahd.core.seeding import generator
from specahd.core.sums import sequential_sum
from specahd.engine.improver import Answering, Programs, SandboxedEngine, sessions
from specahd.engine.neighbourhood_search import SLICE_REPAIRS, SLICE_SECONDS, SliceResult
from specahd.engine.orders import Order, Report
from specahd.engine.tiles import portions, slice_count, tile_count, tiles
from specahd.routing.base import AnyProblem, IntArray
from specahd.routing.distances import MATRIX
from specahd.sandbox.calls import Call, Result

_END = np.zeros(1, np.int64)
"""Separator between the routes of two tiles."""


@dataclass
class _Tile:
    """Routes that a process repairs in a round.

    Parameters
    ----------
    unsent
        The routes of the tile, until the process has them; then none.
    current, best, cost
        The last answer of the process: current routes, best routes, and the cost of the best.
    """

    seed: int
    size: int
    unsent: IntArray
    current: IntArray
    best: IntArray
    cost: float = math.inf
    repairs: int = 0

    def take(self, answer: tuple[IntArray, ...]) -> int:
        """Read the answer of the process; return the repairs that it made since the last one."""
        encoded, self.current, *better = answer
        report = Report.decode(encoded)
        done, self.repairs = report.repairs - self.repairs, report.repairs
        if done < 0:
            raise ValueError("The report holds a value out of its range.")
        self.unsent, self.cost = self.unsent[:0], report.best
        [self.best] = better or [self.best]
        return done


class TiledEngine(SandboxedEngine):
    """Search in several processes, in rounds.

    A round divides the routes of the current solution into tiles, and each process makes passes
    over one tile. At the end of the round, the tiles together are the next current solution. After
    every slice, the best routes of all tiles together are a candidate for the best solution.

    Parameters
    ----------
    workers
        The processes, all with the same programs.
    arrays
        The arrays of the instance, as the workers hold them.
    kept
        Whether a process continues with its tile in the next call. Otherwise a round is a single
        slice, as long as all slices of a round.
    """

    def __init__(
        self,
        workers: Sequence[Answering],
        problem: AnyProblem,
        instance: Any,
        arrays: Mapping[str, Any],
        lowers: int,
        seed: int,
        kept: bool = True,
    ) -> None:
        near = arrays["neighbour_distances"]
        super().__init__(workers[0], problem, instance, near, lowers, seed)
        slices = slice_count(self._size, len(workers), MATRIX in arrays)
        self._slices, longer = (slices, 1) if kept else (1, slices)
        self.slice_repairs = longer * len(workers) * SLICE_REPAIRS
        self.slice_seconds = longer * SLICE_SECONDS
        self._workers = workers
        self._generator = generator(seed, "tiles")
        self._tiles: list[_Tile] = []
        self._left = 0
        self._reported_cost = math.inf

    def start(self, solution: Any, *, given: bool = False) -> None:
        super().start(solution, given=given)
        self._reported_cost = math.inf
        self._part()

    def improve(
        self, seconds: float | None, repairs: int | None, share: float, end_share: float
    ) -> SliceResult:
        # A round of which less than half fits into the rest of the search is not worth its cost.
        if self._left < 1 and 1.0 - share >= self._slices * (end_share - share) / 2:
            violation = self._merge()
            if violation is not None:
                return SliceResult(Outcome.INFEASIBLE_MERGE, violation)
            self._part()
        self._left -= 1
        sizes = [tile.size for tile in self._tiles]
        most = [None] * len(sizes) if repairs is None else portions(repairs, sizes)
        orders = [
            self._order(tile.seed, tile.size, seconds, each, share, end_share)
            for tile, each in zip(self._tiles, most, strict=True)
        ]
        with ThreadPoolExecutor(len(orders)) as threads:
            results = list(threads.map(self._repaired, self._workers, orders, self._tiles))
        for result in results:
            if result.outcome is not Outcome.OK:
                return SliceResult(result.outcome, result.detail)
        try:
            answers = zip(self._tiles, results, strict=True)
            done = sum(tile.take(result.output) for tile, result in answers)
        except ValueError as error:
            return SliceResult(Outcome.INVALID_OUTPUT, str(error))
        fallbacks = sum(result.fallbacks for result in results)
        return SliceResult(Outcome.OK, "", self._better(), done, fallbacks)

    def _part(self) -> None:
        """Begin a round with new tiles."""
        count = len(self._workers)
        parts = tiles(self._routes[0], self._instance.coords, count, self._generator)
        seeds = self._generator.integers(2**62, size=len(parts)).tolist()
        self._tiles = [
            _Tile(seed, int(np.count_nonzero(part)), part, part[:-1], part[:-1])
            for seed, part in zip(seeds, parts, strict=True)
        ]
        self._left = self._slices

    def _repaired(self, worker: Answering, order: Order, tile: _Tile) -> Result:
        order = replace(order, part=True)
        inputs = order.encode(), tile.unsent
        return worker.call(Call(self.upper, self._index, inputs, not tile.unsent.size))

    def _merge(self) -> str | None:
        """Join the routes of all tiles to the current solution; return the reason if that fails."""
        solution = self._whole([tile.current for tile in self._tiles])
        if solution is None:
            return "The routes cannot be read."
        violations = self._problem.check(self._instance, solution)
        if violations:
            return violations[0].detail
        self._routes = self._problem.flat(self._instance, solution)
        return None

    def _better(self) -> Any | None:
        """Return the best routes of all tiles together, if their reported cost is a new minimum."""
        cost = sequential_sum(tile.cost for tile in self._tiles)
        if not cost < self._reported_cost * (1.0 - 1e-9):
            return None
        self._reported_cost = cost
        return self._whole([tile.best for tile in self._tiles])

    def _whole(self, parts: Sequence[IntArray]) -> Any | None:
        routes = np.concatenate([each for part in parts for each in (part, _END)])
        return self._problem.unflat(self._instance, (routes,))


def working(problem: AnyProblem, instance: Any, workers: int, cluster: str | None = None) -> int:
    """Return the number of the requested workers that have work.

    Raises
    ------
    ConfigError
        The number is out of range, or solutions of the problem cannot be divided.
    """
    check_integer("workers", workers, 1, 64)
    if cluster is not None:
        check_integer("workers with a cluster", workers, 2, 64)
    if workers > 1 and not (problem.engine and problem.engine.routes_disjoint):
        raise ConfigError(
            f"Expected workers=1 for {problem.name}, got {workers}: "
            "its solutions have no parts that several could search."
        )
    return tile_count(instance.size, workers)


@contextmanager
def tiled_engine(
    problem: AnyProblem,
    instance: Any,
    programs: Programs,
    seed: int,
    memory_bytes: int,
    counted: bool,
    admit: Callable[[Mapping[str, str]], None],
    workers: int,
) -> Iterator[TiledEngine]:
    """Start several processes of the sandbox, and end them.

    The parameters and the errors are those of :func:`specahd.engine.improver.sessions`.
    """
    started = sessions(problem, instance, programs, memory_bytes, counted, admit, workers)
    with started as (processes, arrays):
        yield TiledEngine(processes, problem, instance, arrays, len(programs.lowers), seed)
