"""The description of a run for MLflow: parameters, tags, data sets and a note."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent, wrap
from typing import TYPE_CHECKING, Any

from specahd.core.plain import read_json
from specahd.core.services import without_password
from specahd.evaluation.files import rows_file
from specahd.evaluation.rows import average_rows, read_rows
from specahd.reporting.family import Frozen
from specahd.routing.pools import MANIFEST
from specahd.runs.configuration import RunConfiguration, flatten
from specahd.runs.files import CHECKPOINT, MACHINE, POOLS, SANDBOX, SWEEP
from specahd.runs.reading import RunStatus
from specahd.tracking.provenance import dvc_hashes
from specahd.tracking.store import artifact_link, origin_tags

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

PAGES = "pages"
"""Folder of the pages on a run, among its artifacts."""
FIGURES = "figures"
"""Folder of the pictures of a run, among its artifacts."""
_LIMITED = re.compile(r"budget\.max_\w+(?==)")
_REASON = 500
# Longer lines of code would push the list of the run's candidates out of the page.
_WIDTH = 100
_LIMIT = 1 << 20
_CONTEXTS = {
    "lower_train": "training",
    "upper_train": "training",
    "selection": "selection",
    "validation": "validation",
}


class Description:
    """The description of a run, read from its directory.

    Attributes
    ----------
    choices
        The parameters that distinguish runs: problem, method, llm, seed.

    Raises
    ------
    FileError
        The directory's configuration is missing or damaged.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._config = RunConfiguration.read(directory)
        self._groups = {key: value for key, value in self._config.choices.items() if value}
        self.choices = {name: self._groups[name] for name in ("problem", "method", "llm")}
        self.choices["seed"] = str(self._config.seed)

    @property
    def name(self) -> str:
        """Name of the run, from its directory, since runs may have equal seeds."""
        directory = self._directory.resolve()
        # The UI cuts long names at the end.
        return f"{directory.name} in {directory.parent.name}"

    def params(self) -> Mapping[str, str]:
        """Return the chosen groups and the flattened configuration, without passwords."""
        options = {key: value for key, value in self._config.values.items() if key != "choices"}
        return {
            name: without_password(str(value))
            for name, value in (self._groups | flatten(options)).items()
            # Keys of Hydra are left out.
            if not any(part.startswith("_") for part in name.split("."))
        }

    def tags(self) -> Mapping[str, str]:
        """Return the tags: commit, versions, machine, sandbox status, and the sweep's run."""
        # The facts of the files come first, so that they cannot override the tags below.
        tags = _facts(self._directory / MACHINE)
        commit = tags.pop("commit", None)
        layers = _facts(self._directory / SANDBOX)
        tags |= {f"sandbox.{layer}": status for layer, status in layers.items()}
        tags |= origin_tags("training", self._directory)
        if commit:
            tags["mlflow.source.git.commit"] = commit
        above = self._directory.resolve().parent
        if sweep := _facts(above / SWEEP).get("run_id"):
            tags |= {"mlflow.parentRunId": sweep, "sweep": above.name}
        return tags

    def datasets(self) -> "list[DatasetInput]":
        """Return the pools that the run used, if they exist.

        The digest of a pool is DVC's hash if DVC tracks the pool, else the MD5 of the
        manifest's hashes.
        """
        from mlflow.entities import Dataset, DatasetInput, InputTag

        folder = self._config.pools.folder(str(self.choices["problem"]))
        manifest = read_json(folder / MANIFEST, _LIMIT, dict[str, Any]) or {}
        pools = manifest.get("pools", {})
        tracked = dvc_hashes(Path())
        inputs = []
        for pool, context in _CONTEXTS.items():
            if pool not in pools:
                continue
            # The innermost out of DVC that contains the pool.
            within = [out for out in tracked if (folder / pool).is_relative_to(out)]
            out = max(within, key=len, default="")
            hashes = json.dumps(pools[pool], sort_keys=True).encode()
            digest = tracked.get(out) or hashlib.md5(hashes, usedforsecurity=False).hexdigest()
            used = list(pools[pool])[: getattr(self._config.budget, pool)]
            tags = {"mlflow.data.context": context, **({"dvc": out} if out else {})}
            dataset = Dataset(
                name=f"{folder.name}/{pool}",
                digest=digest,
                source_type="local",
                source=json.dumps({"uri": (folder / pool).as_posix()}),
                profile=json.dumps({"instances": len(pools[pool]), "used": len(used)}),
            )
            inputs.append(DatasetInput(dataset, [InputTag(*tag) for tag in tags.items()]))
        return inputs


