import contextlib
import os

import numpy as np
import psutil
import pytest
from program_pair import HERE, HONEST, HOSTILE

from forked_zygotes import fork_zygotes
from specahd.sandbox.session import Sandbox
from specahd.sandbox.shared_arrays import SharedArrays


@pytest.fixture(scope="package", autouse=True)
def started(forked):
    """Have every zygote started by the sandbox itself, which is what is tested here."""
    fork_zygotes(False)
    yield
    fork_zygotes()


@pytest.fixture(scope="session")
def shared():
    shared = SharedArrays.allocate(
        [{"matrix": (np.float64, (40, 40))}, {"matrix": (np.float64, (2, 2))}]
    )
    shared.writable(0)["matrix"][:] = 7.0
    shared.writable(1)["matrix"][:] = 8.0
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def sandbox(shared):
    with Sandbox(shared, [HONEST, HOSTILE], [HERE]) as sandbox:
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
