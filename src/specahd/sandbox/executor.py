"""Where calls on a worker object run: one class for all places, one derived class per place.

The worker object is made once in each process, on that process's own view of
the shared arrays, so it may hold sandboxes; only method names, arguments and
results cross the process boundary, between processes that trust each other.
"""

import math
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from specahd.core.settings import check_workers
from specahd.sandbox import confinement
from specahd.sandbox.shared_arrays import SharedArrays

ATTEMPTS = 3
"""How many workers in a row may die of one submission."""
Start = Callable[[SharedArrays], Any]
_PROBE_SECONDS = 5.0
"""Seconds until an idle worker that does not answer gets no work until it does."""
_DISMISSAL = b""
_FORK = multiprocessing.get_context("fork")


@dataclass(slots=True, eq=False)
class _Submission:
    """A call that some worker shall make; its place in the queue, kept if it comes back."""

    number: float
    method: str
    arguments: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)
    losses: int = 0

    def __lt__(self, other: "_Submission") -> bool:
        return self.number < other.number

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


# Ends a thread that attends a worker.
_END = _Submission(math.inf, "", ())


class Executor(ABC):
    """Runs the methods of worker objects that live in other processes.

    An executor is made from ``start``, which makes a worker object on the shared arrays,
    and from the filled shared arrays, which it takes over and closes. One thread attends
    each worker.
    """

    _lost: tuple[type[Exception], ...]
    """What :meth:`_call` raises if the worker is gone."""

    def __init__(self, workers: int) -> None:
        check_workers(workers)
        self.workers = workers
        self._queue: queue.PriorityQueue[_Submission] = queue.PriorityQueue()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._submitted = 0
        self._attended = workers

    @staticmethod  # noqa: B027  most need nothing
    def require() -> None:
        """Raise ConfigError if this machine lacks what such an executor needs."""

    def submit(self, method: str, *arguments: Any) -> Future[Any]:
        """Have some worker call ``worker.method(*arguments)``.

        A submission whose worker disappears goes to the next free one, ahead of later
        ones. It fails only when several workers in a row have died of it.
        """
        with self._lock:
            if self._closed.is_set():
                raise RuntimeError("The executor is closed.")
            if self._attended == 0:
                raise RuntimeError("The executor lost every worker for good.")
            submission = _Submission(self._submitted, method, arguments)
            self._queue.put(submission)
            self._submitted += 1
        return submission.future

    def close(self) -> None:
        """Abandon what is unfinished and end the workers."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
            for submission in self._drain():
                submission.cancel()
        for _ in self._attendants:
            self._queue.put(_END)
        for worker in self._team:
            self._interrupt(worker)
        for attendant in self._attendants:
            attendant.join()
        self._release()

    @abstractmethod
    def _call(self, worker: Any, order: bytes) -> bytes:
        """Have a worker :func:`answer` an order."""

    def _stands(self, worker: Any, seconds: float | None = None) -> bool:
        """Say whether a worker is there to be called, after so many seconds at most.

        Without a bound, wait until it has been started over; if it is absent then, it
        is lost for good.
        """
        return True

    @abstractmethod
    def _interrupt(self, worker: Any) -> None:
        """End a worker that would not end by itself at once."""

    def _attend_all(self, team: Sequence[Any], release: Callable[[], None]) -> None:
        """Begin to carry out what is submitted; ``release`` gives back what the team needed."""
        self._team = team
        self._release = release
        self._attendants = [
            threading.Thread(target=self._attend, args=(worker,), daemon=True) for worker in team
        ]
        for attendant in self._attendants:
            attendant.start()

    def _attend(self, worker: Any) -> None:
        """Give a worker one submission at a time, until it is lost for good."""
        stands = False
        while stands or self._stands(worker):
            submission = self._queue.get()
            if submission is _END:
                return
            stands = self._carry_out(submission, worker)
        with self._lock:
            self._attended -= 1
            if self._attended == 0:
                for submission in self._drain():
                    submission.lose("lost every worker for good")

    def _carry_out(self, submission: _Submission, worker: Any) -> bool:
        """Have a worker answer, or another one later; return whether this one still stands."""
        if not self._stands(worker, _PROBE_SECONDS):
            self._put_back(submission)
            return False
        if not submission.begin():
            return True
        try:
            order = pickle.dumps((submission.method, submission.arguments))
            succeeded, value = pickle.loads(self._call(worker, order))
        except self._lost:
            submission.losses += 1
            self._put_back(submission)
            return False
        except Exception as error:  # noqa: BLE001  goes to the future
            succeeded, value = False, error
        if succeeded:
            submission.future.set_result(value)
        else:
            submission.future.set_exception(value)
        return True

    def _put_back(self, submission: _Submission) -> None:
        with self._lock:
            if self._closed.is_set():
                submission.cancel()
            elif submission.losses == ATTEMPTS:
                submission.lose(f"lost {ATTEMPTS} workers in a row")
            else:
                self._queue.put(submission)

    def _drain(self) -> Iterator[_Submission]:
        with suppress(queue.Empty):
            while (submission := self._queue.get_nowait()) is not _END:
                yield submission


def answer(worker: Any, order: bytes) -> bytes:
    """Call a worker object as ordered; reply whether it returned, and what came of it."""

    def call() -> Any:
        method, arguments = pickle.loads(order)
        return getattr(worker, method)(*arguments)

    try:
        return pickle.dumps(_attempt(call))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        return pickle.dumps((False, RuntimeError(f"The answer cannot be sent: {error}")))


class LocalExecutor(Executor):
    """Worker processes on this machine, forked when the executor is made.

    Make it in a thread that outlives it, best before other threads start: the
    workers are copies of this process and die with the thread that forked them.
    The thread that attends a worker forks another one if it dies.

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

    _lost = (EOFError, OSError)

    def __init__(self, start: Start, shared: SharedArrays, workers: int) -> None:
        super().__init__(workers)
        forking = threading.Lock()
        team = [_Worker(lambda: start(shared), forking) for _ in range(workers)]
        try:
            for worker in team:
                worker.await_ready()
        except BaseException:
            for worker in team:
                worker.kill()
                worker.dismiss()
            raise
        self._attend_all(team, shared.close)

    def _attend(self, worker: "_Worker") -> None:
        super()._attend(worker)
        # Here, since workers that were forked in this thread end with it.
        worker.dismiss()

    def _call(self, worker: "_Worker", order: bytes) -> bytes:
        return worker.call(order)

    def _interrupt(self, worker: "_Worker") -> None:
        if worker.busy:
            worker.kill()


class _Worker:
    """One worker process as its attendant sees it."""

    def __init__(self, start: Callable[[], Any], forking: threading.Lock) -> None:
        self.busy = False
        self._start = start
        self._forking = forking
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

    def await_ready(self) -> None:
        """Wait until the worker object is made; raises what making it raised."""
        succeeded, answer = self._connection.recv()
        if not succeeded:
            raise answer

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
                self._join()
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
        self._join()

    def _join(self) -> None:
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
