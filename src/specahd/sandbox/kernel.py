"""System calls that drop rights of a process and for which Python has no function.

Each failure raises an OSError that names the call.
"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

NOBODY = 65534
"""Number of the user and group that a sandbox started as root switches to."""

# linux/sched.h
_NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_NET = 0x04000000, 0x08000000, 0x10000000, 0x40000000

_LIBC = ctypes.CDLL(None, use_errno=True)
_CAPABILITY_VERSION = 0x20080522
_CAPABILITY_BYTES = 24


def prctl(option: int, value: int = 0, structure: bytes | int = 0) -> None:
    """Set a property of this process (prctl(2))."""
    _call("prctl", option, value, structure, 0, 0)


def syscall(number: int, name: str, *arguments: bytes | int) -> int:
    """Make a system call for which the C library has no function."""
    return _call("syscall", number, *arguments, message=name)


def set_no_new_privileges() -> None:
    """Keep this process and its descendants from gaining privileges by an exec."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def become_nobody() -> None:
    """Switch from the root user and its groups to ``NOBODY``; keep any other user.

    It also hides this process's memory and environment from other processes of its user.
    """
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
    finally:
        prctl(PR_SET_DUMPABLE, 0)


def enter_user_namespace() -> None:
    """Enter a user namespace without mapped users, where no user can be switched to."""
    _call("unshare", _NEW_USER)


def enter_other_namespaces() -> None:
    """Enter namespaces of its own: a network without devices, System V objects, host name."""
    _call("unshare", _NEW_NET | _NEW_IPC | _NEW_UTS)


def drop_capabilities() -> None:
    """Give up every capability, the ambient set and the own user namespace included (capset(2))."""
    _call("capset", struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(_CAPABILITY_BYTES))


def _call(function: str, *arguments: bytes | int, message: str = "") -> int:
    """Call the C library; structures are given as bytes, because the kernel only reads them."""
    name = message or function
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, f"{name} needs Linux")
    # As C longs, since some of the kernel's arguments are; the default of ctypes is 32 bits.
    given = (a if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments)
    status: int = getattr(_LIBC, function)(*given)
    if status == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return status
