"""Vectors from a server that misbehaves, and the programs that they compare."""

import logging
import os
import signal
import threading
import traceback
from dataclasses import replace

import numpy as np
import pytest
from embedded_programs import MODELS, QUICK, memory, program
from fake_embedding_server import DIMENSION, FAULTS, FakeEmbeddingServer, vector

from specahd.core.errors import ConfigError, FileError, ServiceError, TransportError
from specahd.core.services import EncoderOptions
from specahd.llm.keys import KEY_FILE
from specahd.memory.embedding import LENGTH, Endpoint, embedded, text_of

CANARY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_key_file(monkeypatch):
    monkeypatch.delenv(KEY_FILE, raising=False)


def asked(fake_server, *texts, dimension=None, **options):
    endpoint = Endpoint(EncoderOptions(base_url=fake_server.url, **(QUICK | options)))
    return endpoint.embed(endpoint.service("small", "memory.models.first"), texts, dimension)


# Vectors; tests/llm/test_client.py has the faults that texts and vectors share


@pytest.mark.parametrize("behaviour", ["good", "shuffled"])
def test_vectors_come_back_in_the_order_of_their_texts(behaviour):
    with FakeEmbeddingServer(behaviour) as fake_server:
        found = asked(fake_server, "one two", "two three", "four")
    expected = np.float32([vector("small", text) for text in ("one two", "two three", "four")])
    assert (found == expected).all()
    [(body, _, _)] = fake_server.asked
    assert set(body) == {"model", "input", "encoding_format"}


@pytest.mark.parametrize("behaviour", FAULTS)
def test_a_fault_is_survived(behaviour):
    with FakeEmbeddingServer(behaviour) as fake_server:
        found = asked(fake_server, "a", "b", dimension=DIMENSION)
    assert (found == np.float32([vector("small", "a"), vector("small", "b")])).all()
    assert fake_server.behaviours == [behaviour, "good"]


def test_a_fault_that_stays_ends_the_asking_and_names_the_cache_if_lengths_differ():
    fault = pytest.raises(TransportError, match=r"^small at 127.0.0.1:\d+ .*64 .*128.*memory.cache")
    with FakeEmbeddingServer(dimension=64) as fake_server, fault:
        asked(fake_server, "a", dimension=DIMENSION, attempts=2)
    assert fake_server.behaviours == ["good"] * 2


@pytest.mark.parametrize(
    ("behaviour", "options"),
    [("400", r"\*\*\*.*memory\.options or memory\.models\.first"), ("404", r"memory\.base_url")],
)
def test_a_refusal_is_final_and_names_the_options(behaviour, options, monkeypatch):
    monkeypatch.setenv("A_KEY", CANARY)
    refusal = pytest.raises(ServiceError, match=options)
    with FakeEmbeddingServer(behaviour) as fake_server, refusal:
        asked(fake_server, "a", api_key_env="A_KEY")
    assert fake_server.behaviours == [behaviour]


