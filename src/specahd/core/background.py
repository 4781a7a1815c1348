"""Work beside the main thread, which stays free to see signals while it waits."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

T = TypeVar("T")
_STEP = 0.02
"""Seconds between two looks at whether to go on waiting."""


class Background(Generic[T]):
    """Something that is entered in a thread of its own, and left there in the end.

    Nobody waits for the thread at the end of the process.

    Parameters
    ----------
    work
        Entered at once; what it yields is the result.
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
        """Wait until there is a result, or an error; return False if given up before."""
        while not self._ready.wait(_STEP):
            if given_up():
                return False
        return True

    def result(self) -> T:
        """Return what was made, or raise what was raised instead."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def close(self) -> None:
        """Leave the work: at once if it is ready, else as soon as it is, without waiting for it.

        What leaving raises is raised here.
        """
        ready = self._ready.is_set()
        self._over.set()
        if ready:
            self._thread.join()
            if self._error is not None and self._result:
                raise self._error
