"""``python -m specahd.select problem=cvrp``: make the best complete run of a problem its champion.

Only results on the selection pool decide (``tracking/registry.py`` has the rule). The chosen
run's checkpoint becomes a version of the model ``specahd-<problem>`` in the MLflow
registry, unless it is one already. This version gets the alias ``champion``.
"""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from specahd import model
from specahd.config import CONF_DIR
from specahd.config.cli import run_command, searchpath_words
from specahd.config.files import choices
from specahd.config.process import write_lines
from specahd.config.targets import check_targets
from specahd.core.errors import UserError
from specahd.runs.configuration import SEARCHPATH
from specahd.runs.files import CHECKPOINT
from specahd.tracking.registry import (
    CHAMPION,
    choose_champion,
    fetched_checkpoint,
    promote_version,
    ranked_trainings,
    register_checkpoint,
    remembered_option,
)
from specahd.tracking.store import open_store
from specahd.tracking.tables import print_trainings

_OF_METHODS = {"problem.max_regions", "problem.max_size"}
"""Options of a problem that leave instances and baselines as they are."""


def select(config: DictConfig) -> None:
    """Choose the best run of the store, register its checkpoint and report it."""
    check_targets(config)
    problem = str(HydraConfig.get().runtime.choices["problem"])
    uri = str(config.tracking.uri)
    with open_store(uri) as client:
        named = {word.partition("=")[0] for word in HydraConfig.get().overrides.task}
        settings = {f"pools.{name}": config.pools[name] for name in ("seed", "files")}
        for group in ("problem", "budget"):
            settings |= _options(config, group)
        for option in _OF_METHODS - named:
            settings.pop(option, None)
        runs = ranked_trainings(client, config.tracking.experiment, problem, settings, config.sweep)
        chosen = choose_champion(runs, problem)
        tags = {
            "problem": problem,
            "seed": str(chosen.seed),
            "selection_improvement": repr(chosen.selection),
        }
        with fetched_checkpoint(f"runs:/{chosen.id}/{CHECKPOINT}", uri) as directory:
            version = register_checkpoint(client, chosen.run, directory, problem, model.save, tags)
        changed = promote_version(client, version)
    print_trainings(runs, f"{problem}: runs of {config.tracking.experiment}")
    if any("=" in run.objection for run in runs):
        write_lines(
            "A run with another option does not count; give that option to count such runs alone."
        )
    is_now = "is" if changed else "was already"
    address = f"models:/{version.model}@{CHAMPION}"
    evaluate = f"python -m specahd.evaluate checkpoint={address} pool=validation"
    write_lines(
        f"{address} {is_now} version {version.number}: run {chosen.id}, seed {chosen.seed}",
        " ".join([f"evaluate:   {evaluate}", *map(shlex.quote, searchpath_words())]),
    )


def _options(config: DictConfig, group: str) -> dict[str, Any]:
    """Return the options of a group by the dotted names that runs record."""
    options = config[group] or {}
    return {f"{group}.{key}": options[key] for key in map(str, options) if not key.startswith("_")}


def _rewritten(arguments: Sequence[str]) -> list[str]:
    """Add the folders of a problem of the user's own, which its newest run remembers."""
    words = list(arguments)
    given = dict(word.split("=", 1) for word in arguments if "=" in word)
    problem = given.get("problem")
    if problem is None or problem in choices("problem") or SEARCHPATH in given:
        return words
    store = OmegaConf.load(CONF_DIR / "tracking" / "mlflow.yaml").uri
    # Without a store, or with another problem, Hydra refuses the name.
    with suppress(UserError, ModuleNotFoundError):
        if folders := remembered_option(arguments, store, problem, SEARCHPATH):
            words.append(f"{SEARCHPATH}={folders}")
    return words


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(select, "select", rewrite=_rewritten, extra="train")


if __name__ == "__main__":
    sys.exit(main())
