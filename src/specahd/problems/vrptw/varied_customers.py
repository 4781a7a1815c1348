"""Lower programs by hand that look at time, after Solomon's nearest neighbour and insertion (1987).

A search with ``search.seeds=varied`` begins with all of them. Each is a whole program that is shown
and varied by itself, so they share no function. Arguments that one does not use are added to it.
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def nearest_in_time(
    current_node: int,
    unvisited_nodes: IntArray,
    current_time: float,
    ready_times: FloatArray,
    due_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Weigh distance, time until service, and urgency as 0.4, 0.4 and 0.2 (Solomon)."""
    here = distance_matrix[current_node, unvisited_nodes]
    arrival = current_time + here
    wait = np.maximum(arrival, ready_times[unvisited_nodes]) - current_time
    urgency = due_times[unvisited_nodes] - arrival
    score = 0.4 * here + 0.4 * wait + 0.2 * urgency
    return int(unvisited_nodes[np.argmin(score)])


def farthest_first(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    current_time: float,
    ready_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Open a route at the farthest customer, and go on to those near in place and time."""
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    wait = np.maximum(current_time + here, ready_times[unvisited_nodes]) - current_time
    score = -home if current_node == depot else here + 0.5 * wait
    return int(unvisited_nodes[np.argmin(score)])


def first_due(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    current_time: float,
    ready_times: FloatArray,
    due_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Open a route at the customer that is due first, and go on to those near in place and time."""
    here = distance_matrix[current_node, unvisited_nodes]
    wait = np.maximum(current_time + here, ready_times[unvisited_nodes]) - current_time
    score = due_times[unvisited_nodes] if current_node == depot else here + wait
    return int(unvisited_nodes[np.argmin(score)])


def farthest_saving(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    current_time: float,
    ready_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Open a route at the farthest customer, and go on by half the saving and the time."""
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    wait = np.maximum(current_time + here, ready_times[unvisited_nodes]) - current_time
    score = -home if current_node == depot else here - 0.5 * home + 0.5 * wait
    return int(unvisited_nodes[np.argmin(score)])


def due_saving(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    current_time: float,
    ready_times: FloatArray,
    due_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Open a route at a far customer that is due early, and go on by saving and time."""
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    wait = np.maximum(current_time + here, ready_times[unvisited_nodes]) - current_time
    score = here - 0.5 * home + wait
    if current_node == depot:
        score = due_times[unvisited_nodes] - home
    return int(unvisited_nodes[np.argmin(score)])


def first_ready(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    current_time: float,
    ready_times: FloatArray,
    due_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Open a route at the customer that is ready first; wait little, and prefer urgent ones."""
    here = distance_matrix[current_node, unvisited_nodes]
    start = np.maximum(current_time + here, ready_times[unvisited_nodes])
    idle = start - current_time - here
    score = here + 0.3 * idle + 0.1 * (due_times[unvisited_nodes] - start)
    if current_node == depot:
        score = ready_times[unvisited_nodes]
    return int(unvisited_nodes[np.argmin(score)])


def planned_insertion(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: float,
    current_time: float,
    demands: FloatArray,
    ready_times: FloatArray,
    due_times: FloatArray,
    service_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Plan the rest of the route by insertion among 40 near customers; go to its first stop.

    A route opens with the customer farthest from the depot. An insertion is worth twice the
    distance to the depot less the detour, as in Solomon's I1 with lambda 2 and no part for time.
    """
    anchor = current_node
    if current_node == depot:
        anchor = int(unvisited_nodes[np.argmax(distance_matrix[depot, unvisited_nodes])])
    near = np.argsort(distance_matrix[anchor, unvisited_nodes], kind="stable")[:40]
    nodes = unvisited_nodes[near]
    home = distance_matrix[depot, nodes]
    free = np.ones(len(nodes)) > 0.0
    stops = np.zeros(len(nodes) + 2, dtype=np.int64) + depot
    stops[0] = current_node
    length = 2
    rest = rest_capacity
    if current_node == depot:
        stops[1] = anchor
        length = 3
        free[nodes == anchor] = False
        rest = rest - demands[anchor]
    leave = np.zeros(len(stops))
    latest = np.zeros(len(stops))
    for _ in range(len(nodes)):
        leave[0] = current_time
        for k in range(1, length - 1):
            arrival = leave[k - 1] + distance_matrix[stops[k - 1], stops[k]]
            leave[k] = max(arrival, ready_times[stops[k]]) + service_times[stops[k]]
        latest[length - 1] = due_times[depot]
        for k in range(length - 2, 0, -1):
            slack = latest[k + 1] - distance_matrix[stops[k], stops[k + 1]]
            latest[k] = min(due_times[stops[k]], slack - service_times[stops[k]])
        best = -np.inf
        chosen = -1
        spot = 0
        for k in range(length - 1):
            here = distance_matrix[stops[k], nodes]
            there = distance_matrix[stops[k + 1], nodes]
            start = np.maximum(leave[k] + here, ready_times[nodes])
            gain = 2.0 * home - here - there + distance_matrix[stops[k], stops[k + 1]]
            fits = free & (demands[nodes] <= rest) & (start <= due_times[nodes])
            fits = fits & (start + service_times[nodes] + there <= latest[k + 1])
            gain = np.where(fits, gain, -np.inf)
            place = int(np.argmax(gain))
            if gain[place] > best:
                best = gain[place]
                chosen = place
                spot = k + 1
        if chosen < 0:
            break
        for k in range(length, spot, -1):
            stops[k] = stops[k - 1]
        stops[spot] = nodes[chosen]
        length = length + 1
        free[chosen] = False
        rest = rest - demands[nodes[chosen]]
    return int(stops[1])


VARIED = (
    (
        planned_insertion,
        "Open a route at the customer farthest from the depot; at every stop plan the rest of the "
        "route by the insertion that saves most against a route of its own, go to its first stop.",
    ),
    (
        nearest_in_time,
        "Visit the customer with the least 0.4 times distance from here plus 0.4 times time until "
        "service starts plus 0.2 times time until its window closes.",
    ),
    (
        farthest_first,
        "Open a route at the customer farthest from the depot, go on to the least distance from "
        "here plus 0.5 times time until service starts.",
    ),
    (
        first_due,
        "Open a route at the customer whose window closes first, go on to the least distance from "
        "here plus time until service starts.",
    ),
    (
        farthest_saving,
        "Open a route at the customer farthest from the depot, go on to the least distance from "
        "here minus 0.5 times distance to the depot plus 0.5 times time until service starts.",
    ),
    (
        due_saving,
        "Open a route where the window's end minus distance to the depot is least, go on to the "
        "least distance from here minus 0.5 times distance to the depot plus time until service "
        "starts.",
    ),
    (
        first_ready,
        "Open a route at the customer whose window opens first, go on to the least distance from "
        "here plus 0.3 times the wait plus 0.1 times time from start until its window closes.",
    ),
)
"""The functions, each with its idea."""
