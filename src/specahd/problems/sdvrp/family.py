"""Settings with which the engine solves the SDVRP."""

from specahd.engine.family import Family

FAMILY = Family(name="sdvrp", runners="specahd.problems.sdvrp.runners")
