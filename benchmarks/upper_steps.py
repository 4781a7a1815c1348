"""What upper programs take: ``python benchmarks/upper_steps.py FILE JOURNAL``.

Each upper program of a training with insertion (``journal.jsonl`` of its directory) names groups
on one solution of the instance FILE, in the middle of a search with programs by hand. A line for
each: CPU time and steps of its loops, both a pass. The last line is a least-squares fit of the time
by the steps, and the time of a repair with the programs by hand. One core.
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
from numba import njit

from specahd import api
from specahd.engine import changes
from specahd.engine.blocks import shared_block
from specahd.engine.improver import MAX_SIZE, NAMES, runners
from specahd.engine.naming import call_upper
from specahd.engine.orders import Order, Report
from specahd.engine.schedule import group_count, temperatures
from specahd.engine.state import NOISE_PER_GROUP

REPAIRS, PROGRESS, CALLS, TIMES = 200_000, 0.5, 1000, 5


@njit
def call_often(uppers, instance, state, count, groups, size):
    noise = np.empty(NOISE_PER_GROUP * groups)
    named = 0
    for _ in range(count):
        proposal = call_upper(state, instance, uppers[0], noise, PROGRESS, groups, size)
        named += len(proposal)
    return named


def main(path, journal):
    read = api.read(path)
    problem, instance = read.problem, read.data
    uppers, lowers = map(resolve_name, runners(problem))
    selector = problem.contracts.ORDERED_GROUPS
    by_hand = uppers.translate(selector.seeds[-1].source, NAMES[0])
    lowers.translate(problem.contracts.INSERTION.seeds[-1].source, NAMES[1])
    arrays = shared_block(problem, instance).arrays(0)
    hot, cold = temperatures(arrays["neighbour_distances"])
    limits = group_count(instance.size), min(instance.size, MAX_SIZE)
    order = Order(0, REPAIRS, 0.0, *limits, 0.0, PROGRESS, hot, (hot * cold) ** 0.5)
    routes = problem.flat(instance, problem.baseline(instance, problem.references[-1]))
    # The first search reads the compiled loops.
    uppers(by_hand, arrays, [replace(order, repairs=1).encode(), *routes])
    began = time.process_time()
    said = uppers(by_hand, arrays, [order.encode(), *routes]).arrays[0]
    repair = (time.process_time() - began) / Report.decode(said).repairs
    search = uppers._search
    search = getattr(search, "_search", search)
    lines = Path(journal).read_text(encoding="utf-8").splitlines()
    samples = map(json.loads, lines)
    sources = [one["source"] for one in samples if one.get("level") == "upper" and one["source"]]
    rows = []
    for number, source in enumerate(dict.fromkeys(sources)):
        program = uppers.translate(source, NAMES[0])
        given = program, search._instance, search._state
        call_often(*given, 1, *limits)
        before = search._state.counts[changes.STEPS]
        seconds = []
        for _ in range(TIMES):
            began = time.process_time()
            call_often(*given, CALLS, *limits)
            seconds.append((time.process_time() - began) / CALLS)
        steps = (search._state.counts[changes.STEPS] - before) / (TIMES * CALLS)
        rows.append((steps, 1e9 * min(seconds)))
        print(f"{number}: {rows[-1][1] / 1000:.2f} µs, {steps:.0f} steps", flush=True)
    steps, spent = np.array(rows).T
    slope, least = np.polyfit(steps, spent, 1)
    explained = np.corrcoef(steps, spent)[0, 1] ** 2
    print(
        f"{len(rows)} programs: {least / 1000:.2f} µs and {slope:.2f} ns a step (r2 "
        f"{explained:.2f}); a repair takes {1e9 * repair:.0f} ns, as long as "
        f"{1e9 * repair / slope:.0f} steps"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
