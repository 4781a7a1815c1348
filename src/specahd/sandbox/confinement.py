"""Confinement by the kernel: restrictions of a program's process.

It restricts every program, even one that should not have passed the guard.
:class:`Restrictions` are built once, in the warm zygote, and apply to every child that it forks.
Building them tests each layer. A layer that the host lacks is left out, and the status gives the
reason. Outside Linux the separate process, its limits and the timeouts remain.
"""

import errno
import fcntl
import functools
import json
import math
import mmap
import os
import resource
import signal
import socket
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from specahd.sandbox import kernel, landlock, seccomp

_T = TypeVar("_T")

ENFORCED = "enforced"
"""The :attr:`Restrictions.status` of a layer that the kernel enforces."""

_OPEN_FILES = 32
_LAST_DESCRIPTOR = 1 << 20
# Higher than the descriptors that keep_only assigns.
_ASIDE = 8
_TRIAL_MEMORY, _TRIAL_SECONDS = 1 << 30, 60.0
# A program's process may read Python's library, the system's, and this package.
_PYTHON = ("stdlib", "platstdlib", "purelib", "platlib")
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent ends; end it if the parent has ended.

    For the kernel, the parent is the thread that forked, so this thread must live as long as
    the process. The setting is lost when the process changes its user.
    """
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def detach_process(parent: int) -> None:
    """Give this process its own session, default signals and an empty environment."""
    os.setsid()
    die_with_parent(parent)
    # Signals changed by CPython at start, or inherited from an executor's worker.
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.environ.clear()


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
    _set(resource.RLIMIT_NPROC, 0)  # the kernel exempts root
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


class Restrictions:
    """The restrictions of a program's process that this host's kernel supports.

    Building it drops rights of this process, and so of its children, permanently: the root
    user, every capability, the network. Everything else that is needed from disk must be
    read before.

    Attributes
    ----------
    status
        For each layer, ``enforced``, or one line with the reason why the host lacks it.

    Raises
    ------
    OSError
        The process of a program cannot be prepared at all.
    """

    def __init__(self) -> None:
        self.status: dict[str, str] = {}
        # First, while the paths can still be opened.
        self._ruleset = self._prepare("landlock", lambda: landlock.make_ruleset(_readable()))
        self._filter = self._prepare("seccomp", seccomp.make_filter)
        self._prepare("no_new_privileges", kernel.set_no_new_privileges)
        self._prepare("unprivileged_user", kernel.become_nobody)
        # In its own user namespace a process may create the others.
        self._prepare("user_namespace", kernel.enter_user_namespace)
        self._prepare("network_namespace", kernel.enter_other_namespaces)
        self._prepare("no_capabilities", kernel.drop_capabilities)
        self._try_out()

    def keep_only(self, connection: socket.socket) -> socket.socket:
        """Close every descriptor but one connection; 0, 1 and 2 become the null device."""
        null = os.open(os.devnull, os.O_RDWR)
        kept = [connection.detach()]
        if self._ruleset is not None:
            kept.append(self._ruleset)
        aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _ASIDE) for descriptor in kept]
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        for place, descriptor in enumerate(aside, 3):
            os.dup2(descriptor, place)
        os.closerange(3 + len(aside), _LAST_DESCRIPTOR)
        if self._ruleset is not None:
            self._ruleset = 4
        return socket.socket(fileno=3)

    def impose(self) -> None:
        """Apply the restrictions that each process applies to itself, permanently.

        Raises
        ------
        OSError
            A layer that was enforced when this was built cannot be applied now.
        """
        if self._ruleset is not None:
            landlock.restrict(self._ruleset)
            os.close(self._ruleset)
        if self._filter is not None:
            seccomp.install(self._filter)

    def _prepare(self, layer: str, step: Callable[[], _T]) -> _T | None:
        """Run a step, and record whether it succeeded."""
        self.status[layer] = ENFORCED
        try:
            return step()
        except (OSError, ValueError) as error:
            # Outside Linux a limit that does not exist raises ValueError.
            self.status[layer] = getattr(error, "strerror", None) or str(error)
            return None

    def _try_out(self) -> None:
        """Restrict a child that attempts forbidden actions, and record which were refused."""
        ours, theirs = socket.socketpair()
        zygote = os.getpid()
        pid = os.fork()
        if pid == 0:
            descriptor = theirs.fileno()
            try:
                detach_process(zygote)
                descriptor = self.keep_only(theirs).detach()
                limit(_TRIAL_MEMORY, _TRIAL_SECONDS)
                self._prepare("limits", _try_limits)
                if self._ruleset is not None:
                    self._prepare("landlock", functools.partial(_try_files, self._ruleset))
                if self._filter is not None:
                    self._prepare("seccomp", functools.partial(_try_calls, self._filter))
                os.write(descriptor, json.dumps(self.status).encode())
            except OSError as error:
                os.write(descriptor, json.dumps(str(error)).encode())
            finally:
                os._exit(0)
        theirs.close()
        with ours, ours.makefile("rb") as pipe:
            report = pipe.read()
        os.waitpid(pid, 0)
        lost = dict.fromkeys(("landlock", "limits", "seccomp"), "the process that tried it died")
        found = json.loads(report) if report else lost
        if isinstance(found, str):
            raise OSError(found)
        self.status |= found
        if self.status["landlock"] != ENFORCED:
            self._ruleset = None
        if self.status["seccomp"] != ENFORCED:
            self._filter = None


def unprepared(reason: str) -> str:
    """Return the sentence for a machine on which no process of a program can be prepared."""
    return (
        f"No program can be started on this machine ({reason}): "
        "mount /proc, and allow at least 16 open files (ulimit -n)."
    )


def _try_limits() -> None:
    _expect_refusal(lambda: mmap.mmap(-1, 4 * _TRIAL_MEMORY).close())


def _try_files(ruleset: int) -> None:
    landlock.restrict(ruleset)
    _expect_refusal(lambda: os.close(os.open("/", os.O_RDONLY)))


def _try_calls(program: bytes) -> None:
    seccomp.install(program)
    _expect_refusal(lambda: socket.socket(socket.AF_UNIX).close())


def _expect_refusal(attempt: Callable[[], None]) -> None:
    try:
        attempt()
    except OSError:
        return
    raise OSError(errno.ENOTSUP, "the kernel accepted it and did not enforce it")


def _readable() -> list[Path]:
    """Return the paths that a program's process may read."""
    own = sysconfig.get_paths()
    base = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_prefix})
    library = {table[key] for table in (own, base) for key in _PYTHON}
    return [*map(Path, sorted(library)), *map(Path, _SYSTEM), Path(__file__).parent.parent]
