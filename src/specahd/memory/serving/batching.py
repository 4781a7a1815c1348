"""Dynamic batching: a model encodes the texts of many requests together."""

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from specahd.core.serving import Batching
from specahd.memory.serving.models import SentenceEncoder, Vectors
from specahd.memory.serving.protocol import ApiError

# Number of batches whose texts are passed to the model at once; it sorts them by length.
_WINDOW = 4
_LONGEST_WAIT = 60


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    result: asyncio.Future[tuple[Vectors, int]]


class Batcher:
    """Batches the texts of concurrent requests to one model.

    It runs in the event loop. Texts that arrive while the model works wait for the next batch.

    Parameters
    ----------
    encoder
        The model.
    device
        The executor, which runs one model at a time; the batchers of one device share it.
    batching
        The size of batches, and the longest wait for a full one.

    Attributes
    ----------
    waiting : int
        Number of texts that wait or are being embedded.
    embedded, batches : int
        Number of texts that were embedded, and number of their batches.
    """

    def __init__(self, encoder: SentenceEncoder, device: Executor, batching: Batching) -> None:
        self.encoder = encoder
        self.waiting = 0
        self.embedded = 0
        self.batches = 0
        self._device = device
        self._batching = batching
        self._arrived: asyncio.Queue[_Text] = asyncio.Queue()
        self._seconds_per_text = 0.0
        self._worker: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether the batcher serves: it was started, and has not stopped or failed."""
        return self._worker is not None and not self._worker.done()

    def start(self) -> None:
        """Start serving; call this in the event loop."""
        self._worker = asyncio.create_task(self._serve())

    async def close(self) -> None:
        """Stop serving; call this after the last request."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])

    async def embed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Return the vectors of the texts, and the number of their tokens.

        Texts whose request was cancelled are skipped.

        Raises
        ------
        ApiError
            The queue has no room for the texts.
        RuntimeError
            The model failed on a batch.
        """
        if self.waiting + len(texts) > self._batching.queue:
            seconds = math.ceil(self.waiting * self._seconds_per_text)
            message = f"{self.waiting} texts wait for the model; ask again later."
            headers = {"Retry-After": str(min(max(seconds, 1), _LONGEST_WAIT))}
            raise ApiError(429, message, None, "queue_full", headers)
        loop = asyncio.get_running_loop()
        entries = [_Text(text, loop.create_future()) for text in texts]
        for entry in entries:
            self._arrived.put_nowait(entry)
        self.waiting += len(entries)
        results = await asyncio.gather(*(entry.result for entry in entries))
        return np.stack([vector for vector, _ in results]), sum(count for _, count in results)

    async def _serve(self) -> None:
        while True:
            entries = await self._collect()
            if wanted := [entry for entry in entries if not entry.result.done()]:
                await self._embed(wanted)
            self.waiting -= len(entries)

    async def _collect(self) -> list[_Text]:
        """Return the waiting texts as soon as a batch is full or the first has waited enough."""
        size = self._batching.batch_size
        taken = [await self._arrived.get()]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._batching.wait_ms / 1000):
                while len(taken) < size:
                    taken.append(await self._arrived.get())
        while len(taken) < _WINDOW * size and not self._arrived.empty():
            taken.append(self._arrived.get_nowait())
        return taken

    async def _embed(self, entries: list[_Text]) -> None:
        texts, size = [entry.text for entry in entries], self._batching.batch_size
        begun = time.perf_counter()
        work = asyncio.get_running_loop().run_in_executor(
            self._device, self.encoder.embed, texts, size
        )
        # Not `await work`: an error is passed to these requests, and later ones are served.
        await asyncio.wait([work])
        if error := work.exception():
            for entry in entries:
                if not entry.result.done():
                    entry.result.set_exception(error)
            return
        self._seconds_per_text = (time.perf_counter() - begun) / len(texts)
        self.embedded += len(texts)
        self.batches += math.ceil(len(texts) / size)
        for entry, vector, count in zip(entries, *work.result(), strict=True):
            if not entry.result.done():
                entry.result.set_result((vector, count))
