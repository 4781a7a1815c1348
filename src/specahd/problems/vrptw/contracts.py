"""The contracts of VRPTW, with what time windows add to vocabularies and programs by hand.

The lines follow those of :mod:`specahd.routing.vehicles.customer_groups`,
:mod:`specahd.routing.vehicles.next_customer`, :mod:`specahd.engine.select_groups` and
:mod:`specahd.engine.select_position`; there stands what they mean.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specahd.core.interface import Body
from specahd.core.vocabulary import body_of, rule
from specahd.engine import select_groups, select_position, strings, timed_strings
from specahd.engine.interfaces import TIMED_GROUPS, TIMED_POSITIONS
from specahd.problems.vrptw import interfaces
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles import customer_groups, next_customer, runners
from specahd.routing.vehicles.next_customer import FARTHEST, HERE, HOME

# Without waiting, stop k of a route would start `elapsed` after leaving the depot;
# waiting shifts it and all that follow, so the shift is a running maximum. Adding
# `span` per route keeps the routes, one after another in `flat`, apart.
_SCHEDULES = """
    previous = np.where(np.isin(np.arange(len(flat)), starts), 0, np.roll(flat, 1))
    pace = distance_matrix[previous, flat] + service_times[previous]
    total = np.cumsum(pace)
    elapsed = total - (total - pace)[starts][owner]
    span = owner * (1.0 + due_times[0])
    early = np.maximum(ready_times[flat] - elapsed, ready_times[0])
    shift = np.maximum.accumulate(early + span) - span
    held = np.where(previous == 0, shift - ready_times[0], shift - np.roll(shift, 1))
    spare = due_times[flat] - elapsed - shift
    window = due_times[flat] - ready_times[flat]
    horizon = due_times[0] - ready_times[0] + 1e-09
    waits = np.add.reduceat(held, starts) / horizon
    windows = np.add.reduceat(window, starts) / sizes / horizon
    middles = np.add.reduceat(ready_times[flat] + due_times[flat], starts) / sizes / horizon
    spares = np.add.reduceat(spare, starts) / sizes / horizon
    tightest = np.minimum.reduceat(spare, starts) / horizon
    spent = (shift + elapsed + service_times[flat])[ends] / horizon
"""
_GROUP_RULES = (
    rule("trait", "waits", "waiting time"),
    rule("trait", "windows", "mean width of its windows"),
    rule("trait", "middles", "mean middle of its windows"),
    rule("trait", "spares", "mean time slack"),
    rule("trait", "tightest", "least time slack", 0.7),
    rule("trait", "spent", "time of its last departure from a customer", 0.7),
    rule("gap", "scale * np.abs(middles - middles[seed])", "difference in the middle of windows"),
    rule("urgency", "held / horizon", "waiting time"),
    rule("urgency", "window / horizon", "window width"),
    rule("urgency", "spare / horizon", "time slack"),
)

_TIMES = """
    ready = ready_times[unvisited_nodes]
    due = due_times[unvisited_nodes]
    service = service_times[unvisited_nodes]
    arrival = current_time + here
    start = np.maximum(arrival, ready)
    wait = start - arrival
    urgency = due - arrival
    slack = due - start
    window = due - ready
    spare = due_times[depot] - start - service - home
    horizon = due_times[depot] - ready_times[depot] + 1e-09
    elapsed = (current_time - ready_times[depot]) / horizon
