"""What time windows add to the vocabularies of vehicle problems.

The lines follow those of :mod:`specahd.routing.vehicles.customer_groups`,
:mod:`specahd.routing.vehicles.next_customer`, :mod:`specahd.engine.select_groups` and
:mod:`specahd.engine.select_position`; there stands what they mean.
"""

from specahd.core.vocabulary import Vocabulary, body_of, rule
from specahd.engine import select_groups, select_position, strings, timed_strings
from specahd.routing.vehicles import customer_groups, next_customer

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

STRINGS_IN_TIME = (
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


def groups() -> Vocabulary:
    """Return the vocabulary of upper programs."""
    return customer_groups.vocabulary(lines=_SCHEDULES, rules=_GROUP_RULES)


def nodes() -> Vocabulary:
    """Return the vocabulary of lower programs."""
    return next_customer.vocabulary(lines=_TIMES, rules=_NODE_RULES)


def ordered_groups() -> Vocabulary:
    """Return the vocabulary of upper programs that choose ordered groups."""
    return select_groups.vocabulary(_ORDER_RULES)


def positions() -> Vocabulary:
    """Return the vocabulary of lower programs that choose a position."""
    return select_position.vocabulary(rules=_POSITION_RULES)
