"""What a hostile program would do if no guard stopped it, and what must come of it.

Each attack runs in the program's process with the full Python library, so that what
stops it is the kernel. An attack that gets what it wants returns; the table says how
each one must end instead.
"""

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specahd.core.answer import Answer
from specahd.core.program import Outcome

LIBC = ctypes.CDLL(None, use_errno=True)
MARK = "specahd-hostile"
"""In the name of whatever an attack tries to make."""
REFUSED, HIDDEN = "Operation not permitted", "Permission denied"


@dataclass(frozen=True)
class Attack:
    function: Callable[[str], object]
    outcome: Outcome
    detail: str


ATTACKS: dict[str, Attack] = {}


def attack(outcome, detail=""):
    """Put a function into the table; it takes the path of a file that is not its business."""

    def register(function):
        ATTACKS[function.__name__] = Attack(function, outcome, detail)
        return function

    return register


refused = attack(Outcome.CRASHED, REFUSED)
hidden = attack(Outcome.CRASHED, HIDDEN)


def attempt(program, arrays, inputs):
    """Runner: do the attack that the inputs name; its answer, if it has one, is ours."""
    position, text = inputs
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
    values = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]
    status = LIBC.syscall(ctypes.c_long(number), *values)
    if status == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return status


def wanted(text):
    """What an attack makes beside the file that it was given."""
    return str(Path(text).with_name(MARK))


# Files: reading.


@hidden
def read_passwords(text):
    return Path("/etc/passwd").read_text()


@hidden
def read_journal(text):
    return Path(text).read_text()


@hidden
def read_journal_by_memmap(text):
    return np.memmap(text, mode="r")


@hidden
def read_parents_environment(text):
    return Path(f"/proc/{os.getppid()}/environ").read_text()


@hidden
def read_parents_memory(text):
    return os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY)


@hidden
def list_parents_descriptors(text):
    return list(Path(f"/proc/{os.getppid()}/fd").iterdir())


@hidden
def read_own_environment_file(text):
    return Path("/proc/self/environ").read_text()


@hidden
def list_the_run(text):
    return list(Path(text).parent.iterdir())


@refused
def measure_passwords(text):
    return Path("/etc/passwd").stat().st_size


@refused
def measure_journal_without_following(text):
    return os.lstat(text)


@refused
def find_out_whether_the_journal_is_there(text):
    return raw(439, -100, text.encode(), os.F_OK, 0)


@refused
def find_out_by_the_old_access(text):
    return raw(21, text.encode(), os.F_OK)


@refused
def measure_by_statx(text):
    return raw(332, -100, text.encode(), 0, 0x7FF, bytes(256))


@refused
def measure_by_the_old_stat(text):
    return raw(4, text.encode(), bytes(256))


@refused
def measure_by_a_path_beside_a_descriptor(text):
    # AT_EMPTY_PATH, as fstat(3) says it, with a path that is not empty.
    return raw(262, -100, text.encode(), bytes(256), 0x1000)


@refused
def follow_a_link(text):
    return Path(f"/proc/{os.getppid()}/exe").readlink()


@refused
def read_by_openat2(text):
    how = (ctypes.c_uint64 * 3)()
    return raw(437, -100, text.encode(), ctypes.addressof(how), 24)


@refused
def read_by_the_old_open(text):
    return raw(2, text.encode(), os.O_RDONLY)


@refused
def read_by_handle(text):
    handle = ctypes.create_string_buffer(128)
    return raw(304, -100, ctypes.addressof(handle), os.O_RDONLY)


# Files: writing.


@refused
def write_file(text):
    Path(wanted(text)).write_text("x")


@refused
def append_to_journal(text):
    with Path(text).open("a") as file:
        file.write("x")


@refused
def write_temporary_file(text):
    return os.open("/tmp", os.O_TMPFILE | os.O_WRONLY)


@refused
def write_shared_memory(text):
    return os.open(f"/dev/shm/{MARK}", os.O_CREAT | os.O_RDWR)


@refused
def write_own_memory(text):
    return os.open("/proc/self/mem", os.O_RDWR)


@refused
def numpy_save(text):
    np.save(wanted(text), np.arange(3))


@refused
def numpy_tofile(text):
    np.arange(3).tofile(wanted(text))


@refused
def truncate_journal(text):
    os.truncate(text, 0)


@refused
def make_directory(text):
    Path(wanted(text)).mkdir()


@refused
def unlink_journal(text):
    Path(text).unlink()


@refused
def rename_journal(text):
    Path(text).rename(wanted(text))


@refused
def make_symlink(text):
    Path(wanted(text)).symlink_to(text)


@refused
def make_hard_link(text):
    os.link(text, wanted(text))


@refused
def change_mode(text):
    Path(text).chmod(0o777)


@refused
def change_owner(text):
    os.chown(text, 0, 0)


@refused
def make_pipe_file(text):
    os.mkfifo(wanted(text))


@refused
def change_directory(text):
    os.chdir("/usr/lib")


@refused
def change_root(text):
    os.chroot("/usr/lib")


@refused
def get_system_v_memory(text):
    return raw(29, 0, 4096, 0o1600)


@refused
def make_anonymous_file(text):
    return os.memfd_create(MARK)
