import gzip
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from client_setup import CANARY, CONTRACT, GOOD, WORDS, proposer, request, serve
from server import Handler, Server
from server_behaviour import BAD, FAULTS, TRICKLES, Schedule, Script, offline

from specahd.core.errors import ServiceError, ServiceUnavailable, TransportError
from specahd.core.services import ServiceOptions
from specahd.llm import service_client
from specahd.llm.client import USELESS
from specahd.llm.faults import RetryableError
from specahd.llm.parsing import ParseError, parse_reply
from specahd.llm.service_client import ServiceClient

PATIENT = 0.7  # seconds: short for a test, long for a reply on a busy machine
PASSING = (*(fault for fault in FAULTS if fault != "blanks"), "408", "409")
BROKEN = ("stall", "reset", "torn", "no choice", "html", "error in 200")
"""Faults within a body, which differ where it is a stream."""
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


# Replies


@STREAMED
@pytest.mark.parametrize("behaviour", BAD)
def test_a_bad_reply_is_a_reply_that_parsing_refuses(behaviour, stream):
    with serve(bad=behaviour) as server:
        reply = proposer(server, stream=stream).propose(request())
    assert server.counts == {behaviour: 1}
    assert reply.prompt_tokens > 0
    with pytest.raises(ParseError):
        parse_reply(reply.text, CONTRACT)


@STREAMED
def test_only_what_conf_sets_is_sent(stream):
    options = {"temperature": 0.5, "thinking": {"type": "disabled"}}
    with serve() as server:
        proposer(server, stream=stream).propose(request())
        proposer(server, stream=stream, options=options).propose(request())
    plain, extended = (exchange.body for exchange in server.exchanges)
    assert plain["messages"] == [{"role": "user", "content": WORDS}]
    assert set(plain) == {"model", "messages", "stream"} | ({"stream_options"} if stream else set())
    assert extended == plain | options


