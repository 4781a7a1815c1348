"""The contracts of every problem."""

import pytest
from sample_requests import CONTRACTS

from specahd.core.program import Level


@pytest.fixture(params=CONTRACTS, ids="-".join)
def contract(request):
    return CONTRACTS[request.param]


@pytest.fixture(params=[("tsp", Level.LOWER), ("vrptw-insertion", Level.UPPER)], ids="-".join)
def either(request):
    """A contract of either level, where prompts treat all contracts of a level alike."""
    return CONTRACTS[request.param]
