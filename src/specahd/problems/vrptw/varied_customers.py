"""Lower programs by hand that look at time, as Solomon's nearest neighbour does (1987).

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


VARIED = (
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
