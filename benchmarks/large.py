"""Measure a frozen pass over instances too large for a matrix: seconds and memory.

    python benchmarks/large.py [FILE ...]

Evaluates files with a smoke checkpoint of their problem (``.tsp``: TSP, else CVRP). Without
files it makes instances in the size and convention of pla33810 and pla85900 (rows of holes
on a board, CEIL_2D) and of Flanders2 (30,000 customers in towns, EUC_2D). Prints a Markdown
table. CPU is that of the main process; memory the peak of all processes together, each shared
page counted once.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil

from runs import ROOT, train
from specahd.evaluation.rows import pass_seconds
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.instance import dumps as dumps_tsp
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.instance import VehicleInstance


def board(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return so many places in rows that begin anywhere and have a step of their own."""
    rows = []
    while sum(map(len, rows)) < size:
        start, step = rng.integers(0, 14_000, 2), rng.integers(4, 60)
        across = start[0] + step * np.arange(rng.integers(5, 60))
        rows.append(100.0 * np.stack((across, np.full(len(across), start[1])), axis=1))
    return np.concatenate(rows)[:size]


def towns(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return so many places around 300 centres, a few of which have most of them."""
    centres, weight = rng.integers(0, 120_000, (300, 2)), rng.pareto(1.2, 300) + 0.1
    chosen = rng.choice(300, size, p=weight / weight.sum())
    return np.round(centres[chosen] + rng.normal(0, 1500, (size, 2)))


def made() -> Iterator[Path]:
    """Write the instances that stand for the public ones."""
    rng = np.random.default_rng(1)
    texts = {}
    for size in (33_810, 85_900):
        plate = TSPInstance(f"board{size}", board(rng, size), Convention.CEIL_2D)
        texts[f"{plate.name}.tsp"] = dumps_tsp(plate)
    demands = np.concatenate(([0], rng.integers(1, 4, 30_000)))
    coords = np.concatenate(([[60_000.0, 60_000.0]], towns(rng, 30_000)))
    texts["towns30000.vrp"] = CVRP.dumps(VehicleInstance("towns30000", coords, demands, 200))
    folder = ROOT / "large"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
        yield folder / name


def memory(process: psutil.Popen) -> int:
    """Return the bytes that a process and its descendants hold now."""
    held = 0
    with suppress(psutil.NoSuchProcess):
        for member in [process, *process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                held += member.memory_full_info().pss
    return held


def row(path: Path) -> str:
    problem = "tsp" if path.suffix == ".tsp" else "cvrp"
    checkpoint = train(f"smoke-{problem}", "budget=smoke", problem=problem) / "checkpoint"
    out = ROOT / f"large-{path.stem}"
    options = [f"checkpoint={checkpoint}", f"instance={path}", f"hydra.run.dir={out}"]
    began, peak = time.perf_counter(), 0
    process = psutil.Popen(
        [sys.executable, "-m", "specahd.evaluate", *options], stdout=subprocess.DEVNULL
    )
    spent = process.cpu_times()
    while process.poll() is None:
        peak = max(peak, memory(process))
        with suppress(psutil.NoSuchProcess):
            spent = process.cpu_times()
        time.sleep(0.05)
    seconds = time.perf_counter() - began
    found = json.loads((out / "rows.jsonl").read_text())
    stages = json.loads((out / "rows-timings.jsonl").read_text())
    one_pass = pass_seconds(stages)
    return (
        f"| {found['instance']} | {found['size']:,} | {found['baseline_cost']:,.0f} "
        f"| {found['cost']:,.0f} | {'yes' if found['feasible'] else 'no'} | {one_pass:.2f} s "
        f"| {seconds:.0f} s | {spent.user + spent.system:.0f} s | {peak / 2**30:.2f} GiB |"
    )


def main() -> None:
    """Print the table."""
    head = "instance, size, baseline, repaired, feasible, one pass, command, CPU, memory"
    print(f"| {head.replace(', ', ' | ')} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in [Path(name) for name in sys.argv[1:]] or made():
        print(row(path), flush=True)


if __name__ == "__main__":
    main()
