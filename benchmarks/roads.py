"""One-way roads, and the engine beside PyVRP: ``python benchmarks/roads.py OUT SEED SECONDS``.

A grid of 60 by 60 crossings with shifted places has main roads (14 m/s), streets (8 m/s) of which
seven in ten are one-way, and holes. Stops are crossings. A way is the fastest one, as a road
service answers it: its seconds and its metres are two matrices, both whole numbers. Instances of
100, 300 and 1,000 stops have a shift of four hours (CVRP), or windows of two hours for half of the
stops (VRPTW). OUT gets the tables and the matrices. Both solvers have these seconds and one core
each, one after the other, and both checkers look at both solutions.
"""

import sys
from pathlib import Path

import numpy as np
from pyvrp import CostEvaluator, Solution
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from specahd import api
from specahd.api.problems import ProblemInstance
from specahd.routing.vehicles import baselines

SIDE, BLOCK = 60, 120.0
SIZES = (100, 300, 1000)


def streets(rng: np.random.Generator) -> tuple[np.ndarray, csr_matrix, csr_matrix]:
    """Return places of crossings in metres, and the metres and the seconds of roads."""
    across, along = (axis.ravel() for axis in np.meshgrid(np.arange(SIDE), np.arange(SIDE)))
    places = BLOCK * (np.stack((across, along), axis=1) + rng.uniform(-0.3, 0.3, (SIDE**2, 2)))
    starts, ends, speeds = [], [], []
    for node in range(SIDE**2):
        for other, line in ((node + 1, along[node]), (node + SIDE, across[node])):
            if other >= SIDE**2 or (other == node + 1 and across[node] == SIDE - 1):
                continue
            main = line % 10 == 5
            if not main and rng.random() < 0.08:
                continue
            both = main or rng.random() < 0.3
            ways = [(node, other), (other, node)]
            for start, end in ways if both else [ways[line % 2]]:
                starts.append(start)
                ends.append(end)
                speeds.append(14.0 if main else 8.0)
    metres = np.hypot(*(places[starts] - places[ends]).T)
    shape = (SIDE**2, SIDE**2)
    return (
        places,
        csr_matrix((metres, (starts, ends)), shape),
        csr_matrix((metres / np.array(speeds), (starts, ends)), shape),
    )


def matrices(
    metres: csr_matrix, seconds: csr_matrix, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the metres and the seconds of the fastest way from each stop to each other one."""
    times, before = dijkstra(seconds, indices=stops, return_predecessors=True)
    lengths = np.zeros((len(stops), len(stops)))
    rows = np.broadcast_to(np.arange(len(stops))[:, None], lengths.shape)
    here = np.broadcast_to(stops, lengths.shape).copy()
    while (going := here != stops[:, None]).any():
        last = before[rows[going], here[going]]
        lengths[going] += np.asarray(metres[last, here[going]]).ravel()
        here[going] = last
    # Rounded up, so that no way past a stop is longer than the ways to it and from it.
    return np.ceil(lengths), np.ceil(times[:, stops])


def written(out: Path, size: int, timed: bool, seed: int) -> ProblemInstance:
    """Write an instance, and return it as the command reads it."""
    rng = np.random.default_rng([seed, size])
    places, metres, seconds = streets(rng)
    _, part = connected_components(seconds, connection="strong")
    inside = np.flatnonzero(part == np.bincount(part).argmax())
    stops = rng.choice(inside, size + 1, replace=False)
    far, took = matrices(metres, seconds, stops)
    name = out / f"streets-{'vrptw' if timed else 'cvrp'}-{size}"
    lines = ["name,x,y,demand" + ",ready,due,service" * timed]
    for place, (x, y) in enumerate(places[stops].round(1).tolist()):
        line = f"s{place},{x},{y},{rng.integers(1, 10) if place else 0}"
        if timed:
            ready = int(rng.integers(0, 13)) * 1800
            window = f"{ready},{ready + 7200}" if place % 2 else "0,30600"
            line += f",{window},180" if place else ",0,36000,0"
        lines.append(line)
    name.with_suffix(".csv").write_text("\n".join(lines) + "\n")
    for kind, ways in (("metres", far), ("seconds", took)):
        np.save(f"{name}-{kind}.npy", ways)
    return api.read(
        name.with_suffix(".csv"),
        capacity=100,
        matrix=f"{name}-metres.npy",
        durations=f"{name}-seconds.npy",
        max_duration=None if timed else 14_400.0,
    )


def checked(found: ProblemInstance, routes: tuple[tuple[int, ...], ...]) -> float:
    """Return the cost of a solution that is feasible to both checkers and costs both the same."""
    data = found.data
    theirs = baselines.problem_data(data, data.matrix)
    solution = Solution(theirs, [[node - 1 for node in route] for route in routes])
    cost: float = found.problem.cost(data, routes)
    if found.problem.check(data, routes) or not solution.is_feasible():
        raise SystemExit(f"{data.name}: not feasible")
    if CostEvaluator([1], 1, 1).penalised_cost(solution) != cost:
        raise SystemExit(f"{data.name}: the costs differ")
    return cost


def main() -> None:
    """Make the instances, solve them, and print a table."""
    out, seed, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    print(
        "| instance | asymmetry | specahd | vehicles | repairs/s | PyVRP | vehicles | difference |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for timed in (False, True):
        for size in SIZES:
            found = written(out, size, timed, 1)
            ways = found.data.matrix
            apart = np.abs(ways - ways.T).sum() / ways.sum()
            ours = api.solve(found, seconds, seed=seed)
            theirs = baselines.pyvrp(found.data, 1, seed, seconds=seconds)
            mine, other = checked(found, ours.data), checked(found, theirs)
            rate = ours.statistics()["repairs_per_second"]
            print(
                f"| {found.name} | {apart:.0%} | {mine:,.0f} | {len(ours.routes)} | {rate:,} "
                f"| {other:,.0f} | {len(theirs)} | {mine / other - 1:+.2%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
