"""What the suites are told of this problem, whose files are those of the TSP."""

from dataclasses import replace

from problems.tsp.described import DESCRIBED as OF_TSP
from specahd.routing.base import POOLS

DESCRIBED = replace(OF_TSP, pools={pool: (6, set(range(12, 18))) for pool in POOLS})
