"""What a run directory tells of its run, read from its files alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.plain import Shape, check_plain, content, misfit, parse_yaml
from specahd.core.program import Level, Outcome
from specahd.reporting.kinds import Kind

_CONFIG, _JOURNAL = "config.yaml", "journal.jsonl"
_LIMIT = 1 << 20
_CONFIGURATION: Shape = {
    "seed": int,
    "choices": {"problem": str, "method": str, "llm": str},
    "budget": {"name": str, "programs": int},
}
_ROW: Shape = {
    "instance": str,
    "size": int,
    "baseline": str,
    "baseline_cost": float,
    "cost": float,
    "improvement": float,
    "feasible": bool,
    "status": str,
}
_SAMPLE: Shape = {"level": Level, "round": int, "outcome": Outcome, "best": float | None}
_T = TypeVar("_T", "Row", "Sample")


@dataclass(frozen=True, slots=True)
class Row:
    """One instance of a frozen evaluation; ``failed`` where the upper program did (``T``)."""

    instance: str
    size: int
    baseline: str
    baseline_cost: float
    cost: float
    improvement: float
    feasible: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """One program of a run; ``best`` is the score of its level's best so far."""

    level: Level
    round: int
    outcome: Outcome
    best: float | None


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what was asked of it, what its programs became, and its checkpoint's rows."""

    name: str
    kind: Kind
    seed: int
    programs: int
    samples: tuple[Sample, ...]
    selection: tuple[Row, ...]
    validation: tuple[Row, ...]

    @property
    def complete(self) -> bool:
        """Whether it used its budget and its checkpoint was evaluated."""
        return len(self.samples) >= self.programs and bool(self.validation)


def read_runs(folder: Path, evaluations: Path | None = None) -> list[Run]:
    """Read every run below a folder, in the order of their names.

    Parameters
    ----------
    evaluations
        Where the rows of ``validation`` are instead of in the runs themselves:
        ``<evaluations>/<run>/rows.jsonl``, as evaluation wrote them.

    Raises
    ------
    FileError
        There is no run, or a file is not what a run writes.
    """
    found = sorted(path.parent for path in folder.rglob(_JOURNAL))
    runs = [
        _read(path, path.relative_to(folder).as_posix(), _rows_file(path, folder, evaluations))
        for path in found
        if (path / _CONFIG).is_file()
    ]
    if not runs:
        raise FileError(f"{folder} holds no run: no folder with {_CONFIG} and {_JOURNAL}.")
    return runs


def choose(runs: Iterable[Run]) -> list[Run]:
    """Keep one run of each kind and seed, before any score is looked at.

    A complete one wins, then the one with more programs, then the last by name,
    which is the newest where names begin with the time.
    """
    best: dict[tuple[Kind, int], Run] = {}
    for run in runs:
        key = (run.kind, run.seed)
        best[key] = max(best.get(key, run), run, key=_standing)
    return sorted(best.values(), key=lambda run: (run.kind.problem, run.name))


def _standing(run: Run) -> tuple[bool, int, str]:
    return run.complete, len(run.samples), run.name


def _rows_file(run: Path, folder: Path, evaluations: Path | None) -> Path:
    if evaluations is None:
        return run / "validation.jsonl"
    return evaluations / run.relative_to(folder) / "rows.jsonl"


def _read(directory: Path, name: str, validation: Path) -> Run:
    config = _configuration(directory / _CONFIG)
    return Run(
        name=name,
        kind=Kind.of(config),
        seed=config["seed"],
        programs=config["budget"]["programs"],
        samples=_records(directory / _JOURNAL, _of_sample, _sample),
        selection=_records(directory / "selection.jsonl", _ROW, _row),
        validation=_records(validation, _ROW, _row),
    )


def _configuration(path: Path) -> Mapping[str, Any]:
    try:
        config = parse_yaml(content(path, _LIMIT))
        check_plain(config)
    except ValueError:
        config = None
    if misfit(config, _CONFIGURATION) is None:
        return dict(config)
    raise FileError(f"{path} is not the configuration of a run.")


def _records(
    path: Path,
    shape: Shape | Callable[[Mapping[str, Any]], Shape],
    make: Callable[[Mapping[str, Any]], _T | None],
) -> tuple[_T, ...]:
    made = []
    for record in journal.read(path, shape):
        item = make(record)
        if item is not None:
            made.append(item)
    return tuple(made)


def _of_sample(record: Mapping[str, Any]) -> Shape:
    return _SAMPLE if "sample" in record else {}


def _row(record: Mapping[str, Any]) -> Row:
    return Row(
        instance=str(record["instance"]),
        size=int(record["size"]),
        baseline=str(record["baseline"]),
        baseline_cost=float(record["baseline_cost"]),
        cost=float(record["cost"]),
        improvement=float(record["improvement"]),
        feasible=bool(record["feasible"]),
        failed=record["status"] != "ok",
    )


def _sample(record: Mapping[str, Any]) -> Sample | None:
    """Return the sample that a record of the journal tells of, if it tells of one."""
    if "sample" not in record:
        return None
    best = record["best"]
    return Sample(
        Level(record["level"]),
        int(record["round"]),
        Outcome(record["outcome"]),
        None if best is None else float(best),
    )
