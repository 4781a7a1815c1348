"""Requests for every contract: a program to show, skill records, what was measured of a round."""

from dataclasses import replace

from offered import REGIONAL, problem
from specahd.core.contract import Context, Parent, Request
from specahd.core.program import Level, Outcome, Program
from specahd.core.skill import Condition, Skill
from specahd.llm.parsing import parse_reply
from specahd.memory.diff import describe_child
from specahd.methods.eoh import OPERATORS
from specahd.routing.base import contracts

MADE = {name: problem(name) for name in REGIONAL}
CONTRACTS = {
    (name, level): contracts(problem.operator)[level]
    for name, problem in MADE.items()
    for level in Level
}
NEAR_TO_LATER = """\
    gain = distance_matrix[0, unvisited_nodes] - distance_matrix[current_node, unvisited_nodes]
    best = np.argmax(gain)
"""
IDEAS = {
    "select_tsp_segments": (
        "Rebuild around the longest step of the tour.",
        """\
    steps = distance_matrix[route, np.roll(route, -1)]
    start = int(np.argmax(steps)) - max_segment_size // 2
    return [np.roll(route, -start)[:max_segment_size]]
""",
    ),
    "generate_customer_groups": (
        "Rebuild the routes with the fewest customers together.",
        """\
    group = []
    for route in sorted(routes, key=len):
        if len(group) + len(route) <= max_size:
            group.extend(route.tolist())
    return [group]
""",
    ),
    "generate_delivery_groups": (
        "Rebuild customers that several vehicles visit.",
        """\
    visits = np.bincount(np.concatenate(routes), minlength=len(demands))
    return [np.flatnonzero(visits > 1)[:max_size].tolist()]
""",
    ),
    "select_customer_groups": (
        "Repair each customer alone whose removal gains most.",
        """\
    size = min(max_groups, len(demands) - 1)
    groups = np.zeros(2 * size, np.int64)
    groups[::2] = np.argsort(-removal_gains[1:])[:size] + 1
    return groups
""",
    ),
    "select_position": (
        "Insert at the roomiest position that few others undercut.",
        """\
    best = int(np.argmin(detours))
    for position in range(len(detours)):
        if detours[position] <= 1.1 * detours[best] and rests[position] > rests[best]:
            best = position
    return best
""",
    ),
    "select_next_node": (
        "Visit the node that saves most against coming from node 0.",
        NEAR_TO_LATER + "    return int(unvisited_nodes[best])\n",
    ),
    "select_next_delivery": (
        "Visit the customer that saves most against coming from the depot, and leave all that "
        "fits.",
        NEAR_TO_LATER
        + "    customer = int(unvisited_nodes[best])\n"
        + "    return (customer, min(rest_capacity, int(residual_demands[customer])))\n",
    ),
}
ON_TOURS = {
    "customer": "node",
    "at the roomiest position": "into the longest edge",
    "demands": "preceding",
    "rests": "edges",
}
"""Other words of ideas and other arguments of programs that improve tours."""


def shown(contract):
    """Return a reply to a request for the contract, and the program that it holds."""
    idea, body = IDEAS[contract.name]
    if "tsp.engine" in contract.runner:
        for word, other in ON_TOURS.items():
            idea, body = idea.replace(word, other), body.replace(word, other)
    reply = f"{{{idea}}}\n\ndef {contract.name}({', '.join(contract.arguments)}):\n{body}"
    source, idea = parse_reply(reply, contract)
    return Program(
        f"{contract.level}-1-0012", contract.level, source, idea, "e2", contract=contract.id
    )


def form(program, index, number):
    """Return a program of its own that has one line more than another."""
    head, body = program.source.split("\n", 1)
    return replace(
        program,
        id=f"{program.level}-2-{index:04d}",
        source=f"{head}\n    twice = {number}\n{body}",
        idea=f"Know {number}.",
    )


NAMES = ("log_size", "elongation", "slack", "detour", "edge_mean")
"""Coordinates of a descriptor, the same for every problem."""


def records(contract, coordinates):
    """Return skill records of all kinds: with conditions, without, with failures, of no concern."""
    program = shown(contract)
    seed = contract.seed
    failure = Outcome.TIMEOUT if contract.level is Level.LOWER else Outcome.EMPTY_REGIONS
    tried, like, parent = (form(program, index, 2 + index) for index in (3, 5, 6))
    kinds = (
        (
            (program, seed, 1, describe_child(program, seed), 64, 25, 12, 0.004321),
            {
                "helped": (Condition(coordinates[1], 1.24), Condition(coordinates[4], -0.87)),
                "failed": (Condition(coordinates[0], 1.61),),
            },
        ),
        ((tried, program, 2, describe_child(tried, program), 64, 2, 5, -0.00101), {}),
        (
            (like, parent, 1, describe_child(like, parent), 64, 0, 58, -0.0321),
            {
                "failed": (Condition(coordinates[2], -0.55),),
                "failures": {failure: 7, Outcome.CRASHED: 1},
            },
        ),
        # Another program, not another form of this one; and a change that is not of its kind.
        ((form(seed, 7, 9), program, 1, "Start anew.", 64, 9, 9, 0.09), {}),
        ((form(seed, 8, 9), seed, 1, "Know 9.", 64, 9, 9, 0.09), {}),
    )
    return tuple(Skill(*values, **more) for values, more in kinds)


CONTEXTS = {
    Level.LOWER: Context(
        (
            "61 regions of 24 instances of 20 to 60 (41 on average) customers. A region has 5 to "
            "50 (38 on average) customers, 61 % of its instance on average.",
            "The solutions to repair are those of the construction 'nearest', which cost 17.3 % "
            "more than those of 'savings'.",
        ),
        0.00421,
        0.0234,
        {"lower-1-0012": "it saves something on 50 of 61 regions, fails on 2 (timeout)"},
    ),
    Level.UPPER: Context(
        ("Each proposal is rebuilt by one program: Visit the nearest customer.",),
        0.00421,
        0.0234,
        {"upper-1-0012": "it saves 1.250 %, penalties take 0.016 points"},
        "Take the customers of the two emptiest routes.",
    ),
}


def request(contract, operator, **more):
    parents = (Parent(shown(contract), 0.012345), Parent(contract.seed, 0.00421))
    return Request(
        contract=contract,
        seed=0,
        level=contract.level,
        round=2,
        index=17,
        operator=OPERATORS[operator],
        parents=parents[: OPERATORS[operator].parents],
        **more,
    )
