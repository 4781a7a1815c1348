"""What a comparison stands on, read from run directories, or from one table of rows.

The table is Parquet: a row for each instance of each run that counts and of each reference. From
it a reader makes all tables of a comparison again, without a run directory.
"""

import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from specahd.core.errors import FileError
from specahd.core.folders import write_atomically
from specahd.evaluation.files import row_timings_file, rows_file
from specahd.evaluation.rows import Row, read_baseline_seconds, read_rows, read_seconds
from specahd.reporting.methods import Reference, is_comparison
from specahd.runs.configuration import RunKind, without_unset
from specahd.runs.reading import Run, RunStatus, Spending, StoredRun, choose_runs, read_spending

ROWS = "rows.parquet"
"""The table of rows that a report writes, and reads in place of runs."""
_TEXT, _COUNT, _NUMBER = pa.string(), pa.int64(), pa.float64()
_RUN = {
    "problem": _TEXT,
    "run": _TEXT,
    "method": _TEXT,
    "control": _TEXT,
    "llm": _TEXT,
    "budget": _TEXT,
    "options": _TEXT,
    "command": _TEXT,
    "seed": _COUNT,
    "status": _TEXT,
    "programs": _COUNT,
}
_SPENDING = {"tokens": _NUMBER, "cost_of_tokens": _NUMBER}
_SPENDING |= {"evaluations": _NUMBER, "cpu_seconds": _NUMBER}
_ROW = {
    "instance": _TEXT,
    "size": _COUNT,
    "baseline": _TEXT,
    "baseline_cost": _NUMBER,
    "cost": _NUMBER,
    "improvement": _NUMBER,
    "failed": pa.bool_(),
    "steps": _COUNT,
    "rollbacks": _COUNT,
    "best_known": _NUMBER,
    "lower_bound": _NUMBER,
    "limited": _COUNT,
}
_TIMES = {"seconds": _NUMBER, "baseline_seconds": _NUMBER}
_SCHEMA = pa.schema({**_RUN, **_SPENDING, **_ROW, **_TIMES})
_REFERENCE = "reference"
"""The status of rows of an untrained solver."""
_LARGEST = 1 << 26


@dataclass(frozen=True, slots=True)
class Collected:
    """Runs, and what their directories tell beside; by the name of a run where not said otherwise.

    Parameters
    ----------
    seconds, baseline_seconds
        Seconds of the passes, and of the baseline solver, by instance, where known.
    spending
        What the trainings took.
    references
        Untrained solvers by problem.
    commands
        Commands that make the runs again; empty where unknown.
    """

    runs: Sequence[Run]
    seconds: Mapping[str, Mapping[str, float]]
    baseline_seconds: Mapping[str, Mapping[str, float]]
    spending: Mapping[str, Spending]
    references: Mapping[str, Sequence[Reference]]
    commands: Mapping[str, str]


def collect(
    folder: Path,
    runs: Sequence[Run],
    evaluations: Path | None,
    references: Path | None,
    command_of: Callable[[Path], str],
) -> Collected:
    """Read what stands beside runs in their folder: of runs that do not compare, seconds alone.

    Parameters
    ----------
    evaluations
        The folder of evaluations from which the rows of the runs come; None: their own.
    references
        A folder of ``<problem>/<solver>/rows.jsonl``; None: no references.
    command_of
        Returns the command that makes a run directory again.

    Raises
    ------
    FileError
        A file does not have the format of a run, or there are no references in the folder.
    """
    times = {run.name: _timings(folder, evaluations, run) for run in runs}
    seconds = {name: read_seconds(path) for name, path in times.items()}
    if not is_comparison(runs):
        return Collected(runs, seconds, {}, {}, {}, {})
    return Collected(
        runs=runs,
        seconds=seconds,
        baseline_seconds={name: read_baseline_seconds(path) for name, path in times.items()},
        spending={run.name: read_spending(folder / run.name) for run in runs},
        references={} if references is None else _read_references(references),
        commands={run.name: command_of(folder / run.name) for run in runs},
    )


def _timings(folder: Path, evaluations: Path | None, run: Run) -> Path:
    """Return the file with the seconds of the rows that count."""
    if evaluations is None:
        return folder / run.name / row_timings_file("validation")
    return evaluations / run.name / row_timings_file()


def _read_references(folder: Path) -> dict[str, list[Reference]]:
    found: dict[str, list[Reference]] = defaultdict(list)
    for path in sorted(folder.glob(f"*/*/{rows_file('rows')}")):
        took = read_seconds(path.with_name(row_timings_file()))
        solver = Reference(path.parent.name, read_rows(path), took)
        found[path.parent.parent.name].append(solver)
    if not found:
        raise FileError(f"{folder} holds no <problem>/<solver>/{rows_file('rows')}.")
    return found