def _facts(path: Path) -> dict[str, str]:
    """Return the texts of a JSON file by name, without MLflow's own tags (``mlflow.…``)."""
    return {
        name: value
        for name, value in (read_json(path, _LIMIT, dict[str, Any]) or {}).items()
        if isinstance(value, str) and not name.startswith("mlflow.")
    }


def write_links(experiment: str, run_id: str) -> str:
    """Return the lines of a note that link to the run's pages."""
    # Imported on demand, so that a refused command does not wait for this module.
    from specahd.reporting.pages import LINEAGE, SEARCH

    purposes = {
        LINEAGE: "every program with its source, its parents and what it changed",
        SEARCH: "scores, outcomes and spending so far, and what each round kept",
    }
    lines = [
        f"- {artifact_link(experiment, run_id, f'{PAGES}/{page}', Path(page).stem)}: {words}\n"
        for page, words in purposes.items()
    ]
    return "".join([*lines, "\n"])


def write_opening(directory: Path) -> str:
    """Return the note of a run in progress; it remains if all processes are killed."""
    return f"Under way. If it broke off, go on with\n\n{_resume(directory)}"


def write_stop(directory: Path, status: RunStatus, reason: str) -> str:
    """Return the reason why a run ended early, and how to resume it; empty if complete."""
    if status is RunStatus.COMPLETE:
        return ""
    # The text of an error must not be rendered as Markdown.
    words = " ".join(reason.replace("`", "'").split())[:_REASON]
    why = f"`{words}`" if words else "nothing tells why; its process may have been killed"
    limit = _LIMITED.match(reason)
    more = (f"{limit[0]}=MORE",) if limit else ()
    return f"**{status}**: {why}\n\nGo on with\n\n{_resume(directory, *more)}"


def _resume(directory: Path, *options: str) -> str:
    words = ["python", "-m", "specahd.train", f"resume={directory.resolve()}", *options]
    return f"    {shlex.join(words)}\n\n"


def write_note(
    directory: Path, programs: Sequence[Frozen], run_id: str, uri: str, limit: int
) -> str:
    """Return the note of a run that has ended, cut to ``limit`` characters.

    The programs of its checkpoint come last, the upper one first. Programs that would make
    the note too long are only named, with the folder of their sources.
    """
    begin = _format_means(directory)
    if programs:
        place = f"runs:/{run_id}/{CHECKPOINT}"
        begin += (
            f"The checkpoint is in `{directory.resolve() / CHECKPOINT}`, and among the artifacts. "
            "To evaluate it, or to download its folder:\n\n"
            f"    python -m specahd.evaluate checkpoint={place} \\\n"
            f"        pool=validation tracking.uri={uri}\n"
            f"    MLFLOW_TRACKING_URI={uri} \\\n"
            f"        mlflow artifacts download -u {place} -d .\n\n"
        )
    sections = [_format_program(program) for program in programs]
    for count in range(len(programs), -1, -1):
        left = ", ".join(program.id for program in programs[count:])
        end = f"The sources of {left} are in `{CHECKPOINT}/programs/`.\n" if left else ""
        text = begin + "".join(sections[:count]) + end
        if len(text) <= limit:
            return text
    return begin[:limit]


def _format_means(directory: Path) -> str:
    """Return the means over the pools, empty if no pool was evaluated."""
    lines = []
    for pool in POOLS:
        rows = read_rows(directory / rows_file(pool))
        found = average_rows(rows)
        if found.measures():
            # Not a table: the UI leaves no space between the columns of a table.
            lines.append(
                f"- {pool} ({found.rows}): {rows[0].baseline} {found.baseline_cost:,.1f}, "
                f"repaired {found.cost:,.1f}, improvement {100 * found.improvement:+.2f}%\n"
            )
    return "".join([*lines, "\n"]) if lines else ""


def _format_program(program: Frozen) -> str:
    """Return the part of a note that describes a program.

    The idea and the source come from a language model and must not be rendered as Markdown,
    so both are formatted as code.
    """
    score = "" if program.score is None else f", score {program.score:.4g}"
    lines = wrap(f"# {' '.join(program.idea.split())}", _WIDTH, subsequent_indent="# ")
    for line in program.source.strip().splitlines():
        lines += wrap(line, _WIDTH, subsequent_indent="        ") or [""]
    code = indent("\n".join(lines), "    ")
    return f"**{program.id}**, {program.role}{score}:\n\n{code}\n\n"
