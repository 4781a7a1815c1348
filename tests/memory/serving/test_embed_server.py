"""The embedding server as its clients meet it: a process, a socket, the openai client."""

import asyncio
import json
import signal
import socket
import threading
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import openai
import pytest
from embedding_server import read_address, running, start

TEXTS = [f"Rule {i}: visit {'the nearest ' * (i % 7)}customer {i * i}." for i in range(64)]


@pytest.fixture(scope="module")
def server(tiny_models, tmp_path_factory):
    options = ["max_texts=100", "max_characters=2000", "batch_size=16"]
    place = tmp_path_factory.mktemp("server")
    with running(tiny_models, "bert", "other", "qwen", options=options, cwd=place) as process:
        yield process


@pytest.fixture(scope="module")
def patient(tiny_models, tmp_path_factory):
    """A server whose batches never fill, so that texts wait for a second."""
    options = ["max_texts=64", "queue=64", "batch_size=100", "wait_ms=1000"]
    place = tmp_path_factory.mktemp("patient")
    with running(tiny_models, "bert", options=options, cwd=place, end=signal.SIGINT) as process:
        yield process


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    openai_reads = ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
    for name in (*openai_reads, "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def client(server, kind=openai.OpenAI, **options):
    return kind(base_url=server.url, api_key="none", **options)


def vectors_of(response):
    assert [entry.index for entry in response.data] == list(range(len(response.data)))
    return np.array([entry.embedding for entry in response.data], dtype=np.float32)


def ask(server, path="/v1/embeddings", body=None, **fields):
    """Return status, headers and body of an answer, good or not."""
    if body is None and fields:
        body = json.dumps(fields).encode()
    try:
        with urlopen(Request(server.url.removesuffix("/v1") + path, body), timeout=60) as response:
            return response.status, response.headers, json.load(response)
    except HTTPError as refused:
        return refused.code, refused.headers, json.load(refused)


def test_several_models_answer_the_openai_client(server):
    with client(server) as service:
        assert [model.id for model in service.models.list()] == ["bert", "other", "qwen"]
        assert service.models.retrieve("qwen").id == "qwen"
        answers = {}
        for name in ("bert", "other", "qwen"):
            response = service.embeddings.create(model=name, input=TEXTS)
            answers[name] = vectors_of(response)
            assert response.model == name
            assert response.usage.prompt_tokens == response.usage.total_tokens
            assert response.usage.total_tokens == sum(min(len(text) + 2, 128) for text in TEXTS)
            assert answers[name].shape == (64, 32)
            np.testing.assert_allclose(np.linalg.norm(answers[name], axis=1), 1, atol=1e-6)
    assert np.abs(answers["bert"] - answers["other"]).max() > 0.01


def test_numbers_and_base64_are_the_same_vectors(server):
    with client(server) as service:
        # Without a format the client asks for base64.
        packed = vectors_of(service.embeddings.create(model="bert", input=TEXTS))
        plain = service.embeddings.create(model="bert", input=TEXTS, encoding_format="float")
    # The last bit of equal texts may differ from call to call, by the processor.
    np.testing.assert_allclose(packed, vectors_of(plain), rtol=0, atol=1e-6)


def test_dimensions_cut_the_vector_to_one_of_length_one(server):
    with client(server) as service:
        full = vectors_of(service.embeddings.create(model="bert", input="a rule"))
        cut = vectors_of(service.embeddings.create(model="bert", input="a rule", dimensions=8))
    expected = full[:, :8] / np.linalg.norm(full[:, :8])
    np.testing.assert_allclose(cut, expected, rtol=0, atol=1e-6)


def test_64_clients_share_batches_and_each_gets_its_own_vector(server, patient):
    async def all_at_once():
        async with client(patient, openai.AsyncOpenAI) as service:
            asked = (service.embeddings.create(model="bert", input=text) for text in TEXTS)
            return np.concatenate([*map(vectors_of, await asyncio.gather(*asked))])

    with client(server) as service:
        alone = [service.embeddings.create(model="bert", input=text) for text in TEXTS[:8]]
        several = service.embeddings.create(model="bert", input=TEXTS)
    before = counts(patient)
    together = asyncio.run(all_at_once())
    after = counts(patient)
    np.testing.assert_allclose(together, vectors_of(several), rtol=0, atol=1e-6)
    np.testing.assert_allclose(together[:8], np.concatenate([*map(vectors_of, alone)]), atol=1e-6)
    assert after["embedded"] - before["embedded"] == 64
    # One, unless this machine takes seconds to send them.
    assert after["batches"] - before["batches"] <= 8


REFUSED = {
    "no JSON": (b"{", 400, None),
    "no object": (b"[]", 400, None),
    "half a letter": (b'{"model": "bert", "input": "\\ud800"}', 400, None),
    "no model": ({"input": "a"}, 400, "model"),
    "no input": ({"model": "bert"}, 400, "input"),
    "tokens": ({"model": "bert", "input": [[1, 2]]}, 400, "input"),
    "nothing": ({"model": "bert", "input": []}, 400, "input"),
    "an empty text": ({"model": "bert", "input": ["a", ""]}, 400, "input"),
    "no such format": ({"model": "bert", "input": "a", "encoding_format": "int8"}, 400, None),
    "no dimension": ({"model": "bert", "input": "a", "dimensions": 0}, 400, "dimensions"),
    "too many dimensions": ({"model": "bert", "input": "a", "dimensions": 33}, 400, "dimensions"),
    "an unknown field": ({"model": "bert", "input": "a", "truncate": True}, 400, "truncate"),
    "an unknown model": ({"model": "gpt", "input": "a"}, 404, "model"),
    "too many texts": ({"model": "bert", "input": ["a"] * 101}, 413, "input"),
    "too long a text": ({"model": "bert", "input": "a" * 2001}, 413, "input"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request_is_refused_as_openai_does(server, name):
    body, status, param = REFUSED[name]
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    got, headers, content = ask(server, body=body)
    assert got == status
    assert headers["Content-Type"] == "application/json"
    error = content["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert param in (None, error["param"])
    assert len(error["message"]) < 300
    assert ask(server, model="bert", input="a")[0] == 200


def test_another_address_is_not_found_and_an_unknown_model_says_what_there_is(server):
    assert ask(server, "/v1/completions")[2]["error"]["message"] == "Not Found."
    with client(server) as service, pytest.raises(openai.NotFoundError) as refusal:
        service.models.retrieve("gpt")
    assert refusal.value.code == "model_not_found"
    assert "bert, other, qwen" in refusal.value.message


def test_a_full_queue_says_when_to_come_again(patient):
    first = threading.Thread(target=ask, args=(patient,), kwargs=batch(64))
    first.start()
    wait_until(lambda: waiting(patient) == 64)
    status, headers, content = ask(patient, model="bert", input="a")
    assert (status, content["error"]["type"]) == (429, "rate_limit_error")
    assert int(headers["Retry-After"]) == 1
    # The client waits as it is told, and gets its vector in the end.
    with client(patient) as service:
        assert service.embeddings.create(model="bert", input="a").data
    first.join()
    assert waiting(patient) == 0


def test_who_goes_away_leaves_the_queue_without_being_embedded(patient):
    body = json.dumps(batch(8)).encode()
    head = f"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    before = counts(patient)
    with socket.create_connection(("127.0.0.1", patient.port)) as connection:
        connection.sendall(head.encode() + body)
        wait_until(lambda: waiting(patient) == 8)
    wait_until(lambda: waiting(patient) == 0)
    assert counts(patient) == before
    assert ask(patient, model="bert", input="a")[0] == 200


def test_a_killed_server_starts_again_and_a_signal_lets_a_request_finish(tiny_models, tmp_path):
    with running(tiny_models, "bert", cwd=tmp_path) as server:
        first = ask(server, **batch(8))[2]["data"]
        server.kill()
        server.wait()
        with pytest.raises(OSError, match="refused"):
            ask(server, **batch(8))
    options = [f"port={server.port}", "wait_ms=1000", "batch_size=64"]
    answers = []
    with start(tiny_models, "bert", options=options, cwd=tmp_path) as again:
        # Who comes before the models are loaded is served when they are.
        wait_until(lambda: listens(server.port))
        request = threading.Thread(target=lambda: answers.append(ask(server, **batch(8))))
        request.start()
        read_address(again)
        wait_until(lambda: waiting(server) == 8)
        again.terminate()
        request.join()
        assert again.wait(timeout=30) == 0
        assert again.stderr.read() == ""
    [(status, _, content)] = answers
    assert (status, content["data"]) == (200, first)
    assert list(tmp_path.iterdir()) == []


def batch(count):
    return {"model": "bert", "input": TEXTS[:count]}


def counts(server):
    return ask(server, "/health")[2]["models"]["bert"]


def waiting(server):
    return counts(server)["waiting"]


def listens(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