@pytest.mark.parametrize("manner", [{"obeys_stream": False}, {"compresses": True}])
def test_a_server_that_does_not_stream_or_compresses_is_understood(manner):
    with serve(**manner) as server:
        reply = proposer(server, stream=True).propose(request())
    assert (reply.text, reply.prompt_tokens) == (GOOD, len(WORDS) // 4)


@STREAMED
def test_tokens_and_money_are_those_of_the_service(stream):
    with serve() as server:
        prices = {"input_price": 2.0, "cached_input_price": 0.5, "output_price": 8.0}
        reply = proposer(server, stream=stream, **prices).propose(request())
        default = proposer(server, stream=stream, input_price=2.0).propose(request())
    prompt, completion = len(WORDS) // 4, len(GOOD) // 4
    cached = prompt // 2
    assert (reply.prompt_tokens, reply.completion_tokens) == (prompt, completion)
    dollars = (prompt - cached) * 2.0 + cached * 0.5 + completion * 8.0
    assert reply.cost == pytest.approx(dollars / 1e6)
    assert default.cost == pytest.approx(prompt * 2.0 / 1e6)


def test_a_service_that_counts_no_tokens_is_estimated_and_noted_once(caplog):
    with serve(counts_tokens=False) as server:
        asker = proposer(server, input_price=2.0)
        replies = [asker.propose(request(index)) for index in range(3)]
    # An allowance must hold for such a service, too.
    estimated = len(request(0).prompt) // 4
    for reply in replies:
        assert (reply.text, reply.completion_tokens) == (GOOD, len(GOOD) // 4)
        assert reply.prompt_tokens == pytest.approx(estimated, abs=2)
        assert reply.cost == pytest.approx(reply.prompt_tokens * 2.0 / 1e6)
    [record] = caplog.records
    assert "counts no tokens" in record.getMessage()


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [("blocked", "The prompt was filtered"), ("too long", "as too long for the model (This model")],
)
def test_a_prompt_that_the_service_refuses_has_its_reply(behaviour, words):
    with serve(behaviour) as server:
        reply = proposer(server).propose(request())
    assert words in reply.text
    assert reply.refused
    assert server.counts == {behaviour: 1}


@pytest.mark.parametrize("behaviour", ["html", "messages", "lines"])
@pytest.mark.parametrize("before", ["preflight", "propose"])
def test_another_protocol_is_recognised_at_the_first_answer(behaviour, before):
    with serve(*[behaviour] * 9, lists=False) as server:
        asker = proposer(server)
        told = r"answers with no chat completion: \".*\"; set llm\.base_url to its address"
        with pytest.raises(ServiceError, match=told):
            asker.preflight() if before == "preflight" else asker.propose(request())
    assert server.counts == {behaviour: 1}


def test_a_reply_says_why_it_ended_and_who_gave_it():
    with serve(bad="cut") as server:
        cut = proposer(server).propose(request())
    assert (cut.finish_reason, cut.model, cut.provider) == ("length", "tested", "127.0.0.1")
    with serve("blocked") as server:
        blocked = proposer(server).propose(request())
    assert (blocked.finish_reason, blocked.model, blocked.provider) == (None, "tested", "127.0.0.1")


@pytest.mark.parametrize(
    ("bad", "came", "cure"),
    [
        ("cut", r"truncated at the token limit \(finish_reason=length\)", "max_tokens"),
        ("empty", r"empty \(finish_reason=stop\)", "llm.model"),
        ("refusal", r'without code \(the last one: "I\'m sorry, but I can\'t help', "llm.model"),
    ],
)
def test_useless_replies_in_a_row_end_the_requests_with_what_came_and_a_cure(bad, came, cure):
    with serve(bad=bad) as server:
        asker = proposer(server)
        for index in range(USELESS):
            asker.propose(request(index))
        with pytest.raises(ServiceError, match=f"{USELESS} replies in a row were {came}.*{cure}"):
            asker.propose(request(USELESS))
        assert server.counts == {bad: USELESS}
        # A run that goes on asks again.
        proposer(server).propose(request(USELESS))


def test_a_reply_with_code_or_of_another_kind_begins_the_row_anew():
    with serve(bad="empty") as server:
        asker = proposer(server)
        most = USELESS - 1
        for index in range(5 * most):
            bad = (None, "empty", "wrong name", "empty", "cut")[index // most]
            server.schedule = Script((), bad)
            asker.propose(request(index))


# No reply


@pytest.mark.parametrize(
    ("stream", "faults"), [(False, PASSING), (True, BROKEN)], ids=["whole", "streamed"]
)
def test_faults_are_survived(stream, faults):
    """One request meets all of them in turn, and gets its reply word for word in the end."""
    with serve(*faults, stall=2.0, spared=request(1).id) as server:
        asker = proposer(server, stream=stream, timeout=PATIENT, attempts=len(faults) + 1)
        asker.propose(request(1))
        assert asker.propose(request()).text == GOOD
    assert server.counts == {**dict.fromkeys(faults, 1), "good": 2}
    assert len({exchange.sample for exchange in server.exchanges}) == 2


@pytest.mark.parametrize("behaviour", ["503", "reset", "no choice", "stall"])
def test_a_fault_that_stays_is_no_reply(behaviour):
    with serve(*[behaviour] * 9, stall=2.0) as server:
        asker = proposer(server, attempts=2, timeout=PATIENT)
        with pytest.raises(TransportError, match=r"^tested at 127.0.0.1:.* did not reply"):
            asker.propose(request())
    assert server.counts == {behaviour: 2}


def test_all_attempts_of_a_request_have_one_deadline():
    with serve(*["silence"] * 99, stall=9.0) as server:
        asker = proposer(server, attempts=99, timeout=0.4, deadline=1.0)
        started = time.monotonic()
        allowed = r"within 0\.\d seconds; llm\.attempts=99 and llm\.deadline=1 allow no further"
        with pytest.raises(ServiceUnavailable, match=allowed):
            asker.propose(request())
    assert time.monotonic() - started < 6.0
    assert 1 <= server.counts["silence"] <= 4


def test_a_deadline_is_five_timeouts_and_leaves_no_long_wait():
    with serve("busy for seconds", wait=3600) as server:
        asker = proposer(server, timeout=7.0, deadline=None, patience=60.0)
        with pytest.raises(ServiceUnavailable, match=r"429 .*llm\.deadline=35 "):
            asker.propose(request())


def test_a_queue_before_an_attempt_is_not_part_of_the_deadline():
    client = ServiceClient(
        ServiceOptions(base_url="http://127.0.0.1:1/v1", deadline=0.5, backoff=0), "llm"
    )
    seen = []

    def attempt(begin):
        time.sleep(0.3)
        seen.append(begin())
        if len(seen) < 3:
            raise RetryableError("busy")
        return "answer"

    service = client.service("tested", "llm.model")
    assert client.request(service, attempt, "did not reply") == "answer"


def test_blanks_without_end_are_silence():
    with serve("blanks", "slow refusal", stall=9.0) as server:
        started = time.monotonic()
        assert proposer(server, timeout=PATIENT, attempts=9).propose(request()).text == GOOD
    assert time.monotonic() - started < 9.0


@pytest.mark.parametrize("behaviour", TRICKLES)
def test_what_trickles_without_end_is_left_with_its_connection(behaviour):
    with serve(*[behaviour] * 99, stall=9.0) as server:
        started = time.monotonic()
        with pytest.raises(TransportError, match="no answer within"):
            proposer(server, timeout=PATIENT, attempts=1).propose(request())
        assert time.monotonic() - started < 6.0
        for thread in threading.enumerate():
            if thread.name == "exchange":
                thread.join(6.0)
                assert not thread.is_alive()


def test_a_body_without_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(service_client, "MAX_BODY", 2**17)
    more = "a body of more than 131072 bytes"
    with serve(bad="huge") as server, pytest.raises(TransportError, match=more):
        proposer(server).propose(request())
    assert server.counts == {"huge": 3}


class Packed(Handler):
    """Answers with the headers and the body that the server holds."""

    def _act(self, behaviour, spoken):
        status, headers, body = self.server.packed
        self._send(status, "application/json", body, headers)


GZIP, BOMB = {"Content-Encoding": "gzip"}, gzip.compress(bytes(2**26))
MORE = "a body of more than 1048576 bytes"
PACKED = {
    "a bomb": (200, GZIP, BOMB, MORE),
    "a bomb in a refusal": (400, GZIP, BOMB, MORE),
    "a bomb in a redirect": (307, {**GZIP, "Location": "/v1/chat/completions"}, BOMB, "redirects"),
    "two layers": (200, {"Content-Encoding": "gzip, gzip"}, gzip.compress(BOMB), "more than once"),
    "something after the end": (200, GZIP, gzip.compress(b"{}") + bytes(2**22), MORE),
}


@pytest.mark.parametrize("name", PACKED)
def test_a_small_body_that_unpacks_to_a_large_one_takes_bounded_memory(name, monkeypatch):
    monkeypatch.setattr(service_client, "MAX_BODY", 2**20)
    *packed, sentence = PACKED[name]
    with serve() as server:
        server.RequestHandlerClass, server.packed = Packed, packed
        client = proposer(server, attempts=1)
        tracemalloc.start()
        try:
            with pytest.raises(TransportError, match=sentence):
                client.propose(request())
            assert tracemalloc.get_traced_memory()[1] < 2**24
        finally:
            tracemalloc.stop()


def test_a_service_is_left_alone_for_as_long_as_it_asks():
    with serve("busy for seconds", wait=1) as server:
        proposer(server, patience=5.0).propose(request())
    first, second = (exchange.time for exchange in server.exchanges)
    assert second - first >= 1.0


def test_no_service_is_waited_for_longer_than_patience():
    with serve("busy for seconds", wait=3600) as server:
        started = time.monotonic()
        proposer(server, patience=0.2).propose(request())
    assert 0.2 <= time.monotonic() - started < 5.0


def test_closing_ends_the_wait():
    with serve("busy for seconds", wait=3600) as server:
        asker = proposer(server, patience=30.0)
        threading.Timer(0.3, asker.close).start()
        started = time.monotonic()
        with pytest.raises(TransportError, match="was closed"):
            asker.propose(request())
    assert time.monotonic() - started < 10.0


@pytest.mark.parametrize("behaviour", ["silence", "slow headers", "stall"])
def test_closing_ends_a_request_that_hangs(behaviour):
    with serve(behaviour, stall=30.0) as server:
        asker = proposer(server, timeout=60.0)
        threading.Timer(0.3, asker.close).start()
        started = time.monotonic()
        with pytest.raises(TransportError, match="was closed"):
            asker.propose(request())
    assert time.monotonic() - started < 10.0


def test_many_threads_get_their_own_replies():
    write = offline(3)
    with Server(write, Schedule(seed=1, faults=0.2), stall=6.0) as server:
        asker = proposer(server, timeout=3.0, attempts=9)
        asked = [request(index) for index in range(60)]
        with ThreadPoolExecutor(7) as pool:
            replies = list(pool.map(asker.propose, asked))
    assert [r.text for r in replies] == [write(WORDS, request.id) for request in asked]
    assert len({reply.text for reply in replies}) > 50
    assert server.counts["good"] == 60
    assert len(server.counts) > 5


def test_requests_per_minute_hold_back_what_exceeds_them(monkeypatch):
    monkeypatch.setattr("specahd.llm.client.WINDOW", 0.5)
    with serve("500") as server:
        asker = proposer(server, requests_per_minute=2)
        for index in range(2):
            asker.propose(request(index))
    times = [exchange.time for exchange in server.exchanges]
    # Attempts count too: each of the two samples takes two.
    assert len(times) == 4
    assert times[2] - times[0] >= 0.45


# Refusals


@pytest.mark.parametrize(
    ("behaviour", "named"),
    [
        ("400", r"temperature must be below 2.* llm\.options or llm\.model"),
        ("401", "rejects the key in A_KEY"),
        ("405", r"llm\.base_url is not its address \(status 405\)"),
        ("unstreamed", r"only support stream mode.* llm\.stream \(true or false\), llm\.options"),
        ("402", "no credit left for tested"),
        ("403", "tested to the key in A_KEY"),
        ("404", r"no model tested, or llm\.base_url"),
        ("422", r"sent with \*\*\*.* llm\.options or llm\.model"),
        ("arrears", "no credit left for tested"),
    ],
)
def test_a_refusal_names_what_to_correct_and_is_final(behaviour, named, monkeypatch):
    monkeypatch.setenv("A_KEY", CANARY)
    with serve(behaviour) as server, pytest.raises(ServiceError, match=named) as refusal:
        proposer(server, api_key_env="A_KEY").propose(request())
    assert str(refusal.value).startswith(server.url[7:-3])
    assert server.counts == {behaviour: 1}
