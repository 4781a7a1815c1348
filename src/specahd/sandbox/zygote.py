"""A warm process that only forks: ``python -m specahd.sandbox.zygote``.

It imports NumPy and the runners once, maps the shared arrays read-only, builds the restrictions
around its children, and obeys three orders of the parent that started it: fork a
child, end a child, and (when the parent hangs up or dies) end all of them and
itself. Every process that its children leave behind becomes its own child and is
ended with them.
"""

import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.ma  # NumPy loads it late (setxor1d), when children can load no more

from specahd.sandbox import confinement
from specahd.sandbox.child import Runner, serve
from specahd.sandbox.shared_arrays import SharedArrays

ORDER = struct.Struct("<cq")
"""What is to be done, and to which process."""
FORK, END = b"F", b"E"
REPORT = struct.Struct("<qid")
"""Process (-1: it could not be forked), wait status, CPU seconds.

The first report has the length of the restrictions' status in the second place; the status
follows, as JSON.
"""

_SWEEPS = 1000


class Zygote:
    """The warm process: its shared arrays, its runners, and the children it has."""

    def __init__(
        self,
        control: socket.socket,
        shared: SharedArrays,
        runners: dict[str, Runner],
        restrictions: confinement.Restrictions,
    ) -> None:
        self._control = control
        self._restrictions = restrictions
        self._instances = [shared.arrays(instance) for instance in range(len(shared))]
        self._runners = runners
        self._children: set[int] = set()

    def obey(self) -> None:
        """Carry out orders until the parent hangs up or dies, then end every child."""
        with suppress(ConnectionError):
            status = json.dumps(self._restrictions.status).encode()
            self._control.sendall(REPORT.pack(os.getpid(), len(status), 0.0) + status)
            while True:
                order, descriptors, _, _ = socket.recv_fds(self._control, ORDER.size, 1)
                if len(order) < ORDER.size:
                    break
                verb, pid = ORDER.unpack(order)
                report = self._fork(descriptors[0]) if verb == FORK else self._end(pid)
                self._control.sendall(REPORT.pack(*report))
        for pid in sorted(self._children):
            self._end(pid)

    def _fork(self, descriptor: int) -> tuple[int, int, float]:
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            pid = -1
        if pid == 0:
            connection = socket.socket(fileno=descriptor)
            serve(connection, self._runners, self._instances, zygote, self._restrictions)
        os.close(descriptor)
        if pid > 0:
            self._children.add(pid)
        return pid, 0, 0.0

    def _end(self, pid: int) -> tuple[int, int, float]:
        """Kill a child and all that it left behind; return its status and CPU seconds."""
        if pid not in self._children:
            return -1, 0, 0.0
        self._children.remove(pid)
        # The group exists only once the child has called setsid.
        for kill in (os.killpg, os.kill):
            try:
                kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        _, status, usage = os.wait4(pid, 0)
        self._sweep()
        return pid, status, usage.ru_utime + usage.ru_stime

    def _sweep(self) -> None:
        """End the orphans of ended children, which are the zygote's own by now (Linux)."""
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


def _load(name: str) -> Runner:
    module, _, function = name.partition(":")
    runner: Runner = getattr(importlib.import_module(module), function)
    if hasattr(runner, "warm_up"):
        runner.warm_up()
    return runner


def main() -> None:
    """Read the start order from standard input, warm up, and obey."""
    start = json.load(sys.stdin)
    sys.path.extend(start["path"])
    # First, since compiling a loop warns of what no user can act on.
    warnings.simplefilter("ignore")
    runners = {name: _load(name) for name in start["runners"]}
    shared = SharedArrays.attach(start["shared"], start["directory"])
    np.seterr(all="ignore")
    confinement.adopt_orphans()
    restrictions = confinement.Restrictions()
    zygote = Zygote(socket.socket(fileno=start["control"]), shared, runners, restrictions)
    # Collected and frozen: the children share these pages and never write to them.
    gc.collect()
    gc.freeze()
    zygote.obey()


if __name__ == "__main__":
    main()
