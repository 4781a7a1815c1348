"""The vocabulary of upper programs that gather customers into groups.

A ``trait`` is a number per route around 1, a ``gap`` the distance of every route
from the chosen one. A root template has all variables that its parts may use; a
program keeps only the lines that it uses.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specahd.core.contract import Contract
from specahd.core.interface import Interface
from specahd.core.program import Level
from specahd.core.vocabulary import Constant, Production, Vocabulary, body, rule
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles.runners import propose

_ROUTES = """
    sizes = np.array([len(route) for route in routes])
    flat = np.concatenate(routes)
    starts = np.cumsum(sizes) - sizes
    ends = starts + sizes - 1
    owner = np.repeat(np.arange(len(routes)), sizes)
    loads = np.add.reduceat(LOADS, starts)
    depot_distance = distance_matrix[0][flat]
    stems = depot_distance[starts] + depot_distance[ends]
    legs = np.where(np.isin(np.arange(len(flat)), ends), 0.0, distance_matrix[flat, np.roll(flat, -1)])
    costs = stems + np.add.reduceat(legs, starts)
    longest = np.maximum.reduceat(legs, starts)
    radius = np.maximum.reduceat(depot_distance, starts)
    x = np.bincount(owner, weights=coords[flat, 0]) / sizes
    y = np.bincount(owner, weights=coords[flat, 1]) / sizes
    angle = np.arctan2(y - coords[0, 1], x - coords[0, 0])
    reach = np.hypot(x - coords[0, 0], y - coords[0, 1])
    scale = depot_distance.mean() + 1e-09
"""
_NEIGHBOURS = """
        near = distance_matrix[routes[seed]].min(axis=0)[flat]
        far = distance_matrix[routes[seed]].mean(axis=0)[flat]
        centre_gap = np.hypot(x - x[seed], y - y[seed])
        nearest_gap = np.minimum.reduceat(near, starts)
        mean_gap = np.add.reduceat(far, starts) / sizes
        turn = np.pi - np.abs(np.pi - np.abs(angle - angle[seed]))
"""
_CONSECUTIVE = """
    limit = max(2, int(SHARE * max_size))
    groups = [[]]
    for index in ORDER:
        route = routes[index][:max_size]
        if groups[-1] and len(groups[-1]) + len(route) > limit:
            groups.append([])
        groups[-1].extend(route)
    return groups[:max_groups]
"""
_SEEDED = (
    """
    limit = max(2, int(SHARE * max_size))
    free = np.ones(len(routes), dtype=bool)
    groups = []
    for seed in ORDER:
        if len(groups) == max_groups:
            break
        if not free[seed]:
            continue
        free[seed] = False
        group = list(routes[seed][:max_size])
        members = 1
    """,
    _NEIGHBOURS,
    """
        for index in np.argsort(GAP, kind='stable'):
            if members == COUNT or len(group) >= limit:
                break
            if free[index] and len(group) + sizes[index] <= limit:
                group.extend(routes[index])
                free[index] = False
                members += 1
        groups.append(group)
    return groups
    """,
)
_CHAINED = (
    """
    limit = max(2, int(SHARE * max_size))
    free = np.ones(len(routes), dtype=bool)
    groups = []
    for first in ORDER:
        if len(groups) == max_groups:
            break
        if not free[first]:
            continue
        seed = first
        free[seed] = False
        group = list(routes[seed][:max_size])
        closeness = np.full(len(routes), np.inf)
        for _ in range(COUNT - 1):
    """,
    _NEIGHBOURS.replace("\n", "\n    "),
    """
            closeness = np.minimum(closeness, GAP)
            fits = free & (len(group) + sizes <= limit)
            if not fits.any():
                break
            seed = int(np.argmin(np.where(fits, closeness, np.inf)))
            free[seed] = False
            group.extend(routes[seed])
        groups.append(group)
    return groups
    """,
)
_CUSTOMERS = """
    limit = max(2, int(SHARE * max_size))
    before = np.where(np.isin(np.arange(len(flat)), starts), 0, np.roll(flat, 1))
    after = np.where(np.isin(np.arange(len(flat)), ends), 0, np.roll(flat, -1))
    saving = distance_matrix[before, flat] + distance_matrix[flat, after] - distance_matrix[before, after]
    urgency = URGENCY
    waiting = np.ones(len(flat), dtype=bool)
    groups = []
    for _ in range(max_groups):
        if not waiting.any():
            break
        middle = int(np.argmax(np.where(waiting, urgency, -np.inf)))
        pull = distance_matrix[flat[middle], flat] - WEIGHT * scale * (owner == owner[middle])
        chosen = np.argsort(np.where(waiting, pull, np.inf), kind='stable')[:limit]
        chosen = chosen[waiting[chosen]]
        groups.append(list(flat[chosen]))
        waiting[chosen] = False
    return groups
