"""What the zygote gives up before it forks a program's process: user, namespaces, capabilities."""

import os

from specahd.sandbox import kernel

NOBODY = 65534
"""User and group that a sandbox started as root becomes."""

# linux/sched.h
_NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_NET = 0x04000000, 0x08000000, 0x10000000, 0x40000000


def forbid_new() -> None:
    """Keep this process and its descendants from gaining privileges by an exec."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def become_nobody() -> None:
    """Leave the root user and all its groups; a plain user stays who it is.

    It also hides this process's memory and environment from others of its user.
    """
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
    finally:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def enter_user_namespace() -> None:
    """Enter a user namespace that maps no user at all: nobody there can become another."""
    kernel.unshare(_NEW_USER)


def enter_other_namespaces() -> None:
    """Enter a network without devices, and own System V objects and host name."""
    kernel.unshare(_NEW_NET | _NEW_IPC | _NEW_UTS)


def drop_capabilities() -> None:
    """Give up every capability, those over the own user namespace included."""
    kernel.drop_capabilities()
