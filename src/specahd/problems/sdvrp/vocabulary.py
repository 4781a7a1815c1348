"""What offline programs of the SDVRP are composed of: shared rules, and those about splitting."""

from specahd.core.vocabulary import Constant, Vocabulary, body, rule
from specahd.routing.vehicles import customer_groups, next_customer

_SPLITS = """
    given = np.concatenate(deliveries)
    visits = np.bincount(flat, minlength=len(demands))[flat]
"""


def upper() -> Vocabulary:
    """Return the vocabulary of programs that choose groups of customers."""
    return customer_groups.vocabulary(
        loads="np.concatenate(deliveries)",
        lines=_SPLITS,
        rules=(
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
        ),
    )


_CANDIDATES = """
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    back = distance_matrix[current_node, depot]
    size = residual_demands[unvisited_nodes]
    scale = home.mean() + 1e-09
    detour = np.maximum(here + home - back, 0.0)
    between = distance_matrix[unvisited_nodes][:, unvisited_nodes]
    apart = between.mean(axis=1)
    second = min(1, len(unvisited_nodes) - 1)
    lonely = np.partition(between, second, axis=1)[:, second]
    tight = min(1.0, size.mean() / rest_capacity)
    roomy = min(1.0, rest_capacity / size.sum())
    away = back / (back + scale)
    served = 1.0 - len(unvisited_nodes) / len(residual_demands)
"""
_SCORE = "    score = SCORE\n    best = np.argmin(score)"
_SCORES = """
    if current_node == depot:
        score = SCORE
    else:
        score = SCORE2
    best = np.argmin(score)
"""
_CLOSING = """
    if current_node != depot and CLOSE:
        return (depot, 0)
"""
_DELIVERY = """
    customer = int(unvisited_nodes[best])
    most = min(int(residual_demands[customer]), rest_capacity)
    return (customer, QUANTITY)
"""


def lower() -> Vocabulary:
    """Return the vocabulary of programs that choose the next delivery.

    The bodies are those of :mod:`specahd.routing.vehicles.next_customer`, but look
    at what customers still lack, and answer with a quantity too.
    """
    shared = next_customer.vocabulary()
    once = "visit the customer with the least {SCORE} and leave {QUANTITY}"
    twice = (
        "open a route at the customer with the least {SCORE}, go on to the least {SCORE2}, "
        "and leave {QUANTITY}"
    )
    until = ", but return to the depot early if {CLOSE}"
    return Vocabulary(
        productions=(
            body(once, 3, _CANDIDATES, _SCORE, _DELIVERY),
            body(once + until, 1, _CANDIDATES, _SCORE, _CLOSING, _DELIVERY),
            body(twice, 1, _CANDIDATES, _SCORES, _DELIVERY),
            body(twice + until, 0.7, _CANDIDATES, _SCORES, _CLOSING, _DELIVERY),
            *(production for production in shared.productions if production.makes != shared.root),
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
        ),
        constants=(*shared.constants, Constant("part", 0.1, 0.9)),
    )
