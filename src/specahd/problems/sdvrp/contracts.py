"""The contracts of SDVRP, with what splitting adds to vocabularies and programs by hand."""

import numpy as np

from specahd.core.vocabulary import Constant, body_of, rule
from specahd.engine import seeds, select_groups, select_position, strings
from specahd.engine.interfaces import SPLIT_GROUPS, SPLIT_POSITIONS
from specahd.problems.sdvrp import interfaces
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles import customer_groups, next_customer, runners
from specahd.routing.vehicles.next_customer import AnswerForm

_SPLITS = """
    given = np.concatenate(deliveries)
    visits = np.bincount(flat, minlength=len(demands))[flat]
"""
_GROUP_RULES = (
    rule("trait", "np.add.reduceat(visits, starts) / sizes", "visits per customer"),
    rule(
        "trait",
        "np.add.reduceat(given / demands[flat], starts) / sizes",
        "share of its customers' demands",
    ),
    rule(
        "gap",
        "scale * (1.0 - np.add.reduceat(np.isin(flat, routes[seed]), starts) / sizes)",
        "lack of shared customers",
        0.7,
    ),
    rule("urgency", "1.0 * visits", "number of visits"),
    rule("urgency", "given / capacity", "quantity delivered"),
    rule("urgency", "1.0 - given / demands[flat]", "share of demand that others deliver"),
)

_DELIVERY = """
    customer = int(unvisited_nodes[best])
    most = min(int(residual_demands[customer]), rest_capacity)
    return (customer, QUANTITY)
"""
_CLOSING = """
    best = np.argmin(score)
    if current_node != depot and CLOSE:
        return (depot, 0)
"""
_FORM = AnswerForm(
    choice="    best = np.argmin(score)" + _DELIVERY,
    closing=_CLOSING.rstrip() + _DELIVERY,
    once="visit the customer with the least {SCORE} and leave {QUANTITY}",
    twice="open a route at the customer with the least {SCORE}, go on to the least {SCORE2}, "
    "and leave {QUANTITY}",
    until=", but return to the depot early if {CLOSE}",
    demands="residual_demands",
    rest="rest_capacity",
    total="size.sum()",
)
_RULES = (
    rule(
        "share",
        "np.minimum(size, rest_capacity) / rest_capacity",
        "the part of the remaining capacity it would fill",
    ),
    rule("share", "1.0 * (size > rest_capacity)", "the need to split"),
    rule(
        "share",
        "np.abs(size - rest_capacity) / np.maximum(size, rest_capacity)",
        "the misfit of demand and remaining capacity",
    ),
    rule("close", "size[best] > rest_capacity", "the next customer would be split"),
    rule(
        "close",
        "size[best] > RATIO * rest_capacity",
        "the next customer lacks {RATIO} times the remaining capacity",
    ),
    rule("quantity", "most", "all that fits", 6),
    rule("quantity", "max(1, int(PART * most))", "{PART} of what fits", 0.5),
    rule(
        "quantity",
        "int(residual_demands[customer]) % rest_capacity or most",
        "what exceeds whole loads",
    ),
    rule(
        "quantity",
        "QUANTITY if PHASE > THRESHOLD else QUANTITY2",
        "{QUANTITY} while {PHASE} exceeds {THRESHOLD} and {QUANTITY2} otherwise",
        0.3,
    ),
)


_IN_PARTS = (
    "insert whole where the detour is least or, where these cost less together, in parts where "
    "{VALUE} for what is delivered is least, overlooking each position at a rate of {RATE}; before "
    "a new route the best part, if a load at its rate costs less than {BOUND}"
)
_IN_PARTS_HOLES = {
    "0.01": "RATE",
    "detours[position] < lowest * quantity": "VALUE < lowest * quantity",
    "lowest = detours[position] / quantity": "lowest = VALUE / quantity",
    "cheapest * capacity < noise[last] * detours[last]": "cheapest * capacity < BOUND",
}
_POSITION_RULES = (
    body_of(strings.greedy_in_parts, _IN_PARTS, 5, _IN_PARTS_HOLES),
    rule("bound", "noise[last] * detours[last]", "a share of that route's, drawn at random", 2),
    rule(
        "bound",
        "WEIGHT * noise[last] * detours[last]",
        "{WEIGHT} times a share of that route's, drawn at random",
    ),
    rule("bound", "CHANCE * detours[last]", "{CHANCE} of that route's"),
    rule("score", "SCORE / quantities", "{SCORE} per unit delivered", 2),
    rule(
        "score",
        "SCORE + WEIGHT * depot_distance * (demand - quantities) / capacity",
        "{SCORE} plus {WEIGHT} depot distances times the load that it still lacks",
    ),
    rule("value", "VALUE / quantities[position]", "{VALUE} per unit delivered", 3),
    rule("share", "quantities[position] / demand", "the part that is delivered"),
    rule("share", "(1.0 if quantities[position] < demand else 0.0)", "whether it is split"),
)


