"""Runners for the tests: some are honest, the others do what a hostile program would.

The guard forbids all of this in a program. What a runner does happens in the
program's process, so these show that the kernel's confinement holds without the guard.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import sys
import tempfile
import time

import numpy as np

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Outcome
from specahd.sandbox.child import OUTCOMES
from specahd.sandbox.wire import Frame, encode


def honest(program, arrays, inputs):
    """Call the program once; its answer is a list of whole numbers."""
    answer = program(arrays["matrix"], *inputs)
    if not isinstance(answer, list):
        raise InvalidAnswer("Expected a list.")
    return Answer([np.array(answer, dtype=np.int64)])


def hostile(program, arrays, inputs):
    """Do the attack whose position in DEEDS comes first in the inputs."""
    answer = ATTACKS[int(inputs[0][0])](arrays, inputs)
    return Answer([np.arange(3)] if answer is None else answer)


def attack(name, *more):
    """Return the inputs that ask for an attack."""
    position = [attack.__name__ for attack in ATTACKS].index(name)
    return (np.array([position, *more], dtype=np.int64),)


def loop(arrays, inputs):
    while True:
        pass


def loop_in_c(arrays, inputs):
    values = np.arange(200_000_000 // 8) % 1013
    while True:
        values.sort(kind="heapsort")


def sleep(arrays, inputs):
    time.sleep(600)


def allocate(arrays, inputs):
    np.ones(1 << 33)


def allocate_lists(arrays, inputs):
    pieces = []
    while True:
        pieces.append([0] * 1_000_000)


def leave(arrays, inputs):
    os._exit(0)


def raise_exit(arrays, inputs):
    raise SystemExit


def segfault(arrays, inputs):
    ctypes.string_at(0)


def flood_answer(arrays, inputs):
    return (np.zeros(4 << 20, dtype=np.int64),)


def flood_many(arrays, inputs):
    return tuple(np.zeros(0, dtype=np.int64) for _ in range(100_000))


def flood_pipe(arrays, inputs):
    while True:
        os.write(3, b"\xff" * 65536)


def lie_about_length(arrays, inputs):
    os.write(3, b"AHD1" + b"\xff" * 60)
    time.sleep(600)


def tell_an_address(arrays, inputs):
    text = "made at 0x7f0123456789 by /srv/secret/place/program.py"
    os.write(3, encode(Frame(OUTCOMES.index(Outcome.CRASHED), 1, detail=text)))
    time.sleep(600)


def flood_standard_output(arrays, inputs):
    for _ in range(200):
        os.write(1, b"x" * 65536)
        os.write(2, b"x" * 65536)
    sys.stdout.write("x" * 1_000_000)
    sys.stdout.flush()


def leave_grandchildren(arrays, inputs):
    marker = f"specahd-grandchild-{int(inputs[0][1])}"
    for own_session in (False, True):
        if os.fork() == 0:
            if own_session:
                os.setsid()
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", marker])


def write_shared(arrays, inputs):
    arrays["matrix"].flags.writeable = True
    arrays["matrix"][0, 0] = 99.0


def write_shared_by_force(arrays, inputs):
    # Make the pages writable again, behind NumPy's back.
    address = arrays["matrix"].ctypes.data & ~0xFFF
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), 4096, 3) == 0:
        ctypes.c_double.from_address(arrays["matrix"].ctypes.data).value = 99.0


def write_file(arrays, inputs):
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 10_000)
        file.flush()


def count_environment(arrays, inputs):
    return (np.array([len(os.environ)]),)


def list_descriptors(arrays, inputs):
    found = []
    for number in range(1024):
        with contextlib.suppress(OSError):
            fcntl.fcntl(number, fcntl.F_GETFD)
            found.append(number)
    return (np.array(found),)


def ignore_signals(arrays, inputs):
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    while True:
        pass


def kill_zygote(arrays, inputs):
    os.kill(os.getppid(), 9)
    time.sleep(600)


def pause(arrays, inputs):
    time.sleep(inputs[0][1] / 1000)


def burn_and_pause(arrays, inputs):
    end = time.thread_time() + inputs[0][1] / 1000
    while time.thread_time() < end:
        pass
    time.sleep(inputs[0][2] / 1000)


def pause_and_leave(arrays, inputs):
    pause(arrays, inputs)
    os._exit(0)


def claim_a_day(arrays, inputs):
    """Lie about the time that was used, and have the child forget what it may use in all."""
    time.thread_time = lambda: 86_400.0
    frame = sys._getframe()
    while frame is not None:
        child = frame.f_locals.get("self")
        if hasattr(child, "_order"):
            child._order["total_seconds"] = None
        frame = frame.f_back


def wait_a_little(arrays, inputs):
    time.sleep(0.05)


ATTACKS = (
    loop,
    loop_in_c,
    sleep,
    allocate,
    allocate_lists,
    leave,
    raise_exit,
    segfault,
    flood_answer,
    flood_many,
    flood_pipe,
    lie_about_length,
    tell_an_address,
    flood_standard_output,
    leave_grandchildren,
    write_shared,
    write_shared_by_force,
    write_file,
    count_environment,
    list_descriptors,
    ignore_signals,
    kill_zygote,
    pause,
    burn_and_pause,
    pause_and_leave,
    claim_a_day,
    wait_a_little,
)
