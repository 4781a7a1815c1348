"""The guard allows the programs that the paper prints."""

import ast

import pytest

from specahd.programs.guard import guard

# The paper's Appendix H, retyped; the CVRP upper program takes `routes` first
# (docs/explanation/decisions.md).
TSP_UPPER = """
def select_tsp_segments(route, coords, distance_matrix, max_segments, max_segment_size):
    selected_segments = []
    for start in range(len(route) - max_segment_size):
        segment = route[start:start + max_segment_size]
        edges = [distance_matrix[segment[i]][segment[i + 1]] for i in range(len(segment) - 1)]
        mean_edge = sum(edges) / len(edges)
        variance = sum((x - mean_edge) ** 2 for x in edges) / len(edges)
        inverse_density = len(segment) / sum(
            1 / (((coords[segment[k]][0] - coords[segment[k + 1]][0]) ** 2
                 + (coords[segment[k]][1] - coords[segment[k + 1]][1]) ** 2))
            for k in range(len(segment) - 1))
        selected_segments.append((segment, variance * inverse_density))
    selected_segments.sort(key=lambda item: item[1], reverse=True)
    return [segment for segment, _ in selected_segments[:max_segments]]
"""
TSP_LOWER = """
def select_next_node(current_node, destination_node, unvisited_nodes, distance_matrix):
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
CVRP_UPPER = """
def generate_customer_groups(routes, coords, demands, capacity, distance_matrix, max_groups,
                             max_size):
    density = {i: sum(distance_matrix[i][j] * demands[j]
                      for j in range(len(coords)) if i != j)
               for i in range(len(coords))}
    unassigned = list(range(1, len(coords)))
    groups = []
    while unassigned and len(groups) < max_groups:
        seed = max(unassigned, key=lambda node: density[node])
        unassigned.remove(seed)
        group, load = [seed], demands[seed]
        while unassigned and len(group) < max_size:
            node = min(unassigned, key=lambda item: distance_matrix[seed][item])
            if load + demands[node] > capacity:
                break
            group.append(node)
            load += demands[node]
            unassigned.remove(node)
        groups.append(group)
    return groups
"""
CVRP_LOWER = """
def select_next_node(current_node, depot, unvisited_nodes, rest_capacity, demands,
                     distance_matrix):
    max_demand = np.max(demands[unvisited_nodes])
    factor = demands[current_node] / max_demand if max_demand > 0 else 0
    factor = max(0.5 / rest_capacity, min(0.5, factor), 0.1)
    capacity_ratio = rest_capacity / (max_demand + 1)
    savings = (distance_matrix[current_node][unvisited_nodes]
               - distance_matrix[depot][unvisited_nodes])
    cost = savings * (1 + factor) * capacity_ratio
    cost += distance_matrix[current_node][unvisited_nodes]
    cost *= 1 / (distance_matrix[current_node][unvisited_nodes] + 1)
    for index in np.argsort(cost):
        node = unvisited_nodes[index]
        if node != depot and rest_capacity >= demands[node]:
            return node
    return None
"""


@pytest.mark.parametrize("source", [TSP_UPPER, TSP_LOWER, CVRP_UPPER, CVRP_LOWER])
def test_appendix_h_is_allowed(source):
    [function] = ast.parse(source).body
    arguments = [argument.arg for argument in function.args.args]
    assert guard(source, function.name, arguments) is None
