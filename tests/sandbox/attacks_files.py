"""What a hostile program would do if no guard stopped it, and what must come of it.

Each attack runs in the program's process with the full Python library, so that what
stops it is the kernel. An attack that gets what it wants returns; the table says how
each one must end instead.
"""

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from specahd.core.answer import Answer
from specahd.core.program import Outcome

LIBC = ctypes.CDLL(None, use_errno=True)
MARK = "specahd-hostile"
"""In the name of whatever an attack tries to make."""
REFUSED, HIDDEN = "Operation not permitted", "Permission denied"
GIVEN = {}
"""The arrays of the instance that the present attack is given."""


@dataclass(frozen=True)
class Attack:
    function: Callable[[str], object]
    outcome: Outcome
    detail: str


ATTACKS: dict[str, Attack] = {}


def add(outcome, detail="", **functions):
    """Put functions into the table; each takes the path of a file that is not its business."""
    for name, function in functions.items():
        ATTACKS[name] = Attack(function, outcome, detail)


def attack(outcome, detail=""):
    """Put the function that follows into the table."""

    def register(function):
        add(outcome, detail, **{function.__name__: function})
        return function

    return register


add_refused = partial(add, Outcome.CRASHED, REFUSED)
add_hidden = partial(add, Outcome.CRASHED, HIDDEN)
refused = attack(Outcome.CRASHED, REFUSED)


def attempt(program, arrays, inputs):
    """Runner: do the attack that the inputs name; its answer, if it has one, is ours."""
    position, text = inputs
    GIVEN.update(arrays)
    name = list(ATTACKS)[int(position[0])]
    answer = ATTACKS[name].function(bytes(text.astype(np.uint8)).decode())
    return Answer(answer if isinstance(answer, tuple) else [np.arange(3)])


def order(name, path):
    """Return the inputs that ask for an attack."""
    return (
        np.array([list(ATTACKS).index(name)]),
        np.frombuffer(path.encode(), np.uint8).astype(int),
    )


def raw(number, *arguments):
    """Make a system call by its x86_64 number; a failure is the OSError that Python has for it."""
    status = LIBC.syscall(ctypes.c_long(number), *map(_as_word, arguments))
    if status == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return status


def _as_word(argument):
    if isinstance(argument, str):
        argument = argument.encode()
    return ctypes.c_char_p(argument) if isinstance(argument, bytes) else ctypes.c_long(argument)


def calls(number, *arguments):
    """Return the attack that makes a system call, whatever path it gets."""
    return lambda text: raw(number, *arguments)


def parent(name):
    """Return the kernel's file on the zygote."""
    return Path(f"/proc/{os.getppid()}/{name}")


def wanted(text):
    """What an attack makes beside the file that it was given."""
    return Path(text).with_name(MARK)


# Reading.

add_hidden(
    read_passwords=lambda text: Path("/etc/passwd").read_text(),
    read_journal=lambda text: Path(text).read_text(),
    read_journal_by_memmap=lambda text: np.memmap(text, mode="r"),
    read_parents_environment=lambda text: parent("environ").read_text(),
    read_parents_memory=lambda text: os.open(parent("mem"), os.O_RDONLY),
    list_parents_descriptors=lambda text: list(parent("fd").iterdir()),
    read_own_environment_file=lambda text: Path("/proc/self/environ").read_text(),
    list_the_run=lambda text: list(Path(text).parent.iterdir()),
)
add_refused(
    measure_passwords=lambda text: Path("/etc/passwd").stat(),
    measure_journal_without_following=os.lstat,
    find_out_whether_the_journal_is_there=lambda text: raw(439, -100, text, os.F_OK, 0),
    find_out_by_the_old_access=lambda text: raw(21, text, os.F_OK),
    measure_by_statx=lambda text: raw(332, -100, text, 0, 0x7FF, bytes(256)),
    measure_by_the_old_stat=lambda text: raw(4, text, bytes(256)),
    # AT_EMPTY_PATH, as fstat(3) says it, with a path that is not empty.
    measure_by_a_path_beside_a_descriptor=lambda text: raw(262, -100, text, bytes(256), 0x1000),
    follow_a_link=lambda text: parent("exe").readlink(),
    read_by_openat2=lambda text: raw(437, -100, text, bytes(24), 24),
    read_by_the_old_open=lambda text: raw(2, text, os.O_RDONLY),
    read_by_handle=lambda text: raw(304, -100, bytes(128), os.O_RDONLY),
)

# Writing.

add_refused(
    write_file=lambda text: wanted(text).write_text("x"),
    append_to_journal=lambda text: os.open(text, os.O_WRONLY | os.O_APPEND),
    write_temporary_file=lambda text: os.open("/tmp", os.O_TMPFILE | os.O_WRONLY),
    write_shared_memory=lambda text: os.open(f"/dev/shm/{MARK}", os.O_CREAT | os.O_RDWR),
    write_own_memory=lambda text: os.open("/proc/self/mem", os.O_RDWR),
    numpy_save=lambda text: np.save(wanted(text), np.arange(3)),
    numpy_tofile=lambda text: np.arange(3).tofile(wanted(text)),
    truncate_journal=lambda text: os.truncate(text, 0),
    make_directory=lambda text: wanted(text).mkdir(),
    unlink_journal=lambda text: Path(text).unlink(),
    rename_journal=lambda text: Path(text).rename(wanted(text)),
    make_symlink=lambda text: wanted(text).symlink_to(text),
    make_hard_link=lambda text: os.link(text, wanted(text)),
    change_mode=lambda text: Path(text).chmod(0o777),
    change_owner=lambda text: os.chown(text, 0, 0),
    make_pipe_file=lambda text: os.mkfifo(wanted(text)),
    change_directory=lambda text: os.chdir("/usr/lib"),
    change_root=lambda text: os.chroot("/usr/lib"),
    get_system_v_memory=calls(29, 0, 4096, 0o1600),
    make_anonymous_file=lambda text: os.memfd_create(MARK),
)
