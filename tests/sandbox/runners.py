"""Runners for the tests: some are honest, the others do what a hostile program would.

The guard forbids all of this in a program. What a runner does happens in the
program's process, so these show that the kernel's confinement holds without the guard.
"""

import os
import sys
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
    """Do the attack whose position in ATTACKS comes first in the inputs."""
    answer = ATTACKS[int(inputs[0][0])](arrays, inputs)
    return Answer([np.arange(3)] if answer is None else answer)


def attack(name, *more):
    """Return the inputs that ask for an attack."""
    position = [attack.__name__ for attack in ATTACKS].index(name)
    return (np.array([position, *more], dtype=np.int64),)


def loop(arrays, inputs):
    while True:
        pass


def sleep(arrays, inputs):
    time.sleep(600)


def leave(arrays, inputs):
    os._exit(0)


def tell_an_address(arrays, inputs):
    text = "made at 0x7f0123456789 by /srv/secret/place/program.py"
    os.write(3, encode(Frame(OUTCOMES.index(Outcome.CRASHED), 1, detail=text)))
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


ATTACKS = (
    loop,
    sleep,
    leave,
    tell_an_address,
    pause,
    burn_and_pause,
    pause_and_leave,
    claim_a_day,
)
