"""Where calls on a worker object run: one protocol, one class per place.

The worker object is made once in each process, on that process's own view of
the shared shared arrays, so it may hold sandboxes; only method names, arguments and
results cross the process boundary, between processes that trust each other.
"""

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol

from specahd.core.settings import check_workers
from specahd.sandbox import confinement
from specahd.sandbox.shared_arrays import SharedArrays

ATTEMPTS = 3
"""How many workers in a row may die of one submission."""
Start = Callable[[SharedArrays], Any]
_DISMISSAL = b""
_FORK = multiprocessing.get_context("fork")


class Executor(Protocol):
    """Runs the methods of worker objects that live in other processes.

    An executor is made from ``start``, which makes a worker object on the shared arrays,
    and from the filled shared arrays, which it takes over and closes.
    """

    workers: int

    @staticmethod
    def require() -> None:
        """Raise ConfigError if this machine lacks what such an executor needs."""
        ...

    def submit(self, method: str, *arguments: Any) -> Future[Any]:
        """Have some worker call ``worker.method(*arguments)``.

        A worker that disappears loses no submission: it is started over, and
        fails only when several workers in a row have died of it.
        """
        ...

    def close(self) -> None:
        """Abandon what is unfinished and end the workers."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A call that some worker shall make, and the future that its result goes to."""

    method: str
    arguments: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)

    def order(self) -> bytes:
        """Return what :func:`answer` expects; raises what pickling the arguments raises."""
        return pickle.dumps((self.method, self.arguments))

    def settle(self, reply: bytes) -> None:
        """Give the future what :func:`answer` replied."""
        succeeded, value = pickle.loads(reply)
        if succeeded:
            self.future.set_result(value)
        else:
            self.future.set_exception(value)

    def begin(self) -> bool:
        """Say whether anyone still wants the result; from then on nobody can cancel it."""
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def lose(self, reason: str) -> None:
        """Tell those who wait why no worker will finish it."""
        if self.begin():
            self.future.set_exception(RuntimeError(f"The executor {reason} during {self.method}."))

    def cancel(self) -> None:
        """Tell those who wait that the executor was closed before it was finished."""
        if self.future.cancel():
            self.future.set_running_or_notify_cancel()
        else:
            self.lose("was closed")


def answer(worker: Any, order: bytes) -> bytes:
    """Call a worker object as ordered; reply whether it returned, and what came of it."""

    def call() -> Any:
        method, arguments = pickle.loads(order)
        return getattr(worker, method)(*arguments)

    try:
        return pickle.dumps(_attempt(call))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        return pickle.dumps((False, RuntimeError(f"The answer cannot be sent: {error}")))


class LocalExecutor:
    """Worker processes on this machine, forked when the executor is made.

    Make it in a thread that outlives it, best before other threads start: the
    workers are copies of this process and die with the thread that forked them.
    One thread attends each worker and forks another one if it dies.

    Parameters
    ----------
    start
        Makes the worker object, in each process; a closure will do. If the
        object has a ``close`` method, it is called when the executor is closed.
        What it raises is raised here.
    shared
        Inherited by the workers.
    workers
        Number of processes, at least 1.
    """

    def __init__(self, start: Start, shared: SharedArrays, workers: int) -> None:
        check_workers(workers)
        self.workers = workers
        self._shared = shared
        self._queue: queue.SimpleQueue[Submission | None] = queue.SimpleQueue()
        self._closed = False
        forking = threading.Lock()
        self._team = [_Worker(lambda: start(shared), forking) for _ in range(workers)]
        try:
            for worker in self._team:
                worker.await_ready()
        except BaseException:
            for worker in self._team:
                worker.kill()
                worker.dismiss()
            raise
        self._attendants = [
            threading.Thread(target=self._attend, args=(worker,), daemon=True)
            for worker in self._team
        ]
        for attendant in self._attendants:
            attendant.start()

    @staticmethod
    def require() -> None:
        """Need nothing but the standard library."""

    def submit(self, method: str, *arguments: Any) -> Future[Any]:
        if self._closed:
            raise RuntimeError("The executor is closed.")
        submission = Submission(method, arguments)
        self._queue.put(submission)
        return submission.future

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with suppress(queue.Empty):
            while submission := self._queue.get_nowait():
                submission.cancel()
        for _ in self._attendants:
            self._queue.put(None)
        for worker in self._team:
            if worker.busy:
                worker.kill()
        for attendant in self._attendants:
            attendant.join()
        self._shared.close()

    def _attend(self, worker: "_Worker") -> None:
        while submission := self._queue.get():
            if submission.begin():
                self._carry_out(submission, worker)
        worker.dismiss()

    def _carry_out(self, submission: Submission, worker: "_Worker") -> None:
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            try:
                submission.settle(worker.call(submission.order()))
            except (EOFError, OSError):
                continue
            except Exception as error:  # noqa: BLE001  goes to the future
                submission.future.set_exception(error)
            return
        submission.lose("was closed" if self._closed else f"lost {ATTEMPTS} workers in a row")


class _Worker:
    """One worker process as its attendant sees it."""

    def __init__(self, start: Callable[[], Any], forking: threading.Lock) -> None:
        self.busy = False
        self._start = start
        self._forking = forking
        self._ready = False
        self._fork()

    def _fork(self) -> None:
        # One at a time: no worker may inherit another's end of a pipe, or the
        # death of that other would go unnoticed.
        with self._forking:
            self._connection, theirs = _FORK.Pipe()
            self._process = _FORK.Process(
                target=_work, args=(self._start, theirs, os.getpid()), daemon=True
            )
            self._process.start()
            theirs.close()
        self._ready = False

    def await_ready(self) -> None:
        """Wait until the worker object is made; raises what making it raised."""
        succeeded, answer = self._connection.recv()
        if not succeeded:
            raise answer
        self._ready = True

    def call(self, order: bytes) -> bytes:
        """Return the worker's reply, as :func:`answer` makes it.

        Raises
        ------
        EOFError, OSError
            The process is gone; the next call forks another one.
        """
        self.busy = True
        try:
            if not self._process.is_alive():
                self._process.join()
                self._connection.close()
                self._fork()
            if not self._ready:
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
        self._process.join()
        self._connection.close()

    def kill(self) -> None:
        self._process.kill()


def _work(start: Callable[[], Any], connection: Connection, parent: int) -> None:
    """Make the worker object and answer calls on it: the life of a worker process."""
    # Ctrl-C is for the parent, which closes the executor.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    confinement.die_with_parent(parent)
    succeeded, worker = _attempt(start)
    connection.send((succeeded, None if succeeded else worker))
    if not succeeded:
        return
    while (order := connection.recv_bytes()) != _DISMISSAL:
        connection.send_bytes(answer(worker, order))
    if hasattr(worker, "close"):
        worker.close()


def _attempt(work: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, work()
    except Exception as error:  # noqa: BLE001  raised again where the result is asked for
        error.add_note(traceback.format_exc())
        return False, error
