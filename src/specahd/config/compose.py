"""From configuration to the objects that several commands need."""

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from specahd.core.settings import CallLimits
from specahd.repair.execution import Execution


def execution(config: DictConfig) -> Execution:
    """Return how programs are run, as ``executor``, ``limits`` and ``sandbox`` say."""
    limits: CallLimits = OmegaConf.to_object(config.limits)  # type: ignore[assignment]  # of its schema
    return Execution(instantiate(config.executor), limits, require=config.sandbox.require)
