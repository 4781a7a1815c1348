from collections import Counter

import pytest
from client_setup import CONTRACTS

from specahd.core.contract import Request
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.core.proposer import Reply
from specahd.core.tariff import FREE
from specahd.llm.mixture import Mixture
from specahd.methods.eoh import INITIAL


class Named:
    """Answers with its name, and keeps count of who made sure of it."""

    def __init__(self, name):
        self.name = name
        self.examined = 0

    def preflight(self, contracts=()):
        self.examined += 1
        self.contracts = contracts

    def tariff(self, request=None):
        return FREE

    def propose(self, request):
        return Reply(self.name)


def requests(seed=0, level=Level.LOWER):
    for index in range(1000):
        yield Request(CONTRACTS[level], seed, level, 1, index, INITIAL)


def mixed(**weights):
    return Mixture({name: Named(name) for name in weights}, weights)


def answers(mixture, asked):
    return [mixture.propose(request).text for request in asked]


def test_weights_are_shares():
    counts = Counter(answers(mixed(a=3, b=1, c=0), requests()))
    assert set(counts) == {"a", "b"}
    assert 700 < counts["a"] < 800


def test_the_sample_decides_and_nothing_else():
    first = answers(mixed(a=2, b=1), requests())
    assert answers(mixed(b=1, a=2), reversed(list(requests()))) == first[::-1]
    assert answers(mixed(a=2, b=1), requests(seed=1)) != first
    assert answers(mixed(a=2, b=1), requests(level=Level.UPPER)) != first


def test_a_reply_names_the_proposer_that_answered():
    for reply in map(mixed(a=2, b=1).propose, requests()):
        assert reply.provider == reply.text


def test_preflight_makes_sure_of_those_that_are_asked():
    proposers = {name: Named(name) for name in "ab"}
    contracts = [request.contract for request in requests()][:1]
    Mixture(proposers, {"a": 1, "b": 0}).preflight(contracts)
    assert [proposers[name].examined for name in "ab"] == [1, 0]
    assert proposers["a"].contracts is contracts


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ({"a": 1}, r"llm\.weights for .* a, b, got a\."),
        ({"a": 1, "c": 1}, r"llm\.weights for .* a, b, got a, c"),
        ({"a": 1, "b": -1}, r"llm\.weights\.b"),
        ({"a": "much", "b": 1}, r"llm\.weights\.a"),
        ({"a": 0, "b": 0}, r"llm\.weights above 0"),
    ],
)
def test_weights_that_are_no_shares_are_refused(weights, named):
    with pytest.raises(ConfigError, match=named):
        Mixture({"a": Named("a"), "b": Named("b")}, weights)
