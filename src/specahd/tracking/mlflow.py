"""One MLflow run per training, written by a separate process from the run directory.

The search never waits for MLflow and shares no lock with it: the search's journal is the
queue. See :mod:`specahd.tracking.uploader`.
"""

import json
import select
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, Any

from specahd.core.environment import public_variables
from specahd.core.events import Observer
from specahd.core.folders import display_path
from specahd.tracking.observers import ObserverFailed
from specahd.tracking.store import Options


class MLflowObserver(Observer):
    """Observer that logs parameters, metrics by step, candidates, files and pictures of a run.

    The options are those of :class:`~specahd.tracking.store.Options`. Runs of earlier versions
    have ``candidates``; it has no effect, candidates are always a table.
    """

    def __init__(self, *, candidates: str = "table", **options: Annotated[Any, Options]) -> None:
        self.options = Options(**options)
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
            [sys.executable, "-m", "specahd.tracking.uploader"],
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
