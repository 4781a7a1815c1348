"""Several workers beside one: ``python benchmarks/cores.py LIMIT SEEDS WORKERS FILE …``.

LIMIT is ``seconds=20``, which needs an idle core for each worker, or ``repairs=2000000`` for each
worker: what equal time would be where none is slower than another. SEEDS and WORKERS
are lists like 0,1,2. Prints a row for each run, with the CPU seconds of all its processes, and the
median gaps to bks.csv, which lies beside the folders of the instances.
"""

import resource
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from solve import best_known
from specahd import api


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started and that ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(limit: str, seeds: str, workers: str, *files: str) -> None:
    """Make the runs, and print the tables."""
    kind, amount = limit.split("=")
    print("| instance | workers | seed | cost | gap | repairs | seconds | CPU seconds |")
    print("|---" * 8 + "|")
    gaps = defaultdict(list)
    for file in map(Path, files):
        given = api.read(file)
        for seed in map(int, seeds.split(",")):
            for count in map(int, workers.split(",")):
                asked = {"repairs": count * int(amount)} if kind == "repairs" else {}
                seconds = 30.0 if asked else float(amount)
                before = cpu_seconds()
                solved = api.solve(given, seconds, seed=seed, workers=count, **asked)
                gap = solved.cost / best_known(given, file).value - 1.0
                gaps[file.stem, solved.workers].append(gap)
                print(
                    f"| {file.stem} | {solved.workers} | {seed} | {solved.cost:,.0f} | {gap:+.2%} "
                    f"| {solved.search.repairs:,} | {solved.search.seconds:.1f} "
                    f"| {cpu_seconds() - before:.1f} |",
                    flush=True,
                )
    for (name, count), found in gaps.items():
        print(f"{name}, {count} workers: median {statistics.median(found):+.2%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
