"""The second wall: what the kernel forbids a program's process.

It holds whatever the guard let through. Each step is a function of its own, in
the order in which :mod:`specahd.sandbox.child` takes them. What the host lacks
(``prctl`` outside Linux) is left out: the process, its limits and the timeouts
remain.
"""

import ctypes
import math
import os
import resource
import signal
import socket
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_OPEN_FILES = 32
_LAST_DESCRIPTOR = 1 << 20


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent ends, even if that has happened already.

    The kernel means the thread that forked: it must live as long as the process.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def leave_family(parent: int) -> None:
    """Start a session of its own, with default signals and an empty environment."""
    os.setsid()
    die_with_parent(parent)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    # What CPython changed at start, and what an executor's worker handed down.
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.environ.clear()


def keep_only(connection: socket.socket) -> socket.socket:
    """Close every descriptor but one connection; 0, 1 and 2 lead nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    kept = os.dup(connection.detach())
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.dup2(kept, 3)
    os.closerange(4, _LAST_DESCRIPTOR)
    return socket.socket(fileno=3)


def limit(memory_bytes: int, cpu_seconds: float | None) -> None:
    """Set the kernel's limits.

    Parameters
    ----------
    memory_bytes
        Address space beyond what the process has now.
    cpu_seconds
        CPU time of the process from its start, None for no bound (each call has
        its own timer).
    """
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, 0)
    _set(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _set(resource.RLIMIT_NPROC, 0)  # the kernel lets root pass
    _set(resource.RLIMIT_AS, _address_space() + memory_bytes)
    if cpu_seconds is not None:
        _set(resource.RLIMIT_CPU, math.ceil(cpu_seconds) + 1)


def _set(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 1 << 40
