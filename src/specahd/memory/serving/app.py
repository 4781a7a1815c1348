"""The embedding server: routes, limits, and a graceful shutdown."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from specahd.core.errors import ConfigError
from specahd.core.serving import Batching, RequestLimits
from specahd.memory.serving.batching import Batcher
from specahd.memory.serving.models import SentenceEncoder, Vectors
from specahd.memory.serving.protocol import (
    ApiError,
    error_body,
    model_entry,
    parse_request,
    response_body,
)

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
    """Embed the texts; stop if the client disconnects.

    Raises
    ------
    ClientDisconnect
        The client disconnected.
    """
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
