"""A search whose processes run on the machines of a Ray cluster."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from specahd.core.errors import ConfigError, ProcessLost
from specahd.core.program import Outcome
from specahd.engine.blocks import shared_block
from specahd.engine.improver import Programs, launched, sandbox_of
from specahd.engine.tiled import TiledEngine
from specahd.engine.tiles import slice_count
from specahd.routing.base import AnyProblem
from specahd.routing.distances import MATRIX
from specahd.sandbox.calls import Call, Result
from specahd.sandbox.cluster import RayExecutor
from specahd.sandbox.executor import Executor
from specahd.sandbox.shared_arrays import SharedArrays


class RemoteWorker:
    """One process of the sandbox with compiled programs, on a machine of the cluster.

    The parameters are those of :func:`specahd.engine.improver.launched`.

    Raises
    ------
    ConfigError
        A program does not compile.
    """

    def __init__(
        self,
        problem: AnyProblem,
        size: int,
        programs: Programs,
        memory_bytes: int,
        counted: bool,
        slices: int,
        shared: SharedArrays,
    ) -> None:
        self._sandbox = sandbox_of(problem, shared)
        self._session = launched(
            self._sandbox, problem, size, programs, memory_bytes, counted, slices
        )
        if self._session.launched is not Outcome.OK:
            raise ConfigError(f"The programs cannot be started: {self._session.detail}")

    def call(self, call: Call) -> Result:
        """Run a call in the process, and return its result."""
        return self._session.call(call)


@dataclass(frozen=True)
class _AnyWorker:
    """Proxy that sends each call to any free worker."""

    executor: Executor

    def call(self, call: Call) -> Result:
        try:
            result: Result = self.executor.submit("call", call).result()
        except (ProcessLost, RuntimeError) as error:
            return Result(Outcome.CRASHED, detail=str(error))
        return result


@contextmanager
def remote_engine(
    problem: AnyProblem,
    instance: Any,
    programs: Programs,
    seed: int,
    memory_bytes: int,
    counted: bool,
    workers: int,
    address: str,
) -> Iterator[TiledEngine]:
    """Start processes on the machines of a cluster, and end them with the block.

    A lost worker is restarted, and repeats its part of the round.

    Parameters
    ----------
    address
        As in :class:`specahd.sandbox.cluster.RayExecutor`.

    Raises
    ------
    ConfigError
        Ray is not installed, the address leads to no cluster with a free CPU, or a program does
        not compile.
    NotEnoughMemory
        The instance's arrays would not fit.
    """
    RayExecutor.require()
    shared = shared_block(problem, instance)
    arrays = shared.arrays(0)
    size, lowers = int(instance.size), len(programs.lowers)
    slices = slice_count(size, workers, MATRIX in arrays)
    # Workers choose no program.
    sent = replace(programs, router=None, choice=None)
    start = partial(RemoteWorker, problem, size, sent, memory_bytes, counted, slices)
    with closing(RayExecutor(start, shared, workers, address, option="cluster")) as executor:
        anyone = _AnyWorker(executor)
        yield TiledEngine([anyone] * workers, problem, instance, arrays, lowers, seed, kept=False)
