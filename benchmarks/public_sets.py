"""Checkpoints on the public sets: ``python benchmarks/public_sets.py PUBLIC OUT CHECKPOINT …``.

PUBLIC is the folder of the public sets, with bks.csv. Each checkpoint repairs the sets of its
problem: TSPLIB above 1,000 cities, the set X, Solomon's, the first of each class and size of
Homberger's, and SET-1 to SET-4. It does so in one pass with one program a region, as in the
paper, and as it was trained, if that is more. OUT receives an evaluation for each; what is there
is not made again. At the end stands a table of gaps to the best known values.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from specahd import api
from specahd.api.instance_files import public_set
from specahd.tracking.observers import ProgressObserver

SETS = {
    "tsp": ["tsplib"],
    "cvrp": ["cvrp_x"],
    "vrptw": ["solomon", "homberger"],
    "sdvrp": ["sdvrp/SET-1", "sdvrp/SET-2", "sdvrp/SET-3", "sdvrp/SET-4"],
}
CITIES = 1001
COLUMNS = ("set", "checkpoint", "passes", "instances", "T", "feasible", "B", "B's gap", "gap", "s")


def main(public: str, out: str, *checkpoints: str) -> None:
    """Make the evaluations that are missing, and print the table."""
    lines = []
    for place in map(Path, checkpoints):
        loaded = api.load(place)
        called = place.parent.name if place.name == "checkpoint" else place.name
        for name in SETS[loaded.problem.name]:
            files = list(chosen(name, public_set(loaded.problem, name, Path(public))))
            for label, options in modes(loaded).items():
                folder = Path(out, called, name.replace("/", "-"), label)
                found = api.evaluate(
                    loaded,
                    files,
                    out=folder,
                    baselines=Path(out, "baselines"),
                    title=f"{called} {name} {label}",
                    observer=ProgressObserver(),
                    **options,
                )
                lines.append(line(name, called, label, found))
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    print("\n".join(lines))


def chosen(name: str, files: list[Path]) -> Iterator[Path]:
    """Yield the files of a set that count."""
    for path in files:
        if name == "tsplib" and int(re.findall(r"\d+", path.stem)[-1]) < CITIES:
            continue
        if name != "homberger" or path.stem.endswith("_1"):
            yield path


def modes(loaded: api.LoadedCheckpoint) -> dict[str, dict[str, int]]:
    """Return the ways to repair by their labels."""
    frozen = loaded.frozen
    if max(frozen.passes, frozen.tries) == 1:
        return {"1": {}}
    return {"1": {"passes": 1, "tries": 1}, str(frozen.passes): {}}


def line(name: str, checkpoint: str, label: str, found: api.Evaluation) -> str:
    """Return a row of the table; gaps are means over the instances that have one."""
    rows = found.rows
    known = [row for row in rows if row["gap"] is not None]
    gaps = [
        f"{fmean(row[key] for row in known):+.2%}" if known else ""
        for key in ("baseline_gap", "gap")
    ]
    cells = [
        *(name, checkpoint, label, str(len(rows))),
        str(sum(row["status"] != "ok" for row in rows)),
        f"{sum(row['feasible'] for row in rows) / len(rows):.0%}",
        *(rows[0]["baseline"], *gaps, f"{found.seconds:.3f}"),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(*sys.argv[1:])
