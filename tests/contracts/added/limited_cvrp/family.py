"""How the engine solves the CVRP with limited routes."""

from specahd.engine.family import Family

FAMILY = Family(name="limited_cvrp", runners="limited_cvrp.runners", parted=True)
