"""Solve generated instances with types of vehicles, beside PyVRP on the same data.

``python benchmarks/vehicle_types.py [--seconds 10] [--seed 0]`` prints a line of a table for each
of ten instances of 50 to 200 stops. Three types differ in capacity, fixed cost and cost per
distance, and two of them in number. Every second instance has windows of a third of its stops, and
a type whose shift is half the day.
"""

import argparse

import numpy as np
import pandas as pd

from specahd import api
from specahd.routing.vehicles.baselines import pyvrp

SIZES = (50, 80, 100, 150, 200)


def generated(size: int, *, timed: bool) -> api.ProblemInstance:
    """Return an instance; equal arguments give equal ones."""
    rng = np.random.default_rng([size, timed])
    table = pd.DataFrame(rng.integers(0, 1000, (size + 1, 2)), columns=["x", "y"])
    table["demand"] = rng.integers(1, 21, size + 1)
    table.loc[0, "demand"] = 0
    trips = -(-int(table["demand"].sum()) // 100)
    fleet = [
        {"name": "van", "count": trips, "capacity": 50, "fixed_cost": 200},
        {"name": "truck", "count": max(1, trips // 2), "capacity": 100, "fixed_cost": 400},
        {"name": "lorry", "count": None, "capacity": 150, "fixed_cost": 900},
    ]
    for kind, rate in zip(fleet, (0.8, 1.1, 1.5), strict=True):
        kind["cost_per_distance"] = rate
    if timed:
        table["ready"], table["due"], table["service"] = 0, 8000, 50
        third = rng.choice(np.arange(1, size + 1), size // 3, replace=False)
        opens = rng.integers(1500, 4000, len(third))
        table.loc[third, "ready"], table.loc[third, "due"] = opens, opens + 1500
        table.loc[0, "service"] = 0
        fleet[1]["shift_end"] = 4000
    return api.read(table, fleet=fleet)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for timed in (False, True):
        for size in SIZES:
            found = generated(size, timed=timed)
            data, problem = found.data, found.problem
            solved = api.solve(found, options.seconds, seed=options.seed)
            theirs = pyvrp(data, 1, options.seed, seconds=options.seconds)
            assert not problem.check(data, solved.data)
            assert not problem.check(data, theirs)
            cost = problem.cost(data, theirs)
            rate = solved.search.repairs / solved.search.seconds
            name, ours, routes = problem.name, solved.cost, len(solved.routes)
            print(
                f"| {name}-{size} | {ours:,.1f} | {routes} | {rate:,.0f} "
                f"| {cost:,.1f} | {len(theirs)} | {100 * (ours / cost - 1):+.2f}% |",
                flush=True,
            )


if __name__ == "__main__":
    main()
