"""Lower bounds of instances, as rows of an imaginary solver that reaches them."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from math import isfinite

from specahd.runs.rows import Row

BOUND = "2 Σ q d / Q"
HOW_TO_READ_BOUNDS = (
    f"{BOUND} is a lower bound on the cost with split deliveries: a vehicle of capacity Q that "
    "brings q to a customer at distance d from the depot drives there and back, of which that "
    "customer's part is q / Q. No method can gain more, but for the rounding of distances."
)


def lower_bounds(rows: Iterable[Row], instances: Collection[str]) -> list[Row]:
    """Return a row at the bound of each instance; no rows unless every instance has a bound."""
    known = {
        row.instance: replace(
            row, cost=row.lower_bound, improvement=1 - row.lower_bound / row.baseline_cost,
            failed=False, steps=0, rollbacks=0,
        )
        for row in rows if row.instance in instances and isfinite(row.lower_bound)
    }  # fmt: skip
    return list(known.values()) if len(known) == len(instances) else []
