"""Whether learned programs pay: days that were not seen, solved by them and by other solvers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from specahd.api.problems import ProblemInstance
from specahd.api.programs import BY_HAND, stronger_programs
from specahd.api.solving import solve
from specahd.checkpoint.manifest import digest
from specahd.core.errors import ConfigError
from specahd.core.events import Observer
from specahd.core.extras import require as require_extra
from specahd.core.journal import JournalFile, Record, read_records
from specahd.reporting.ranking import mean_interval
from specahd.routing.base import AnyProblem
from specahd.routing.pools import definition_hash
from specahd.routing.vehicles.baselines import pyvrp

DAYS = "days.jsonl"
"""The costs of a run's unseen instances: a line for each instance and solver."""
LEARNED, PRESENT, PYVRP = "learned", "present", "pyvrp"
"""Solvers: with the learned programs, with those that ``solve`` has without them, and PyVRP."""
_LEAST = 2


def expect_days(days: Sequence[Any]) -> None:
    """Refuse too few instances for an interval.

    Raises
    ------
    ConfigError
        There are fewer than two.
    """
    if len(days) < _LEAST:
        raise ConfigError(
            f"Expected at least {_LEAST} instances in validation, on which programs are measured, "
            f"got {len(days)}: add days, or raise the last of pools.shares."
        )


def measure(
    problem: AnyProblem,
    days: Sequence[Any],
    checkpoint: Path,
    time_limit: float,
    seed: int,
    observer: Observer,
    *,
    require: str = "available",
) -> list[Record]:
    """Solve each instance with each solver; return a record for each.

    Records that ``days.jsonl`` beside the checkpoint has already are not measured again.

    Parameters
    ----------
    time_limit
        Seconds, the same for all solvers.
    require
        Of the sandbox, as for :func:`~specahd.api.solving.solve`.
    """
    solvers = [LEARNED, PRESENT, *([PYVRP] if _has_pyvrp(problem) else [])]
    programs = {LEARNED: digest(checkpoint), PYVRP: PYVRP}
    wanted: list[tuple[Any, Record]] = []
    for place, day in enumerate(days):
        # A machine that slows down does so for no solver alone.
        for solver in solvers if place % 2 else solvers[::-1]:
            key: Record = {
                "instance": day.name,
                "instance_hash": definition_hash(problem.dumps(day)),
                "solver": solver,
                "time_limit": time_limit,
                "seed": seed,
                "programs": programs.get(solver) or stronger_programs(problem, day),
            }
            wanted.append((day, key))
    path = checkpoint.parent / DAYS
    measured = list(read_records(path))
    known: dict[Any, Record] = {_key(record): record for record in measured}
    left = [(day, key) for day, key in wanted if _key(key) not in known]
    observer.on_phase(f"unseen instances, {time_limit:g} s for each solver", len(left))
    file = JournalFile(path, sync=True)
    file.claim()
    for day, key in left:
        solved = _solve(problem, day, key, checkpoint, require)
        if solved.get("failure"):
            observer.on_warning(f"{day.name}: the programs were stopped ({solved['failure']}).")
        known[_key(key)] = {**key, **solved}
        file.append(known[_key(key)])
        observer.on_step()
    file.close()
    return [known[_key(key)] for _, key in wanted]


def _key(record: Record) -> tuple[Any, ...]:
    names = ("instance_hash", "solver", "time_limit", "seed", "programs")
    return tuple(record.get(name) for name in names)


def _has_pyvrp(problem: AnyProblem) -> bool:
    if PYVRP not in problem.baselines:
        return False
    try:
        require_extra("train", "PyVRP")
    except ConfigError:
        return False
    return True


def _solve(
    problem: AnyProblem, day: Any, key: Record, checkpoint: Path, require: str
) -> dict[str, Any]:
    """Return the cost of a solver, and the number of its routes."""
    if key["solver"] == PYVRP:
        try:
            routes = pyvrp(day, 1, key["seed"], seconds=key["time_limit"])
        except ConfigError as error:
            return {"cost": None, "failure": str(error)}
        if problem.check(day, routes):
            return {"cost": None, "failure": "infeasible"}
        return {"cost": problem.cost(day, routes), "routes": len(routes)}
    search = partial(solve, seed=key["seed"], require=require, observer=Observer())
    chosen = checkpoint if key["solver"] == LEARNED else key["programs"]
    found = search(ProblemInstance(problem, day), key["time_limit"], chosen)
    return {
        "cost": found.cost,
        "routes": len(found.routes),
        "repairs": found.search.repairs,
        "failure": found.failure,
    }


def _percent(value: float) -> str:
    # Without the sign of a zero.
    return f"{round(value, 2) + 0.0:+.2f}%"


def verdict(rows: Sequence[Record], time_limit: float, command: str) -> str:
    """Return what the learned programs are worth in a sentence, and what to do.

    Parameters
    ----------
    command
        The command that solves with them.
    """
    costs: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["cost"] is not None:
            costs.setdefault(row["solver"], {})[row["instance_hash"]] = row["cost"]

    def against(solver: str) -> tuple[float, float]:
        pairs = [(costs[solver][day], costs[PRESENT][day]) for day in costs[solver]]
        # Less is the rounding of sums, and would count as a gain where all days agree in it.
        return mean_interval([round(100 * (a - b) / max(b, 1e-9), 6) for a, b in pairs])

    mean, half = against(LEARNED)
    by_hand = {row["programs"] for row in rows if row["solver"] == PRESENT} == {BY_HAND}
    beside = ""
    if PYVRP in costs:
        solved = len(costs[PYVRP])
        some = f" on {solved} of them" if solved < len(costs[PRESENT]) else ""
        beside = f", PyVRP {_percent(against(PYVRP)[0])}{some}"
    elif any(row["solver"] == PYVRP for row in rows):
        beside = ", PyVRP without feasible routes"
    others = "those by hand" if by_hand else "those that come with specahd"
    told = (
        f"On {len(costs[LEARNED])} days that were not seen, at {time_limit:g} s, the learned "
        f"programs cost {_percent(mean)} ± {half:.2f}% against {others}{beside}."
    )
    if round(mean + half, 2) < 0:
        return f"{told} Use them: {command}"
    return f"{told} They do not pay; nothing changes."
