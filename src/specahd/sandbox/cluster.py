"""Workers on a Ray cluster; the only module that uses Ray (the extra ``ray``).

Every worker is an actor with a CPU of its own. When its process or its node is gone, Ray
restarts it on any node with a free CPU. The workers of a node map the same shared arrays: the
first worker starts one more actor, which copies the arrays out of the object store, and all
workers of the node map that copy.

Results depend on the submission alone, so neither the number of nodes nor their loss
changes any. Every node needs this version of specahd and of its libraries.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.environment import only_public_variables, public_variables
from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.core.options import Effect, Option
from specahd.core.settings import WORKERS
from specahd.sandbox.executor import ATTEMPTS, Executor, Start, handle_order
from specahd.sandbox.shared_arrays import Directory, SharedArrays

_START_SECONDS = 120.0
"""Seconds until the first worker must be ready."""
_CONNECTING = 12.0
"""Seconds until a cluster that does not report its state counts as unreachable."""
_PROBE_SECONDS = 5.0
"""Seconds after which an idle worker that does not answer gets no work until it answers."""
_PAUSE = 1.0
"""Seconds between attempts to start a worker."""
_HEADROOM = 200_000_000
"""Bytes of a local object store beyond the shared arrays."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class RayExecutor(Executor):
    """Worker processes on the nodes of a Ray cluster.

    While no node is left, submissions wait until a node joins. Closing the executor kills the
    workers, and their sandboxes end with them.

    Parameters
    ----------
    start
        Function that makes the worker object in each process; cloudpickle must be able
        to serialise it. An exception that it raises is raised here.
    shared
        The arrays, put into the object store once; each node has one copy for its workers.
    workers
        Number of processes in the whole cluster, at least 1. Workers without a free
        CPU join when one becomes free.
    address
        ``HOST:PORT`` of the cluster's head, or ``auto`` for the cluster of this machine.
        This machine must be a node of the cluster in both cases. None starts a cluster on
        this machine and ends it with the executor.
    option
        Name of the address option in messages.

    Raises
    ------
    ConfigError
        Ray is not installed, or the address leads to no cluster with a free CPU.
    """

    def __init__(
        self,
        start: Start,
        shared: SharedArrays,
        workers: Annotated[int, WORKERS],
        address: Annotated[
            str | None,
            Option(
                "HOST:PORT of the cluster's head, auto, or null for this machine",
                effect=Effect.SPEED,
            ),
        ] = None,
        option: str = "executor.address",
    ) -> None:
        super().__init__(workers)
        self._ray = _connect(address, workers, shared.contents().nbytes, option)
        self._lost = (self._ray.exceptions.RayError,)
        try:
            # In a list, so that Ray passes references and a process fetches what it needs.
            self._stored = [
                self._ray.put((start, shared.directory)),
                self._ray.put(shared.contents()),
            ]
            shared.close()
            kind = self._ray.remote(num_cpus=1, max_restarts=-1)(_WorkerActor)
            self._actors = [kind.remote() for _ in range(workers)]
            self._await_first(option)
        except BaseException:
            self._ray.shutdown()
            raise
        self._lock = threading.Lock()
        self._left = workers
        self._starting = ThreadPoolExecutor(workers)
        for actor in self._actors:
            self._replace(actor)

    def _await_first(self, option: str) -> None:
        ready = [actor.prepare.remote(self._stored) for actor in self._actors]
        done, _ = self._ray.wait(ready, timeout=_START_SECONDS)
        if not done:
            raise ConfigError(
                f"Expected {option} to lead to a Ray cluster with a free CPU, "
                f"but no worker started there within {_START_SECONDS:.0f} seconds."
            )
        try:
            self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None

    @staticmethod
    def require() -> None:
        """Check that the extra ``ray`` is installed."""
        require("ray", "A cluster")

    def _take(self) -> Any:
        while (actor := self._free.get()) is not None and not self._is_ready(actor, _PROBE_SECONDS):
            self._replace(actor)
        return actor

    def _call(self, worker: Any, order: bytes) -> bytes:
        reply: bytes = self._ray.get(worker.call.remote(order))
        return reply

    def _replace(self, worker: Any) -> None:
        self._starting.submit(self._await, worker)

    def _await(self, actor: Any) -> None:
        """Mark a worker as free once it is ready; count it as lost if it never will be."""
        if self._is_ready(actor):
            self._free.put(actor)
            return
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._free.put(None)

    def _end(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._free.put(None)
        self._threads.shutdown(cancel_futures=True)
        self._starting.shutdown()
        self._ray.shutdown()

    def _is_ready(self, actor: Any, seconds: float | None = None) -> bool:
        """Return whether a worker can be called, after ``seconds`` seconds at most.

        Without a bound, wait until Ray has restarted it, if necessary on a node that joins
        later; False then means that the worker is lost for good.
        """
        failures = 0
        while failures < ATTEMPTS and not self._closed.is_set():
            try:
                self._ray.get(actor.prepare.remote(self._stored), timeout=seconds)
            except self._ray.exceptions.GetTimeoutError:
                return False
            except self._ray.exceptions.ActorUnavailableError:
                if seconds is not None:
                    return False
            except self._ray.exceptions.RayError:
                failures += 1
            else:
                return True
            self._closed.wait(_PAUSE)
        return False


class _WorkerActor:
    """The process of one worker; only ``prepare`` may be repeated."""

    def __init__(self) -> None:
        self._worker: Any = None

    def prepare(self, stored: Sequence[Any]) -> None:
        """Make the worker object if it does not exist yet."""
        if self._worker is None:
            import ray

            start, contents = stored
            start, directory = ray.get(start)
            # Keep the handle: without one at its creator, Ray ends the actor.
            self._holder = _holder(contents, directory)
            path = ray.get(self._holder.path.remote())
            self._worker = start(SharedArrays.attach(os.open(path, os.O_RDONLY), directory))

    def call(self, order: bytes) -> bytes:
        """Reply to an order, as :func:`~specahd.sandbox.executor.handle_order` does."""
        return handle_order(self._worker, order)


class _ArraysActor:
    """The holder of the shared arrays of a node."""

    def __init__(self, contents: NDArray[np.uint8], directory: Directory) -> None:
        self._shared = SharedArrays.copy_of(contents, directory)

    def path(self) -> str:
        """Return the path of the block for processes of this node and this user."""
        return f"/proc/{os.getpid()}/fd/{self._shared.fd}"


def _holder(contents: Any, directory: Directory) -> Any:
    """Return the actor of the shared arrays on this node; create it if there is none."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    node = ray.get_runtime_context().get_node_id()
    actor = ray.remote(_ArraysActor).options(
        num_cpus=0,
        name=f"shared-arrays-{node}",
        get_if_exists=True,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
    )
    return actor.remote(contents, directory)


def _connect(address: str | None, workers: int, shared_bytes: int, option: str) -> Any:
    """Return Ray, connected to a cluster; refuse an address that leads to none."""
    RayExecutor.require()
    import ray

    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        with only_public_variables():
            ray.init(
                "local",
                num_cpus=workers,
                object_store_memory=shared_bytes + _HEADROOM,
                include_dashboard=False,
                **options,
            )
        return ray
    _reach(address, option)
    try:
        with only_public_variables():
            ray.init(address, **options)
    except (OSError, RuntimeError, ValueError) as error:
        raise _refusal(option, address, str(error)) from error
    return ray


def _reach(address: str, option: str) -> None:
    """Request the cluster's state, since Ray's own attempts to connect take minutes to fail."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            env=public_variables(),
            text=True,
            timeout=_CONNECTING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _refusal(option, address, f"no answer within {_CONNECTING:.0f} seconds") from None
    if done.returncode != 0:
        raise _refusal(option, address, "\n".join(done.stderr.splitlines()[-1:]))


def _refusal(option: str, address: str, reason: str) -> ConfigError:
    text = reason.partition("\n")[0].rstrip(".")
    if "auth" in text.lower():
        text = "it asks for a token: set RAY_AUTH_MODE=token here as on its head"
    return ConfigError(
        f"Expected {option} to be null, auto or the HOST:PORT of a Ray cluster "
        f"that this machine is a node of, got {address} ({text})."
    )
