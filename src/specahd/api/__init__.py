"""specahd from a script or a notebook: everything that the commands do, as functions.

::

    from specahd import api

    run = api.train("cvrp", budget="smoke", seed=0, out="run")
    checkpoint = api.load("run/checkpoint")
    solution = checkpoint.repair("my.vrp")
    solution.write("my.sol")

The names below are imported when they are first used, so that repairing with a
checkpoint loads neither the search nor a language model's client.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specahd.api.checkpoints import LoadedCheckpoint, load
    from specahd.api.evaluation import Evaluation, evaluate
    from specahd.api.own_pools import read_pool
    from specahd.api.plans import Training
    from specahd.api.problems import ProblemInstance, make_problem, read
    from specahd.api.solutions import Repaired, Solution
    from specahd.api.solving import Solved, solve
    from specahd.api.training import train
    from specahd.api.tuning import tune
    from specahd.core.budget import Budget
    from specahd.core.settings import CallLimits, Penalty, Settings
    from specahd.repair.execution import Execution

_MODULES = {
    "Budget": "specahd.core.budget",
    "CallLimits": "specahd.core.settings",
    "Evaluation": "specahd.api.evaluation",
    "Execution": "specahd.repair.execution",
    "LoadedCheckpoint": "specahd.api.checkpoints",
    "Penalty": "specahd.core.settings",
    "ProblemInstance": "specahd.api.problems",
    "Repaired": "specahd.api.solutions",
    "Settings": "specahd.core.settings",
    "Solution": "specahd.api.solutions",
    "Solved": "specahd.api.solving",
    "Training": "specahd.api.plans",
    "evaluate": "specahd.api.evaluation",
    "load": "specahd.api.checkpoints",
    "make_problem": "specahd.api.problems",
    "read": "specahd.api.problems",
    "read_pool": "specahd.api.own_pools",
    "solve": "specahd.api.solving",
    "train": "specahd.api.training",
    "tune": "specahd.api.tuning",
}

__all__ = [
    "Budget",
    "CallLimits",
    "Evaluation",
    "Execution",
    "LoadedCheckpoint",
    "Penalty",
    "ProblemInstance",
    "Repaired",
    "Settings",
    "Solution",
    "Solved",
    "Training",
    "evaluate",
    "load",
    "make_problem",
    "read",
    "read_pool",
    "solve",
    "train",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
