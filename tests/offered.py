"""What the problems of ``conf/problem`` offer: suites run on all of them, and name none."""

from functools import cache

from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.routing.base import contracts

PROBLEMS = sorted(path.stem for path in (CONF_DIR / "problem").glob("*.yaml"))


@cache
def problem(name):
    return instantiate(OmegaConf.load(CONF_DIR / "problem" / f"{name}.yaml"))


def contract_of(name, level):
    """Return the contract of a problem's programs of one level, its default operator in force."""
    return contracts(problem(name).operator)[level]
