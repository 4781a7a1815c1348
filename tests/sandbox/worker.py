"""The worker object of the executors' tests."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from specahd.core.errors import ProcessLost
from specahd.sandbox.shared_arrays import SharedArrays


def filled_arrays():
    shared = SharedArrays.allocate([{"offset": (np.int64, ())}])
    shared.writable(0)["offset"][...] = 100
    return shared


class Worker:
    def __init__(self, shared):
        self.shared = shared
        self.started = os.getpid()

    def add(self, number):
        return int(self.shared.arrays(0)["offset"]) + number

    def block(self):
        """Say which process this is and which block of memory it reads."""
        return self.started, os.fstat(self.shared.fd).st_ino

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

    def lose_once(self, marker):
        if not Path(marker).exists():
            Path(marker).touch()
            raise ProcessLost
        return "survived"

    def lose(self):
        raise ProcessLost

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def unsendable(self):
        return lambda: None


def refuse(shared):
    raise LookupError("no such thing")
