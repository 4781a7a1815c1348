"""What the tests of the client share: a request, a server, a client in a hurry."""

from server import Server
from server_behaviour import Script

from specahd.core.contract import Request
from specahd.core.program import Level
from specahd.llm.client import ChatProposer
from specahd.methods.eoh import INITIAL
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import contracts

CONTRACTS = contracts(CVRP().operator)

CANARY = "sk-canary-0123456789abcdef"
CONTRACT = CONTRACTS[Level.LOWER]
GOOD = "{The nearest.}\n```python\n" + CONTRACT.seed.source + "```\n"
WORDS = f"Write a program.\n\n{CONTRACT.document}"


def request(index=0):
    return Request(CONTRACT, 0, Level.LOWER, 1, index, INITIAL, prompt=WORDS)


def serve(*faults, bad=None, spared=None, **options):
    return Server(lambda prompt, sample: GOOD, Script(faults, bad, spared), **options)


def proposer(server, **options):
    quick = {"timeout": 5.0, "attempts": 3, "deadline": 60.0, "backoff": 0.01, "patience": 0.05}
    return ChatProposer(model="tested", base_url=server.url, **(quick | options))
