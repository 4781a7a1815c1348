"""The contracts of CVRP."""

import numpy as np

from specahd.core.vocabulary import body_of
from specahd.engine import select_groups, select_position, strings
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles import customer_groups, interfaces, next_customer, runners

_GOAL = (
    "Capacitated vehicle routing: vehicles of equal capacity start and end at a depot and serve "
    "every customer exactly once, at the least total distance. "
)
_PROBLEM = _GOAL + (
    "A feasible solution exists already; groups of its customers are removed and rebuilt one at a "
    "time. "
)


def planned_savings(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    demands: IntArray,
    distance_matrix: FloatArray,
) -> IntArray:
    """Plan all routes: savings, then 2-opt, exchanges of tails and relocations while one saves."""
    d = distance_matrix
    if current_node != depot:
        return np.array([unvisited_nodes[np.argmin(d[current_node, unvisited_nodes])]])
    # Clarke and Wright (1964): routes are joined at their ends, the largest saving first.
    home = d[depot, unvisited_nodes]
    saving = home[:, None] + home[None, :] - 1.0 * d[unvisited_nodes][:, unvisited_nodes]
    first, second = np.triu_indices(len(unvisited_nodes), 1)
    order = np.argsort(-saving[first, second], kind="stable")
    routes = {k: [int(node)] for k, node in enumerate(unvisited_nodes)}
    owner = np.arange(len(unvisited_nodes))
    loads = demands[unvisited_nodes].tolist()
    places = {int(node): k for k, node in enumerate(unvisited_nodes)}
    for pair in order:
        a, b = int(first[pair]), int(second[pair])
        if saving[a, b] <= 0.0:
            break
        one, two = int(owner[a]), int(owner[b])
        if one == two or loads[one] + loads[two] > rest_capacity:
            continue
        x, y = int(unvisited_nodes[a]), int(unvisited_nodes[b])
        left, right = routes[one], routes[two]
        if x not in (left[0], left[-1]) or y not in (right[0], right[-1]):
            continue
        if left[-1] != x:
            left = left[::-1]
        if right[0] != y:
            right = right[::-1]
        routes[one] = left + right
        loads[one] += loads[two]
        for node in right:
            owner[places[node]] = one
        routes[two] = []
    flat = [depot]
    for route in routes.values():
        if len(route) > 0:
            flat = [*flat, *route, depot]
    walk = np.array(flat)
    for _ in range(400):
        size = len(walk)
        ahead, behind = walk[:-1], walk[1:]
        legs = d[ahead, behind]
        number = np.cumsum(walk == depot)[:-1]
        load = np.cumsum(demands[walk])[:-1]
        total = np.bincount(number, demands[ahead], minlength=number[-1] + 1)
        before = load - (np.cumsum(total) - total)[number]
        after = total[number] - before
        both = legs[:, None] + legs[None, :]
        same = number[:, None] == number[None, :]
        upper = np.triu(np.ones((size - 1, size - 1)), 1) > 0.0
        turn = both - d[ahead][:, ahead] - d[behind][:, behind]
        turn = np.where(same & upper, turn, 0.0)
        swap = both - d[ahead][:, behind] - d[behind][:, ahead]
        fits = before[:, None] + after[None, :] <= rest_capacity
        swap = np.where(~same & upper & fits & fits.T, swap, 0.0)
        # A node moves from its place in the walk, by rows, between two others, by columns.
        inner = np.arange(1, size - 1)
        moved = walk[1:-1]
        gone = legs[:-1] + legs[1:] - d[walk[:-2], walk[2:]]
        price = d[moved][:, ahead] + d[moved][:, behind] - legs[None, :]
        room = total[number][None, :] + demands[moved][:, None] <= rest_capacity
        room = room | (number[inner][:, None] == number[None, :])
        room = room & (moved != depot)[:, None]
        columns = np.arange(size - 1)[None, :]
        room = room & (columns != inner[:, None]) & (columns != inner[:, None] - 1)
        move = np.where(room, gone[:, None] - price, 0.0)
        best = np.array([turn.max(), swap.max(), move.max()])
        kind = int(np.argmax(best))
        if best[kind] <= 1e-9:
            break
        if kind == 2:
            row, column = int(np.argmax(move)) // (size - 1), int(np.argmax(move)) % (size - 1)
            node = walk[row + 1]
            walk = np.insert(walk, column + 1, node)
            walk = np.delete(walk, row + 1 if column > row else row + 2)
            continue
        table = turn if kind == 0 else swap
        i, j = int(np.argmax(table)) // (size - 1), int(np.argmax(table)) % (size - 1)
        if kind == 0:
            walk = np.concatenate((walk[: i + 1], walk[i + 1 : j + 1][::-1], walk[j + 1 :]))
            continue
        # The tails behind both places change routes; what lies between their routes stays.
        ends = np.flatnonzero(walk == depot)
        stop = int(ends[ends > i][0])
        other = int(ends[ends > j][0])
        heads = walk[: i + 1], walk[j + 1 : other], walk[stop : j + 1]
        walk = np.concatenate((*heads, walk[i + 1 : stop], walk[other:]))
    kept = [int(node) for k, node in enumerate(walk[1:]) if node != depot or walk[k] != depot]
    return np.array(kept)


_IDEA = (
    "Plan all routes by the savings of joining two at their ends, both depot distances less "
    "{WEIGHT} times the distance, and improve them by turning pieces, exchanging tails and moving "
    "customers while one of these saves"
)

CUSTOMER_GROUPS = customer_groups.contract(
    interfaces.CUSTOMER_GROUPS,
    problem=_PROBLEM,
    vocabulary=customer_groups.vocabulary(),
)
APPEND, CONSTRUCT = next_customer.contracts(
    interfaces.NEXT_CUSTOMER,
    interfaces.FROM_NOTHING,
    goal=_GOAL,
    problem=_PROBLEM,
    runner=runners.rebuild,
    varied=(
        (
            planned_savings,
            _IDEA.format(WEIGHT="1") + ".",
        ),
        *next_customer.by_hand(
            next_customer.FARTHEST_FIRST,
            next_customer.LARGEST_SAVING,
            next_customer.HALF_SAVING,
            next_customer.INNER_CUSTOMERS,
        ),
    ),
    vocabulary=next_customer.vocabulary(
        rules=[
            body_of(
                planned_savings,
                _IDEA[0].lower() + _IDEA[1:],
                1,
                {"1.0 * d[unvisited_nodes]": "WEIGHT * d[unvisited_nodes]"},
            )
        ]
    ),
)

ORDERED_GROUPS = select_groups.contract(
    goal=_GOAL,
    runner="specahd.problems.cvrp.engine:GROUPS",
    vocabulary=select_groups.vocabulary([select_groups.ENDS]),
    others=(*select_groups.HAND_WRITTEN, select_groups.STRINGS_AND_ENDS),
)
INSERTION = select_position.contract(
    goal=_GOAL,
    runner="specahd.problems.cvrp.engine:POSITIONS",
    vocabulary=select_position.vocabulary(),
    others=[(strings.greedy_with_blinks, select_position.GREEDY_WITH_BLINKS)],
)