"""


def vocabulary(
    loads: str = "demands[flat]", lines: str = "", rules: Sequence[Production] = ()
) -> Vocabulary:
    """Return the vocabulary of programs that gather customers into groups.

    Parameters
    ----------
    loads
        Expression for the load that each visit of ``flat`` adds to its route.
    lines
        Statements after those about routes, with the same indentation, for
        variables that a problem's own rules use.
    rules
        A problem's own productions.
    """
    size = ", up to {SHARE} of the allowed size"
    grown = "take routes in order of {ORDER}, add to each the routes of least {GAP} "
    routes = _ROUTES.replace("LOADS", loads).rstrip() + "\n" + lines
    return Vocabulary(
        productions=(
            body("join routes in order of {ORDER}" + size, 1, routes, _CONSECUTIVE),
            body(grown + "from it, {COUNT} in all" + size, 2, routes, *_SEEDED),
            body(grown + "from any joined so far, {COUNT} in all" + size, 2, routes, *_CHAINED),
            body(
                "gather around the customers with the largest {URGENCY} those nearest, as if {WEIGHT} "
                "mean depot distances nearer on the same route" + size,
                2,
                routes,
                _CUSTOMERS,
            ),
            rule("order", "range(len(routes))", "appearance"),
            rule("order", "np.argsort(TRAIT, kind='stable')", "increasing {TRAIT}", 2),
            rule("order", "np.argsort(-TRAIT, kind='stable')", "decreasing {TRAIT}", 3),
            rule("trait", "angle", "polar angle"),
            rule("trait", "costs / costs.mean()", "cost"),
            rule("trait", "costs / sizes / scale", "cost per customer"),
            rule("trait", "costs / np.maximum(loads, 1) * capacity / scale", "cost per load"),
            rule("trait", "costs / (2.0 * radius + 1e-09)", "detour"),
            rule("trait", "loads / capacity", "fill"),
            rule("trait", "stems / (costs + 1e-09)", "share of travel to and from the depot"),
            rule("trait", "longest / scale", "longest leg between customers"),
            rule("trait", "radius / scale", "distance of the farthest customer"),
            rule("trait", "reach / scale", "distance of the centre from the depot"),
            rule("trait", "sizes / sizes.mean()", "number of customers", 0.7),
            rule("trait", "TRAIT - WEIGHT * TRAIT2", "{TRAIT} minus {WEIGHT} times {TRAIT2}", 1.0),
            rule("trait", "TRAIT + WEIGHT * TRAIT2", "{TRAIT} plus {WEIGHT} times {TRAIT2}", 1.5),
            rule("trait", "TRAIT * TRAIT2", "{TRAIT} times {TRAIT2}", 2),
            rule("gap", "centre_gap", "distance of centres"),
            rule("gap", "nearest_gap", "least distance of customers"),
            rule("gap", "mean_gap", "mean distance of customers"),
            rule("gap", "scale * turn", "difference of polar angle"),
            rule(
                "gap", "np.abs(reach - reach[seed])", "difference in distance from the depot", 0.7
            ),
            rule("gap", "scale * np.abs(TRAIT - TRAIT[seed])", "difference in {TRAIT}", 0.5),
            rule("gap", "GAP + WEIGHT * GAP2", "{GAP} plus {WEIGHT} times {GAP2}", 3),
            rule(
                "gap",
                "GAP + WEIGHT * scale * TRAIT",
                "{GAP} plus {WEIGHT} mean depot distances times {TRAIT}",
                1.5,
            ),
            rule(
                "gap",
                "GAP - WEIGHT * scale * TRAIT",
                "{GAP} minus {WEIGHT} mean depot distances times {TRAIT}",
                1,
            ),
            rule("gap", "GAP * GAP2 / scale", "{GAP} times {GAP2}", 0.5),
            rule("urgency", "depot_distance / scale", "distance to the depot"),
            rule("urgency", "saving / scale", "detour for its sake"),
            rule("urgency", "demands[flat] / max(demands[flat].max(), 1)", "demand"),
            rule("urgency", "TRAIT[owner]", "{TRAIT} of its route"),
            rule(
                "urgency",
                "URGENCY - WEIGHT * URGENCY2",
                "{URGENCY} minus {WEIGHT} times {URGENCY2}",
            ),
            rule(
                "urgency", "URGENCY + WEIGHT * URGENCY2", "{URGENCY} plus {WEIGHT} times {URGENCY2}"
            ),
            *rules,
        ),
        constants=(
            Constant("share", 0.08, 1.0, log=True),
            Constant("count", 1, 24, log=True, integer=True),
            Constant("weight", 0.2, 6.0, log=True),
        ),
    )


def joined_routes(
    routes: list[IntArray], max_groups: int, max_size: int
) -> Sequence[Sequence[int]]:
    """Join routes in order of appearance."""
    limit = max(2, int(1.0 * max_size))
    groups: list[list[int]] = [[]]
    for index in range(len(routes)):
        route = routes[index][:max_size]
        if groups[-1] and len(groups[-1]) + len(route) > limit:
            groups.append([])
        groups[-1].extend(route)
    return groups[:max_groups]


def contract(
    interface: Interface,
    *,
    problem: str,
    vocabulary: Vocabulary,
    runner: Callable[..., Any] = propose,
    id: str = "customer_groups",
) -> Contract:
    """Return the contract of programs that gather customers into groups.

    Parameters
    ----------
    interface
        The interface of the programs.
    problem
        Description of the problem in whole sentences.
    vocabulary, runner, id
        As in :class:`~specahd.core.contract.Contract`.
    """
    return Contract.of(
        joined_routes,
        interface=interface,
        id=id,
        level=Level.UPPER,
        idea="Join routes in order of appearance, up to 1 of the allowed size.",
        task=f"{problem}Write the function that looks at the instance and its solution and decides "
        "WHERE to repair: which groups of customers to rebuild. Good groups are those that save "
        "most together; customers in no group stay where they are.",
        runner=runner,
        vocabulary=vocabulary,
        varied=VARIED,
    )


def largest_sectors(
    routes: list[IntArray], coords: FloatArray, max_groups: int, max_size: int
) -> Sequence[Sequence[int]]:
    """Join routes by the angle of their centres, up to the allowed size: all of them, if it may."""
    centres = np.array([coords[route].mean(axis=0) for route in routes]) - coords[0]
    angles = np.arctan2(centres[:, 1], centres[:, 0])
    groups: list[list[int]] = [[]]
    for index in np.argsort(angles, kind="stable"):
        route = routes[index][:max_size]
        if groups[-1] and len(groups[-1]) + len(route) > max_size:
            groups.append([])
        groups[-1].extend(route)
    return groups[:max_groups]


def equal_sectors(
    routes: list[IntArray],
    coords: FloatArray,
    distance_matrix: FloatArray,
    max_groups: int,
    max_size: int,
) -> Sequence[Sequence[int]]:
    """Share the customers out to all groups by angle, beginning at the route of most detour."""
    total = sum([len(route) for route in routes])
    limit = max(2, min(max_size, -(-total // max_groups)))
    centres = np.array([coords[route].mean(axis=0) for route in routes]) - coords[0]
    angles = np.arctan2(centres[:, 1], centres[:, 0])
    detours = np.zeros(len(routes))
    for index in range(len(routes)):
        stops = np.concatenate((np.array([0]), routes[index], np.array([0])))
        length = distance_matrix[stops[:-1], stops[1:]].sum()
        detours[index] = length - 2.0 * distance_matrix[0, routes[index]].max()
    turned = (angles - angles[np.argmax(detours)]) % (2.0 * np.pi)
    groups: list[list[int]] = [[]]
    for index in np.argsort(turned, kind="stable"):
        route = routes[index][:max_size]
        if groups[-1] and len(groups[-1]) + len(route) > limit:
            groups.append([])
        groups[-1].extend(route)
    return groups[:max_groups]


def neighbouring_routes(
    routes: list[IntArray], distance_matrix: FloatArray, max_groups: int, max_size: int
) -> Sequence[Sequence[int]]:
    """Take routes of most detour, and with each the three whose customers are nearest."""
    detours = np.zeros(len(routes))
    for index in range(len(routes)):
        stops = np.concatenate((np.array([0]), routes[index], np.array([0])))
        length = distance_matrix[stops[:-1], stops[1:]].sum()
        detours[index] = length - 2.0 * distance_matrix[0, routes[index]].max()
    free = np.ones(len(routes), dtype=bool)
    groups: list[list[int]] = []
    for seed in np.argsort(-detours, kind="stable"):
        if len(groups) == max_groups:
            break
        if not free[seed]:
            continue
        group = list(routes[seed][:max_size])
        free[seed] = False
        members = 1
        near = distance_matrix[routes[seed]].min(axis=0)
        gaps = np.array([near[route].mean() for route in routes])
        for index in np.argsort(gaps, kind="stable"):
            if members < 4 and free[index] and len(group) + len(routes[index]) <= max_size:
                group.extend(routes[index])
                free[index] = False
                members += 1
        groups.append(group)
    return groups


def nearest_pairs(
    routes: list[IntArray], distance_matrix: FloatArray, max_groups: int, max_size: int
) -> Sequence[Sequence[int]]:
    """Take routes that go farthest, and with each the one that has a customer nearest to it."""
    reach = np.array([distance_matrix[0, route].max() for route in routes])
    free = np.ones(len(routes), dtype=bool)
    groups: list[list[int]] = []
    for seed in np.argsort(-reach, kind="stable"):
        if len(groups) == max_groups:
            break
        if not free[seed]:
            continue
        group = list(routes[seed][:max_size])
        free[seed] = False
        near = distance_matrix[routes[seed]].min(axis=0)
        gaps = np.array([near[route].min() for route in routes])
        for index in np.argsort(gaps, kind="stable"):
            if free[index] and len(group) + len(routes[index]) <= max_size:
                group.extend(routes[index])
                free[index] = False
                break
        groups.append(group)
    return groups


def worst_detours(
    routes: list[IntArray], distance_matrix: FloatArray, max_groups: int, max_size: int
) -> Sequence[Sequence[int]]:
    """Take those nearest to the customer of most detour, again and again, as many in each group."""
    visits = np.concatenate(routes)
    before = np.concatenate([np.append(0, route[:-1]) for route in routes])
    after = np.concatenate([np.append(route[1:], 0) for route in routes])
    legs = distance_matrix[before, visits] + distance_matrix[visits, after]
    detours = legs - distance_matrix[before, after]
    limit = max(2, min(max_size, -(-len(visits) // max_groups)))
    waiting = np.ones(len(visits), dtype=bool)
    groups: list[list[int]] = []
    for _ in range(max_groups):
        if not waiting.any():
            break
        middle = visits[np.argmax(np.where(waiting, detours, -np.inf))]
        away = np.where(waiting, distance_matrix[middle, visits], np.inf)
        chosen = np.argsort(away, kind="stable")[:limit]
        chosen = chosen[waiting[chosen]]
        groups.append(list(visits[chosen]))
        waiting[chosen] = False
    return groups


VARIED = (
    (
        largest_sectors,
        "Join routes in order of the angle of their centres, up to the allowed size: all routes, "
        "where so many customers are allowed.",
    ),
    (
        equal_sectors,
        "Share the customers out to all groups, whole routes in order of the angle of their "
        "centres, beginning with the route of most detour.",
    ),
    (
        neighbouring_routes,
        "Take routes of most detour, and with each the three whose customers are nearest to it on "
        "average.",
    ),
    (
        nearest_pairs,
        "Take routes that go farthest from the depot, and with each the one that comes nearest.",
    ),
    (
        worst_detours,
        "Gather around the customer of most detour those nearest to it, again and again, as many "
        "in each group.",
    ),
)
"""The functions, each with its idea."""
