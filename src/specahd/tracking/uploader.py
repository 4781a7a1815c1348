"""The process that brings a run into MLflow while the run goes on.

It is told in lines of JSON on standard input: where to write, then of which run directory,
whose files it follows, and at last the run's status and the reason. From then on it says a
line whenever it gets on, and why it does not. What it does not manage is mended by
``python -m specahd.track``, for all that it needs is in the directory.
"""

import gc
import json
import os
import select
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from specahd.core.errors import FileError
from specahd.tracking import figures
from specahd.tracking.store import Options
from specahd.tracking.upload import RunUpload, UploadFailed, upload_lock

# Seconds between two looks at the journal, and at most between two attempts.
_POLL_SECONDS, _LONGEST_PAUSE = 1.0, 30.0
# A server may come back; any other store that cannot be opened so often stays closed.
_ATTEMPTS = 3


@dataclass
class MlflowUploader:
    """Serves one run: orders come in lines of one stream, answers go to the other."""

    options: Options
    directory: Path
    orders: BinaryIO
    answers: TextIO
    _status: str | None = None
    _reason: str = ""
    _abandoned: bool = False
    _opened: bool = False
    _failures: int = 0

    def serve(self) -> int:
        """Upload the run; return 0 when all is done, 1 if that is given up."""
        with ExitStack() as stack:
            upload = None
            while True:
                try:
                    if upload is None:
                        stack.enter_context(upload_lock(self.directory))
                        upload = RunUpload(self.options, self.directory)
                    if self._status is not None:
                        for _ in upload.close(self._status, self._reason):
                            self._note_progress()
                        return 0
                    moved = upload.step()
                    self._note_progress()
                    self._await_order(0.0 if moved else _POLL_SECONDS)
                except (UploadFailed, FileError) as error:
                    self._failures += 1
                    hopeless = self._abandoned or self._stays_closed(error)
                    if hopeless or self._status is not None:
                        self._answer(reason=str(error))
                    if hopeless:
                        return 1
                    self._await_order(min(_LONGEST_PAUSE, 0.5 * 2**self._failures))

    def _note_progress(self) -> None:
        self._opened = True
        self._failures = 0
        if self._status is not None:
            self._answer()

    def _stays_closed(self, error: Exception) -> bool:
        # Another process that brings the same run in will end.
        if isinstance(error, FileError) or self._opened or self.options.uri.startswith("http"):
            return False
        return self._failures >= _ATTEMPTS

    def _await_order(self, seconds: float) -> None:
        """Wait, but not once the run's status is known and was not."""
        if self._status is not None:
            time.sleep(seconds)
        elif select.select([self.orders], [], [], seconds)[0]:
            line = self.orders.readline()
            # The end of the stream means that the process ended without a message.
            self._abandoned = not line
            order = json.loads(line) if line else {"status": "interrupted", "reason": "killed"}
            self._status, self._reason = order["status"], order["reason"]
            self._failures = 0

    def _answer(self, **what: str) -> None:
        if self._abandoned:
            return
        try:
            self.answers.write(json.dumps(what) + "\n")
        except BrokenPipeError:
            # The run was killed while it waited; the rest is uploaded all the same.
            self._abandoned = True


def main() -> int:
    """Serve a run by the orders on standard input; end if it never begins."""
    orders = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    # Whatever a library prints is not for the one who listens.
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    os.dup2(silence, 1)
    options = Options(**json.loads(orders.readline()))
    # Imported modules stay; the garbage collector need not scan them.
    gc.disable()
    options.prepare()
    # An error of a full disk is repeated, and reported, when the store is needed.
    with suppress(OSError):
        figures.warm_up()
    gc.freeze()
    gc.enable()
    line = orders.readline()
    if not line:
        return 0
    status = MlflowUploader(options, Path(json.loads(line)["directory"]), orders, answers).serve()
    # Python would look through everything once more, and a run waits for it.
    gc.freeze()
    return status


if __name__ == "__main__":
    sys.exit(main())