"""
_NODE_RULES = (
    rule("length", "wait", "waiting time"),
    rule("length", "start - current_time", "time until service starts", 2),
    rule("length", "urgency", "time from arrival until its window closes", 2),
    rule("length", "slack", "time from start until its window closes"),
    rule("length", "window", "width of its window"),
    rule("length", "due - due.min()", "lead of the most urgent window over its own"),
    rule("length", "spare", "time left on return to the depot", 0.7),
    rule("share", "window / horizon", "the relative width of its window"),
    rule("share", "urgency / horizon", "the relative time until its window closes"),
    rule("phase", "elapsed", "the elapsed share of the depot's opening time"),
    rule("close", "wait[best] > RATIO * back", "waiting there takes {RATIO} times the way back"),
    rule(
        "close",
        "start[best] - current_time > RATIO * scale",
        "service there starts {RATIO} mean depot distances later",
    ),
)

_STRINGS_IN_TIME = (
    timed_strings.strings_in_time,
    "Take strings of up to 10 stops out of the routes near one drawn at random, or in 0.2 of all "
    "groups whole ends of two to four of these routes, 12 stops and up to 20 more; insert them in "
    "order of chance, demand, distance to the depot, width of windows or service, ends in that of "
    "service with probability 0.8.",
)
"""The strongest hand-written program where customers have time windows, and its idea."""
_ORDER_RULES = (
    body_of(
        timed_strings.strings_in_time,
        "take strings of up to {LONGEST} stops out of the routes near one drawn at random, or in "
        "{CHANCE} of all groups whole ends of two to four of these routes, {COUNT} stops and up to "
        "{COUNT2} more; insert them in order of chance, demand, distance to the depot, width of "
        "windows or service, ends in that of service with probability {CHANCE2}",
        4,
        {
            "min(10.0, stops)": "min(LONGEST, stops)",
            "ends = noise[draw + 31] < 0.2": "ends = noise[draw + 31] < CHANCE",
            "12 + int(noise[draw + 30] * 20.0)": "COUNT + int(noise[draw + 30] * COUNT2)",
            "noise[draw + 29] < 0.8": "noise[draw + 29] < CHANCE2",
        },
    ),
    rule("key", "ready_times[node]", "when its window opens"),
    rule("key", "due_times[node]", "when its window closes"),
    rule("key", "(due_times[node] - ready_times[node])", "width of its window", 1.5),
    rule("key", "earliest_starts[node]", "start of its service"),
    rule("key", "(latest_starts[node] - earliest_starts[node])", "time slack", 1.5),
    rule("key", "(earliest_starts[node] - latest_starts[node])", "minus time slack", 0.7),
    rule("key", "(ready_times[node] - earliest_starts[node])", "minus delay of its service"),
    rule(
        "rank",
        "abs(earliest_starts[node] - earliest_starts[seed])",
        "difference in time from the first",
        1.5,
    ),
    body_of(
        strings.nearest_customers,
        "take up to 15 customers nearest to one drawn at random whose service begins within "
        "{CHANCE} of the depot's opening time of its own",
        1,
        {
            "noise[draw + (2 + near) % 32] < 0.2": (
                "abs(earliest_starts[neighbours[seed, near]] - earliest_starts[seed]) "
                "> CHANCE * (due_times[0] - ready_times[0])"
            )
        },
    ),
)

_POSITION_RULES = (
    select_position.greedy(strings.greedy_in_time),
    rule("score", "SCORE + WEIGHT * shifts", "{SCORE} plus {WEIGHT} times the delay"),
    rule("score", "SCORE - WEIGHT * slacks", "{SCORE} minus {WEIGHT} times the time slack", 0.5),
    rule("length", "shifts[position]", "the delay of the next stop", 2),
    rule("length", "slacks[position]", "the time slack"),
    rule(
        "share",
        "shifts[position] / (shifts[position] + slacks[position] + 1e-09)",
        "the delay against the time slack",
    ),
    rule(
        "share",
        "shifts[position] / (shifts[position] + detours[position] + 1e-09)",
        "the delay against the detour",
        0.5,
    ),
)


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
) -> IntArray:
    """Plan the rest of the route by insertion among 40 near customers; close it if none fits.

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
    return stops[1 : max(2, length - 1)]


