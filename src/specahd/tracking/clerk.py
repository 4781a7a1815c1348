"""The process that brings a run into MLflow while the run goes on.

It is told in lines of JSON on standard input: where to write, then of which run directory,
whose files it follows, and at last the run's status. From then on it says a line whenever
it gets on, and why it does not. What it does not manage is mended by
``python -m specahd.track``, for all that it needs is in the directory.
"""

import gc
import json
import os
import select
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from specahd.core.errors import FileError
from specahd.tracking import figures
from specahd.tracking.delivery import Delivery, Undelivered
from specahd.tracking.mark import sole
from specahd.tracking.options import Options

# Seconds between two looks at the journal, and at most between two attempts.
_LOOK, _PAUSE = 1.0, 30.0
# A server may come back; any other store that cannot be opened so often stays closed.
_ATTEMPTS = 3


class _Clerk:
    """Serves one run.

    Parameters
    ----------
    heard, said
        Where orders come from, and where answers go.
    """

    def __init__(self, options: Options, directory: Path, heard: BinaryIO, said: TextIO) -> None:
        self._options = options
        self._directory = directory
        self._heard = heard
        self._said = said
        self._status: str | None = None
        self._abandoned = False
        self._opened = False
        self._failures = 0

    def serve(self) -> int:
        """Return 0 once all of the run is delivered, 1 if that is given up."""
        with ExitStack() as stack:
            delivery = None
            while True:
                try:
                    if delivery is None:
                        stack.enter_context(sole(self._directory))
                        delivery = Delivery(self._options, self._directory)
                    if self._status is not None:
                        for _ in delivery.close(self._status):
                            self._get_on()
                        return 0
                    moved = delivery.step()
                    self._get_on()
                    self._listen(0.0 if moved else _LOOK)
                except (Undelivered, FileError) as error:
                    self._failures += 1
                    hopeless = self._abandoned or self._stays_closed(error)
                    if hopeless or self._status is not None:
                        self._say(reason=str(error))
                    if hopeless:
                        return 1
                    self._listen(min(_PAUSE, 0.5 * 2**self._failures))

    def _get_on(self) -> None:
        self._opened = True
        self._failures = 0
        if self._status is not None:
            self._say()

    def _stays_closed(self, error: Exception) -> bool:
        # Another process that brings the same run in will end.
        if isinstance(error, FileError) or self._opened or self._options.uri.startswith("http"):
            return False
        return self._failures >= _ATTEMPTS

    def _listen(self, seconds: float) -> None:
        """Wait, but not once the run's status is known and was not."""
        if self._status is not None:
            time.sleep(seconds)
        elif select.select([self._heard], [], [], seconds)[0]:
            line = self._heard.readline()
            # The end of the file is the end of a process that had no time to say so.
            self._abandoned = not line
            self._status = json.loads(line)["status"] if line else "interrupted"
            self._failures = 0

    def _say(self, **what: str) -> None:
        if self._abandoned:
            return
        try:
            self._said.write(json.dumps(what) + "\n")
        except BrokenPipeError:
            # Who was to hear it was killed while it waited; the rest is delivered all the same.
            self._abandoned = True


def main() -> int:
    """Serve a run as told on standard input; if it never begins, end."""
    heard = os.fdopen(os.dup(0), "rb", buffering=0)
    said = os.fdopen(os.dup(1), "w", buffering=1)
    # Whatever a library prints is not for the one who listens.
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    os.dup2(silence, 1)
    options = Options(**json.loads(heard.readline()))
    # What is imported stays, and need not be looked through for garbage.
    gc.disable()
    options.store.prepare()
    # What a full disk forbids now is tried again, and told, when it is needed.
    with suppress(OSError):
        figures.prepare()
    gc.freeze()
    gc.enable()
    line = heard.readline()
    if not line:
        return 0
    status = _Clerk(options, Path(json.loads(line)["directory"]), heard, said).serve()
    # Python would look through everything once more, and a run waits for it.
    gc.freeze()
    return status


if __name__ == "__main__":
    sys.exit(main())
