"""Lower programs by hand that choose the next delivery, each in another way than the nearest.

A search with ``search.seeds=varied`` begins with all of them. Each is a whole program that is shown
and varied by itself, so they share no function. Arguments that one does not use are added to it.
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def farthest_first(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> tuple[int, int]:
    """Open a route at the customer farthest from the depot, and go on to the nearest."""
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    score = -home if current_node == depot else here
    customer = int(unvisited_nodes[np.argmin(score)])
    return (customer, min(int(residual_demands[customer]), rest_capacity))


def half_saving(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> tuple[int, int]:
    """Open a route at the farthest customer, and go on between the nearest and the saving."""
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    score = -home if current_node == depot else here - 0.5 * home
    customer = int(unvisited_nodes[np.argmin(score)])
    return (customer, min(int(residual_demands[customer]), rest_capacity))


def inner_customers(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> tuple[int, int]:
    """Go to near customers, those near the depot first."""
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    score = here + 0.5 * home
    customer = int(unvisited_nodes[np.argmin(score)])
    return (customer, min(int(residual_demands[customer]), rest_capacity))


VARIED = (
    (
        farthest_first,
        "Open a route at the customer farthest from the depot, go on to the least distance from "
        "here, and leave all that fits.",
    ),
    (
        half_saving,
        "Open a route at the customer farthest from the depot, go on to the least distance from "
        "here minus 0.5 times distance to the depot, and leave all that fits.",
    ),
    (
        inner_customers,
        "Visit the customer with the least distance from here plus 0.5 times distance to the "
        "depot, and leave all that fits.",
    ),
)
"""The functions, each with its idea."""
