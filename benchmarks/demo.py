"""The end of the demo: an unseen instance solved with what was trained, and by others.

``python benchmarks/demo.py ARGS``, with those of the training that ran before. DEMO_SECONDS in
the environment is what each solver has, one after the other; 5 if nobody says.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from solve import engine, pyvrp
from specahd import api
from specahd.routing.vehicles.instance import VehicleInstance

CUSTOMERS = 500
SEED = 500


def unseen() -> api.ProblemInstance:
    """Return an instance of no pool: customers anywhere, 15 or so to a route."""
    rng = np.random.default_rng(SEED)
    coords = rng.integers(0, 1001, (CUSTOMERS + 1, 2)).astype(float)
    demands = np.append(0, rng.integers(1, 101, CUSTOMERS))
    instance = VehicleInstance(f"demo{CUSTOMERS}", coords, demands, 15 * 50)
    return api.ProblemInstance(api.make_problem("cvrp"), instance)


def trained(words: list[str]) -> Path | None:
    """Return the run that has just ended, if what it trained can solve the instance."""
    given = [word.partition("=")[2] for word in words if word.startswith("hydra.run.dir=")]
    runs = [Path(path) for path in given] or sorted(
        Path("runs").glob("*/*"), key=lambda path: path.stat().st_mtime
    )
    manifest = runs[-1] / "checkpoint" / "manifest.json" if runs else Path("none")
    if not manifest.exists():
        return None
    found = json.loads(manifest.read_text(encoding="utf-8"))
    fits = found["problem"] == "cvrp" and found["settings"].get("repair") == "insertion"
    return runs[-1] if fits else None


def main(words: list[str]) -> None:
    """Solve the instance, and print what came of it."""
    seconds = float(os.environ.get("DEMO_SECONDS", "5"))
    given = unseen()
    run = trained(words)
    solvers = {"programs written by hand": engine, "PyVRP": pyvrp}
    if run is not None:
        solvers = {"the programs just trained": partial(engine, checkpoint=run), **solvers}
    table = Table(title=f"{CUSTOMERS} customers, never seen, {seconds:g} s each")
    for column in ("", "cost", "routes", "repairs/s"):
        table.add_column(column, justify="left" if not column else "right")
    for name, solve in solvers.items():
        routes, told = solve(given, seconds, 0)
        solution = tuple(tuple(int(node) for node in route) for route in routes)
        if violations := given.problem.check(given.data, solution):
            sys.exit(f"{name}: {violations[0].detail}")
        cost = given.problem.cost(given.data, solution)
        rate = f"{told['repairs'] / seconds:,.0f}" if "repairs" in told else "–"
        table.add_row(name, f"{cost:,.0f}", str(len(solution)), rate)
    console = Console(file=sys.stdout)
    console.print(table)
    console.print("every solution was checked; specahd solve FILE does this with yours")


if __name__ == "__main__":
    main(sys.argv[1:])
