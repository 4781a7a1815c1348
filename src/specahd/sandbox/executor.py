"""Where calls on a worker object run: one protocol, one class per place.

The worker object is made once in each process by a function that the process
inherits, so it may hold sandboxes and arenas; only method names, arguments and
results cross the process boundary, between processes that trust each other.
"""

import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

from specahd.sandbox import confinement

_ATTEMPTS = 3
_FORK = multiprocessing.get_context("fork")


class Executor(Protocol):
    """Runs the methods of worker objects that live in other processes."""

    workers: int

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
class _Submission:
    method: str
    arguments: tuple[Any, ...]
    future: Future[Any]


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
    workers
        Number of processes, at least 1.
    """

    def __init__(self, start: Callable[[], Any], workers: int) -> None:
        if workers < 1:
            raise ValueError(f"Expected at least 1 worker, got {workers}.")
        self.workers = workers
        self._queue: queue.SimpleQueue[_Submission | None] = queue.SimpleQueue()
        self._closed = False
        forking = threading.Lock()
        self._team = [_Worker(start, forking) for _ in range(workers)]
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

    def submit(self, method: str, *arguments: Any) -> Future[Any]:
        if self._closed:
            raise RuntimeError("The executor is closed.")
        submission = _Submission(method, arguments, Future())
        self._queue.put(submission)
        return submission.future

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with suppress(queue.Empty):
            while submission := self._queue.get_nowait():
                submission.future.cancel()
                submission.future.set_running_or_notify_cancel()
        for _ in self._attendants:
            self._queue.put(None)
        for worker in self._team:
            if worker.busy:
                worker.kill()
        for attendant in self._attendants:
            attendant.join()

    def _attend(self, worker: "_Worker") -> None:
        while submission := self._queue.get():
            if submission.future.set_running_or_notify_cancel():
                self._carry_out(submission, worker)
        worker.dismiss()

    def _carry_out(self, submission: _Submission, worker: "_Worker") -> None:
        for _ in range(_ATTEMPTS):
            if self._closed:
                break
            try:
                succeeded, answer = worker.call(submission.method, submission.arguments)
            except (EOFError, OSError):
                continue
            except Exception as error:  # noqa: BLE001  goes to the future
                succeeded, answer = False, error
            if succeeded:
                submission.future.set_result(answer)
            else:
                submission.future.set_exception(answer)
            return
        reason = "was closed" if self._closed else f"lost {_ATTEMPTS} workers in a row"
        submission.future.set_exception(
            RuntimeError(f"The executor {reason} during {submission.method}.")
        )


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

    def call(self, method: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        """Return whether the method returned, and what it returned or raised.

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
            self._connection.send((method, arguments))
            answer: tuple[bool, Any] = self._connection.recv()
        except (EOFError, OSError):
            self.kill()
            self._process.join()
            raise
        finally:
            self.busy = False
        return answer

    def dismiss(self) -> None:
        """Let the process close its worker object and end."""
        with suppress(OSError):
            self._connection.send(None)
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
    while order := connection.recv():
        method, arguments = order
        answer = _attempt(lambda: getattr(worker, method)(*arguments))  # noqa: B023  called at once
        try:
            connection.send(answer)
        except (TypeError, AttributeError, ValueError) as error:
            connection.send(
                (False, RuntimeError(f"{method} answered what cannot be sent: {error}"))
            )
    if hasattr(worker, "close"):
        worker.close()


def _attempt(work: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, work()
    except Exception as error:  # noqa: BLE001  raised again where the result is asked for
        error.add_note(traceback.format_exc())
        return False, error
