"""From configuration to what only a training run is told."""

from omegaconf import DictConfig

from specahd.design.coupled import Settings
from specahd.design.lower import RepertoireSettings
from specahd.repair.evaluator import TierRule
from specahd.repair.merge import Accept
from specahd.repair.system import Penalty


def coupled_settings(config: DictConfig) -> Settings:
    """Return how the levels are coupled, as ``search`` and ``budget`` say."""
    search, budget = config.search, config.budget
    return Settings(
        rounds=budget.rounds,
        lower_share=budget.lower_share,
        levels=search.levels,
        neighbours=search.neighbours,
        cells=search.cells,
        accept=Accept(search.accept),
        repertoire=RepertoireSettings(beta=search.beta, size=search.repertoire_size),
        penalty=Penalty(**search.penalty),
    )


def tier_rule(config: DictConfig) -> TierRule:
    """Return which lower programs are compiled, as ``tiers`` says."""
    steps = {"auto": config.tiers.steps, "interpreted": None, "compiled": 0}
    return TierRule(steps[config.tiers.choose], config.tiers.probes)
