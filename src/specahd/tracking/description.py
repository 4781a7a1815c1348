"""What MLflow is told of a run before its first program: parameters, tags, data sets."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from specahd.core.errors import FileError
from specahd.core.plain import Shape, content, parse_json
from specahd.runs.configuration import flat, read_configuration
from specahd.runs.files import CONFIG, MACHINE, SANDBOX, SWEEP
from specahd.tracking.lineage import dvc_hashes
from specahd.tracking.run_writer import without_password

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

_LIMIT = 1 << 20
_CONFIG: Shape = {
    "choices": dict[str, str | None],
    "budget": {"programs": int},
    "pools": {"dir": str},
}
_CONTEXTS = {
    "lower_train": "training",
    "upper_train": "training",
    "selection": "selection",
    "validation": "validation",
}


class Description:
    """Reads it from a run directory.

    Attributes
    ----------
    choices
        The parameters by which runs are told apart: problem, method, llm, seed.

    Raises
    ------
    FileError
        The directory's configuration is missing or torn.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._config = read_configuration(directory / CONFIG, _CONFIG)
        self._groups = {key: str(value) for key, value in self._config["choices"].items() if value}
        names = ("problem", "method", "llm")
        self.choices = {name: self._groups[name] for name in names if name in self._groups}
        self.choices["seed"] = str(self._config.get("seed"))

    @property
    def name(self) -> str:
        """The run's name."""
        *names, seed = self.choices.values()
        return "-".join([*names, f"seed{seed}"])

    @property
    def tickets(self) -> int:
        return int(self._config["budget"]["programs"])

    def params(self) -> Mapping[str, str]:
        """Return the chosen groups and the flattened configuration, no password among them."""
        rest = {key: value for key, value in self._config.items() if key != "choices"}
        values = self._groups | {name: str(value) for name, value in flat(rest).items()}
        return {
            name: without_password(value)
            for name, value in values.items()
            # Only Hydra reads those.
            if not any(part.startswith("_") for part in name.split("."))
        }

    def tags(self) -> Mapping[str, str]:
        """Return commit, versions, machine, sandbox status, and the sweep's run above."""
        facts = _facts(self._directory / MACHINE)
        tags = {
            "kind": "training",
            "directory": str(self._directory.resolve()),
            "mlflow.source.name": "specahd",
        }
        if "commit" in facts:
            tags["mlflow.source.git.commit"] = facts.pop("commit")
        layers = _facts(self._directory / SANDBOX)
        # What the files say comes first, so that it takes the place of nothing.
        tags = facts | {f"sandbox.{layer}": status for layer, status in layers.items()} | tags
        sweep = _facts(self._directory.resolve().parent / SWEEP).get("run_id")
        return tags | ({"mlflow.parentRunId": sweep} if sweep else {})

    def datasets(self) -> "list[DatasetInput]":
        """Return the pools that the run used, as far as they are at hand.

        A pool's digest is DVC's, if it tracks the pool; else it is that of the
        manifest's hashes.
        """
        from mlflow.entities import Dataset, DatasetInput, InputTag

        folder = Path(self._config["pools"]["dir"]) / self.choices["problem"]
        pools = _read(folder / "manifest.json").get("pools", {})
        tracked = dvc_hashes(Path())
        inputs = []
        for pool, context in _CONTEXTS.items():
            if pool not in pools:
                continue
            hashed = _tracked(folder / pool, tracked)
            digest = tracked[hashed] if hashed else _digest(pools[pool])
            count = self._config["budget"][pool]
            used = len(pools[pool]) if count is None else min(len(pools[pool]), int(count))
            tags = {"mlflow.data.context": context, **({"dvc": hashed} if hashed else {})}
            inputs.append(
                DatasetInput(
                    Dataset(
                        name=f"{self.choices['problem']}/{pool}",
                        digest=digest,
                        source_type="local",
                        source=json.dumps({"uri": (folder / pool).as_posix()}),
                        profile=json.dumps({"instances": len(pools[pool]), "used": used}),
                    ),
                    [InputTag(key, value) for key, value in tags.items()],
                )
            )
        return inputs


def _facts(path: Path) -> dict[str, str]:
    """Return what a JSON file tells in words that MLflow takes for its own tags in no case."""
    return {
        name: value
        for name, value in _read(path).items()
        if isinstance(value, str) and not name.startswith("mlflow.")
    }


def _read(path: Path) -> Mapping[str, Any]:
    """Return a JSON file's content, nothing if it is not there."""
    try:
        return dict(parse_json(content(path, _LIMIT)))
    except (FileError, ValueError, TypeError):
        return {}


def _tracked(folder: Path, tracked: Mapping[str, str]) -> str | None:
    """Return which out of DVC holds a folder, the innermost."""
    within = [out for out in tracked if PurePath(folder).is_relative_to(out)]
    return max(within, key=len, default=None)


def _digest(hashes: Mapping[str, str]) -> str:
    return hashlib.md5(
        json.dumps(hashes, sort_keys=True).encode(), usedforsecurity=False
    ).hexdigest()
