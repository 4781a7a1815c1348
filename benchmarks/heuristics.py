"""The lower programs of the paper's Appendix H, as printed."""

NAME = "select_next_node"

TSP_LOWER = """def select_next_node(
    current_node, destination_node, unvisited_nodes, distance_matrix
):
    visited = len(distance_matrix) - len(unvisited_nodes)
    log_base = 2.0
    if visited > 50:
        log_base = np.log(52) * 0.9
    elif visited >= 40:
        log_base *= 0.9
    penalty = 1.0
    if visited > 10:
        penalty = min(1 + distance_matrix[current_node][destination_node] / 100, 5)
    current = np.log(distance_matrix[current_node][unvisited_nodes] + 1)
    target = np.log(distance_matrix[destination_node][unvisited_nodes] + 1)
    score = current / log_base + penalty * (current - target)
    return unvisited_nodes[np.argmin(score)]
"""

CVRP_LOWER = """def select_next_node(
    current_node, depot, unvisited_nodes, rest_capacity, demands, distance_matrix
):
    max_demand = np.max(demands[unvisited_nodes])
    factor = demands[current_node] / max_demand if max_demand > 0 else 0
    factor = max(0.5 / rest_capacity, min(0.5, factor), 0.1)
    capacity_ratio = rest_capacity / (max_demand + 1)
    savings = (
        distance_matrix[current_node][unvisited_nodes] - distance_matrix[depot][unvisited_nodes]
    )
    cost = savings * (1 + factor) * capacity_ratio
    cost += distance_matrix[current_node][unvisited_nodes]
    cost *= 1 / (distance_matrix[current_node][unvisited_nodes] + 1)
    for index in np.argsort(cost):
        node = unvisited_nodes[index]
        if node != depot and rest_capacity >= demands[node]:
            return node
    return None
"""
