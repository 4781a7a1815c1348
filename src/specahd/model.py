"""A frozen checkpoint as a model: rows that name instances in, rows with their solutions out.

This is what ``mlflow.pyfunc.load_model("models:/specahd-cvrp@champion")`` makes; MLflow
calls :class:`SpecAHDModel`, and nothing here calls MLflow. A model runs the programs
in the same sandbox, with the same limits, as ``python -m specahd.evaluate`` does.
"""

import json
import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf

from specahd.checkpoint import Checkpoint, thaw
from specahd.config import CONF_DIR
from specahd.config.compose import inspect_sandbox, start_executor
from specahd.config.options import ACCEPT, Limits, SandboxOptions, check_workers
from specahd.core.errors import CheckpointError, ConfigError, FileError
from specahd.core.plain import misfit
from specahd.core.ranges import one_of
from specahd.repair.cases import make_cases
from specahd.repair.merge import Accept
from specahd.repair.rows import row, run_frozen
from specahd.routing.base import AnyProblem

INPUTS = ("instance", "text", "name")
"""Columns of the input, each text, each optional; a row has an ``instance`` or a ``text``."""
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
"""What a call may set, with its default; nothing means as the checkpoint was trained."""
SETTINGS = {"workers": 2, "sandbox": "available"}
"""What loading a model may set: ``executor.workers`` and ``sandbox.require``."""
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
"""The file that MLflow keeps beside the checkpoint: models from code, without a pickle."""
_LONGEST_NAME = 50
_FORKING = threading.Lock()
"""Servers answer in several threads; workers forked meanwhile would hold each other's pipes."""


class SpecAHDModel:
    """Repairs the baseline solutions of instances; made empty, as MLflow asks."""

    def load_context(self, context: Any) -> None:
        """Read the checkpoint, verified and guarded, as MLflow hands it over.

        Parameters
        ----------
        context
            Its ``artifacts`` hold the directory ``checkpoint``, its ``model_config``
            :data:`SETTINGS`.

        Raises
        ------
        CheckpointError
            The checkpoint is torn or altered.
        ConfigError
            A setting is out of range, or the host lacks a layer that is required.
        """
        self._checkpoint = thaw(Path(context.artifacts["checkpoint"]))
        checkpoint_problem(self._checkpoint)
        self._config = _configuration({**SETTINGS, **(context.model_config or {})})
        inspect_sandbox(self._config)

    def predict(
        self, context: Any, model_input: Any, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Return one row for each row of the input, in its order.

        Parameters
        ----------
        context
            Not needed again.
        model_input
            A data frame of the columns :data:`INPUTS`: an ``instance`` is the path of a file, a
            ``text`` what would be in it, a ``name`` is repeated in the answer.
        params
            As in :data:`PARAMETERS`.

        Returns
        -------
        DataFrame
            Columns :data:`OUTPUTS`. ``status`` is ``T`` where the upper program failed and
            the baseline's solution stands. ``routes`` is JSON: a list of routes without the
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
        if asked["accept"] is not None:
            one_of("accept", asked["accept"], ACCEPT)
        problem = checkpoint_problem(self._checkpoint, asked["baseline"])
        rows = [_present(entry) for entry in model_input.to_dict("records")]
        with tempfile.TemporaryDirectory() as folder:
            instances = [
                _read(problem, entry, Path(folder), number)
                for number, entry in enumerate(rows, start=1)
            ]
        answers = self._repair(problem, instances, asked["accept"]) if instances else []
        for entry, answer in zip(rows, answers, strict=True):
            answer["name"] = entry.get("name", answer["name"])
        # A data frame like the one that came in.
        return type(model_input)(answers, columns=list(OUTPUTS))

    def _repair(
        self, problem: AnyProblem, instances: Sequence[Any], accept: str | None
    ) -> list[dict[str, Any]]:
        cases = make_cases(problem, instances)
        system = self._checkpoint.system(Accept(accept) if accept else None)
        with _FORKING:
            executor = start_executor(self._config, problem, cases)
            try:
                repairs = run_frozen(executor, self._checkpoint.upper, system, range(len(cases)))
            finally:
                executor.close()
        answers = []
        for case, repair in zip(cases, repairs, strict=True):
            told = row(problem, case, repair)
            answers.append(
                {
                    "name": told["instance"],
                    "cost": float(told["cost"]),
                    "baseline_cost": float(told["baseline_cost"]),
                    "feasible": told["feasible"],
                    "status": told["status"],
                    "routes": _routes(repair.solution),
                }
            )
        return answers


def checkpoint_problem(checkpoint: Checkpoint, baseline: str | None = None) -> AnyProblem:
    """Make a checkpoint's problem again, under another baseline if one is asked for.

    The class is the one that ``conf/`` names, called with the options that ``conf/`` declares: a
    checkpoint says their values and nothing else.

    Raises
    ------
    ConfigError
        ``conf/`` has no such problem, or the problem no such baseline.
    CheckpointError
        A setting is none of the problem's, or the guard refuses one of the checkpoint's programs.
    """
    known = {path.stem: path for path in (CONF_DIR / "problem").glob("*.yaml")}
    if checkpoint.problem not in known:
        raise ConfigError(f"The checkpoint's problem {checkpoint.problem!r} is not in {CONF_DIR}.")
    conf: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(known[checkpoint.problem]))  # type: ignore[assignment]  # a mapping
    options = {key: value for key, value in conf.items() if not key.startswith("_")}
    make = get_class(conf["_target_"])
    arguments = signature(make).parameters
    for name, value in checkpoint.settings.items():
        if name not in options or misfit(value, arguments[name].annotation) is not None:
            raise CheckpointError(
                f"The checkpoint's setting {name} is not one of {checkpoint.problem}, "
                "or has a value of another type."
            )
    asked = {} if baseline is None else {"baseline": baseline}
    problem: AnyProblem = make(**{**options, **checkpoint.settings, **asked})
    checkpoint.admit(problem)
    return problem


def _configuration(settings: Mapping[str, Any]) -> DictConfig:
    """Return what the doors would have composed for an executor of this machine."""
    sandbox = SandboxOptions(require=settings["sandbox"])
    sandbox.validate()
    executor = OmegaConf.load(CONF_DIR / "executor" / "local.yaml")
    config = OmegaConf.create({"executor": executor, "limits": Limits(), "sandbox": sandbox})
    config.executor.workers = settings["workers"]
    check_workers(config.executor)
    return config


def _present(entry: Mapping[Any, Any]) -> dict[str, str]:
    """Return what a row says; cells that are missing hold something else than text."""
    return {name: entry[name] for name in INPUTS if isinstance(entry.get(name), str)}


def _read(problem: AnyProblem, entry: Mapping[str, str], folder: Path, number: int) -> Any:
    if ("instance" in entry) == ("text" in entry):
        got = "both" if "instance" in entry else "neither"
        raise ConfigError(f"Expected row {number} to have an instance or a text, got {got}.")
    if "instance" in entry:
        return problem.read(Path(entry["instance"]))
    # Formats without a NAME take that of the file.
    name = re.sub(r"[^\w.+-]", "_", entry.get("name", f"row-{number}"))[:_LONGEST_NAME]
    path = folder / f"{name}{problem.suffix}"
    path.write_text(entry["text"], encoding="utf-8")
    try:
        return problem.read(path)
    except FileError as error:
        raise FileError(str(error).replace(str(path), f"The text of row {number}")) from None


def _routes(solution: Sequence[Any]) -> str:
    """Return a solution as JSON; a tour is the one route of its solution."""
    tour = all(isinstance(node, int) for node in solution)
    return json.dumps([solution] if tour else solution)
