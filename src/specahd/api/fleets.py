"""Solving with limited vehicles or stops that may be left out: the search's view, and a start."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from specahd.api.problems import problem_of, with_options
from specahd.engine.neighbourhood_search import SearchProgress
from specahd.repair.cases import Case
from specahd.routing.base import AnyProblem, IntArray
from specahd.routing.formats.vrplib import TIMED
from specahd.routing.vehicles.assignment import assign
from specahd.routing.vehicles.fleet import reduced, relaxed, searches_types
from specahd.routing.vehicles.instance import VehicleInstance


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


def judged(data: Any) -> Any:
    """Return the instance by which solutions are checked and compared in the search."""
    return relaxed(data) if isinstance(data, VehicleInstance) and data.limited else data


def for_incumbent(goal: Any) -> Any:
    """Return the instance that a given start must solve: that of :func:`judged`, no penalties."""
    prizes = getattr(goal, "prizes", None)
    if prizes is None:
        return goal
    return replace(goal, prizes=np.where(prizes == prizes[0], 0.0, prizes))


def without_penalties(goal: Any, moment: SearchProgress) -> SearchProgress:
    """Return a moment with the cost of what is served, and the prizes.

    Parameters
    ----------
    goal
        The instance of :func:`judged`, by which the cost was computed.
    """
    prizes = getattr(goal, "prizes", None)
    if prizes is None or prizes[0] == 0.0:
        return moment
    # The penalty exceeds all other costs together.
    return replace(moment, cost=moment.cost % float(prizes[0]))


def servable(seen: Any) -> tuple[Any, IntArray | None]:
    """Return the instance of the nodes that any number of vehicles can serve, and these nodes.

    Parameters
    ----------
    seen
        What the search sees of :func:`judged`. Where it lets nothing be left out, it is returned
        itself.
    """
    if getattr(seen, "prizes", None) is None:
        return seen, None
    nodes = np.flatnonzero((seen.prizes > 0) | (np.arange(seen.size + 1) == 0))
    part = seen.at(nodes, seen.demands[nodes])
    return replace(part, fleet=None, prizes=None, type_columns={}), nodes


def _served(data: VehicleInstance, routes: Sequence[Any]) -> tuple[Any, ...]:
    """Return the routes that have a vehicle, where those that no vehicle can serve are halved."""
    while True:
        found = assign(data, routes)
        kept: list[Any] = []
        for place, route in enumerate(routes):
            if found.fits[place]:
                kept.append(route)
            elif len(route) > 1 and place not in found.without:
                kept += [route[: len(route) // 2], route[len(route) // 2 :]]
        if len(kept) <= found.fits.sum():
            return tuple(kept)
        routes = kept


def start_of(problem: AnyProblem, data: Any, case: Case, nodes: IntArray | None) -> Case:
    """Return the case of an instance with the start that was constructed for :func:`servable`.

    If it takes too many vehicles, the routes with the most stops stay. Where vehicles differ or
    have limits, a route that none can serve is halved until one can; one without a vehicle goes.
    """
    if case.instance is data:
        return case
    routes = case.baseline
    if nodes is not None:
        routes = [tuple(nodes[list(route)].tolist()) for route in routes]
        routes = tuple(sorted(routes, key=len, reverse=True)[: data.fleet])
    if isinstance(data, VehicleInstance) and searches_types(data):
        routes = _served(data, routes)
    missing = data.size - sum(map(len, routes)) if nodes is not None else 0
    source = f"{case.source}, {missing} left out" if missing else case.source
    return Case(data, routes, problem.cost(data, routes), source)
