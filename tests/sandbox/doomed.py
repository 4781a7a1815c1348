"""A parent with two workers, each with a sandbox whose child is busy; it waits to be killed."""

import os
import sys
import time

import numpy as np
import psutil
from runners import deed
from scene import HERE, HONEST, HOSTILE, PROGRAMS

from specahd.sandbox.arena import Arena
from specahd.sandbox.executor import LocalExecutor
from specahd.sandbox.session import Call, Limits, Sandbox


class Worker:
    def __init__(self, arena):
        self.sandbox = Sandbox(arena, [HONEST, HOSTILE], [HERE])

    def loop(self):
        with self.sandbox.session(PROGRAMS, Limits(600.0)) as session:
            return session.call(Call(1, 0, deed("loop")))


arena = Arena.allocate([{"matrix": (np.float64, (2, 2))}])
executor = LocalExecutor(Worker, arena, workers=2)
futures = [executor.submit("loop") for _ in range(2)]
while len(psutil.Process(os.getpid()).children(recursive=True)) < 6:
    time.sleep(0.05)
sys.stdout.write("busy\n")
sys.stdout.flush()
time.sleep(600)
