"""Solving with limits and prices of vehicles: what the search sees, and a start in the fleet."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specahd.api.problems import problem_of, with_options
from specahd.core.errors import RunFailed
from specahd.core.settings import SearchLimit
from specahd.engine.improver import Programs, engine
from specahd.engine.neighbourhood_search import SearchProgress, SearchResult, run_search
from specahd.repair.cases import Case
from specahd.routing.base import AnyProblem
from specahd.routing.formats.vrplib import TIMED
from specahd.routing.vehicles.fleet import reduced
from specahd.routing.vehicles.instance import VehicleInstance

_PRICE = 10.0
"""Price of a vehicle while there are too many, in distances of the farthest customer."""


def searched(problem: AnyProblem, data: Any) -> tuple[AnyProblem, Any]:
    """Return what the search sees: the problem, and an instance without prices and route limits.

    Where ways are directed, it has windows that are never too narrow, and durations.
    """
    if not isinstance(data, VehicleInstance) or not data.limited:
        return problem, data
    seen = reduced(data)
    if seen.windows is not None and data.windows is None:
        problem = problem_of(TIMED)
    if seen.windows is not None:
        problem = with_options(problem, baseline=problem.construction_of(seen))
    return problem, seen


def fleet_of(data: Any) -> int | None:
    """Return the most vehicles that a solution of an instance may use; None: any number."""
    return data.fleet if isinstance(data, VehicleInstance) else None


def excess(problem: AnyProblem, data: Any, solution: Any) -> int:
    """Return by how much the vehicles of a solution exceed the fleet; 0 without a limit."""
    fleet = fleet_of(data)
    return 0 if fleet is None else max(0, len(problem.routes(solution)) - fleet)


def within_fleet(
    problem: AnyProblem,
    data: VehicleInstance,
    case: Case,
    programs: Programs,
    seed: int,
    memory_bytes: int,
    limit: SearchLimit,
    began: float,
    stopped: Callable[[], bool],
) -> tuple[Case, int]:
    """Search for a solution with as few vehicles as there are, each of which has a high price.

    Parameters
    ----------
    problem, data
        What the search sees is made of the instance; ``problem`` is that of :func:`searched`.
    began
        The time at which ``limit`` began, by ``time.monotonic``.

    Returns
    -------
    Case, int
        The instance with the solution, and the repairs that it took.

    Raises
    ------
    RunFailed
        None was found; the sentence says how many vehicles the best one has.
    """
    price = _PRICE * max(1.0, float(data.between(0, range(data.size + 1)).max()) / data.parts)
    seen = replace(reduced(data, data.fixed_cost + price), fleet=None)
    cost = problem.cost(seen, case.baseline)

    def enough(moment: SearchProgress, found: SearchResult) -> bool:
        return stopped() or not excess(problem, data, found.solution)

    counted = limit.repairs is not None
    with engine(problem, seen, programs, seed, memory_bytes, counted) as improver:
        improver.start(case.baseline)
        improver.exchanges = problem.engine.exchanges(seen)
        found = run_search(
            *(problem, seen, case.baseline, cost, improver, limit, enough, began),
            slice_repairs=improver.slice_repairs,
            slice_seconds=improver.slice_seconds,
        )
    if excess(problem, data, found.solution):
        spent = f"{found.repairs} repairs" if counted else f"{time.monotonic() - began:.0f} s"
        raise RunFailed(
            f"{data.name}: no plan with {data.fleet} vehicles was found in {spent}; the best has "
            f"{len(problem.routes(found.solution))}."
        )
    source = f"{case.source}, {data.fleet} vehicles"
    return Case(data, found.solution, problem.cost(data, found.solution), source), found.repairs
