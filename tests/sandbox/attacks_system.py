"""More attacks: rights over the machine, resources, the pipe, and the process itself."""

import ctypes
import gc
import mmap
import os
import resource
import signal
import struct
import sys
import time

import attacks_processes  # noqa: F401  its attacks enter the table
import numpy as np
from attacks_files import ATTACKS, LIBC, attack, attempt, order, raw, refused

from specahd.core.program import Outcome
from specahd.sandbox import wire
from specahd.sandbox.child import OUTCOMES
from specahd.sandbox.wire import Frame, encode

__all__ = ["ATTACKS", "attempt", "order"]

PIPE = 3
_OK = OUTCOMES.index(Outcome.OK)

# Powers.


def calls(name, number, *arguments):
    def function(text):
        raw(number, *arguments)

    function.__name__ = name
    refused(function)


calls("become_root", 117, 0, 0, 0)
calls("become_roots_group", 119, 0, 0, 0)
calls("change_groups", 116, 0, 0)
calls("regain_capabilities", 126, 0, 0)
calls("mount", 165, b"none", b"/mnt", b"tmpfs", 0, 0)
calls("unmount", 166, b"/proc", 0)
calls("turn_the_root", 155, b"/", b"/")
calls("enter_a_namespace", 308, PIPE, 0)
calls("make_a_user_namespace", 272, 0x10000000)
calls("use_io_uring", 425, 8, 0)
calls("load_bpf", 321, 0, 0, 0)
calls("count_events", 298, 0, 0, -1, -1, 0)
calls("handle_page_faults", 323, 0)
calls("add_a_key", 248, b"user", b"x", b"x", 1, -3)
calls("load_a_module", 175, 0, 0, b"")
calls("restart_the_machine", 169, 0, 0, 0, 0)
calls("rename_the_machine", 170, b"x", 1)
calls("set_the_clock", 227, 0, 0)
calls("change_personality", 135, 0x0040000)
calls("outlive_the_parent", 157, 1, 0, 0, 0, 0)
calls("replace_the_filter", 317, 1, 0, 0)
calls("draw_entropy", 318, 0, 8, 0)
calls("drop_signals_by_descriptor", 289, -1, 0, 8, 0)
calls("use_the_x32_table", 0x40000000 | 39)


@attack(Outcome.CRASHED, "not allowed to raise maximum limit")
def raise_a_limit(text):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@refused
def limit_the_parent(text):
    resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))


@attack(Outcome.CRASHED, "SIGSYS")
def use_the_32_bit_table(text):
    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


# Resources.


@attack(Outcome.OUT_OF_MEMORY, "memory")
def allocate_64_gib(text):
    bytearray(64 << 30)


@attack(Outcome.OUT_OF_MEMORY, "memory")
def allocate_in_numpy(text):
    np.ones(1 << 33)


@attack(Outcome.OUT_OF_MEMORY, "memory")
def allocate_by_addition(text):
    big = np.ones(1 << 23)
    return [big + number for number in range(1000)]


@attack(Outcome.OUT_OF_MEMORY, "memory")
def allocate_a_huge_integer(text):
    return 1 << (1 << 40)


@attack(Outcome.OUT_OF_MEMORY, "memory")
def repeat_a_string(text):
    return "x" * (1 << 40)


@attack(Outcome.TIMEOUT)
def raise_to_a_huge_power(text):
    return 3 ** (10**9)


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


@attack(Outcome.TIMEOUT, "wall-clock")
def sleep(text):
    time.sleep(600)


@attack(Outcome.CRASHED, "RecursionError")
def recurse(text):
    recurse(text)


@attack(Outcome.CRASHED, "SIGSEGV")
def recurse_in_c(text):
    sys.setrecursionlimit(1 << 30)
    items = []
    for _ in range(1 << 20):
        items = [items]
    # The nested list is compared with itself, level by level, on the C stack.
    other = []
    for _ in range(1 << 20):
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


@attack(Outcome.INVALID_OUTPUT, "bytes")
def answer_too_much(text):
    return (np.zeros(4 << 20, dtype=np.int64),)


@attack(Outcome.INVALID_OUTPUT, "arrays")
def answer_too_many(text):
    return tuple(np.zeros(0, dtype=np.int64) for _ in range(100_000))


