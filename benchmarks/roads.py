"""Write instances of one-way roads: ``python benchmarks/roads.py OUT DRAWS SIZE …``.

A grid of 60 by 60 crossings with shifted places has main roads (14 m/s), streets (8 m/s) of which
seven in ten are one-way, and holes. Stops are crossings. A way is the fastest one, as a road
service answers it: its seconds and its metres are two matrices, both whole numbers. Of each number
of stops there are DRAWS instances with a shift of four hours (CVRP), and as many with windows of
two hours for half of the stops (VRPTW). What is printed are words of ``benchmarks/solve.py``; the
metres of the former are ATSP files too.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from specahd.routing.formats.tsplib import TSPLIBData, dumps
from specahd.routing.geometry import Convention

SIDE, BLOCK = 60, 120.0


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


def written(out: Path, size: int, timed: bool, draw: int) -> str:
    """Write an instance, and return the table's name with the options that it needs."""
    rng = np.random.default_rng([draw, size])
    places, metres, seconds = streets(rng)
    _, part = connected_components(seconds, connection="strong")
    inside = np.flatnonzero(part == np.bincount(part).argmax())
    stops = rng.choice(inside, size + 1, replace=False)
    far, took = matrices(metres, seconds, stops)
    name = out / f"streets-{'vrptw' if timed else 'cvrp'}-{size}-{draw}"
    lines = ["name,x,y,demand" + ",ready,due,service" * timed]
    for place, (x, y) in enumerate(places[stops].round(1).tolist()):
        line = f"s{place},{x},{y},{rng.integers(1, 10) if place else 0}"
        if timed:
            ready = int(rng.integers(0, 13)) * 1800
            window = f"{ready},{ready + 7200}" if place % 2 else "0,30600"
            line += f",{window},180" if place else ",0,36000,0"
        lines.append(line)
    name.with_suffix(".csv").write_text("\n".join(lines) + "\n")
    if not timed:
        tour = TSPLIBData(f"streets-tsp-{size}-{draw}", "", Convention.EXPLICIT, None, far)
        (out / f"{tour.name}.atsp").write_text(dumps(tour))
    for kind, ways in (("metres", far), ("seconds", took)):
        np.save(f"{name}-{kind}.npy", ways)
    words = [f"{name}.csv", "capacity=100", f"matrix={name}-metres.npy"]
    words += [f"durations={name}-seconds.npy", *([] if timed else ["max_duration=14400"])]
    return ",".join(words)


def main() -> None:
    """Write the instances, and print them as words for ``benchmarks/solve.py``."""
    out, draws = Path(sys.argv[1]), int(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for timed in (False, True):
        for size in map(int, sys.argv[3:]):
            for draw in range(1, draws + 1):
                print(written(out, size, timed, draw))


if __name__ == "__main__":
    main()
