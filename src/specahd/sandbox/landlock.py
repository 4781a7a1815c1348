"""Restrict the files that a program's process may open: Landlock (Linux 5.13, landlock(7)).

The zygote makes the rule set once, and every child applies it to itself. It restricts the
child and all its descendants, and cannot be removed.
"""

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from specahd.sandbox import kernel

# The same on every architecture (asm-generic/unistd.h).
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
# The number of file rights of each version of Landlock, the newest first.
_FILE_RIGHTS = ((5, 16), (3, 15), (2, 14), (1, 13))
_TCP_VERSION, _TCP_RIGHTS = 4, 0b11
_SCOPE_VERSION, _SCOPES = 6, 0b11

_RULESET = struct.Struct("=QQQ")
_RULE = struct.Struct("=Qi")


def make_ruleset(readable: Iterable[Path]) -> int:
    """Return a descriptor of rules that permit reading these trees and files, nothing else.

    TCP, abstract sockets and signals to processes outside are refused as well, if the
    kernel's Landlock supports it. A path that cannot be opened is left out.

    Raises
    ------
    OSError
        The kernel has no Landlock, or it is switched off.
    """
    version = kernel.syscall(_CREATE_RULESET, "landlock_create_ruleset", 0, 0, _VERSION)
    files = next((1 << count) - 1 for least, count in _FILE_RIGHTS if version >= least)
    tcp = _TCP_RIGHTS if version >= _TCP_VERSION else 0
    scopes = _SCOPES if version >= _SCOPE_VERSION else 0
    # Older kernels accept the longer structure as long as its end is zero.
    rights = _RULESET.pack(files, tcp, scopes)
    ruleset = kernel.syscall(_CREATE_RULESET, "landlock_create_ruleset", rights, len(rights), 0)
    for path in readable:
        with suppress(FileNotFoundError, PermissionError):
            _let_read(ruleset, path)
    return ruleset


def restrict(ruleset: int) -> None:
    """Apply the rules to this process permanently; it must have ``no_new_privs`` already."""
    kernel.syscall(_RESTRICT_SELF, "landlock_restrict_self", ruleset, 0)


def _let_read(ruleset: int, path: Path) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = _READ_FILE | (_READ_DIRECTORY if path.is_dir() else 0)
        rule = _RULE.pack(rights, beneath)
        kernel.syscall(_ADD_RULE, "landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(beneath)
