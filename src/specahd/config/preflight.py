"""What a training's configuration alone shows to be wrong, before the work or a sweep begins."""

from omegaconf import DictConfig

from specahd.config.ablation import check_ablation
from specahd.config.targets import check_targets
from specahd.llm.keys import require_keys


def check_training(config: DictConfig) -> None:
    """Refuse it in one sentence.

    Raises
    ------
    UserError
        A key is missing, an ablation takes nothing away, or a class is not there.
    """
    require_keys(config.llm, "llm")
    require_keys(config.memory, "memory")
    check_ablation(config)
    check_targets(config)
