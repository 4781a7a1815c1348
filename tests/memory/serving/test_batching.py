"""How texts of many requests come together, and what happens when a batch fails."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import numpy as np
import pytest

from specahd.core.serving import Batching
from specahd.memory.serving.app import Batcher
from specahd.memory.serving.protocol import ApiError


class Noted:
    """An encoder of lengths that notes its batches, waits until it may work, and may fail."""

    def __init__(self):
        self.batches = []
        self.fails = False
        self.may_work = threading.Event()
        self.may_work.set()

    def embed(self, texts, batch_size):
        self.batches.append(list(texts))
        assert self.may_work.wait(30)
        if self.fails:
            raise RuntimeError("no number")
        return np.float32([[len(text), ord(text[0])] for text in texts]), [*map(len, texts)]


@pytest.fixture
def noted():
    return Noted()


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


def test_what_arrives_while_the_model_works_goes_together(noted):
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
    for text, (vectors, tokens) in zip(texts, results, strict=True):
        assert vectors.tolist() == [[len(text), ord(text[0])]]
        assert tokens == len(text)


def test_a_lone_text_waits_no_longer_than_it_may(noted):
    async def alone():
        async with batching(noted, batch_size=64, wait_ms=200) as batcher:
            await batcher.embed(["warm"])
            begun = time.monotonic()
            await batcher.embed(["alone"])
            return time.monotonic() - begun

    assert 0.19 < asyncio.run(alone()) < 5


def test_the_queue_is_bounded_and_says_when_it_has_room(noted):
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


def test_texts_of_a_cancelled_request_are_passed_over(noted):
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


def test_a_failing_batch_fails_its_requests_and_no_others(noted):
    async def fail():
        async with batching(noted, batch_size=4, wait_ms=0) as batcher:
            noted.fails = True
            asked = [batcher.embed([text]) for text in "abcdef"]
            results = await asyncio.gather(*asked, return_exceptions=True)
            noted.fails = False
            vectors, _ = await batcher.embed(["g"])
            return results, batcher.waiting, vectors

    results, waiting, vectors = asyncio.run(fail())
    assert [str(result) for result in results] == ["no number"] * 6
    assert waiting == 0
    assert vectors.tolist() == [[1, ord("g")]]
