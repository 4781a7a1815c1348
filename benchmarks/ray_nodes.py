"""What do nodes of a Ray cluster cost, and what does the loss of one? On this machine alone.

    python benchmarks/ray_nodes.py

Needs the extra ``ray``. Prints two Markdown tables: smoke runs on two workers that
stand in different places, each compared byte by byte with the run on local ones; and
what a call and the shared arrays cost. Finished runs are kept in runs/benchmarks and not repeated.
"""

import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from ray.cluster_utils import Cluster

from runs import ROOT, seconds, train
from specahd.sandbox.cluster import RayExecutor
from specahd.sandbox.executor import Executor, LocalExecutor
from specahd.sandbox.shared_arrays import SharedArrays

FILES = ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl")


@contextmanager
def cluster(*cpus: int) -> Iterator[Cluster]:
    """Start a node with so many CPUs each; the first one is the head."""
    nodes = Cluster()
    try:
        for count in cpus:
            nodes.add_node(num_cpus=count, object_store_memory=200_000_000, include_dashboard=False)
        yield nodes
    finally:
        nodes.shutdown()


def kill_last_node(nodes: Cluster, directory: Path, samples: int) -> None:
    """Kill every process of a node at once, when a run has so many samples."""
    journal = directory / "journal.jsonl"
    while not (journal.exists() and journal.read_bytes().count(b"\n") > samples):
        time.sleep(0.05)
    [node] = nodes.worker_nodes
    [raylet] = [psutil.Process(entry.process.pid) for entry in node.all_processes["raylet"]]
    for process in [raylet, *raylet.children(recursive=True)]:
        process.kill()


def content(directory: Path) -> dict[str, bytes]:
    """Return the bytes of what a run decided, without its times."""
    checkpoint = [path for path in (directory / "checkpoint").rglob("*") if path.is_file()]
    paths = [directory / name for name in FILES] + checkpoint
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def run(name: str, cpus: tuple[int, ...], kill_after: int | None = None) -> Path:
    """Train on a cluster of its own with two workers."""
    with cluster(*cpus) as nodes:
        if kill_after is not None:
            blow = (nodes, ROOT / name, kill_after)
            threading.Thread(target=kill_last_node, args=blow, daemon=True).start()
        return train(name, "budget=smoke", "executor=ray", f"executor.address={nodes.address}")


class Idle:
    """A worker object with nothing to do."""

    def __init__(self, shared: SharedArrays) -> None:
        self.shared = shared

    def nothing(self) -> None:
        """Return at once."""


def median_milliseconds(executor: Executor, calls: int = 500) -> float:
    """Return the median time of one call at a time."""
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        executor.submit("nothing").result()
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def shared(nodes: int) -> SharedArrays:
    """Return the shared arrays with one distance matrix."""
    shared = SharedArrays.allocate([{"matrix": (np.float64, (nodes, nodes))}])
    shared.writable(0)["matrix"][:] = 1.0
    return shared


def main() -> None:
    """Run, compare, measure, print."""
    reference = train("ray-local", "budget=smoke", "executor.workers=2")
    places = {
        "local": reference,
        "one node": run("ray-one-node", (2,)),
        "two nodes": run("ray-two-nodes", (1, 1)),
        "two nodes, one killed after 10 samples": run("ray-killed-node", (1, 1), 10),
    }
    print("| two workers on | seconds | bytes of the local run |\n|---|---|---|")
    for place, directory in places.items():
        equal = content(directory) == content(reference)
        print(f"| {place} | {seconds(directory):.1f} | {json.dumps(equal)} |", flush=True)
    print("\n| executor | start, small arrays | start, 2,000 nodes (32 MB) | a call |")
    print("|---|---|---|---|")
    for name, kind in (("local", LocalExecutor), ("ray", RayExecutor)):
        starts = []
        for nodes in (2, 2_000):
            filled = shared(nodes)
            began = time.perf_counter()
            executor = kind(Idle, filled, workers=2)
            starts.append(time.perf_counter() - began)
            call = median_milliseconds(executor)
            executor.close()
        print(f"| {name} | {starts[0]:.2f} s | {starts[1]:.2f} s | {call:.2f} ms |", flush=True)


if __name__ == "__main__":
    main()
