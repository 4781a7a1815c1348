"""Every contract of every problem."""

import pytest
from sample_requests import CONTRACTS


@pytest.fixture(params=CONTRACTS, ids="-".join)
def contract(request):
    return CONTRACTS[request.param]
