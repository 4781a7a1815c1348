"""What ``conf/`` offers: suites run on all problems and methods, and name none."""

from contextlib import closing
from functools import cache

from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.config import CONF_DIR, files
from specahd.repair.cases import Case, share_arrays
from specahd.routing.base import contracts

PROBLEMS = sorted(path.stem for path in (CONF_DIR / "problem").glob("*.yaml"))

COMPOSED = ["specahd", "g_lns"]
"""Methods with options of other groups, which only Hydra puts together."""
METHODS = [name for name in files.choices("method") if name not in COMPOSED]


def configuration(name):
    """Return what ``conf/problem`` has of ``NAME`` or, with another operator, ``NAME-OPERATOR``."""
    problem, _, operator = name.partition("-")
    conf = OmegaConf.load(CONF_DIR / "problem" / f"{problem}.yaml")
    if operator:
        conf.repair = operator
    return conf


@cache
def problem(name):
    return instantiate(configuration(name))


def contract_of(name, level):
    """Return the contract of the programs of one level of ``NAME`` or ``NAME-OPERATOR``."""
    return contracts(problem(name).operator)[level]


def arrays_of(problem, instance):
    """Return what programs see of an instance."""
    # The arrays outlive the block's descriptor.
    if hasattr(instance, "unservable"):
        # Programs never see such an instance; what they would see is tested all the same.
        vars(instance)["unservable"] = {}
    with closing(share_arrays(problem, [Case(instance, None, 0.0, "")])) as shared:
        return shared.arrays(0)


OFFERED = [
    name if operator == problem(name).repair else f"{name}-{operator}"
    for name in PROBLEMS
    for operator in problem(name).operators
]
"""Every problem with every repair operator that it has."""
REGIONAL = [name for name in OFFERED if not problem(name).operator.whole]
"""Those whose regions upper programs choose."""
