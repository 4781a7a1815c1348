"""Labels of methods and ablations in tables, in place of the run's names (the paper's App. G)."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from specahd.core.errors import FileError
from specahd.core.plain import read_bytes
from specahd.reporting.document import Section, Table
from specahd.runs.kinds import RunKind
from specahd.runs.reading import Run

_COLUMNS = ("level", "problem", "source", "label", "note")
_LEVELS = ("both", "lower", "upper")
_NAMING = ("method", "ablation")
"""The options whose value may have another label."""
_LIMIT = 1 << 20

Mapping = tuple[str, str, str, str, str]


def read_labels(path: Path) -> list[Mapping]:
    """Read a mapping of labels, in the order of its columns.

    Raises
    ------
    FileError
        The file is not a CSV file with these columns, or maps the same source twice.
    """
    try:
        lines = list(csv.reader(read_bytes(path, _LIMIT).decode("utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} is not a CSV file ({error}).") from None
    if not lines or tuple(lines[0]) != _COLUMNS:
        raise FileError(f"{path}: expected the columns {', '.join(_COLUMNS)} in its first line.")
    found: dict[tuple[str, str, str], Mapping] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(_COLUMNS) or not all(line[:4]):
            raise FileError(f"{path}: line {number} lacks one of {', '.join(_COLUMNS)}.")
        level, problem, source, label, note = line
        if level not in _LEVELS:
            raise FileError(
                f"{path}: line {number} has the level {level}, expected {', '.join(_LEVELS)}."
            )
        if (level, problem, source) in found:
            raise FileError(f"{path}: line {number} maps {level}, {problem}, {source} again.")
        found[level, problem, source] = (level, problem, source, label, note)
    return list(found.values())


def apply_labels(
    runs: Sequence[Run], labels: Sequence[Mapping]
) -> tuple[list[Run], Section | None]:
    """Rename runs by level, problem and source only; their rows are not read.

    The section lists both labels of each renamed run; None if no run was renamed.
    """
    known = {tuple(each[:3]): each[3:] for each in labels}
    renamed, rows = [], []
    for run in runs:
        options = dict(run.kind.options)
        level = options.get("search.levels", "both")
        for option in _NAMING:
            source = options.get(option, "")
            if (level, run.kind.problem, source) in known:
                label, note = known[level, run.kind.problem, source]
                rows.append([run.name, str(run.seed), level, run.kind.problem, source, label, note])
                options[option] = label
        renamed.append(replace(run, kind=_of_options(run.kind, options)))
    if not rows:
        return renamed, None
    text = "Labels were assigned by level, problem and source label alone, before any score."
    columns = ("run", "seed", "level", "problem", "source label", "label", "note")
    return renamed, Section("Labels", [text, Table(columns, rows, words=7, name="labels")])


def _of_options(kind: RunKind, options: dict[str, str]) -> RunKind:
    method = options.get("method", kind.method)
    return replace(kind, method=method, options=tuple(sorted(options.items())))
