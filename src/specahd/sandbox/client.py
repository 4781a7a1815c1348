"""The parent's side of one zygote."""

import atexit
import contextlib
import functools
import json
import os
import select
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from specahd.core import loop_cache
from specahd.core.compilation import report_compilation
from specahd.core.errors import RunFailed
from specahd.sandbox.shared_arrays import SharedArrays
from specahd.sandbox.wire import COMPILING

_ANSWER_SECONDS = 60.0
"""Seconds until a zygote that does not answer counts as dead: of the clock since it last used the
CPU (where /proc tells, which is on Linux), and of its CPU time."""
_FIRST_SECONDS = 900.0
"""The same until the zygote is warm. After an installation it compiles the loops first, for six
minutes of CPU time. The death of a zygote is noticed at once."""
_LOOKS, _LOOK_SECONDS = 3, 1.0
"""How often in a row, and how far apart, a zygote is seen stopped until it counts as dead (Linux).
A machine that pauses all processes may wake this one first."""
_STOPPED = ("T", "t")
"""States of a process that a signal has stopped, as /proc names them."""
_CHUNK = 1 << 12
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_SOURCES = Path(__file__).parents[2]
"""The folder that holds this package."""


class ChildLost(Exception):
    """The system killed a child, which was not the child's doing."""


class ZygoteLost(ChildLost):
    """The zygote is dead, and its children with it."""


class SandboxClient:
    """A thread-safe client that starts one zygote and sends it orders.

    Parameters
    ----------
    shared, path
        The arrays that the zygote maps, None if each child brings its own; and folders of runners
        that this process cannot import.
    runners
        The runners that it imports and warms up before it loses the right to read from disk.

    Attributes
    ----------
    lasting
        Whether each child brings its arrays, so that the zygote is of use for any.
    status
        The state of each layer that confines children (:attr:`confinement.Restrictions.status`).

    Raises
    ------
    RuntimeError
        The zygote did not start, for example because a runner cannot be imported.
    RunFailed
        This machine cannot start the process of a program.
    """

    def __init__(
        self, shared: SharedArrays | None, runners: Sequence[str], path: Sequence[str]
    ) -> None:
        self.lasting = shared is None
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        self._received = bytearray()
        self._patience = _FIRST_SECONDS
        with theirs:
            start = {
                "control": theirs.fileno(),
                "shared": None if shared is None else shared.fd,
                "directory": None if shared is None else shared.directory,
                "runners": list(runners),
                "path": [*path, *_runner_folders(runners)],
            }
            passed = (theirs.fileno(), *(() if shared is None else (shared.fd,)))
            self._process = self._start_process(passed, runners)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as order:
            order.write(json.dumps(start).encode())
        try:
            while (report := self._report()) == COMPILING:
                report_compilation()
            if isinstance(report, str):
                self.close()
                raise RunFailed(report)
            self.status: Mapping[str, str] = report
        except ZygoteLost as error:
            self.close()
            raise RuntimeError("The sandbox did not start; its error stands above.") from error
        self._patience = _ANSWER_SECONDS

    def _start_process(
        self, descriptors: Sequence[int], runners: Sequence[str]
    ) -> "subprocess.Popen[bytes]":
        """Start the zygote, which reads its order from standard input."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "specahd.sandbox.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=_environment(),
            cwd="/",
            pass_fds=descriptors,
            start_new_session=True,
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, *blocks: int) -> tuple[int, socket.socket]:
        """Fork a child; return its process id and the parent's end of its pipe.

        Parameters
        ----------
        blocks
            The descriptor of the child's shared arrays, if it brings its own.

        Raises
        ------
        ZygoteLost
            The zygote is dead, or the system refuses another process.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = self._report(b"fork", theirs.fileno(), *blocks)
                if pid is None:
                    raise ZygoteLost
            except ZygoteLost:
                ours.close()
                raise
        return pid, ours

    def end(self, pid: int, silent: bool = False) -> tuple[int | None, float]:
        """Kill a child and all processes that it started.

        Parameters
        ----------
        silent
            Whether its pipe is closed, so that it has probably ended.

        Returns
        -------
        tuple
            Its exit status, or the negative number of a signal, None if it had not ended; and the
            CPU seconds that it used.

        Raises
        ------
        ZygoteLost
            The zygote is dead; the child died with it.
        """
        code, cpu_seconds = self._report(b"%d" % (-pid if silent else pid))
        return code, cpu_seconds

    def _report(self, order: bytes = b"", *descriptors: int) -> Any:
        """Return the zygote's next report: first its status, then the result of each order."""
        try:
            with self._lock:
                if order:
                    socket.send_fds(self._control, [order], descriptors)
                return json.loads(self._line())
        except (OSError, ValueError):
            # Later output of the zygote must not be read.
            self._process.kill()
            self._process.wait()
            raise ZygoteLost from None

    def _line(self) -> bytes:
        """Wait for a line from the zygote."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        deadline, stopped = time.monotonic() + self._patience, 0
        begun: float | None = None
        while not (end := self._received.find(b"\n") + 1):
            if poll.poll(1000 * _LOOK_SECONDS):
                data = self._control.recv(_CHUNK)
                if not data:
                    raise ConnectionError
                self._received += data
                continue
            state, worked = self._activity()
            stopped = stopped + 1 if state in _STOPPED else 0
            if begun is None:
                begun = before = worked
            if worked > before:
                # On a busy machine it may wait long for its turn.
                before, deadline = worked, time.monotonic() + self._patience
            silent = time.monotonic() > deadline or worked - begun > self._patience
            if stopped == _LOOKS or silent:
                raise TimeoutError
        line = bytes(self._received[:end])
        del self._received[:end]
        return line

    def _activity(self) -> tuple[str, float]:
        """Return the zygote's state and CPU seconds; an empty word and 0 where /proc is missing."""
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{self._process.pid}/stat").read_text()
            state, *fields = stat.rpartition(")")[2].split()
            return state, sum(map(int, fields[10:12])) / os.sysconf("SC_CLK_TCK")
        return "", 0.0

    def close(self) -> None:
        """Close the connection: the zygote ends its children and itself."""
        self._control.close()
        if self._activity()[0] in _STOPPED:
            self._process.kill()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_lasting: dict[tuple[Any, ...], SandboxClient] = {}
