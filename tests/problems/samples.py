"""Programs that the offline proposer writes for a problem, as its tests run them."""

import math
from functools import cache

import numpy as np

from offered import contract_of
from specahd.core.contract import Request
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import INITIAL

SAMPLES = 300


@cache
def samples(problem, level):
    """Return the sources of fresh programs."""
    contract = contract_of(problem, level)
    proposer = OfflineProposer()
    requests = [Request(contract, 5, level, 0, index, INITIAL) for index in range(SAMPLES)]
    replies = [proposer.propose(request).text for request in requests]
    return [parse_reply(text, contract)[0] for text in replies]


def defined(contract, source):
    """Return a program as a function."""
    scope = {"np": np, "math": math}
    exec(compile(source, "candidate", "exec"), scope)
    return scope[contract.name]
