"""The engine beside PyVRP by CPU time: ``python benchmarks/quality.py SECONDS SEED FILE …``.

For machines that are busy, where :mod:`solve` would measure who else runs. The engine searches in
this process, with the defaults of ``specahd solve`` and its hand-written programs, from the
construction that solving starts from; the construction takes no part of the seconds. The costs
are recomputed by the checker. ``PYVRP=1`` in the environment runs PyVRP too.
"""

import os
import sys
import time
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from solve import best_known, pyvrp_data
from specahd import api
from specahd.api.problems import with_options
from specahd.api.programs import BY_HAND, programs_for
from specahd.engine.blocks import shared_block
from specahd.engine.improver import MAX_SIZE
from specahd.engine.orders import Order, Report
from specahd.engine.schedule import group_count, temperatures
from specahd.repair.cases import make_case


def engine(problem: Any, instance: Any, seconds: float, seed: int) -> tuple[Any, int]:
    """Return the best solution after so many CPU seconds, and the repairs."""
    written = programs_for(problem, BY_HAND)
    engine = import_module(type(problem).__module__.removesuffix("problem") + "engine")
    uppers, lowers = engine.GROUPS, engine.POSITIONS
    upper = uppers.translate(written.uppers[0].source, "select_customer_groups")
    for lower in written.lowers:
        lowers.translate(lower.source, "select_position")
    baseline = make_case(problem, instance).baseline
    with closing(shared_block(problem, instance)) as shared:
        block = shared.arrays(0)
        start_temperature, end_temperature = temperatures(
            block["neighbour_distances"],
            problem.engine.start_temperature(instance, block["neighbour_distances"]),
        )
        order = Order(
            *(seed, 1 << 40, seconds, group_count(instance.size), min(instance.size, MAX_SIZE)),
            *(0.0, 1.0, start_temperature, end_temperature),
        )
        inputs = [order.encode(), *problem.flat(instance, baseline)]
        said, *flat = uppers(upper, block, inputs).arrays
    best = problem.unflat(instance, flat) if flat else baseline
    return best, Report.decode(said).repairs


def pyvrp(problem: Any, instance: Any, seconds: float, seed: int) -> tuple[Any, int]:
    """Return PyVRP's solution after so many CPU seconds."""
    import pyvrp as library

    data = pyvrp_data(instance)
    began = time.process_time()

    def over(best: float) -> bool:
        return time.process_time() - began >= seconds

    result = library.solve(data, over, seed=seed, collect_stats=False, display=False)
    routes = result.best.routes()
    return [[each.idx + 1 for each in route if each.is_client()] for route in routes], 0


def main(seconds: str, seed: str, *files: str) -> None:
    """Make the runs, and print a line for each."""
    solvers = {"engine": engine, **({"PyVRP": pyvrp} if os.environ.get("PYVRP") else {})}
    for file in map(Path, files):
        given = api.read(file)
        problem = with_options(given.problem, baseline=given.problem.construction_of(given.data))
        for name, solve in solvers.items():
            routes, repairs = solve(problem, given.data, float(seconds), int(seed))
            solution = tuple(tuple(int(node) for node in route) for route in routes)
            assert not given.problem.check(given.data, solution)
            gap = given.problem.cost(given.data, solution) / best_known(given, file).value - 1.0
            print(f"{file.stem} {name} {gap:+.2%}, {len(routes)} routes, {repairs:,} repairs")


if __name__ == "__main__":
    main(*sys.argv[1:])
