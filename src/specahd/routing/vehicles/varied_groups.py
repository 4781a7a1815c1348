"""Upper programs by hand that gather customers into groups, each in another way.

A search with ``search.seeds=varied`` begins with all of them. Each is a whole program that is shown
and varied by itself, so they share no function. Arguments that one does not use are added to it.
"""

from collections.abc import Sequence

import numpy as np

from specahd.routing.base import FloatArray, IntArray


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