def write_table(collected: Collected, path: Path) -> None:
    """Write the table of rows; the same rows give the same bytes.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    records = [*_run_records(collected), *_reference_records(collected.references)]
    columns = [
        pa.array([_known(record.get(name)) for record in records], kind)
        for name, kind in zip(_SCHEMA.names, _SCHEMA.types, strict=True)
    ]
    file = io.BytesIO()
    pq.write_table(pa.table(columns, schema=_SCHEMA), file, compression="zstd")
    write_atomically(path, file.getvalue())


def _run_records(collected: Collected) -> Iterator[dict[str, Any]]:
    for run in choose_runs(collected.runs):
        spent = collected.spending.get(run.name, Spending())
        own = {
            "problem": run.kind.problem,
            "run": run.name,
            "method": run.kind.method,
            "control": run.kind.control,
            "llm": run.kind.llm,
            "budget": run.kind.budget,
            "options": json.dumps([(key, _placeless(value)) for key, value in run.kind.options]),
            "command": collected.commands.get(run.name, ""),
            "seed": run.seed,
            "status": run.status.value,
            "programs": run.programs,
            **_spending_record(spent),
        }
        # A run without rows is counted, too.
        for row in run.validation or [None]:
            yield {**own, **_row_record(collected, run.name, row)} if row else own


def _row_record(collected: Collected, run: str, row: Row) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _ROW},
        "seconds": collected.seconds.get(run, {}).get(row.instance),
        "baseline_seconds": collected.baseline_seconds.get(run, {}).get(row.instance),
    }


def _spending_record(spent: Spending) -> dict[str, float]:
    values = spent.tokens, spent.cost, spent.evaluations, spent.cpu_seconds
    return dict(zip(_SPENDING, values, strict=True))


def _reference_records(
    references: Mapping[str, Sequence[Reference]],
) -> Iterator[dict[str, Any]]:
    for problem, solvers in references.items():
        for solver in solvers:
            own = {"problem": problem, "method": solver.name, "status": _REFERENCE}
            for row in solver.rows:
                values = {name: getattr(row, name) for name in _ROW}
                yield {**own, **values, "seconds": solver.seconds.get(row.instance)}


def _placeless(value: str) -> str:
    """Return an option without the folder of an absolute address, which is one machine's own."""
    return Path(value).name if value.startswith("/") else value


def _known(value: Any) -> Any:
    """Return a value, or None in place of nan."""
    return None if isinstance(value, float) and not isfinite(value) else value


def read_table(path: Path) -> Collected:
    """Read a table of rows.

    Raises
    ------
    FileError
        The file is not what :func:`write_table` writes.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError
        table = pq.read_table(path)
        if table.schema.remove_metadata() != _SCHEMA:
            raise ValueError
        return _collected(table.to_pylist())
    except (OSError, ValueError, TypeError, pa.ArrowException):
        raise FileError(f"{path} is not a table of rows; report writes one as {ROWS}.") from None


def _collected(records: Sequence[Mapping[str, Any]]) -> Collected:
    seconds: dict[str, dict[str, float]] = defaultdict(dict)
    baseline_seconds: dict[str, dict[str, float]] = defaultdict(dict)
    rows: dict[str, list[Row]] = defaultdict(list)
    heads: dict[str, Mapping[str, Any]] = {}
    solvers: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        if record["status"] == _REFERENCE:
            solvers[record["problem"], record["method"]].append(record)
            continue
        name = record["run"]
        heads.setdefault(name, record)
        if record["instance"] is None:
            continue
        rows[name].append(_row(record))
        for times, column in ((seconds, "seconds"), (baseline_seconds, "baseline_seconds")):
            if record[column] is not None:
                times[name][record["instance"]] = record[column]
    references: dict[str, list[Reference]] = defaultdict(list)
    for (problem, solver), found in solvers.items():
        took = {each["instance"]: each["seconds"] for each in found if each["seconds"] is not None}
        references[problem].append(Reference(solver, [_row(each) for each in found], took))
    return Collected(
        runs=[_run(head, tuple(rows[name])) for name, head in heads.items()],
        seconds={name: seconds[name] for name in heads},
        baseline_seconds=baseline_seconds,
        spending={
            name: Spending(*(_number(head[column]) for column in _SPENDING))
            for name, head in heads.items()
        },
        references=references,
        commands={name: head["command"] for name, head in heads.items()},
    )


def _run(head: Mapping[str, Any], rows: tuple[Row, ...]) -> Run:
    options = without_unset((str(key), str(value)) for key, value in json.loads(head["options"]))
    return StoredRun(
        name=head["run"],
        kind=RunKind(head["problem"], head["method"], head["llm"], head["budget"], options),
        seed=head["seed"],
        programs=head["programs"],
        recorded=0.0,
        samples=(),
        selection=(),
        validation=rows,
        stated=RunStatus(head["status"]),
    )


def _row(record: Mapping[str, Any]) -> Row:
    values: dict[str, Any] = {
        name: _number(record[name]) if kind == _NUMBER else record[name]
        for name, kind in _ROW.items()
    }
    return Row(**values)


def _number(value: float | None) -> float:
    return nan if value is None else value
