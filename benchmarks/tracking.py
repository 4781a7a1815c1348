"""What tracking costs a pilot run: wall and CPU seconds with MLflow, with traces too, without.

``python benchmarks/tracking.py [--repeats 3] [OVERRIDE …]`` trains CVRP offline once per way
and repeat, in turns, and prints medians and ratios.

A machine that is now faster, now slower changes the CPU seconds of one and the same search by
a tenth and more. The last column allows for it: the wall seconds that the run would have taken
had its search, without the tracker, needed the CPU seconds of the median run without tracking.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

import psutil

WAYS = {
    "none": ["tracking=none"],
    "mlflow": [],
    "traces": ["tracking.traces=true"],
}
UPLOADER = "specahd.tracking.mlflow"


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of one training, start-up included: wall, CPU of all its processes, tracker's CPU."""

    wall: float
    cpu: float
    tracker: float

    def __str__(self) -> str:
        return (
            f"{self.wall:7.2f} s wall {self.cpu:7.2f} s CPU, {self.tracker:5.2f} s of it tracker's"
        )

    def at(self, cpu: float) -> float:
        """Return the wall seconds if the search had needed so many CPU seconds."""
        return self.wall * cpu / (self.cpu - self.tracker)


def measure(place: Path, way: str, overrides: list[str]) -> Taken:
    """Train once."""
    shutil.rmtree(place / "run", ignore_errors=True)
    command = [sys.executable, "-m", "specahd.train", "problem=cvrp", "llm=offline"]
    began, used, tracker = time.perf_counter(), _children(), 0.0
    training = subprocess.Popen(
        [*command, "hydra.run.dir=run", *overrides, *WAYS[way]],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    uploader = None
    while training.poll() is None:
        with suppress(psutil.Error):
            uploader = uploader or _uploader(training.pid)
            tracker = max(tracker, sum(uploader.cpu_times()[:2])) if uploader else 0.0
        time.sleep(0.05)
    if training.returncode:
        raise SystemExit(f"the training ended with status {training.returncode}")
    return Taken(time.perf_counter() - began, _children() - used, tracker)


def _uploader(training: int) -> psutil.Process | None:
    below = psutil.Process(training).children()
    return next((child for child in below if UPLOADER in child.cmdline()), None)


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("overrides", nargs="*")
    options = parser.parse_args()
    taken: dict[str, list[Taken]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # Pools, kernels and the store are made before anything is measured.
        measure(place, "mlflow", ["budget=smoke", "budget.programs=2", "budget.rounds=1"])
        for repeat in range(options.repeats):
            for way, measured in taken.items():
                measured.append(measure(place, way, options.overrides))
                print(f"{repeat + 1} {way:6} {measured[-1]}", flush=True)
    print(f"\nmedians of {options.repeats}; load {os.getloadavg()[0]:.1f} at the end")
    usual = median(run.cpu for run in taken["none"])
    base = median(run.at(usual) for run in taken["none"])
    for way, measured in taken.items():
        middle = Taken(*map(median, zip(*map(astuple, measured), strict=True)))
        equal = median(run.at(usual) for run in measured)
        more = 100 * (equal / base - 1)
        print(f"{way:6} {middle}; at equal speed {equal:7.2f} s wall {more:+5.1f}%")


if __name__ == "__main__":
    main()
