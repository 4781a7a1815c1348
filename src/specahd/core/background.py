"""Work in a background thread; the main thread stays free to handle signals."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

T = TypeVar("T")
_STEP = 0.02
"""Seconds between two polls while waiting."""


class Background(Generic[T]):
    """Runner of a context manager that is entered and left in a thread of its own.

    The thread is a daemon, so the process can end while the thread still runs.

    Parameters
    ----------
    work
        The context manager, entered at once. The value that it yields is the result.
    """

    def __init__(self, work: AbstractContextManager[T]) -> None:
        self._work = work
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self._work as result:
                self._result.append(result)
                self._ready.set()
                self._over.wait()
        except BaseException as error:  # noqa: BLE001  it is raised where the result is asked for
            self._error = error
        self._ready.set()

    def wait(self, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Wait for a result or an error; return False if ``given_up`` returns True first."""
        while not self._ready.wait(_STEP):
            if given_up():
                return False
        return True

    def result(self) -> T:
        """Return the result, or raise the error of the thread."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def close(self) -> None:
        """Leave the context: now if it was entered, else in the background once it is entered.

        In the first case, an error on leaving is raised here.
        """
        ready = self._ready.is_set()
        self._over.set()
        if ready:
            self._thread.join()
            if self._error is not None and self._result:
                raise self._error