@attack(Outcome.INVALID_OUTPUT, "int64")
def answer_floats(text):
    return (np.zeros(3),)


@attack(Outcome.INVALID_OUTPUT, "no frame")
def flood_the_pipe(text):
    while True:
        os.write(PIPE, b"\xff" * 65536)


@attack(Outcome.INVALID_OUTPUT, "more than it may hold")
def declare_a_huge_frame(text):
    os.write(PIPE, b"AHD1" + b"\xff" * 60)
    time.sleep(600)


@attack(Outcome.INVALID_OUTPUT, "impossible time")
def declare_an_impossible_time(text):
    os.write(PIPE, encode(Frame(_OK, 1, cpu_seconds=float("nan"))))
    time.sleep(600)


@attack(Outcome.INVALID_OUTPUT, "add up")
def declare_a_negative_length(text):
    frame = bytearray(encode(Frame(_OK, 1, arrays=(np.arange(2),))))
    # The lengths follow the header.
    start = wire._HEADER.size
    frame[start : start + 8] = struct.pack("<q", -5)
    os.write(PIPE, frame)
    time.sleep(600)


@attack(Outcome.INVALID_OUTPUT, "answers no call")
def answer_another_call(text):
    os.write(PIPE, encode(Frame(_OK, 7)))
    time.sleep(600)


@attack(Outcome.INVALID_OUTPUT, "answers no call")
def answer_with_an_unknown_code(text):
    os.write(PIPE, encode(Frame(200, 1)))
    time.sleep(600)


@attack(Outcome.INVALID_OUTPUT, "an impossible outcome")
def answer_what_only_the_parent_says(text):
    os.write(PIPE, encode(Frame(OUTCOMES.index(Outcome.DUPLICATE), 1)))
    time.sleep(600)


@attack(Outcome.INVALID_OUTPUT, "an impossible outcome")
def crash_with_an_answer(text):
    os.write(PIPE, encode(Frame(OUTCOMES.index(Outcome.CRASHED), 1, arrays=(np.arange(2),))))
    time.sleep(600)


@attack(Outcome.TIMEOUT, "wall-clock")
def tear_a_frame_and_stall(text):
    os.write(PIPE, encode(Frame(_OK, 1))[:11])
    time.sleep(600)


@attack(Outcome.CRASHED, "status 0")
def tear_a_frame_and_die(text):
    os.write(PIPE, encode(Frame(_OK, 1))[:11])
    os._exit(0)


@attack(Outcome.OK)
def answer_early_and_die(text):
    os.write(PIPE, encode(Frame(_OK, 1)))
    os._exit(0)


@attack(Outcome.OK)
def answer_twice(text):
    os.write(PIPE, encode(Frame(_OK, 1)))


@attack(Outcome.CRASHED)
def close_the_pipe(text):
    os.close(PIPE)
    time.sleep(600)


# The process's own house.


@attack(Outcome.CRASHED, "status 0")
def leave(text):
    os._exit(0)


@attack(Outcome.CRASHED, "SystemExit")
def raise_exit(text):
    sys.exit(0)


@attack(Outcome.CRASHED, "SIG")
def abort(text):
    os.abort()


@attack(Outcome.CRASHED, "SIGSEGV")
def read_address_zero(text):
    ctypes.string_at(0)


@attack(Outcome.CRASHED, "SIGSEGV")
def stride_out_of_bounds(text):
    return np.lib.stride_tricks.as_strided(np.arange(3), (2,), (1 << 40,)).sum()


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


@attack(Outcome.OK)
def write_every_array(text):
    for thing in gc.get_objects():
        if isinstance(thing, np.ndarray) and thing.flags.writeable:
            thing.fill(99)
    for address in range(0, 1 << 20, 4096):
        LIBC.mprotect(ctypes.c_void_p(address), 4096, 3)


@attack(Outcome.OK)
def read_the_environment(text):
    LIBC.getenv.restype = ctypes.c_char_p
    secrets = [*os.environ, *filter(None, map(LIBC.getenv, (b"PATH", b"HOME", b"API_KEY")))]
    return (np.array([len(secrets)]),)
