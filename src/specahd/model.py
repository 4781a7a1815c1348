"""A frozen checkpoint as a model: it maps rows that name instances to rows with solutions.

``mlflow.pyfunc.load_model("models:/specahd-cvrp@champion")`` makes such a model. MLflow
calls :class:`SpecAHDModel`, which does not call MLflow. A model runs the programs
in the same sandbox, with the same limits, as ``python -m specahd.evaluate`` does.
"""

import json
import re
import tempfile
import threading
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from specahd.api.checkpoints import load
from specahd.api.problems import ProblemInstance, checkpoint_problem
from specahd.api.solutions import Repaired
from specahd.core.errors import ConfigError, FileError
from specahd.core.repair_options import RepairOptions
from specahd.core.settings import FROZEN_LIMITS, check_workers
from specahd.evaluation.rows import evaluation_row
from specahd.repair.execution import Execution
from specahd.routing.base import AnyProblem
from specahd.runs.files import CHECKPOINT
from specahd.sandbox.executor import LocalExecutor

INPUTS = ("instance", "text", "name")
"""Columns of the input: optional texts. A row has either an ``instance`` or a ``text``."""
OUTPUTS = {
    "name": "string",
    "cost": "double",
    "baseline_cost": "double",
    "feasible": "boolean",
    "status": "string",
    "routes": "string",
}
"""Columns of the output, and the type of each."""
PARAMETERS = {"baseline": "", "accept": ""}
"""Parameters of a call with their defaults; an empty text keeps the value of the training."""
SETTINGS = {"workers": 2, "sandbox": "available"}
"""Settings for loading a model: ``executor.workers`` and ``sandbox.require``."""
CODE = '''"""What MLflow runs when it loads this model; the work is done by specahd itself."""

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel
from specahd.model import SpecAHDModel


class Model(SpecAHDModel, PythonModel):
    def predict(self, context, model_input: pd.DataFrame, params=None) -> pd.DataFrame:
        return super().predict(context, model_input, params)


set_model(Model())
'''
"""The file that MLflow stores beside the checkpoint: a model from code, without a pickle."""
_LONGEST_NAME = 50
_FORKING = threading.Lock()
"""Lock for forking workers: if two threads of a server forked, workers would share pipes."""


class SpecAHDModel:
    """Repairer of baseline solutions; MLflow creates it empty and calls ``load_context`` later."""

    def load_context(self, context: Any) -> None:
        """Read, verify and guard the checkpoint in the context that MLflow passes.

        Parameters
        ----------
        context
            Its ``artifacts`` hold the directory ``checkpoint``, its ``model_config``
            :data:`SETTINGS`.

        Raises
        ------
        CheckpointError
            The checkpoint is incomplete or altered.
        ConfigError
            A setting is out of range, or the host lacks a layer that is required.
        """
        self._loaded = load(
            context.artifacts["checkpoint"],
            execution=_execution({**SETTINGS, **(context.model_config or {})}),
        )

    def predict(
        self, context: Any, model_input: Any, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Return one row for each row of the input, in its order.

        Parameters
        ----------
        context
            Not used.
        model_input
            A data frame of the columns :data:`INPUTS`: an ``instance`` is the path of a file, a
            ``text`` is the content of such a file, a ``name`` is copied to the output.
        params
            As in :data:`PARAMETERS`.

        Returns
        -------
        DataFrame
            Columns :data:`OUTPUTS`. ``status`` is ``T`` where the upper program failed and
            the baseline's solution is kept. ``routes`` is JSON: a list of routes without the
            depot (a TSP has one, its tour; SDVRP's stops are pairs of customer and quantity).

        Raises
        ------
        FileError
            An instance cannot be read.
        ConfigError
            A row or a parameter is not as described.
        """
        if not len(model_input.columns):
            raise ConfigError(f"Expected columns of {', '.join(INPUTS)}, got none of them.")
        asked = {name: (params or {}).get(name) or None for name in PARAMETERS}
        options = RepairOptions(asked["accept"])
        problem = checkpoint_problem(self._loaded.frozen, asked["baseline"])
        rows = [_present(entry) for entry in model_input.to_dict("records")]
        with tempfile.TemporaryDirectory() as folder:
            instances = [
                ProblemInstance(problem, _read(problem, entry, Path(folder), number))
                for number, entry in enumerate(rows, start=1)
            ]
        loaded = replace(self._loaded, problem=problem)
        cases = loaded.cases(instances)
        with _FORKING:
            solutions = loaded.repair_cases(cases, options)
        answers = [
            _answer(entry, solution) for entry, solution in zip(rows, solutions, strict=True)
        ]
        # A data frame like the input.
        return type(model_input)(answers, columns=list(OUTPUTS))


def _answer(entry: Mapping[str, str], solution: Repaired) -> dict[str, Any]:
    """Return the row of the output for a row of the input."""
    row = evaluation_row(solution.problem, solution.case, solution.repair)
    return {
        "name": entry.get("name", row["instance"]),
        "cost": float(solution.cost),
        "baseline_cost": float(row["baseline_cost"]),
        "feasible": row["feasible"],
        "status": row["status"],
        "routes": json.dumps(solution.routes),
    }


def _execution(settings: Mapping[str, Any]) -> Execution:
    """Return the execution of a model's programs on this machine, from the model's settings."""
    check_workers(settings["workers"])
    executor = partial(LocalExecutor, workers=settings["workers"])
    return Execution(executor, FROZEN_LIMITS, require=settings["sandbox"])


def _present(entry: Mapping[Any, Any]) -> dict[str, str]:
    """Return the texts of a row; leave out missing cells, which are not text."""
    return {name: entry[name] for name in INPUTS if isinstance(entry.get(name), str)}


def _read(problem: AnyProblem, entry: Mapping[str, str], folder: Path, number: int) -> Any:
    if ("instance" in entry) == ("text" in entry):
        got = "both" if "instance" in entry else "neither"
        raise ConfigError(f"Expected row {number} to have an instance or a text, got {got}.")
    if "instance" in entry:
        return problem.read(Path(entry["instance"]))
    # In formats without a NAME, the name of the file is the name of the instance.
    name = re.sub(r"[^\w.+-]", "_", entry.get("name", f"row-{number}"))[:_LONGEST_NAME]
    path = folder / f"{name}{problem.suffix}"
    path.write_text(entry["text"], encoding="utf-8")
    try:
        return problem.read(path)
    except FileError as error:
        raise FileError(str(error).replace(str(path), f"The text of row {number}")) from None


def save(target: Path, checkpoint: Path) -> None:
    """Write a model's folder: the code, the unchanged checkpoint, and their description."""
    import mlflow
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        code = Path(folder) / "specahd_model.py"
        code.write_text(CODE, encoding="utf-8")
        # MLflow warns that an example is better than a signature.
        warnings.simplefilter("ignore", UserWarning)
        mlflow.pyfunc.save_model(
            target,
            python_model=code,
            artifacts={CHECKPOINT: str(checkpoint)},
            signature=ModelSignature(
                Schema([ColSpec("string", name, required=False) for name in INPUTS]),
                Schema([ColSpec(kind, name) for name, kind in OUTPUTS.items()]),
                ParamSchema([ParamSpec(name, "string", text) for name, text in PARAMETERS.items()]),
            ),
            # Listed here, because MLflow would otherwise import everything to find them.
            pip_requirements=[
                f"mlflow=={mlflow.__version__}",
                f"specahd[train]=={version('specahd')}",
            ],
            model_config=dict(SETTINGS),
        )
