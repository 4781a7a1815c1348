"""The worker object of the executors' tests."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from specahd.sandbox.arena import Arena


def filled_arena():
    arena = Arena.allocate([{"offset": (np.int64, ())}])
    arena.writable(0)["offset"][...] = 100
    return arena


class Worker:
    def __init__(self, arena):
        self.arena = arena
        self.started = os.getpid()

    def add(self, number):
        return int(self.arena.arrays(0)["offset"]) + number

    def block(self):
        """Say which process this is and which block of memory it reads."""
        return self.started, os.fstat(self.arena.fd).st_ino

    def fail(self):
        raise KeyError("lost")

    def wait(self, seconds):
        time.sleep(seconds)
        return self.started

    def die_once(self, marker):
        if not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "survived"

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def unsendable(self):
        return lambda: None


def refuse(arena):
    raise LookupError("no such thing")
