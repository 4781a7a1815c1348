"""More attacks: rights over the machine, resources, the pipe, and the process itself."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import signal
import struct
import sys
import time

import attacks_processes  # noqa: F401  its attacks enter the table
import numpy as np
from attacks_files import ATTACKS, GIVEN, LIBC, add, add_refused, attack, attempt, calls, order

from specahd.core.program import Outcome
from specahd.sandbox import wire
from specahd.sandbox.child import OUTCOMES
from specahd.sandbox.wire import Frame, encode

__all__ = ["ATTACKS", "attempt", "order"]

PIPE = 3

# Powers.

add_refused(
    become_root=calls(117, 0, 0, 0),
    become_roots_group=calls(119, 0, 0, 0),
    change_groups=calls(116, 0, 0),
    regain_capabilities=calls(126, 0, 0),
    mount=calls(165, b"none", b"/mnt", b"tmpfs", 0, 0),
    unmount=calls(166, b"/proc", 0),
    turn_the_root=calls(155, b"/", b"/"),
    enter_a_namespace=calls(308, PIPE, 0),
    make_a_user_namespace=calls(272, 0x10000000),
    use_io_uring=calls(425, 8, 0),
    load_bpf=calls(321, 0, 0, 0),
    count_events=calls(298, 0, 0, -1, -1, 0),
    handle_page_faults=calls(323, 0),
    add_a_key=calls(248, b"user", b"x", b"x", 1, -3),
    load_a_module=calls(175, 0, 0, b""),
    restart_the_machine=calls(169, 0, 0, 0, 0),
    rename_the_machine=calls(170, b"x", 1),
    set_the_clock=calls(227, 0, 0),
    change_personality=calls(135, 0x0040000),
    outlive_the_parent=calls(157, 1, 0, 0, 0, 0),
    replace_the_filter=calls(317, 1, 0, 0),
    draw_entropy=calls(318, 0, 8, 0),
    drop_signals_by_descriptor=calls(289, -1, 0, 8, 0),
    use_the_x32_table=calls(0x40000000 | 39),
)


@attack(Outcome.CRASHED, "not allowed to raise maximum limit")
def raise_a_limit(text):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@attack(Outcome.CRASHED, "SIGSYS")
def use_the_32_bit_table(text):
    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


# Resources.


@attack(Outcome.OUT_OF_MEMORY, "memory")
def allocate_by_addition(text):
    big = np.ones(1 << 21)
    return [big + number for number in range(1000)]


add(
    Outcome.OUT_OF_MEMORY,
    "memory",
    allocate_64_gib=lambda text: bytearray(64 << 30),
    allocate_in_numpy=lambda text: np.ones(1 << 33),
    allocate_a_huge_integer=lambda text: 1 << (1 << 40),
    repeat_a_string=lambda text: "x" * (1 << 40),
)


@attack(Outcome.TIMEOUT)
def loop_in_python(text):
    while True:
        pass


@attack(Outcome.TIMEOUT)
def loop_in_numpy(text):
    values = np.arange(1 << 24) % 1013
    while True:
        values.sort(kind="heapsort")


@attack(Outcome.TIMEOUT)
def swallow_every_exception(text):
    while True:
        try:
            raise ValueError
        except BaseException:  # noqa: BLE001  the attack itself
            continue


add(Outcome.TIMEOUT, raise_to_a_huge_power=lambda text: 3 ** (10**9))
add(Outcome.TIMEOUT, "wall-clock", sleep=lambda text: time.sleep(600))


@attack(Outcome.CRASHED, "RecursionError")
def recurse(text):
    recurse(text)


@attack(Outcome.CRASHED, "SIGSEGV")
def recurse_in_c(text):
    sys.setrecursionlimit(1 << 30)
    items = []
    for _ in range(1 << 18):
        items = [items]
    # The nested list is compared with itself, level by level, on the C stack.
    other = []
    for _ in range(1 << 18):
        other = [other]
    return items == other


@attack(Outcome.TIMEOUT, "wall-clock")
def ignore_the_timer(text):
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    loop_in_python(text)


@attack(Outcome.TIMEOUT, "wall-clock")
def stop_the_timer(text):
    for number in (signal.SIGTERM, signal.SIGXCPU, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 0)
    loop_in_python(text)


@attack(Outcome.OK)
def flood_standard_output(text):
    for _ in range(200):
        os.write(1, b"x" * 65536)
        os.write(2, b"x" * 65536)
    sys.stdout.write("x" * 1_000_000)
    sys.stdout.flush()


# The pipe.


def sends(data):
    """Return the attack that writes bytes to its parent, and waits."""

    def function(text):
        os.write(PIPE, data)
        time.sleep(600)

    return function


def reply(outcome, number=1, **fields):
    return encode(Frame(OUTCOMES.index(outcome), number, **fields))


def with_a_negative_length():
    frame = bytearray(reply(Outcome.OK, arrays=(np.arange(2),)))
    # The lengths follow the header.
    start = wire._HEADER.size
    frame[start : start + 8] = struct.pack("<q", -5)
    return bytes(frame)


@attack(Outcome.INVALID_OUTPUT, "no frame")
def flood_the_pipe(text):
    while True:
        os.write(PIPE, b"\xff" * 65536)


@attack(Outcome.CRASHED, "status 0")
def tear_a_frame_and_die(text):
    os.write(PIPE, TORN)
    os._exit(0)


@attack(Outcome.OK)
def answer_early_and_die(text):
    os.write(PIPE, reply(Outcome.OK))
    os._exit(0)


@attack(Outcome.CRASHED, "closed its pipe")
def close_the_pipe(text):
    os.close(PIPE)
    time.sleep(600)


TORN = reply(Outcome.OK)[:11]
WRONG = {
    "declare_a_huge_frame": ("more than it may hold", b"AHD1" + b"\xff" * 60),
    "declare_an_impossible_time": (
        "impossible time",
        reply(Outcome.OK, cpu_seconds=float("nan")),
    ),
    "declare_a_negative_length": ("add up", with_a_negative_length()),
    "answer_another_call": ("answers no call", reply(Outcome.OK, 7)),
    "answer_with_an_unknown_code": ("answers no call", encode(Frame(200, 1))),
    "answer_what_only_the_parent_says": ("an impossible outcome", reply(Outcome.DUPLICATE)),
    "crash_with_an_answer": (
        "an impossible outcome",
        reply(Outcome.CRASHED, arrays=(np.arange(2),)),
    ),
}
for name, (detail, data) in WRONG.items():
    add(Outcome.INVALID_OUTPUT, detail, **{name: sends(data)})
add(Outcome.TIMEOUT, "wall-clock", tear_a_frame_and_stall=sends(TORN))
add(Outcome.OK, answer_twice=lambda text: os.write(PIPE, reply(Outcome.OK)))
add(
    Outcome.INVALID_OUTPUT,
    "bytes",
    answer_too_much=lambda text: (np.zeros(4 << 20, dtype=np.int64),),
)
add(
    Outcome.INVALID_OUTPUT,
    "arrays",
    answer_too_many=lambda text: tuple(np.zeros(0, dtype=np.int64) for _ in range(100_000)),
)
add(Outcome.INVALID_OUTPUT, "int64", answer_floats=lambda text: (np.zeros(3),))

# The process's own house.

add(Outcome.CRASHED, "status 0", leave=lambda text: os._exit(0))
add(Outcome.CRASHED, "SystemExit", raise_exit=lambda text: sys.exit(0))
add(Outcome.CRASHED, "SIG", abort=lambda text: os.abort())
add(
    Outcome.CRASHED,
    "SIGSEGV",
    read_address_zero=lambda text: ctypes.string_at(0),
    stride_out_of_bounds=lambda text: np.lib.stride_tricks.as_strided(
        np.arange(3), (2,), (1 << 40,)
    ).sum(),
)


@attack(Outcome.OK)
def walk_the_frames(text):
    frame = sys._getframe()
    while frame is not None:
        child = frame.f_locals.get("self")
        if hasattr(child, "_order"):
            child._order["call_seconds"] = child._order["total_seconds"] = 1e6
            child._programs.clear()
        frame = frame.f_back


@attack(Outcome.OK)
def patch_numpy(text):
    np.array = np.arange = np.asarray = lambda *_, **__: None
    return tuple(())


@attack(Outcome.CRASHED)
def patch_the_house(text):
    for name, module in list(sys.modules.items()):
        if name.startswith("specahd."):
            for key in [key for key in vars(module) if not key.startswith("__")]:
                setattr(module, key, lambda *_, **__: 99)
    return tuple(())


@attack(Outcome.CRASHED, "WRITEABLE")
def make_an_array_writeable(text):
    for array in GIVEN.values():
        array.flags.writeable = True


@attack(Outcome.OK)
def write_every_array(text):
    # Make the pages writable again, behind NumPy's back.
    for array in GIVEN.values():
        page = ctypes.c_void_p(array.ctypes.data & ~0xFFF)
        if LIBC.mprotect(page, 4096, mmap.PROT_READ | mmap.PROT_WRITE) == 0:
            ctypes.c_double.from_address(array.ctypes.data).value = 99.0


@attack(Outcome.OK)
def read_the_environment(text):
    LIBC.getenv.restype = ctypes.c_char_p
    secrets = [*os.environ, *filter(None, map(LIBC.getenv, (b"PATH", b"HOME", b"API_KEY")))]
    return (np.array([len(secrets)]),)


@attack(Outcome.OK)
def list_descriptors(text):
    found = []
    for number in range(1024):
        with contextlib.suppress(OSError):
            fcntl.fcntl(number, fcntl.F_GETFD)
            found.append(number)
    return (np.array(found),)
