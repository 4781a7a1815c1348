"""The pools of the problem in whose folder a test lies, and an instance written by hand."""

from functools import cache
from importlib import import_module

import numpy as np
import pytest

from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import POOLS
from specahd.routing.formats.vrplib import TimeWindows


@cache
def generated(problem):
    generate = import_module(f"specahd.problems.{problem}.generator").generate
    return {pool: list(generate(pool, 2024)) for pool in POOLS}


@pytest.fixture(scope="module")
def pools(request):
    return generated(request.path.parent.name)


@pytest.fixture
def line():
    """Customers 1 to 4 at 10, 20, 30 and 40 on a line from the depot, which closes at 100."""
    return VRPTWInstance(
        name="line",
        coords=np.array([(10.0 * node, 0.0) for node in range(5)]),
        demands=np.array([0, 2, 3, 2, 4]),
        capacity=7,
        windows=TimeWindows(
            ready=np.array([0.0, 0, 30, 60, 0]),
            due=np.array([100.0, 80, 50, 60, 55]),
            service=np.array([0.0, 5, 5, 5, 5]),
        ),
    )