@pytest.mark.parametrize("behaviour", ["400", "401", "500", "null"])
def test_the_key_is_told_to_nobody_but_the_server(behaviour, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("A_KEY", CANARY)
    told = []
    with FakeEmbeddingServer(*[behaviour] * 9, lists=False) as fake_server:
        endpoint = Endpoint(EncoderOptions(base_url=fake_server.url, api_key_env="A_KEY", **QUICK))
        service = endpoint.service("small", "memory.models.first")
        for call in (
            lambda: endpoint.preflight(service),
            lambda: endpoint.embed(service, ["a", "b"], DIMENSION),
        ):
            try:
                told.append(repr(call()))
            except (ServiceError, TransportError) as error:
                told.append("".join(traceback.format_exception(error)))
                told += everything(error)
        told += [repr(endpoint), repr(service), repr(vars(endpoint)), caplog.text]
    assert fake_server.asked[-1][1]["authorization"] == f"Bearer {CANARY}"
    assert not [text for text in told if CANARY[:12] in text]


def everything(error):
    """What an exception and those behind it hold, shown or not."""
    while error is not None:
        assert type(error).__module__.partition(".")[0] in {"specahd", "builtins", "json"}
        yield repr(error)
        yield repr(vars(error))
        error = error.__cause__ or error.__context__


def test_a_server_on_this_machine_is_asked_without_the_proxy(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeEmbeddingServer() as fake_server:
        asked(fake_server, "a")


# Before a run


@pytest.mark.parametrize("lists", [True, False])
def test_preflight_asks_each_model_for_a_vector(lists):
    with FakeEmbeddingServer("503", lists=lists) as fake_server:
        memory(fake_server).preflight()
    assert fake_server.embedded == [("small", "ready"), ("large", "ready")]


@pytest.mark.parametrize("needless", [{"filter": False, "skills": 0}, {"fuse": 1}])
def test_only_encoders_that_will_be_used_are_looked_for(needless):
    with FakeEmbeddingServer(models=("small",)) as fake_server:
        memory(fake_server, **needless).preflight()


def test_preflight_names_what_is_wrong(monkeypatch, tmp_path, caplog):
    def refuses(fake_server, match, error=ServiceError, **options):
        with pytest.raises(error, match=match) as refusal:
            memory(fake_server, **options).preflight()
        assert "\n" not in str(refusal.value)

    monkeypatch.setenv("A_KEY", CANARY)
    with FakeEmbeddingServer(models=("tiny", "large")) as fake_server:
        refuses(fake_server, r"small; set memory\.models\.first to .*: tiny, large")
    with FakeEmbeddingServer(key=CANARY) as fake_server:
        refuses(fake_server, r"memory\.api_key_env")
        memory(fake_server, api_key_env="A_KEY").preflight()
    with FakeEmbeddingServer() as fake_server:
        (tmp_path / "file").touch()
        refuses(fake_server, r"memory\.cache", FileError, cache=str(tmp_path / "file"))
    refuses(fake_server, f"{fake_server.url} .*specahd.embed.*memory=structural")
    # A log would leave a run directory behind.
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"models": {}}, "models"),
        ({"models": {"first": None}}, "models"),
        ({"models": "small"}, "models"),
        ({"base_url": "127.0.0.1/v1"}, "base_url"),
        ({"api_key_env": "sk-1"}, "api_key_env"),
        ({"batch": 0}, "batch"),
        ({"batch": 1.5}, "batch"),
        ({"timeout": 0}, "timeout"),
        ({"attempts": 0}, "attempts"),
        ({"backoff": -1}, "backoff"),
        ({"patience": "long"}, "patience"),
        ({"options": {"input": 1}}, "options"),
        ({"cache": 7}, "cache"),
        ({"fuse": 3}, "fuse"),
        ({"threshold": 0}, "threshold"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(options, named):
    given = {"models": MODELS, "base_url": "http://127.0.0.1:1/v1", "fuse": 2, "filter": True}
    with pytest.raises(ConfigError, match=rf"^Expected memory\.{named} "):
        embedded(**(given | options))


# Programs


def test_the_idea_and_the_source_are_what_is_compared():
    first = program(1)
    assert text_of(first) == f"Take the nearest.\n\n{first.source}"
    assert text_of(replace(first, id="other", operator="m1", parents=("x",))) == text_of(first)
    assert text_of(replace(first, idea="\ud83d")) == f"?\n\n{first.source}"
    assert len(text_of(replace(first, source="x" * 10**6))) == LENGTH


def test_similarities_are_cosines():
    with FakeEmbeddingServer() as fake_server:
        compared = memory(fake_server)
        compared.judge(program(1))
        found = compared.judge(program(2)).similarity
    for label, model in MODELS.items():
        one, two = (vector(model, text_of(program(index))) for index in (1, 2))
        cosine = one @ two / np.sqrt((one @ one) * (two @ two))
        assert found[label] == pytest.approx(cosine, abs=2e-6)


def test_the_same_text_is_exactly_alike_and_embedded_once():
    with FakeEmbeddingServer(noise=0.1) as fake_server:
        compared = memory(fake_server)
        compared.judge(program(1))
        again = compared.judge(replace(program(1), id="lower-1-0002"))
    assert again.similarity == {"first": 1.0, "second": 1.0, "fused": 1.0}
    assert len(fake_server.embedded) == 2


def test_many_programs_go_in_batches_and_models_are_asked_at_once():
    with FakeEmbeddingServer(latency=0.1) as fake_server:
        compared = memory(fake_server, batch=4)
        verdict = compared.judge(program(0))
        for index in range(1, 10):
            verdict = compared.judge(program(index), known=verdict)
        assert fake_server.asked == []
        assert compared.judge(program(10)).nearest is not None
    sizes = [len(body["input"]) for body, _, _ in fake_server.asked if body["model"] == "small"]
    assert sizes == [4, 4, 3]
    assert len(fake_server.asked) == 6
    assert fake_server.busiest == 2


def test_an_interrupted_wait_ends_the_asking():
    with FakeEmbeddingServer(*["503"] * 99) as fake_server:
        compared = memory(fake_server, attempts=1000, deadline=3600, backoff=60, patience=60)
        compared.judge(program(1))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            compared.judge(program(2))
        with pytest.raises(TransportError, match="was closed"):
            compared.judge(program(3))
