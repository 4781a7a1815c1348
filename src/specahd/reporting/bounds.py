"""Lower bounds of instances as rows of a solver that nobody has."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from math import isfinite

from specahd.runs.rows import Row

BOUND = "2 Σ q d / Q"
HOW_TO_READ_BOUNDS = (
    f"{BOUND} is a lower bound on the cost of an instance with split deliveries: of the demands q, "
    "the distances d from the depot and the capacity Q: a vehicle that brings q to a customer "
    "drives there and back, of which that customer's part is q / Q. No solution is cheaper by more "
    "than the rounding of distances, so its improvement is the most that a method can have."
)


def lower_bounds(rows: Iterable[Row], instances: Collection[str]) -> list[Row]:
    """Return a row at the bound of each of the instances; none unless every one has a bound."""
    known = {
        row.instance: replace(
            row, cost=row.lower_bound, improvement=1 - row.lower_bound / row.baseline_cost,
            failed=False, steps=0, rollbacks=0,
        )
        for row in rows if row.instance in instances and isfinite(row.lower_bound)
    }  # fmt: skip
    return list(known.values()) if len(known) == len(instances) else []
