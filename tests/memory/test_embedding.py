"""Vectors from a server that misbehaves, and the programs that they compare."""

import logging
import os
import signal
import socket
import threading
import time
import traceback
from dataclasses import replace

import numpy as np
import pytest
from embedded_programs import MODELS, QUICK, memory, program
from fake_embedding_server import DIMENSION, FAULTS, REFUSALS, FakeEmbeddingServer, vector

from specahd.core.errors import ConfigError, FileError, ServiceError, TransportError
from specahd.llm.keys import KEY_FILE
from specahd.memory.embedding import LENGTH, embedded, text_of
from specahd.memory.endpoint import Endpoint

CANARY = "sk-canary-0123456789abcdef"
PATIENT = 0.7  # seconds: short for a test, long for an answer on a busy machine


@pytest.fixture(autouse=True)
def _no_key_file(monkeypatch):
    monkeypatch.delenv(KEY_FILE, raising=False)


def asked(fake_server, *texts, dimension=None, **options):
    endpoint = Endpoint(fake_server.url, **(QUICK | options))
    return endpoint.embed(endpoint.service("small", "memory.models.first"), texts, dimension)


def refused(fake_server, **options):
    with pytest.raises(ServiceError) as refusal:
        memory(fake_server, **options).preflight()
    [line] = str(refusal.value).splitlines()
    return line


# Vectors


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
    with FakeEmbeddingServer(behaviour, stall=2.0) as fake_server:
        found = asked(
            fake_server,
            "a",
            "b",
            dimension=DIMENSION,
            timeout=PATIENT if behaviour == "silence" else 5.0,
        )
    assert (found == np.float32([vector("small", "a"), vector("small", "b")])).all()
    assert fake_server.behaviours == [behaviour, "good"]


@pytest.mark.parametrize("behaviour", FAULTS)
def test_a_fault_that_stays_ends_the_asking_with_one_sentence(behaviour):
    with FakeEmbeddingServer(*[behaviour] * 9, stall=2.0) as fake_server:
        timeout = PATIENT if behaviour == "silence" else 5.0
        with pytest.raises(
            TransportError, match=r"^small at 127.0.0.1:\d+ gave no vectors: .*[.]$"
        ):
            asked(fake_server, "a", "b", dimension=DIMENSION, attempts=2, timeout=timeout)
    assert fake_server.behaviours == [behaviour] * 2


def test_vectors_of_another_length_name_the_cache():
    with FakeEmbeddingServer(dimension=64) as fake_server, pytest.raises(TransportError) as fault:
        asked(fake_server, "a", dimension=DIMENSION)
    assert "vectors of 64 numbers after others of 128" in str(fault.value)
    assert "memory.cache" in str(fault.value)


def test_a_server_that_comes_late_is_waited_for():
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", attempts=50, backoff=0.1, patience=0.1)
    found = []
    service = endpoint.service("small", "memory.models.first")
    waiting = threading.Thread(target=lambda: found.append(endpoint.embed(service, ["a"], None)))
    waiting.start()
    time.sleep(0.3)
    assert waiting.is_alive()
    with FakeEmbeddingServer(port=port):
        waiting.join(10)
    assert (found[0] == np.float32([vector("small", "a")])).all()


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (
            "400",
            "HOST rejects the request for small with status 400 (the text is too long; sent with "
            "***); correct memory.options or memory.models.first.",
        ),
        ("401", "HOST rejects the key in A_KEY; put a valid one there."),
        ("403", "HOST denies small to the key in A_KEY; use another key or model."),
        (
            "404",
            "HOST has no model small, or memory.base_url is not its address (status 404); "
            "correct one of them.",
        ),
    ],
)
def test_a_refusal_is_one_sentence_and_final(behaviour, sentence, monkeypatch):
    monkeypatch.setenv("A_KEY", CANARY)
    with FakeEmbeddingServer(behaviour) as fake_server, pytest.raises(ServiceError) as refusal:
        asked(fake_server, "a", api_key_env="A_KEY")
    assert str(refusal.value) == sentence.replace("HOST", fake_server.url[7:-3])
    assert fake_server.behaviours == [behaviour]