_WAIT = "wait = np.maximum(current_time + here, ready_times[unvisited_nodes]) - current_time\n"
_UNTIL_SERVICE = "time until service starts"
_SAVING = "distance from here minus 0.5 times distance to the depot"
# After Solomon's nearest neighbour and insertion (1987).
_VARIED: Sequence[tuple[Callable[..., Any] | Body, str]] = (
    (
        planned_insertion,
        "Open a route at the customer farthest from the depot, and plan the rest of it by the "
        "insertion that saves most against a route of its own.",
    ),
    *next_customer.by_hand(
        (
            "nearest_in_time",
            HERE
            + "arrival = current_time + here\n"
            + "wait = np.maximum(arrival, ready_times[unvisited_nodes]) - current_time\n"
            + "urgency = due_times[unvisited_nodes] - arrival\n"
            + "score = 0.4 * here + 0.4 * wait + 0.2 * urgency\n",
            "Visit the customer with the least 0.4 times distance from here plus 0.4 times "
            f"{_UNTIL_SERVICE} plus 0.2 times time until its window closes",
        ),
        (
            "farthest_first",
            HERE + HOME + _WAIT + "score = -home if current_node == depot else here + 0.5 * wait\n",
            f"{FARTHEST} plus 0.5 times {_UNTIL_SERVICE}",
        ),
        (
            "first_due",
            HERE
            + _WAIT
            + "score = due_times[unvisited_nodes] if current_node == depot else here + wait\n",
            "Open a route at the customer whose window closes first, go on to the least distance "
            f"from here plus {_UNTIL_SERVICE}",
        ),
        (
            "farthest_saving",
            HERE
            + HOME
            + _WAIT
            + "score = -home if current_node == depot else here - 0.5 * home + 0.5 * wait\n",
            f"{FARTHEST} minus 0.5 times distance to the depot plus 0.5 times {_UNTIL_SERVICE}",
        ),
        (
            "due_saving",
            HERE
            + HOME
            + _WAIT
            + "score = here - 0.5 * home + wait\n"
            + "if current_node == depot:\n    score = due_times[unvisited_nodes] - home\n",
            "Open a route where the window's end minus distance to the depot is least, go on to "
            f"the least {_SAVING} plus {_UNTIL_SERVICE}",
        ),
        (
            "first_ready",
            HERE
            + "start = np.maximum(current_time + here, ready_times[unvisited_nodes])\n"
            + "idle = start - current_time - here\n"
            + "score = here + 0.3 * idle + 0.1 * (due_times[unvisited_nodes] - start)\n"
            + "if current_node == depot:\n    score = ready_times[unvisited_nodes]\n",
            "Open a route at the customer whose window opens first, go on to the least distance "
            "from here plus 0.3 times the wait plus 0.1 times time from start until its window "
            "closes",
        ),
    ),
)


_GOAL = (
    "Vehicle routing with time windows: vehicles of equal capacity start and end at a depot and "
    "serve every customer exactly once, each within its time window, at the least total distance. "
    "Waiting costs nothing but time. "
)
_PROBLEM = _GOAL + (
    "A feasible solution exists already; groups of its customers are removed and rebuilt one at a "
    "time. "
)

CUSTOMER_GROUPS = customer_groups.contract(
    interfaces.CUSTOMER_GROUPS,
    problem=_PROBLEM,
    vocabulary=customer_groups.vocabulary(lines=_SCHEDULES, rules=_GROUP_RULES),
)
APPEND, CONSTRUCT = next_customer.contracts(
    interfaces.NEXT_CUSTOMER,
    interfaces.FROM_NOTHING,
    goal=_GOAL,
    problem=_PROBLEM,
    runner=runners.rebuild,
    vocabulary=next_customer.vocabulary(lines=_TIMES, rules=_NODE_RULES),
    varied=_VARIED,
)

ORDERED_GROUPS = select_groups.contract(
    TIMED_GROUPS,
    goal=_GOAL,
    runner="specahd.problems.vrptw.engine:GROUPS",
    vocabulary=select_groups.vocabulary(_ORDER_RULES),
    others=(*select_groups.HAND_WRITTEN, _STRINGS_IN_TIME),
)
INSERTION = select_position.contract(
    TIMED_POSITIONS,
    goal=_GOAL,
    runner="specahd.problems.vrptw.engine:POSITIONS",
    vocabulary=select_position.vocabulary(rules=_POSITION_RULES),
    others=[(strings.greedy_in_time, select_position.GREEDY_OVERLOOKING)],
)
