"""What the benchmarks share: runs that are made once, and paired comparisons of their rows."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path("runs/benchmarks")


def train(name: str, *overrides: str, problem: str = "cvrp") -> Path:
    """Train into ``runs/benchmarks/<name>`` unless a finished run is there; return its folder.

    A run that broke off goes on where it was, or starts over if its code has changed since;
    its seconds are then those of the last attempt.
    """
    directory = ROOT / name
    if not (directory / "validation.jsonl").exists():
        command = [sys.executable, "-m", "specahd.train"]
        began = time.perf_counter()
        if not (directory / "journal.jsonl").exists() or not _succeeds(
            [*command, f"resume={directory}"]
        ):
            shutil.rmtree(directory, ignore_errors=True)
            fresh = [f"problem={problem}", "llm=offline", "tracking=none", *overrides]
            subprocess.run(
                [*command, *fresh, f"hydra.run.dir={directory}"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        (directory / "seconds.txt").write_text(f"{time.perf_counter() - began:.1f}\n")
    return directory


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def rows(directory: Path, pool: str) -> dict[str, dict]:
    """Return a run's rows on a pool, by instance, but those on which its upper program failed."""
    lines = (directory / f"{pool}.jsonl").read_text().splitlines()
    return {row["instance"]: row for row in map(json.loads, lines) if row["status"] == "ok"}


def seconds(directory: Path) -> float:
    """Return the wall seconds of a run, start-up included."""
    return float((directory / "seconds.txt").read_text())


def mean_improvement(directory: Path, pool: str) -> float:
    """Return the mean relative improvement over the baseline on a pool, in percent."""
    return 100 * float(np.mean([row["improvement"] for row in rows(directory, pool).values()]))


def paired_interval(
    better: Path, worse: Path, pool: str, repeats: int = 10_000
) -> tuple[float, float, float]:
    """Return mean and 95% bootstrap interval of paired differences in improvement, in percent."""
    first, second = rows(better, pool), rows(worse, pool)
    names = sorted(first.keys() & second.keys())
    gaps = 100 * np.array([first[n]["improvement"] - second[n]["improvement"] for n in names])
    rng = np.random.default_rng(0)
    means = gaps[rng.integers(len(gaps), size=(repeats, len(gaps)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(gaps.mean()), float(low), float(high)
