"""Problems of conf/problem, their pools, and the case of their smallest instance."""

import functools

from hydra.utils import instantiate

from offered import configuration
from specahd.repair.cases import make_case

SEED = 7


@functools.cache
def problem_of(name):
    conf = configuration(name)
    if "solver_iterations" in conf:
        conf.solver_iterations = 3
    return instantiate(conf)


@functools.cache
def pool_of(name, pool):
    return list(problem_of(name).generate(pool, SEED))


@functools.cache
def smallest(name):
    """Return the case of the smallest training instance."""
    instance = min(pool_of(name, "lower_train"), key=lambda instance: instance.size)
    return make_case(problem_of(name), instance)
