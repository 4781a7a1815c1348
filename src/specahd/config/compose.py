"""From configuration to the objects that several commands need."""

from hydra.utils import instantiate
from omegaconf import DictConfig

from specahd.repair.evaluator import CallLimits
from specahd.repair.execution import Execution


def execution(config: DictConfig) -> Execution:
    """Return how programs are run, as ``executor``, ``limits`` and ``sandbox`` say."""
    limits = CallLimits(
        config.limits.upper_call,
        config.limits.lower_call,
        config.limits.candidate,
        int(config.limits.memory_gb * 2**30),
    )
    return Execution(instantiate(config.executor), limits, config.sandbox.require)
