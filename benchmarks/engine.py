"""Repairs per second and memory of the engine, by size: ``python benchmarks/engine.py [SIZE ...]``.

Random instances of CVRP, the hand-written programs that solve them, one process; CPU time, so
that a busy machine changes less.
"""

import resource
import sys
import time

import numpy as np

from specahd.engine import interfaces
from specahd.engine.blocks import MATRIX_NODES
from specahd.engine.builtin_programs import moving_window
from specahd.engine.orders import Order, Report
from specahd.engine.route_ends import strings_and_ends
from specahd.engine.schedule import SMALL, group_count, neighbour_count, temperatures
from specahd.engine.strings import greedy_with_blinks
from specahd.problems.cvrp import engine as cvrp
from specahd.routing.geometry import Convention
from specahd.routing.kernels.distances import CODES, fill_distance_matrix

SECONDS = 5.0
UPPER, LOWER = interfaces.GROUPS.name, interfaces.POSITIONS.name


def block_of(size, rng):
    from scipy.spatial import cKDTree

    coords = np.floor(rng.random((size + 1, 2)) * 1000 * np.sqrt(size / 1000))
    demands = rng.integers(1, 10, size + 1)
    demands[0] = 0
    count = neighbour_count(size)
    near = np.asarray(cKDTree(coords[1:]).query(coords, k=count + 1)[1]) + 1
    # Of the depot the last is dropped, of a customer itself.
    near[near[:, 0] == np.arange(size + 1), :-1] = near[near[:, 0] == np.arange(size + 1), 1:]
    near = np.ascontiguousarray(near[:, :-1])
    away = np.floor(np.hypot(*(coords[:, None] - coords[near]).transpose(2, 0, 1)) + 0.5)
    block = {
        "coords": coords,
        "demands": demands,
        "capacity": np.array([100]),
        "neighbours": near,
        "neighbour_distances": away,
    }
    if size < MATRIX_NODES:
        block["distance_matrix"] = np.empty((size + 1, size + 1))
        fill_distance_matrix(coords, Convention.EUC_2D, block["distance_matrix"])
    else:
        block["convention"] = np.array([CODES[Convention.EUC_2D]])
    return block


def start_of(block):
    """Return routes along a sweep around the depot."""
    around = block["coords"][1:] - block["coords"][0]
    route, load = [], 0
    for node in (1 + np.argsort(np.arctan2(around[:, 1], around[:, 0]))).tolist():
        load += int(block["demands"][node])
        if load > block["capacity"][0]:
            route.append(0)
            load = int(block["demands"][node])
        route.append(node)
    return np.array(route, np.int64)


def measure(size, upper):
    block = block_of(size, np.random.default_rng(0))
    hot, cold = temperatures(block["neighbour_distances"])
    start, nothing = start_of(block), np.zeros(0, np.int64)
    groups = group_count(size)
    warm = Order(0, size // 2, 0.0, groups, 50, 0.0, 0.0, cold, cold)
    first = Report.decode(cvrp.GROUPS(upper, block, [warm.encode(), start]).arrays[0])
    began = time.process_time()
    order = Order(0, 10**12, SECONDS, groups, 50, 0.0, 1.0, hot, cold)
    report = Report.decode(cvrp.GROUPS(upper, block, [order.encode(), nothing]).arrays[0])
    seconds = time.process_time() - began
    repairs, passes = report.repairs - first.repairs, report.passes - first.passes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{size:>9,} customers  {repairs / seconds:>11,.0f} repairs/s  "
        f"{1e6 * seconds / passes:>8.0f} us a pass of {groups} groups  peak {peak:,.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    whole = interfaces.GROUPS.source_of(strings_and_ends)
    drawn, turned = (cvrp.GROUPS.translate(text, UPPER) for text in (whole, moving_window(whole)))
    cvrp.POSITIONS.translate(interfaces.POSITIONS.source_of(greedy_with_blinks), LOWER)
    for argument in sys.argv[1:] or ("1000", "10000", "100000"):
        size = int(argument)
        measure(size, turned if size + 1 > SMALL else drawn)
