"""Write instances with types of vehicles: ``python benchmarks/vehicle_types.py OUT``.

Ten instances have 50 to 200 stops. Three types differ in capacity, fixed cost and cost per
distance, and two of them in number. Every second instance has windows of a third of its stops, and
a type whose shift is half the day. What is printed are words of ``benchmarks/solve.py``.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

SIZES = (50, 80, 100, 150, 200)


def written(out: Path, size: int, *, timed: bool) -> str:
    """Write an instance, and return its table's name with the options that it needs."""
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
    name = out / f"types-{'vrptw' if timed else 'cvrp'}-{size}"
    table.to_csv(f"{name}.csv", index=False)
    pd.DataFrame(fleet).to_csv(f"{name}-fleet.csv", index=False)
    return f"{name}.csv,fleet={name}-fleet.csv"


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for timed in (False, True):
        for size in SIZES:
            print(written(out, size, timed=timed))


if __name__ == "__main__":
    main()
