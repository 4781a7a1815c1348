"""Dynamic batching: texts of many requests go through a model together."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from specahd.core.serving import Batching
from specahd.memory.serving.models import SentenceEncoder, Vectors

# So many batches' worth of waiting texts are sorted by length together.
_WINDOW = 4
# A batch's longest text has at most so many times the characters of its shortest, and some more:
# a text that is padded to a length costs what one of that length does.
_PADDING = 1.5
_SLACK = 64
_IN_FLIGHT = 2
_LONGEST_WAIT = 60


class QueueFull(Exception):
    """So many texts wait that more are refused; ``retry_after`` is in seconds."""

    def __init__(self, waiting: int, retry_after: int) -> None:
        super().__init__(f"{waiting} texts wait for the model; ask again later.")
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    result: asyncio.Future[tuple[Vectors, int]]


class Batcher:
    """Puts the texts of concurrent requests to one model, in batches of similar length.

    It lives in the event loop. While a batch is on the device, the next is tokenised; what
    arrives meanwhile waits and makes the batch after that.

    Parameters
    ----------
    encoder
        The model.
    device
        Runs one batch at a time; batchers whose models are on one device share it.
    batching
        How large batches are, and how long they are waited for.

    Attributes
    ----------
    waiting : int
        Texts that wait or are being embedded.
    embedded, batches : int
        Texts that were embedded, and the batches that they made.
    """

    def __init__(self, encoder: SentenceEncoder, device: Executor, batching: Batching) -> None:
        self.encoder = encoder
        self.waiting = 0
        self.embedded = 0
        self.batches = 0
        self._device = device
        self._batching = batching
        self._tokeniser = ThreadPoolExecutor(1, thread_name_prefix="tokeniser")
        self._arrived: asyncio.Queue[_Text] = asyncio.Queue()
        self._ready: deque[list[_Text]] = deque()
        self._slots = asyncio.Semaphore(_IN_FLIGHT)
        self._running: set[asyncio.Task[None]] = set()
        self._seconds_per_text = 0.0
        self._dispatcher: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether texts that come now will be embedded."""
        return self._dispatcher is not None and not self._dispatcher.done()

    def start(self) -> None:
        """Begin to serve; call it in the event loop."""
        self._dispatcher = asyncio.create_task(self._dispatch())

    async def close(self) -> None:
        """Stop; the requests are over."""
        if self._dispatcher is not None:
            self._dispatcher.cancel()
            await asyncio.wait([self._dispatcher, *self._running])
        self._tokeniser.shutdown()

    async def embed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Return the vectors of the texts and the tokens that were read.

        Texts whose request was cancelled are passed over.

        Raises
        ------
        QueueFull
            More texts would wait than may.
        RuntimeError
            The model failed on a batch.
        """
        if self.waiting + len(texts) > self._batching.queue:
            seconds = math.ceil(self.waiting * self._seconds_per_text)
            raise QueueFull(self.waiting, min(max(seconds, 1), _LONGEST_WAIT))
        loop = asyncio.get_running_loop()
        entries = [_Text(text, loop.create_future()) for text in texts]
        for entry in entries:
            self._arrived.put_nowait(entry)
        self.waiting += len(entries)
        results = await asyncio.gather(*(entry.result for entry in entries))
        return np.stack([vector for vector, _ in results]), sum(count for _, count in results)

    async def _dispatch(self) -> None:
        while True:
            await self._slots.acquire()
            batch = await self._collect()
            task = asyncio.create_task(self._run(batch))
            self._running.add(task)
            task.add_done_callback(partial(self._settle, batch))

    async def _collect(self) -> list[_Text]:
        """Return the next batch: when it is full, or when its first text has waited."""
        size = self._batching.batch_size
        if not self._ready:
            taken = [await self._arrived.get()]
            with suppress(TimeoutError):
                async with asyncio.timeout(self._batching.wait_ms / 1000):
                    while len(taken) < size:
                        taken.append(await self._arrived.get())
            while len(taken) < _WINDOW * size and not self._arrived.empty():
                taken.append(self._arrived.get_nowait())
            self._ready.extend(_cut(taken, size))
        return self._ready.popleft()

    async def _run(self, batch: list[_Text]) -> None:
        wanted = [entry for entry in batch if not entry.result.done()]
        if not wanted:
            return
        loop = asyncio.get_running_loop()
        texts = [entry.text for entry in wanted]
        features, tokens = await loop.run_in_executor(self._tokeniser, self.encoder.tokenise, texts)
        vectors, seconds = await loop.run_in_executor(self._device, self._timed, features)
        self._seconds_per_text = seconds / len(wanted)
        self.embedded += len(wanted)
        self.batches += 1
        for entry, vector, count in zip(wanted, vectors, tokens, strict=True):
            if not entry.result.done():
                entry.result.set_result((vector, count))

    def _timed(self, features: object) -> tuple[Vectors, float]:
        begun = time.perf_counter()
        return self.encoder.embed(features), time.perf_counter() - begun

    def _settle(self, batch: list[_Text], task: asyncio.Task[None]) -> None:
        """Make room for the next batch, and tell the requests of this one how it failed."""
        self._running.discard(task)
        self._slots.release()
        self.waiting -= len(batch)
        error = None if task.cancelled() else task.exception()
        for entry in batch:
            if error is not None and not entry.result.done():
                entry.result.set_exception(error)


def _cut(texts: Sequence[_Text], size: int) -> Iterator[list[_Text]]:
    """Sort texts by length, and cut them to batches that need little padding."""
    batch: list[_Text] = []
    for entry in sorted(texts, key=lambda entry: len(entry.text)):
        longest = _PADDING * len(batch[0].text) + _SLACK if batch else 0
        if batch and (len(batch) == size or len(entry.text) > longest):
            yield batch
            batch = []
        batch.append(entry)
    yield batch
