"""Several observers as one, none of which can harm the run."""

from collections.abc import Callable, Sequence
from pathlib import Path

from specahd.core.budget import Spent
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.tracking.store import in_one_line


class ObserverFailed(Exception):
    """An observer could not do its part; the message is a sentence for the user."""


class Observers(Observer):
    """Tells every observer, in their order, and drops one at its first exception.

    Attributes
    ----------
    warnings : list[str]
        One line for each observer that was dropped, to be shown at the end.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = list(observers)
        self.warnings: list[str] = []

    def on_prepare(self) -> None:
        self._tell(lambda observer: observer.on_prepare())

    def on_start(self, tickets: int, directory: Path) -> None:
        self._tell(lambda observer: observer.on_start(tickets, directory))

    def on_phase(self, text: str, total: int) -> None:
        self._tell(lambda observer: observer.on_phase(text, total))

    def on_step(self) -> None:
        self._tell(lambda observer: observer.on_step())

    def on_commit(self, sample: Committed, spent: Spent) -> None:
        self._tell(lambda observer: observer.on_commit(sample, spent))

    def on_round(self, end: RoundEnd) -> None:
        self._tell(lambda observer: observer.on_round(end))

    def on_warning(self, text: str) -> None:
        self._tell(lambda observer: observer.on_warning(text))

    def on_finish(self, status: str) -> None:
        self._tell(lambda observer: observer.on_finish(status))

    def _tell(self, hook: Callable[[Observer], None]) -> None:
        for observer in tuple(self._observers):
            try:
                hook(observer)
            except ObserverFailed as error:
                self._observers.remove(observer)
                self.warnings.append(str(error))
            except Exception as error:  # noqa: BLE001  # whatever it is, the run goes on
                self._observers.remove(observer)
                warning = f"{type(observer).__name__} stopped: {in_one_line(error)}"
                self.warnings.append(warning[:200])
