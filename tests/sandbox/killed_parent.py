"""A parent with two workers, each with a sandbox whose child is busy; it waits to be killed."""

import os
import sys
import time

import numpy as np
import psutil
from program_pair import HERE, HONEST, HOSTILE, PROGRAMS
from runners import attack

from specahd.sandbox.executor import LocalExecutor
from specahd.sandbox.session import Call, Sandbox, SessionLimits
from specahd.sandbox.shared_arrays import SharedArrays


class Worker:
    def __init__(self, shared):
        self.sandbox = Sandbox(shared, [HONEST, HOSTILE], [HERE])

    def loop(self):
        with self.sandbox.session(PROGRAMS, SessionLimits(600.0)) as session:
            return session.call(Call(1, 0, attack("loop")))


shared = SharedArrays.allocate([{"matrix": (np.float64, (2, 2))}])
executor = LocalExecutor(Worker, shared, workers=2)
futures = [executor.submit("loop") for _ in range(2)]
while len(psutil.Process(os.getpid()).children(recursive=True)) < 6:
    time.sleep(0.05)
sys.stdout.write("busy\n")
sys.stdout.flush()
time.sleep(600)
