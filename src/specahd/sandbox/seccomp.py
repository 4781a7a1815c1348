"""Restrict a program's process to an allow-list of system calls (seccomp(2)).

The process can compute, wait, read files that Landlock lets it open, and use its pipe.
Every other call fails with EPERM. So the process cannot make sockets, processes, threads,
namespaces or anonymous files, exec, signal others, open for writing, or set limits.
Calls that describe a file by its path (stat, access, readlink) fail too, because Landlock
does not cover them; all imports of a child are loaded before.
LLVM compiles in such a process, so ``mmap`` and ``mprotect`` may make code executable.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

from specahd.sandbox import kernel

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column in the tables below, and the kernel's constant (linux/audit.h), by architecture."""

_ALLOWED = {
    # memory
    "brk": (12, 214),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    # open descriptors
    "close": (3, 57),
    "fstat": (5, 80),
    "getdents64": (217, 61),
    "lseek": (8, 62),
    "pread64": (17, 67),
    "read": (0, 63),
    "recvfrom": (45, 207),
    "write": (1, 64),
    # working directory
    "getcwd": (79, 17),
    # time, and signals of the process itself
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "getitimer": (36, 102),
    "getrusage": (98, 165),
    "gettimeofday": (96, 169),
    "nanosleep": (35, 101),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "setitimer": (38, 103),
    "sigaltstack": (131, 132),
    "times": (100, 153),
    # identity of the process, and its machine
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "sched_getaffinity": (204, 123),
    "sysinfo": (99, 179),
    # locks within the process, and its end
    "exit": (60, 93),
    "exit_group": (231, 94),
    "futex": (202, 98),
    "sched_yield": (24, 124),
}
_OPENAT, _SENDTO, _FCNTL = (257, 56), (44, 206), (72, 25)
# The bit of O_TMPFILE alone; Python's constant includes O_DIRECTORY.
_TEMPORARY = 0x400000
_WRITING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | _TEMPORARY
_GET_DESCRIPTOR_FLAGS = 1

_LOAD, _IF_EQUAL, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
_INSTRUCTION = struct.Struct("=HBBI")
_FILTER_MODE = 2

Instruction = tuple[int, int, int, int]


def make_filter() -> bytes:
    """Return the filter as a program for the kernel's classic BPF machine.

    Raises
    ------
    OSError
        This module has no system call numbers for this architecture.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    column, architecture = _ARCHITECTURES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for number in sorted(call[column] for call in _ALLOWED.values()):
        program += [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    program += _when(_OPENAT[column], [_low(2), (_IF_ANY_BIT, 1, 0, _WRITING)])
    # Sending to an address is refused.
    no_address = [_low(4), (_IF_EQUAL, 0, 3, 0), _high(4), (_IF_EQUAL, 0, 1, 0)]
    program += _when(_SENDTO[column], no_address)
    # With F_SETOWN and F_SETSIG the kernel would signal other processes.
    program += _when(_FCNTL[column], [_low(1), (_IF_EQUAL, 0, 1, _GET_DESCRIPTOR_FLAGS)])
    program.append((_RETURN, 0, 0, _REFUSE))
    return assemble(program)


def assemble(program: Sequence[Instruction]) -> bytes:
    """Return the instructions (code, jump if true, jump if false, constant) as bytes."""
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in program)


def install(program: bytes) -> None:
    """Install a filter on this process permanently; it must have ``no_new_privs`` already."""
    code = ctypes.create_string_buffer(program, len(program))
    length = len(program) // _INSTRUCTION.size
    # struct sock_fprog: a length, padding, a pointer.
    order = struct.pack("@HP", length, ctypes.addressof(code))
    kernel.prctl(kernel.PR_SET_SECCOMP, _FILTER_MODE, order)


def _when(number: int, test: list[Instruction]) -> list[Instruction]:
    """Return the instructions for one call; its test falls through to allow, or jumps past."""
    body = [*test, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return [(_IF_EQUAL, 0, len(body), number), *body]


def _low(argument: int) -> Instruction:
    return _LOAD, 0, 0, _ARGUMENTS + 8 * argument


def _high(argument: int) -> Instruction:
    return _LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4
