"""Settings with which the engine solves the CVRP."""

from specahd.engine.family import Family
from specahd.engine.schedule import many_on_short_routes

FAMILY = Family(
    name="cvrp",
    runners="specahd.problems.cvrp.runners",
    parted=True,
    in_turn=many_on_short_routes,
)
