"""What the suites are told of this problem, whose files are those of the CVRP."""

from dataclasses import replace

from problems.cvrp.described import DESCRIBED as OF_CVRP
from specahd.routing.base import POOLS

DESCRIBED = replace(OF_CVRP, pools={pool: (6, set(range(20, 26))) for pool in POOLS})
