"""The embedding server: routes, limits, and a graceful shutdown."""

import asyncio
import math
import signal
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from specahd.core.errors import ConfigError
from specahd.core.serving import Batching, RequestLimits
from specahd.memory.serving.models import SentenceEncoder, Vectors
from specahd.memory.serving.protocol import (
    ApiError,
    error_body,
    model_entry,
    parse_request,
    response_body,
)

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


_DRAIN = 300
"""Seconds that running requests have to finish after a signal."""
_IDLE = 60
"""Seconds before an idle connection is closed: longer than clients keep theirs open."""
_GONE = 499


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; an early client waits until the models are loaded.

    Raises
    ------
    ConfigError
        The port is in use, or the host is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(
            f"Cannot listen at {host}:{port}: {error.strerror}; set host and port to what is free."
        ) from None


def serve(app: FastAPI, listener: socket.socket, connections: int) -> None:
    """Serve until SIGTERM or Ctrl-C; running requests are then answered."""
    # uvicorn raises the signal again after its shutdown; the handlers ignore that one.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    make_server(app, connections).run(sockets=[listener])


def make_server(app: FastAPI, connections: int) -> uvicorn.Server:
    """Return a server of the application; it serves at most ``connections`` connections at once."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="on",
        limit_concurrency=connections,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_DRAIN,
    )
    return uvicorn.Server(config)


def make_app(
    encoders: Sequence[SentenceEncoder],
    limits: RequestLimits,
    batching: Batching,
    timeout: float = 30.0,
) -> FastAPI:
    """Return the application that serves the encoders, all on one device.

    The body of a request must arrive within ``timeout`` seconds.
    """
    device = ThreadPoolExecutor(1, thread_name_prefix="device")
    service = EmbeddingService(
        {encoder.name: Batcher(encoder, device, batching) for encoder in encoders},
        limits,
        timeout,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for batcher in service.batchers.values():
            batcher.start()
        yield
        for batcher in service.batchers.values():
            await batcher.close()
        device.shutdown()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.add_api_route("/health", service.health, response_model=None)
    app.add_api_route("/v1/models", service.models, response_model=None)
    app.add_api_route("/v1/models/{name:path}", service.model, response_model=None)
    app.add_api_route("/v1/embeddings", service.embeddings, methods=["POST"], response_model=None)
    for kind in (ApiError, ClientDisconnect, HTTPException, Exception):
        app.add_exception_handler(kind, _refuse)
    return app


class EmbeddingService:
    """Handlers of the server's requests."""

    def __init__(
        self, batchers: Mapping[str, Batcher], limits: RequestLimits, timeout: float
    ) -> None:
        self.batchers = batchers
        self._limits = limits
        self._timeout = timeout

    async def health(self) -> Response:
        """Return the state of each model; the status is 503 if a model no longer serves."""
        alive = all(batcher.alive for batcher in self.batchers.values())
        models = {
            name: {
                "device": batcher.encoder.device,
                "dtype": batcher.encoder.dtype,
                "waiting": batcher.waiting,
                "embedded": batcher.embedded,
                "batches": batcher.batches,
            }
            for name, batcher in self.batchers.items()
        }
        content = {"status": "ok" if alive else "failed", "models": models}
        return JSONResponse(content, 200 if alive else 503)

    async def models(self) -> dict[str, Any]:
        """List the models."""
        entries = [model_entry(batcher.encoder) for batcher in self.batchers.values()]
        return {"object": "list", "data": entries}

    async def model(self, name: str) -> dict[str, Any]:
        """Describe one model."""
        return model_entry(self._batcher(name).encoder)

    async def embeddings(self, request: Request) -> Response:
        """Embed the texts of a request."""
        asked, texts = parse_request(await self._body(request), self._limits)
        batcher = self._batcher(asked.model)
        dimension = batcher.encoder.dimension
        if asked.dimensions is not None and not 1 <= asked.dimensions <= dimension:
            message = f"Expected dimensions in [1, {dimension}], got {asked.dimensions}."
            raise ApiError(400, message, "dimensions")
        vectors, tokens = await _while_connected(request, batcher, texts)
        return JSONResponse(response_body(asked, vectors, tokens))

    async def _body(self, request: Request) -> bytearray:
        most = self._limits.body
        too_long = ApiError(413, f"Expected a body of at most {most} bytes.")
        if int(request.headers.get("content-length", 0)) > most:
            raise too_long
        body = bytearray()
        try:
            async with asyncio.timeout(self._timeout):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > most:
                        raise too_long
        except TimeoutError:
            message = f"Expected a whole request within {self._timeout:g} seconds."
            raise ApiError(408, message, headers={"Connection": "close"}) from None
        return body

    def _batcher(self, name: str) -> Batcher:
        if name not in self.batchers:
            served = ", ".join(self.batchers)
            message = f"There is no model {name[:80]!r} here; served: {served}."
            raise ApiError(404, message, "model", "model_not_found")
        return self.batchers[name]


async def _while_connected(
    request: Request, batcher: Batcher, texts: Sequence[str]
) -> tuple[Vectors, int]:
    """Embed the texts; stop if the client disconnects."""
    work = asyncio.create_task(batcher.embed(texts))
    # The only message after the body is that the client disconnected.
    gone = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([work, gone], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        return work.result()
    finally:
        work.cancel()
        gone.cancel()


async def _refuse(_: Request, error: Exception) -> Response:
    match error:
        case ClientDisconnect():
            return Response(status_code=_GONE)
        case ApiError():
            refusal = error
        case HTTPException():
            refusal = ApiError(error.status_code, f"{error.detail}.", headers=error.headers)
        case _:
            # A bug or a failing device; the server's log holds the traceback.
            refusal = ApiError(500, f"The model failed: {type(error).__name__}.")
    return JSONResponse(error_body(refusal), refusal.status, refusal.headers)
