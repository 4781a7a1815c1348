"""Executors of calls on worker objects: a base class, and one derived class per place.

The worker object is made once in each process, on that process's own view of
the shared arrays, so it may hold sandboxes. Only method names, arguments and
results cross the process boundary; they are pickled, as all these processes are trusted.
"""

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Annotated, Any

from specahd.core.errors import ProcessLost
from specahd.core.settings import WORKERS, check_workers
from specahd.sandbox import confinement
from specahd.sandbox.shared_arrays import SharedArrays

ATTEMPTS = 3
"""Number of workers in a row that may die in one submission before it fails."""
Start = Callable[[SharedArrays], Any]
_DISMISSAL = b""
_FORK = multiprocessing.get_context("fork")


class Executor(ABC):
    """Base class of executors, which run methods of worker objects in other processes.

    An executor is made from ``start``, which makes a worker object on the shared arrays,
    and from the filled shared arrays, which it takes over and closes. It has one thread per
    worker. Each thread takes one submission at a time and sends it to a free worker.
    """

    _lost: tuple[type[Exception], ...]
    """The exceptions that :meth:`_call` raises if the worker is gone."""

    def __init__(self, workers: int) -> None:
        check_workers(workers)
        self.workers = workers
        self._threads = ThreadPoolExecutor(workers)
        self._free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._closed = threading.Event()

    @staticmethod  # noqa: B027  most need nothing
    def require() -> None:
        """Raise ConfigError if this machine lacks a dependency of the executor."""

    def submit(self, method: str, *arguments: Any) -> Future[Any]:
        """Call ``worker.method(*arguments)`` in some worker.

        A submission whose worker dies goes to the next free worker, ahead of later
        submissions. It fails only when ``ATTEMPTS`` workers in a row have died, or lost the process
        of a program.
        """
        if self._closed.is_set():
            raise RuntimeError("The executor is closed.")
        return self._threads.submit(self._run, method, arguments)

    def close(self) -> None:
        """Abandon unfinished calls and end the workers."""
        if not self._closed.is_set():
            self._closed.set()
            self._end()

    def _run(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return the result of a worker's method, or raise its error."""
        order = pickle.dumps((method, arguments))
        lost: ProcessLost | None = None
        for _ in range(ATTEMPTS):
            worker = self._take()
            if worker is None or self._closed.is_set():
                self._free.put(worker)
                break
            try:
                reply = self._call(worker, order)
            except self._lost:
                self._replace(worker)
                continue
            except BaseException:
                self._free.put(worker)
                raise
            self._free.put(worker)
            succeeded, value = pickle.loads(reply)
            if succeeded:
                return value
            if not isinstance(value, ProcessLost):
                raise value
            lost = value
        if lost is not None:
            raise lost
        if self._closed.is_set():
            reason = "was closed"
        else:
            those = "every worker for good" if worker is None else f"{ATTEMPTS} workers in a row"
            reason = f"lost {those}"
        raise RuntimeError(f"The executor {reason} during {method}.")

    def _take(self) -> Any:
        """Wait for a free worker; return None if all are lost for good."""
        return self._free.get()

    @abstractmethod
    def _call(self, worker: Any, order: bytes) -> bytes:
        """Send an order to a worker (:func:`handle_order`)."""

    def _replace(self, worker: Any) -> None:
        """Put a worker whose process is gone back among the free workers."""
        self._free.put(worker)

    @abstractmethod
    def _end(self) -> None:
        """End the workers, even busy ones, and then the threads."""


def handle_order(worker: Any, order: bytes) -> bytes:
    """Call a worker object; return, pickled, whether it succeeded and its result or error."""

    def call() -> Any:
        method, arguments = pickle.loads(order)
        return getattr(worker, method)(*arguments)

    try:
        return pickle.dumps(_attempt(call))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        return pickle.dumps((False, RuntimeError(f"The answer cannot be sent: {error}")))


class LocalExecutor(Executor):
    """Worker processes on this machine, forked when the executor is made.

    Make it in a thread that outlives it, if possible before other threads start: the
    workers are copies of this process and die with the thread that forked them.
    A worker that dies is forked again when it is needed.

    Parameters
    ----------
    start
        Function, or closure, that makes the worker object in each process. If the
        object has a ``close`` method, it is called when the executor is closed.
        An exception that ``start`` raises is raised here.
    shared
        The arrays, which the workers inherit.
    workers
        Number of processes, at least 1.
    """

    _lost = (EOFError, OSError)

    def __init__(
        self, start: Start, shared: SharedArrays, workers: Annotated[int, WORKERS]
    ) -> None:
        super().__init__(workers)
        self._shared = shared
        forking = threading.Lock()
        self._team = [_Worker(lambda: start(shared), forking) for _ in range(workers)]
        try:
            for worker in self._team:
                worker.await_ready()
        except BaseException:
            for worker in self._team:
                worker.kill()
                worker.join()
            raise
        for worker in self._team:
            self._free.put(worker)

    def _call(self, worker: "_Worker", order: bytes) -> bytes:
        return worker.call(order)

    def _end(self) -> None:
        for worker in self._team:
            if worker.busy:
                worker.kill()
        # All become free, because no new call begins.
        idle = [self._free.get() for _ in self._team]
        for worker in idle:
            worker.dismiss()
        for worker in idle:
            worker.join()
            self._free.put(worker)
        # Last, because workers that were forked in a thread end with it.
        self._threads.shutdown(cancel_futures=True)
        self._shared.close()


class _Worker:
    """The executor's handle of one worker process."""

    def __init__(self, start: Callable[[], Any], forking: threading.Lock) -> None:
        self.busy = False
        self._start = start
        self._forking = forking
        self._fork()

    def _fork(self) -> None:
        # One at a time: if a worker inherited another worker's end of a pipe,
        # the death of the other would go unnoticed.
        with self._forking:
            self._connection, theirs = _FORK.Pipe()
            self._process = _FORK.Process(
                target=_work, args=(self._start, theirs, os.getpid()), daemon=True
            )
            self._process.start()
            theirs.close()

    def await_ready(self) -> None:
        """Wait until the worker object is made, and raise its error if that failed."""
        succeeded, answer = self._connection.recv()
        if not succeeded:
            raise answer

    def call(self, order: bytes) -> bytes:
        """Return the worker's reply, as :func:`handle_order` makes it."""
        self.busy = True
        try:
            if not self._process.is_alive():
                self.join()
                self._fork()
                self.await_ready()
            self._connection.send_bytes(order)
            reply = self._connection.recv_bytes()
        except (EOFError, OSError):
            self.kill()
            self._process.join()
            raise
        finally:
            self.busy = False
        return reply

    def dismiss(self) -> None:
        """Let the process close its worker object and end."""
        with suppress(OSError):
            self._connection.send_bytes(_DISMISSAL)

    def join(self) -> None:
        """Wait until the process has ended."""
        self._process.join()
        self._connection.close()

    def kill(self) -> None:
        # The lock waits for another thread that is forking the process.
        with self._forking:
            self._process.kill()


def _work(start: Callable[[], Any], connection: Connection, parent: int) -> None:
    """Make the worker object and answer calls on it; the main function of a worker process."""
    # The parent handles Ctrl-C: it closes the executor.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    confinement.die_with_parent(parent)
    succeeded, worker = _attempt(start)
    connection.send((succeeded, None if succeeded else worker))
    if not succeeded:
        return
    while (order := connection.recv_bytes()) != _DISMISSAL:
        connection.send_bytes(handle_order(worker, order))
    if hasattr(worker, "close"):
        worker.close()


def _attempt(work: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, work()
    except Exception as error:  # noqa: BLE001  raised again where the result is asked for
        error.add_note(traceback.format_exc())
        return False, error
