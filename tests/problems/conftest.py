"""The pools of every problem, made once."""

from functools import cache

from offered import problem
from specahd.routing.base import CONFIRMATION, POOLS
from specahd.routing.pools import generate


@cache
def generated(name):
    return {pool: list(generate(problem(name), pool, 2024)) for pool in (*POOLS, CONFIRMATION)}
