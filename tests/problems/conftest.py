"""The pools of the problem in whose folder a test lies."""

from functools import cache
from importlib import import_module

import pytest

from specahd.routing.base import POOLS


@cache
def generated(problem):
    generate = import_module(f"specahd.problems.{problem}.generator").generate
    return {pool: list(generate(pool, 2024)) for pool in POOLS}


@pytest.fixture(scope="module")
def pools(request):
    return generated(request.path.parent.name)
