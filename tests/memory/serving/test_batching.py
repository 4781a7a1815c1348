"""How texts of many requests come together, and what happens when a batch fails."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest

from specahd.core.serving import Batching, RequestLimits
from specahd.memory.serving.batching import Batcher
from specahd.memory.serving.models import ModelFolder, load
from specahd.memory.serving.protocol import ApiError


@pytest.fixture(scope="module")
def encoder(tiny_models):
    return load(ModelFolder("bert", tiny_models / "bert"), "cpu")


class Noted:
    """An encoder that notes its batches, and waits until it may work."""

    def __init__(self, encoder):
        self.encoder = encoder
        self.batches = []
        self.may_work = threading.Event()
        self.may_work.set()

    def embed(self, texts, batch_size):
        self.batches.append(list(texts))
        assert self.may_work.wait(30)
        return self.encoder.embed(texts, batch_size)


@asynccontextmanager
async def batching(encoder, **options):
    with ThreadPoolExecutor(1) as device:
        batcher = Batcher(encoder, device, Batching(**options))
        batcher.start()
        assert batcher.alive
        try:
            yield batcher
        finally:
            await batcher.close()
            assert not batcher.alive


@contextmanager
def broken(encoder):
    """Let the model give what is no number, as half precision may."""
    parameter = next(encoder._model.parameters())
    kept = parameter.data.clone()
    parameter.data.fill_(float("nan"))
    yield
    parameter.data.copy_(kept)


def test_what_arrives_while_the_model_works_goes_together(encoder):
    noted = Noted(encoder)
    texts = [chr(97 + i) * length for i, length in enumerate([10, 90, 11, 120, 60])]

    async def crowd():
        async with batching(noted, batch_size=1, wait_ms=0) as batcher:
            noted.may_work.clear()
            asking = [asyncio.create_task(batcher.embed(["one"]))]
            while not noted.batches:
                await asyncio.sleep(0.001)
            asking += [asyncio.create_task(batcher.embed([text])) for text in texts]
            await asyncio.sleep(0.01)
            assert noted.batches == [["one"]]
            noted.may_work.set()
            return await asyncio.gather(*asking), batcher.batches

    (_, *results), batches = asyncio.run(crowd())
    assert noted.batches[1:] == [texts[:4], texts[4:]]
    assert batches == 6
    expected, _ = encoder.embed(texts)
    np.testing.assert_allclose(
        np.concatenate([vectors for vectors, _ in results]), expected, rtol=0, atol=1e-6
    )
    assert [tokens for _, tokens in results] == [len(text) + 2 for text in texts]


def test_a_lone_text_waits_no_longer_than_it_may(encoder):
    async def alone():
        async with batching(encoder, batch_size=64, wait_ms=200) as batcher:
            await batcher.embed(["warm"])
            begun = time.monotonic()
            await batcher.embed(["alone"])
            return time.monotonic() - begun

    assert 0.19 < asyncio.run(alone()) < 5


def test_the_queue_is_bounded_and_says_when_it_has_room(encoder):
    noted = Noted(encoder)

    async def fill():
        async with batching(noted, batch_size=4, wait_ms=0, queue=10) as batcher:
            noted.may_work.clear()
            running = asyncio.create_task(batcher.embed(["a"] * 8))
            await asyncio.sleep(0)
            with pytest.raises(ApiError, match="8 texts wait") as full:
                await batcher.embed(["b"] * 3)
            noted.may_work.set()
            await running
            return full.value.headers, batcher.waiting, await batcher.embed(["b"] * 3)

    headers, waiting, (vectors, _) = asyncio.run(fill())
    assert (headers, waiting, len(vectors)) == ({"Retry-After": "1"}, 0, 3)


def test_texts_of_a_cancelled_request_are_passed_over(encoder):
    noted = Noted(encoder)

    async def cancel():
        async with batching(noted, batch_size=8, wait_ms=100) as batcher:
            gone = asyncio.create_task(batcher.embed(["gone"] * 3))
            kept = asyncio.create_task(batcher.embed(["kept"]))
            await asyncio.sleep(0)
            gone.cancel()
            await kept
            await asyncio.sleep(0)
            return batcher.waiting

    assert asyncio.run(cancel()) == 0
    assert noted.batches == [["kept"]]


def test_a_failing_batch_fails_its_requests_and_no_others(encoder):
    async def fail():
        async with batching(encoder, batch_size=4, wait_ms=0) as batcher:
            with broken(encoder):
                results = await asyncio.gather(
                    *(batcher.embed([text]) for text in "abcdef"), return_exceptions=True
                )
            vectors, _ = await batcher.embed(["g"])
            return results, batcher.waiting, vectors

    results, waiting, vectors = asyncio.run(fail())
    assert [str(result) for result in results] == ["bert gave a vector that is not finite."] * 6
    assert waiting == 0
    assert np.isfinite(vectors).all()


def test_a_failing_model_is_an_error_of_the_server_which_goes_on(encoder):
    uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is missing: the extra embed")
    from specahd.memory.serving.app import listen, make_app

    listener = listen("127.0.0.1", 0)
    app = make_app([encoder], RequestLimits(8, 100), Batching())
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    body = b'{"model": "bert", "input": "a"}'
    with broken(encoder), pytest.raises(HTTPError) as failure:
        urlopen(f"{url}/v1/embeddings", body, timeout=30)
    assert failure.value.code == 500
    error = json.load(failure.value)["error"]
    assert (error["type"], error["message"]) == ("server_error", "The model failed: RuntimeError.")
    assert urlopen(f"{url}/v1/embeddings", body, timeout=30).status == 200
    assert json.load(urlopen(f"{url}/health", timeout=30))["status"] == "ok"
    server.should_exit = True
    thread.join()
