import contextlib
import os

import numpy as np
import psutil
import pytest
from scene import HERE, HONEST, HOSTILE

from specahd.sandbox.arena import Arena
from specahd.sandbox.session import Sandbox


@pytest.fixture(scope="session")
def arena():
    arena = Arena.allocate([{"matrix": (np.float64, (40, 40))}, {"matrix": (np.float64, (2, 2))}])
    arena.writable(0)["matrix"][:] = 7.0
    arena.writable(1)["matrix"][:] = 8.0
    yield arena
    arena.close()


@pytest.fixture(scope="session")
def sandbox(arena):
    with Sandbox(arena, [HONEST, HOSTILE], [HERE]) as sandbox:
        yield sandbox


@pytest.fixture
def descendants():
    """Count the living processes under this one."""

    def count():
        alive = 0
        for process in psutil.Process(os.getpid()).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                alive += process.status() != psutil.STATUS_ZOMBIE
        return alive

    return count
