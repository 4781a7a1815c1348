"""Checks of a training's configuration, made before any work or a sweep begins."""

from omegaconf import DictConfig

from specahd.config.ablation import check_ablation
from specahd.config.targets import check_targets, locate
from specahd.design.makers import expect_rounds
from specahd.llm.keys import require_keys


def check_training(config: DictConfig) -> None:
    """Refuse an invalid configuration in one sentence.

    Raises
    ------
    UserError
        A key is missing, an ablation has no effect, or a class does not exist or is not of
        the expected kind.
    """
    require_keys(config.llm, "llm")
    require_keys(config.memory, "memory")
    check_ablation(config)
    rounds = config.method.get("_target_")
    if rounds is not None:
        # Before the targets, since a search method in this place takes other options.
        expect_rounds(locate("method._target_", rounds))
    check_targets(config)
