"""Connections that end: how many there are, and how long a client may take."""

import asyncio
import json
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from specahd.memory.serving.protocol import ApiError, error_body


class BoundedConnection(H11Protocol):
    """A connection whose client has so many seconds to send a request, and to take an answer.

    uvicorn bounds only the pause between two requests. Here seconds count from the connection, or
    from the first byte of a later request, to the last byte, however many come in between; and
    while a client does not take its answer.

    Attributes
    ----------
    seconds : float
        How long a client may take.
    most : int
        How many connections may be open.
    """

    seconds: float
    most: int

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        if len(self.connections) > self.most:
            self._refuse(503, f"There are {self.most} connections already; ask again later.")
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        in_body = self.conn.their_state is h11.SEND_BODY
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
            return
        if in_body and self.conn.their_state is h11.IDLE:
            # The end of a body that was refused before.
            self._stop()
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # A body that is refused is read on for a while: its client may read no answer before.
        if self.conn.their_state is h11.SEND_BODY:
            self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._close()

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self._end)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refuse(408, f"Expected a whole request within {self.seconds:g} seconds.")
        self._close()

    def _close(self) -> None:
        # close() would wait for ever for a client that does not read.
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps(error_body(ApiError(status, message))).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        reason = HTTPStatus(status).phrase
        response = h11.Response(status_code=status, headers=headers, reason=reason)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
