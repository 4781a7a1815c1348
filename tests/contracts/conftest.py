"""Every problem of conf/problem, and every pool."""

import pytest
from small_cases import problem_of

from offered import PROBLEMS
from specahd.routing.base import POOLS


@pytest.fixture(params=PROBLEMS)
def name(request):
    return request.param


@pytest.fixture
def problem(name):
    return problem_of(name)


@pytest.fixture(params=POOLS)
def pool(request):
    return request.param
