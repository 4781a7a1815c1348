"""Lower programs by hand that choose the next node, each in another way than the nearest.

A search with ``search.seeds=varied`` begins with all of them. Arguments of the contract that one
does not use are added to it.
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def far_from_end(
    current_node: int, destination_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray
) -> int:
    """Go to near nodes, those far from the destination first."""
    here = distance_matrix[current_node, unvisited_nodes]
    there = distance_matrix[destination_node, unvisited_nodes]
    score = here - 0.3 * there
    return int(unvisited_nodes[np.argmin(score)])


def loneliest(current_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray) -> int:
    """Go to near nodes, those without a neighbour first."""
    here = distance_matrix[current_node, unvisited_nodes]
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    second = min(1, len(unvisited_nodes) - 1)
    lonely = np.partition(between, second, axis=1)[:, second]
    score = here - 0.7 * lonely
    return int(unvisited_nodes[np.argmin(score)])


def loneliest_from_end(
    current_node: int, destination_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray
) -> int:
    """Go to near nodes, those without a neighbour and those far from the destination first."""
    here = distance_matrix[current_node, unvisited_nodes]
    there = distance_matrix[destination_node, unvisited_nodes]
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    second = min(1, len(unvisited_nodes) - 1)
    lonely = np.partition(between, second, axis=1)[:, second]
    score = here - 0.5 * lonely - 0.2 * there
    return int(unvisited_nodes[np.argmin(score)])


VARIED = (
    (
        far_from_end,
        "Visit the city with the least distance from here minus 0.3 times distance to the "
        "destination.",
    ),
    (
        loneliest,
        "Visit the city with the least distance from here minus 0.7 times distance to the nearest "
        "other candidate.",
    ),
    (
        loneliest_from_end,
        "Visit the city with the least distance from here minus 0.5 times distance to the nearest "
        "other candidate minus 0.2 times distance to the destination.",
    ),
)
"""The functions, each with its idea."""
