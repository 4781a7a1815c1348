"""Ablations: a label that is recorded must be true of the run that bears it."""

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from specahd.config import CONF_DIR
from specahd.core.errors import ConfigError


def check_ablation(config: DictConfig) -> None:
    """Refuse an ablation that takes away what is not there, or that another option undoes.

    Raises
    ------
    ConfigError
        ``ablation=`` contradicts ``memory=`` or one of its options.
    """
    chosen = HydraConfig.get().runtime.choices
    label = chosen["ablation"]
    taken = (
        OmegaConf.select(OmegaConf.load(CONF_DIR / "ablation" / f"{label}.yaml"), "memory") or {}
    )
    complete = OmegaConf.load(CONF_DIR / "memory" / f"{chosen['memory']}.yaml")
    for option, value in taken.items():
        # none's are 0 and false, and jina's fuse is 1 already.
        if complete[option] == value or not complete[option]:
            raise ConfigError(
                f"ablation={label} takes away what memory={chosen['memory']} does not have "
                f"(memory.{option} is {_written(complete[option])}); choose a memory that has it."
            )
        if config.memory[option] != value:
            raise ConfigError(
                f"ablation={label} sets memory.{option} to {_written(value)}, "
                f"got {_written(config.memory[option])}."
            )


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