@pytest.mark.parametrize("behaviour", dict.fromkeys([*REFUSALS, *FAULTS]))
def test_the_key_is_told_to_nobody_but_the_server(behaviour, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("A_KEY", CANARY)
    monkeypatch.setattr("specahd.llm.service_client.PREFLIGHT", 0.3)
    told = []
    with FakeEmbeddingServer(*[behaviour] * 9, lists=False, stall=0.5) as fake_server:
        endpoint = Endpoint(fake_server.url, "A_KEY", **(QUICK | {"attempts": 2, "timeout": 0.3}))
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


def test_preflight_names_what_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setenv("A_KEY", CANARY)
    with FakeEmbeddingServer(models=("tiny", "large")) as fake_server:
        host = fake_server.url[7:-3]
        assert refused(fake_server) == (
            f"{host} has no model small; set memory.models.first to one of its own: tiny, large."
        )
    with FakeEmbeddingServer(key=CANARY) as fake_server:
        assert "wants a key; set memory.api_key_env" in refused(fake_server)
        memory(fake_server, api_key_env="A_KEY").preflight()
    with FakeEmbeddingServer() as fake_server:
        (tmp_path / "file").touch()
        with pytest.raises(FileError, match=r"memory\.cache to a folder of yours, or to null"):
            memory(fake_server, cache=str(tmp_path / "file")).preflight()


def test_preflight_says_how_to_start_a_server(caplog):
    with FakeEmbeddingServer() as fake_server:
        pass
    assert refused(fake_server) == (
        f"No embedding server answers at {fake_server.url} (no connection ([Errno 111] Connection "
        "refused)); start one with python -m specahd.embed, wait until it has loaded its models, "
        "or choose memory=structural."
    )
    # A log would leave a run directory behind.
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": {}}, "Expected memory.models to name one model or more"),
        ({"models": {"first": None}}, "Expected memory.models to name one model or more"),
        ({"models": "small"}, "Expected memory.models to name one model or more"),
        ({"base_url": "127.0.0.1/v1"}, "Expected memory.base_url to be http"),
        ({"base_url": "http://user:secret@host/v1"}, "without user, password and query"),
        ({"api_key_env": "sk-1"}, "Expected memory.api_key_env to name an environment variable"),
        ({"api_key_env": "NO_SUCH"}, "NO_SUCH.*memory=structural needs no key"),
        ({"batch": 0}, "Expected memory.batch of at least 1, got 0"),
        ({"batch": 1.5}, "Expected memory.batch of at least 1, got 1.5"),
        ({"timeout": float("nan")}, "Expected memory.timeout of at least 0.001, got nan"),
        ({"attempts": 0}, "Expected memory.attempts of at least 1, got 0"),
        ({"backoff": -1}, "Expected memory.backoff of at least 0, got -1"),
        ({"patience": "long"}, "Expected memory.patience of at least 0, got 'long'"),
        ({"options": {"input": 1}}, "Expected memory.options without input"),
        ({"cache": 7}, "Expected memory.cache to be a folder or null, got 7"),
        ({"fuse": 3}, "Expected memory.fuse"),
        ({"threshold": 0}, "Expected memory.threshold"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(options, message):
    given = {"models": MODELS, "base_url": "http://127.0.0.1:1/v1", "fuse": 2, "filter": True}
    with pytest.raises(ConfigError, match=message):
        embedded(**(given | options))


# Programs


def test_the_idea_and_the_source_are_what_is_compared():
    first = program(1)
    assert text_of(first) == f"Take the nearest.\n\n{first.source}"
    assert text_of(replace(first, id="other", operator="m1", parents=("x",))) == text_of(first)
    assert text_of(replace(first, idea="\ud83d")) == f"?\n\n{first.source}"
    assert len(text_of(replace(first, source="x" * 10**6))) == LENGTH


def test_a_near_program_is_a_duplicate_and_a_far_one_is_not():
    near = "def f(a, b):\n    return sorted(a, key=lambda k: k * 1)[1 % b] + 0\n"
    far = "def f(a, b):\n    c = min(a) - max(b)\n    return c if c > 2 else a[b]\n"
    with FakeEmbeddingServer() as fake_server:
        judge = memory(fake_server, threshold=0.98).judge
        judge(program(1))
        verdicts = [judge(program(2, near)), judge(program(3, far))]
    assert [verdict.duplicate_of for verdict in verdicts] == ["lower-1-0001", None]
    for verdict in verdicts:
        assert set(verdict.similarity) == {"first", "second", "fused"}
        mean = (verdict.similarity["first"] + verdict.similarity["second"]) / 2
        assert verdict.similarity["fused"] == pytest.approx(mean, abs=1e-6)


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
    with FakeEmbeddingServer(latency=0.3) as fake_server:
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
        compared = memory(fake_server, attempts=1000, backoff=60, patience=60)
        compared.judge(program(1))
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            compared.judge(program(2))
        with pytest.raises(TransportError, match="was closed"):
            compared.judge(program(3))
