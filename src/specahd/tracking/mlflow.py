"""One MLflow run per training, written by a separate process from the run directory.

The search never waits for MLflow and shares no lock with it: the search's journal is the
queue. The process follows the files of the directory while the run continues. It reads lines of
JSON from standard input: the options of the store, then the run directory, and at the end the
run's status and the reason. After the status it writes a line at each progress, and the reason
at each failure. A failed upload can be completed with ``python -m specahd.track``, because all
the data is in the directory.
"""

import gc
import json
import os
import select
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Annotated, Any, BinaryIO, TextIO

from specahd.core.environment import public_variables
from specahd.core.errors import FileError
from specahd.core.events import Observer
from specahd.core.folders import display_path
from specahd.reporting.figures import warm_up
from specahd.tracking.observers import ObserverFailed
from specahd.tracking.store import Options
from specahd.tracking.upload import RunUpload, UploadFailed, upload_lock

# Seconds between two readings of the journal; most seconds between two attempts.
_POLL_SECONDS, _LONGEST_PAUSE = 1.0, 30.0
# Number of attempts to open a store that is not a server; a server may come back.
_ATTEMPTS = 3


class MLflowObserver(Observer):
    """Observer that logs parameters, metrics by step, candidates, files and pictures of a run.

    The options are those of :class:`~specahd.tracking.store.Options`. Runs of earlier versions
    have ``candidates``; it has no effect, candidates are always a table.
    """

    def __init__(
        self,
        uri: str,
        artifacts: str,
        experiment: str,
        *,
        candidates: str = "table",
        **options: Annotated[Any, Options],
    ) -> None:
        self.options = Options(uri, artifacts, experiment, **options)
        self._directory = Path()
        self._uploader: subprocess.Popen[bytes] | None = None
        self._orders: IO[bytes]
        self._answers: IO[bytes]
        self._reason = ""

    def on_prepare(self) -> None:
        """Start the process now: its imports take two seconds, and a core is still idle."""
        if self._uploader is not None:
            return
        self._uploader = subprocess.Popen(
            [sys.executable, "-m", "specahd.tracking.mlflow"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=public_variables(),
            bufsize=0,
            # Ctrl-C reaches the run only, which then reports its end.
            process_group=0,
        )
        assert self._uploader.stdin is not None
        assert self._uploader.stdout is not None
        self._orders, self._answers = self._uploader.stdin, self._uploader.stdout
        self._send(**asdict(self.options))

    def on_start(self, tickets: int, directory: Path) -> None:
        self._directory = directory
        self.on_prepare()
        self._send(directory=str(directory))

    def on_stop(self, reason: str) -> None:
        self._reason = reason

    def on_finish(self, status: str) -> None:
        """Wait until everything is written, as long as there is progress.

        Raises
        ------
        ObserverFailed
            A part of the run is not in MLflow.
        """
        if self._uploader is None:
            return
        self._send(status=status, reason=self._reason)
        try:
            reason = self._wait(self._uploader, hurry=status != "complete")
        except KeyboardInterrupt:
            reason = "Ctrl-C ended the waiting"
        finally:
            self._uploader.kill()
            self._uploader.wait()
            self._orders.close()
            self._answers.close()
            self._uploader = None
        if reason is not None:
            raise ObserverFailed(
                f"MLflow lacks some of this run ({reason}); bring it in with: "
                f"python -m specahd.track run={display_path(self._directory)}"
            )

    def _send(self, **what: Any) -> None:
        # A process that has ended has reported its reason.
        with suppress(BrokenPipeError):
            self._orders.write(json.dumps(what).encode() + b"\n")

    def _wait(self, uploader: "subprocess.Popen[bytes]", *, hurry: bool) -> str | None:
        """Return None when everything is written, else the reason why it is not.

        ``hurry`` returns at the first failed attempt, without waiting for a second one.
        """
        patience = self.options.patience
        reason = f"no answer within {patience:g} s"
        until = time.monotonic() + patience
        while select.select([self._answers], [], [], max(0.0, until - time.monotonic()))[0]:
            line = self._answers.readline()
            if not line:
                status = uploader.wait()
                # Any other status is that of a signal or an unexpected error.
                return {0: None, 1: reason}.get(status, f"its process ended with status {status}")
            obstacle: str | None = json.loads(line).get("reason")
            if obstacle is None:
                until = time.monotonic() + patience
            elif hurry:
                return obstacle
            else:
                reason = obstacle
        return reason


@dataclass
class MlflowUploader:
    """Uploader of one run: reads orders from one stream, a line each, and writes answers."""

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
        """Upload the run; return 0 when it is complete, 1 if the upload is abandoned."""
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
        # Another process that uploads the same run will end.
        if isinstance(error, FileError) or self._opened or self.options.uri.startswith("http"):
            return False
        return self._failures >= _ATTEMPTS

    def _await_order(self, seconds: float) -> None:
        """Wait for the given time, or until the run's status arrives."""
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
            # The run was killed while it waited; the upload continues.
            self._abandoned = True


def main() -> int:
    """Upload the run that the orders on standard input name; return 0 if none begins."""
    orders = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    # The output of libraries must not be read as answers.
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    os.dup2(silence, 1)
    options = Options(**json.loads(orders.readline()))
    # Imported modules stay; the garbage collector need not scan them.
    gc.disable()
    options.prepare()
    # If the disk is full, the error occurs again when the store is used, and is reported.
    with suppress(OSError):
        warm_up()
    gc.freeze()
    gc.enable()
    line = orders.readline()
    if not line:
        return 0
    status = MlflowUploader(options, Path(json.loads(line)["directory"]), orders, answers).serve()
    # Otherwise Python would scan all objects at its exit, and the run waits for the exit.
    gc.freeze()
    return status


if __name__ == "__main__":
    sys.exit(main())
