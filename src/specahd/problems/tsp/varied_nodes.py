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


def outer_nodes(current_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray) -> int:
    """Go to near nodes, those far from the others first."""
    here = distance_matrix[current_node, unvisited_nodes]
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    apart = between.sum(axis=1) / len(unvisited_nodes)
    score = here - 0.3 * apart
    return int(unvisited_nodes[np.argmin(score)])


def outer_nodes_from_end(
    current_node: int, destination_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray
) -> int:
    """Go to near nodes, those far from the others and from the destination first."""
    here = distance_matrix[current_node, unvisited_nodes]
    there = distance_matrix[destination_node, unvisited_nodes]
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    apart = between.sum(axis=1) / len(unvisited_nodes)
    score = here - 0.2 * apart - 0.2 * there
    return int(unvisited_nodes[np.argmin(score)])


VARIED = (
    (
        far_from_end,
        "Visit the city with the least distance from here minus 0.3 times distance to the "
        "destination.",
    ),
    (
        outer_nodes,
        "Visit the city with the least distance from here minus 0.3 times mean distance to the "
        "other candidates.",
    ),
    (
        outer_nodes_from_end,
        "Visit the city with the least distance from here minus 0.2 times mean distance to the "
        "other candidates minus 0.2 times distance to the destination.",
    ),
)
"""The functions, each with its idea."""
