"""A warm process that only forks: ``python -m specahd.sandbox.zygote``.

It imports NumPy and the runners once, maps the shared arrays read-only, and builds the
restrictions of its children. Then it carries out orders of the parent that started it: fork
a child, or end a child. When the parent disconnects or dies, it ends all children and
itself. Every process that its children leave behind becomes its own child and is
ended with them.
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.ma  # NumPy loads it late (setxor1d), when children can load no more

from specahd.sandbox import confinement
from specahd.sandbox.child import Runner, serve
from specahd.sandbox.shared_arrays import SharedArrays
from specahd.sandbox.wire import COMPILING

_MAX_ORDER = 32
_SWEEPS = 1000
_ENDING_SECONDS = 2.0
"""Seconds that a process may take to end after the kernel closed its pipe."""


class Zygote:
    """The warm process: its shared arrays, its runners, and its children."""

    def __init__(
        self,
        control: socket.socket,
        shared: SharedArrays | None,
        runners: dict[str, Runner],
        restrictions: confinement.Restrictions,
    ) -> None:
        self._control = control
        self._restrictions = restrictions
        self._instances = [] if shared is None else shared.instances()
        self._runners = runners
        self._children: set[int] = set()

    def obey(self) -> None:
        """Carry out orders until the parent disconnects or dies, then end every child.

        An order has the process id of a child to end, negative if its pipe is closed, or comes with
        the pipe of a child to fork, and with the block of its shared arrays if it has its own.
        """
        with suppress(ConnectionError):
            _report(self._control, self._restrictions.status)
            while True:
                order, descriptors, _, _ = socket.recv_fds(self._control, _MAX_ORDER, 2)
                if not order:
                    break
                done = self._fork(*descriptors) if descriptors else self._end(int(order))
                _report(self._control, done)
        for pid in sorted(self._children):
            self._end(pid)

    def _fork(self, descriptor: int, block: int | None = None) -> int | None:
        """Fork a child, with arrays of its own or not; return its process id, None if refused."""
        zygote = os.getpid()
        with socket.socket(fileno=descriptor) as connection:
            try:
                pid = os.fork()
            except OSError:
                return None
            finally:
                # The child has a copy.
                if block is not None and os.getpid() == zygote:
                    os.close(block)
            if pid == 0:
                attach = SharedArrays.attach
                instances = self._instances if block is None else attach(block, [])
                serve(connection, self._runners, instances, zygote, self._restrictions)
        self._children.add(pid)
        return pid

    def _end(self, order: int) -> tuple[int | None, float]:
        """Kill a child and the processes it left; return its exit code and CPU seconds.

        The code of a child that had not ended by itself is None.
        """
        pid = abs(order)
        self._children.remove(pid)
        ended = order < 0 and _has_ended(pid)
        # The group exists only once the child has called setsid.
        for kill in (os.killpg, os.kill):
            try:
                kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        _, status, usage = os.wait4(pid, 0)
        self._sweep()
        code = os.waitstatus_to_exitcode(status) if ended else None
        return code, usage.ru_utime + usage.ru_stime

    def _sweep(self) -> None:
        """Kill the orphans of ended children, which are now children of the zygote (Linux)."""
        listing = Path(f"/proc/self/task/{os.getpid()}/children")
        for _ in range(_SWEEPS):
            try:
                orphans = {int(pid) for pid in listing.read_text().split()} - self._children
            except OSError:
                return
            if not orphans:
                return
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _has_ended(pid: int) -> bool:
    """Wait for the end of a child whose pipe is closed; return False if it lives on."""
    deadline = time.monotonic() + _ENDING_SECONDS
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def _report(control: socket.socket, report: Any) -> None:
    """Send the report that the parent waits for, as one line of JSON."""
    control.sendall(json.dumps(report).encode() + b"\n")


def _report_compilation(control: socket.socket) -> None:
    """Report to the parent that loops compile; end if it is gone, as there is no child yet."""
    try:
        _report(control, COMPILING)
    except ConnectionError:
        os._exit(0)


def _load(name: str, compiling: Callable[[], None] = lambda: None) -> Runner:
    module, _, function = name.partition(":")
    runner: Runner = getattr(importlib.import_module(module), function)
    if hasattr(runner, "warm_up"):
        # Imported here, because it imports numba, and only such runners do.
        from specahd.core.compilation import listening

        with listening(compiling):
            runner.warm_up()
    return runner


def main() -> NoReturn:
    """Read the start order from standard input, warm up, carry out orders, and end."""
    try:
        start = json.load(sys.stdin)
    except ValueError:  # the parent was interrupted before it had written the order
        os._exit(0)
    sys.path.extend(start["path"])
    # First, because no user can act on the warnings of compiling a loop.
    warnings.simplefilter("ignore")
    control = socket.socket(fileno=start["control"])
    compiling = partial(_report_compilation, control)
    runners = {name: _load(name, compiling) for name in start["runners"]}
    shared = None
    if start["shared"] is not None:
        shared = SharedArrays.attach(start["shared"], start["directory"])
    np.seterr(all="ignore")
    confinement.adopt_orphans()
    try:
        restrictions = confinement.Restrictions()
    except OSError as error:
        _report(control, confinement.unprepared(str(error)))
        os._exit(1)
    zygote = Zygote(control, shared, runners, restrictions)
    # Collect and freeze, so that the children share these pages and never write to them.
    gc.collect()
    gc.freeze()
    zygote.obey()
    # The parent waits for the end, and nothing needs cleaning up.
    os._exit(0)


if __name__ == "__main__":
    main()