_IN_PARTS_PROGRAM = (
    strings.greedy_in_parts,
    "Insert whole where the detour is least or, where these cost less together, in parts where the "
    "detour for what is delivered is least, overlooking each position at a rate of 0.01; before a "
    "new route the best part, if a load at its rate costs less than a share of that route's, drawn "
    "at random.",
)
"""A program that a search begins with, and its idea."""


_VARIED = next_customer.by_hand(
    next_customer.FARTHEST_FIRST,
    next_customer.HALF_SAVING,
    next_customer.INNER_CUSTOMERS,
    answer="customer = int(unvisited_nodes[np.argmin(score)])\n"
    "return (customer, min(int(residual_demands[customer]), rest_capacity))",
    leaving=", and leave all that fits",
)


def nearest_delivery(
    current_node: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> tuple[int, int]:
    """Visit the customer with the least distance from here and leave all that fits."""
    here = distance_matrix[current_node, unvisited_nodes]
    score = here
    best = np.argmin(score)
    customer = int(unvisited_nodes[best])
    most = min(int(residual_demands[customer]), rest_capacity)
    return (customer, most)


def planned_splits(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> IntArray:
    """Plan all routes: fill each vehicle by insertion, then exchange deliveries for parts."""
    d = distance_matrix
    if current_node != depot:
        node = int(unvisited_nodes[np.argmin(d[current_node, unvisited_nodes])])
        return np.array([[node, min(rest_capacity, int(residual_demands[node]))]])
    # From the farthest customer on, the least detour less distance to the depot, as in savings.
    left = unvisited_nodes
    lack = residual_demands.copy()
    routes, amounts = [], []
    while len(left) > 0:
        stops, parts, rest = [depot, depot], [0, 0], rest_capacity
        pick = int(np.argmax(d[depot, left]))
        while rest > 0 and len(left) > 0:
            walk = np.array(stops)
            ahead, behind = walk[:-1, None], walk[1:, None]
            detour = d[ahead, left] + d[left, behind] - d[ahead, behind]
            if len(stops) > 2:
                pick = int(np.argmin(detour.min(axis=0) - 1.0 * d[depot, left]))
            node = int(left[pick])
            spot = int(np.argmin(detour[:, pick])) + 1
            part = min(rest, int(lack[node]))
            stops.insert(spot, node)
            parts.insert(spot, part)
            rest -= part
            lack[node] -= part
            if lack[node] == 0:
                left = np.delete(left, pick)
        routes.append(stops)
        amounts.append(parts)
    # A delivery moves to another route; as much of a larger one there takes its place (Boudia et
    # al., 2007). So no load changes. Rows give a part, columns move; once a round for a route.
    for _ in range(100):
        flat = np.array([stop for stops in routes for stop in stops[:-1]] + [depot])
        quantities = np.array([part for parts in amounts for part in parts[:-1]])
        starts = np.flatnonzero(flat[:-1] == depot)
        visits = np.flatnonzero(flat != depot)
        number = np.cumsum(flat == depot)[visits] - 1
        nodes, given = flat[visits], quantities[visits]
        before, after, rows = flat[visits - 1], flat[visits + 1], nodes[:, None]
        there = np.zeros((len(d), len(routes)))
        there[nodes, number] = 1.0
        served = there[nodes] > 0.0
        detour = d[flat[:-1], rows] + d[rows, flat[1:]] - d[flat[:-1], flat[1:]]
        enters = np.where(served, 0.0, np.minimum.reduceat(detour, starts, axis=1))
        leaves = d[before, nodes] + d[nodes, after] - d[before, after]
        instead = d[before, rows] + d[rows, after] - d[before, after]
        gain = leaves - np.where(served[:, number], 0.0, instead) - enters[:, number].T
        able = (number[:, None] != number) & (rows != nodes) & (given[:, None] > given)
        found = np.flatnonzero(np.where(able, gain, 0.0) > 1e-9)
        if len(found) == 0:
            break
        idle = [True for _ in routes]
        for pair in found[np.argsort(-gain.ravel()[found], kind="stable")]:
            i, j = int(pair) // len(nodes), int(pair) % len(nodes)
            one, two, part = int(number[i]), int(number[j]), int(given[j])
            if not (idle[one] and idle[two]):
                continue
            idle[one] = idle[two] = False
            first, second = int(visits[i] - starts[one]), int(visits[j] - starts[two])
            giver, mover = int(nodes[i]), int(nodes[j])
            amounts[one][first] -= part
            if mover in routes[one]:
                amounts[one][routes[one].index(mover)] += part
            else:
                legs = detour[j, starts[one] : starts[one] + len(routes[one]) - 1]
                routes[one].insert(int(np.argmin(legs)) + 1, mover)
                amounts[one].insert(int(np.argmin(legs)) + 1, part)
            if giver in routes[two]:
                amounts[two][routes[two].index(giver)] += part
                routes[two].pop(second)
                amounts[two].pop(second)
            else:
                routes[two][second] = giver
    visited = [stop for stops in routes for stop in stops[1:]]
    delivered = [part for parts in amounts for part in parts[1:]]
    return np.array(list(zip(visited, delivered, strict=True)))


_IDEA = (
    "Fill each vehicle by insertion from the farthest customer on, by the least detour minus "
    "{WEIGHT} times distance to the depot, and move deliveries to other routes, where as much of a "
    "larger one takes their place, while this saves"
)


_GOAL = (
    "Split-delivery vehicle routing: vehicles of equal capacity start and end at a depot and "
    "deliver the demand of every customer at the least total distance; several vehicles may share "
    "a demand, which may exceed the capacity. "
)
_PROBLEM = _GOAL + (
    "A feasible solution exists already; all deliveries to groups of its customers are removed and "
    "rebuilt one group at a time. "
)

DELIVERY_GROUPS = customer_groups.contract(
    interfaces.DELIVERY_GROUPS,
    id="delivery_groups",
    problem=_PROBLEM,
    vocabulary=customer_groups.vocabulary("np.concatenate(deliveries)", _SPLITS, _GROUP_RULES),
)
APPEND, CONSTRUCT = next_customer.contracts(
    interfaces.NEXT_DELIVERY,
    interfaces.FROM_NOTHING,
    nearest_delivery,
    goal=_GOAL,
    problem=_PROBLEM,
    runner=runners.rebuild_split,
    vocabulary=next_customer.vocabulary(
        rules=(
            *_RULES,
            body_of(
                planned_splits,
                _IDEA[0].lower() + _IDEA[1:],
                1,
                {"1.0 * d[depot, left]": "WEIGHT * d[depot, left]"},
            ),
        ),
        form=_FORM,
        constants=(Constant("part", 0.1, 0.9),),
    ),
    varied=((planned_splits, _IDEA.format(WEIGHT="1") + "."), *_VARIED),
    leaving=" and leave all that fits",
    asked=", and with which quantity",
)

ORDERED_GROUPS = select_groups.contract(
    SPLIT_GROUPS,
    goal=_GOAL,
    runner="specahd.problems.sdvrp.engine:GROUPS",
    vocabulary=select_groups.vocabulary(),
)
INSERTION = select_position.contract(
    SPLIT_POSITIONS,
    seeds.least_detour_per_unit,
    goal=_GOAL,
    runner="specahd.problems.sdvrp.engine:POSITIONS",
    vocabulary=select_position.vocabulary(rules=_POSITION_RULES),
    idea="Insert at the position with the least detour per unit delivered.",
    others=[_IN_PARTS_PROGRAM],
)
