"""Table C: the engine with the programs of each method, at equal seconds.

    python benchmarks/comparison/engine_task.py RUNS OUT SECONDS [SIZES]

RUNS holds trainings with `problem.repair=insertion`. The engine solves instances of their
validation pool for SECONDS each, with the checkpoint of every complete run, and as it is: with
the programs that come with specahd. SIZES instances are taken of each size (default 2), in
which families alternate. All have one core and the same seed; on one instance all follow each
other, so that a busy machine hinders them alike. OUT/rows.jsonl receives one line for each
solution and is read again: what is there is not made twice. OUT/methods.md is the table, which
benchmarks/comparison/results.py puts into the note of the eleven methods.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from specahd import api
from specahd.api.programs import BY_HAND
from specahd.checkpoint.manifest import digest
from specahd.reporting.document import Document, Section, Table
from specahd.runs.configuration import RunConfiguration
from specahd.runs.files import CHECKPOINT
from specahd.runs.reading import Run, choose_runs, read_runs

AS_IT_IS = "the engine as it is"
TEXT = (
    "Mean costs by size of what the engine reaches, lower is better, over the seeds of the "
    "trainings. The gain is the mean over the instances of how much cheaper it is than the engine "
    "as it is, with its programs by hand; with more than one seed, the mean over these and their "
    "sample standard deviation. Stopped are solutions after which the programs had failed; the "
    "best until then counts."
)
Key = tuple[str, str, int, str]
Row = dict[str, Any]


def main(runs: str, out: str, seconds: str, sizes: str = "2") -> None:
    """Solve what is not solved yet, and write the table."""
    folder, directory = Path(runs), Path(out)
    complete = [run for run in choose_runs(read_runs(folder)) if run.complete]
    if len({(run.kind.problem, run.kind.method, run.seed) for run in complete}) < len(complete):
        raise SystemExit(f"{folder} holds runs of one method that differ in more than the seed.")
    directory.mkdir(parents=True, exist_ok=True)
    rows = read(directory / "rows.jsonl", float(seconds))
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for problem, group in groupby(
        sorted(complete, key=lambda run: (run.kind.problem, run.kind.method, run.seed)),
        key=lambda run: run.kind.problem,
    ):
        for row in solved(folder, list(group), float(seconds), int(sizes), rows):
            rows[key_of(row)] = row
            with (directory / "rows.jsonl").open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")
            print(f"{problem} {row['instance']} {row['method']} {row['seed']}: {row['cost']:,.0f}")
    (directory / "methods.md").write_text(
        table(list(rows.values()), float(seconds)).markdown(), encoding="utf-8"
    )


def read(path: Path, seconds: float) -> dict[Key, Row]:
    """Return what was solved in so many seconds; a torn last line is made again."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {key_of(row): row for row in rows if row["seconds"] == seconds}


def key_of(row: Row) -> Key:
    return row["problem"], row["method"], row["seed"], row["instance"]


def solved(
    folder: Path, runs: Sequence[Run], seconds: float, sizes: int, known: Mapping[Key, Row]
) -> Iterator[Row]:
    """Yield the rows that are missing for the runs of one problem."""
    solvers = [(AS_IT_IS, 0, None)]
    solvers += [(run.kind.method, run.seed, folder / run.name / CHECKPOINT) for run in runs]
    for instance in validation(folder / runs[0].name, sizes):
        problem = instance.problem.name
        for method, seed, checkpoint in solvers:
            programs = "" if checkpoint is None else digest(checkpoint)
            row = known.get((problem, method, seed, instance.name))
            if row is not None and row["checkpoint"] == programs:
                continue
            found = api.solve(instance, seconds, checkpoint or BY_HAND)
            told = found.statistics()
            kept = ("size", "cost", "failure", "repairs")
            yield {
                "problem": problem,
                "method": method,
                "seed": seed,
                "instance": instance.name,
                "seconds": seconds,
                "checkpoint": programs,
                "start": found.case.cost,
                **{name: told[name] for name in kept},
            }


def validation(run: Path, sizes: int) -> list[api.ProblemInstance]:
    """Return so many instances of each size of a run's validation pool."""
    config = RunConfiguration.read(run)
    given = config.values["problem"].items()
    options = {key: value for key, value in given if not key.startswith("_")}
    problem = api.make_problem(str(config.choices["problem"]), **options)
    # The folder of the pools is relative to where the runs were started.
    pool = api.read_pool(problem, "validation", config.pools.dir, seed=config.pools.seed)
    by_size = defaultdict(list)
    for instance in pool:
        by_size[instance.size].append(instance)
    return [instance for size in sorted(by_size) for instance in by_size[size][:sizes]]


def table(rows: Sequence[Row], seconds: float) -> Document:
    """Return one table a problem, of the instances that all have solved."""
    sections = []
    for problem in sorted({row["problem"] for row in rows}):
        mine = [row for row in rows if row["problem"] == problem]
        solvers = {(row["method"], row["seed"]) for row in mine}
        costs = {(row["method"], row["seed"], row["instance"]): row["cost"] for row in mine}
        shared = {
            row["instance"]
            for row in mine
            if all((*solver, row["instance"]) in costs for solver in solvers)
        }
        mine = [row for row in mine if row["instance"] in shared]
        sizes = sorted({row["size"] for row in mine})
        # In the order in which they were solved: the engine as it is comes first.
        lines = [
            line([row for row in mine if row["method"] == method], costs, sizes)
            for method in dict.fromkeys(row["method"] for row in mine)
        ]
        columns = ("method", *(f"{size:,}" for size in sizes), "gain", "repairs/s", "stopped")
        told = f"{seconds:g} s each on {len(shared)} instances."
        sections.append(Section(problem, [told, Table(columns, lines)]))
    return Document("The engine task", [Section("How to read it", [TEXT]), *sections])


def line(rows: Sequence[Row], costs: Mapping[Any, float], sizes: Sequence[int]) -> list[str]:
    """Return the cells of one method."""
    gains = defaultdict(list)
    for row in rows:
        before = costs[AS_IT_IS, 0, row["instance"]]
        gains[row["seed"]].append(100 * (before - row["cost"]) / before)
    over_seeds = [mean(each) for each in gains.values()]
    spread = f" ± {stdev(over_seeds):.3f}" if len(over_seeds) > 1 else ""
    return [
        rows[0]["method"],
        *(f"{mean(row['cost'] for row in rows if row['size'] == size):,.1f}" for size in sizes),
        f"{mean(over_seeds):+.3f}%{spread}",
        f"{mean(row['repairs'] / row['seconds'] for row in rows):,.0f}",
        str(sum(bool(row["failure"]) for row in rows)),
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
