"""Odd values in every field of a service's JSON: a reply that can be stored, or a named fault."""

import json
import math
from contextlib import suppress

import pytest
from client_setup import CONTRACT, GOOD, request
from server import Handler, Server

from specahd.core.errors import SpecAHDError
from specahd.core.journal import dumps
from specahd.core.plain import parse_json
from specahd.core.proposer import ReplyRecord
from specahd.llm.client import USELESS, ChatProposer
from specahd.llm.parsing import parse_program

FIELDS = (
    *("id", "object", "created", "model", "error", "error.error", "error.code", "error.type"),
    *("error.message", "choices", "choices.0", "choices.0.index", "choices.0.finish_reason"),
    *(
        "choices.0.message",
        "choices.0.delta",
        "choices.0.message.role",
        "choices.0.message.content",
    ),
    *("choices.0.message.refusal", "choices.0.message.reasoning_content"),
    *("choices.0.message.tool_calls", "usage", "usage.prompt_tokens", "usage.completion_tokens"),
    *("usage.prompt_cache_hit_tokens", "usage.prompt_tokens_details"),
    "usage.prompt_tokens_details.cached_tokens",
)
VALUES = (
    *("null", "true", "false", "-5", "0", "7", "1200.0", "1.5", "-0.0", "1e400", "NaN", "Infinity"),
    *('"1200"', '"12e2"', '"x"', '""', '"\\ud800"', '"\\u0000"', '"²"', "[]", "[null]", '["stop"]'),
    *("{}", '{"a": [1]}', '[{"type": ["text"], "text": 5}]', "1" + "0" * 400, "1" + "0" * 5000),
    *("-1" + "0" * 5000, '"' + "9" * 5000 + '"', "[" * 400 + "]" * 400, "[" * 10**5 + "]" * 10**5),
    *('{"error":' * 900 + '"x"' + "}" * 900, '{"error":' * 10**5 + '"x"' + "}" * 10**5),
)


def body(path=None, value="null"):
    """Return a good answer with one field replaced, or added."""
    answer = {
        "id": "x",
        "model": "m",
        "choices": [
            {"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": 40},
    }
    if path is not None:
        *owners, name = path.split(".")
        at = answer
        for owner in owners:
            at = at[int(owner)] if isinstance(at, list) else at.setdefault(owner, {})
        at[int(name) if isinstance(at, list) else name] = "@"
    return json.dumps(answer).replace('"@"', value).encode()


class Odd(Handler):
    """Answers with the body that the server holds."""

    def _act(self, behaviour, spoken):
        self._send(200, "application/json", self.server.odd)


@pytest.fixture(scope="module")
def server():
    with Server(None) as served:
        served.answer = lambda prompt, sample: GOOD
        served.RequestHandlerClass = Odd
        yield served


def client(server):
    prices = {"input_price": 1.0, "output_price": 10.0}
    return ChatProposer(model="tested", base_url=server.url, timeout=5.0, attempts=1, **prices)


@pytest.mark.parametrize("field", FIELDS)
def test_an_odd_field_gives_a_reply_that_can_be_stored_or_a_named_fault(server, field):
    # A client ends its requests after a number of useless replies.
    for values in (VALUES[start : start + USELESS] for start in range(0, len(VALUES), USELESS)):
        asker = client(server)
        for value in values:
            server.odd = body(field, value)
            with suppress(SpecAHDError):
                reply = asker.propose(request())
                assert parse_json(dumps(reply.record).encode(), ReplyRecord).answer == reply
                assert 0 <= reply.cost < math.inf, value[:20]


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ('{"prompt_tokens": 1200.0, "completion_tokens": 50.0}', (1200, 50)),
        ('{"prompt_tokens": "1200", "completion_tokens": "50"}', (1200, 50)),
        ('{"prompt_tokens": 1200, "completion_tokens": true}', (1200, None)),
        ('{"prompt_tokens": null, "completion_tokens": 50}', (None, 50)),
        *(
            (odd, (None, None))
            for odd in ("null", "{}", "[]", "true", '{"prompt_tokens": 0, "completion_tokens": 0}')
        ),
        ('{"prompt_tokens": 1' + "0" * 400 + ', "completion_tokens": 1e30}', (None, None)),
    ],
    ids=range(10),
)
def test_tokens_that_a_service_does_not_count_are_estimated_and_paid(server, caplog, usage, tokens):
    server.odd = body("usage", usage)
    reply = client(server).propose(request())
    estimates = len(request().prompt) // 4, len(GOOD) // 4
    expected = tuple(count or guess for count, guess in zip(tokens, estimates, strict=True))
    assert (reply.prompt_tokens, reply.completion_tokens) == expected
    assert reply.cost == pytest.approx((expected[0] + 10 * expected[1]) / 1e6)
    assert ("counts no tokens" in caplog.text) == (None in tokens)


def test_thoughts_count_where_tokens_are_estimated(server):
    server.odd = body("choices.0.message.reasoning_content", f'"{"Hm. " * 1000}"')
    server.odd = server.odd.replace(b'"usage"', b'"used"')
    reply = client(server).propose(request())
    assert reply.completion_tokens == (4000 + len(GOOD)) // 4
    assert parse_program(reply, CONTRACT)[0] == CONTRACT.seed.source
