"""Solve public instances whose customers have prizes, beside PyVRP on the same data.

``python benchmarks/optional_stops.py FILE … [--seconds 10] [--share 1.0]`` prints a line of a table
for each file. One customer in five must be served. The prize of each other one is its way from the
depot and back times a number drawn from [0, share); the draw depends on the share alone.
"""

import argparse

import numpy as np
from pyvrp import CostEvaluator, Solution

from specahd import api
from specahd.routing.vehicles.baselines import problem_data, pyvrp


def with_prizes(file: str, share: float) -> api.ProblemInstance:
    """Return an instance with whole prizes."""
    data = api.read(file).data
    nodes = np.arange(1, data.size + 1)
    ways = (data.between(0, nodes) + data.between(nodes, 0)) / data.parts
    generator = np.random.default_rng(round(100 * share))
    prizes = np.round(ways * generator.uniform(0, share, data.size))
    prizes[generator.random(data.size) < 0.2] = np.nan
    return api.read(file, prizes=prizes.tolist())


def told(found: api.ProblemInstance, routes: object) -> tuple[float, str]:
    """Return the cost of routes by both objectives, which agree, and cells with what they serve."""
    data = found.data
    assert not found.problem.check(data, routes)
    theirs = problem_data(data, data.whole_matrix("pyvrp"))
    solution = Solution(theirs, [[node - 1 for node in route] for route in routes])
    assert solution.is_feasible()
    unit = theirs.distance_matrix(0)[0, 1] / data.between(0, 1) * data.parts
    cost = found.problem.cost(data, routes)
    assert abs(CostEvaluator([1], 1, 1).penalised_cost(solution) / unit - cost) <= 1e-6 * cost
    return cost, f"{len(routes)} | {data.size - sum(map(len, routes))}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    for file in options.files:
        found = with_prizes(file, options.share)
        solved = api.solve(found, options.seconds)
        ours, served = told(found, solved.data)
        theirs, others = told(found, pyvrp(found.data, 1, seconds=options.seconds))
        print(
            f"| {found.name} | {options.share:g} | {ours:,.10g} | {served} | {theirs:,.10g} | "
            f"{others} | {100 * (ours / theirs - 1):+.2f}% |",
            flush=True,
        )


if __name__ == "__main__":
    main()