_lasting_lock = threading.Lock()


def lasting_client(runners: Sequence[str], path: Sequence[str]) -> SandboxClient:
    """Return a client whose zygote lives as long as this process; start it at the first call.

    Its children bring their own arrays, so it serves one sandbox after another.
    """
    key = (os.getpid(), tuple(runners), tuple(path))
    with _lasting_lock:
        client = _lasting.get(key)
        if client is None or not client.alive:
            if client is not None:
                client.close()
            client = _lasting[key] = SandboxClient(None, runners, path)
        return client


@atexit.register
def _close_lasting() -> None:
    for key, client in _lasting.items():
        if key[0] == os.getpid():
            client.close()


@functools.cache
def inspect_host() -> Mapping[str, str]:
    """Start a zygote once, and return the layers of confinement that this host supports.

    Returns
    -------
    Mapping
        Each layer, with ``enforced`` or the reason (:attr:`confinement.Restrictions.status`).
    """
    shared = SharedArrays.allocate([])
    client = SandboxClient(shared, (), ())
    client.close()
    shared.close()
    return client.status


def _environment() -> dict[str, str]:
    """Return the zygote's environment: what NumPy needs to load, and where compiled loops are.

    A zygote imports this package from where this process has it, installed or not.
    """
    environment = {name: "1" for name in _THREADS} | {"PYTHONHASHSEED": "0"}
    if str(_SOURCES) != sysconfig.get_path("purelib"):
        environment["PYTHONPATH"] = str(_SOURCES)
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return environment | loop_cache.variables()


def _runner_folders(runners: Sequence[str]) -> list[str]:
    """Return the directories that hold the runners from outside this package.

    A zygote starts without ``PYTHONPATH`` and outside the working directory, but a user's own
    problem may be in either.
    """
    homes = []
    for root in dict.fromkeys(runner.partition(":")[0].partition(".")[0] for runner in runners):
        # On None, or ValueError for a script, the zygote reports the failed import.
        with contextlib.suppress(ValueError):
            spec = None if root == "specahd" else find_spec(root)
            if spec is not None:
                places = [*(spec.submodule_search_locations or ()), spec.origin]
                homes += [str(Path(place).absolute().parent) for place in places[:1] if place]
    return homes
