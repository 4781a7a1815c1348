"""The pools of every problem, made once."""

from functools import cache

from offered import problem
from specahd.routing.base import POOLS


@cache
def generated(name):
    return {pool: list(problem(name).generate(pool, 2024)) for pool in POOLS}
