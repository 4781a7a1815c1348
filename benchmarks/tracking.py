"""What tracking costs a pilot run: wall and CPU seconds with nested candidates, a table, nobody.

``python benchmarks/tracking.py [--repeats 3] [OVERRIDE …]`` trains CVRP offline once per way
and repeat, in turns, so that a busy machine is busy for all of them, and prints medians and
ratios. CPU seconds are those of all processes of a run, the tracker's among them.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

WAYS = {
    "none": ["tracking=none"],
    "table": ["tracking.candidates=table"],
    "nested": ["tracking.candidates=nested"],
}


def measure(place: Path, way: str, overrides: list[str]) -> tuple[float, float]:
    """Return wall and CPU seconds of one training, start-up included."""
    shutil.rmtree(place / "run", ignore_errors=True)
    command = [sys.executable, "-m", "specahd.train", "problem=cvrp", "llm=offline"]
    began, used = time.perf_counter(), _children()
    subprocess.run(
        [*command, "hydra.run.dir=run", *overrides, *WAYS[way]],
        cwd=place,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - began, _children() - used


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("overrides", nargs="*")
    options = parser.parse_args()
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # Pools, kernels and the store are made before anything is measured.
        measure(place, "table", ["budget=smoke", "budget.programs=2", "budget.rounds=1"])
        for repeat in range(options.repeats):
            for way, measured in taken.items():
                measured.append(measure(place, way, options.overrides))
                wall, cpu = measured[-1]
                print(f"{repeat + 1} {way:6} {wall:7.2f} s wall {cpu:7.2f} s CPU", flush=True)
    print(f"\nmedians of {options.repeats}; load {os.getloadavg()[0]:.1f} at the end")
    base = [median(column) for column in zip(*taken["none"], strict=True)]
    for way, measured in taken.items():
        wall, cpu = (median(column) for column in zip(*measured, strict=True))
        gaps = f"{100 * (wall / base[0] - 1):+6.1f}% {100 * (cpu / base[1] - 1):+6.1f}%"
        print(f"{way:6} {wall:7.2f} s wall {cpu:7.2f} s CPU {gaps}")


if __name__ == "__main__":
    main()
