"""One child's pipe as its parent sees it: it never blocks on a child that does not read."""

import select
import socket
import time

from specahd.sandbox.wire import Frame, FrameReader

_CHUNK = 1 << 18


class ChannelClosed(Exception):
    """The other end is gone, and every frame that it sent has been read."""


class ChannelStalled(Exception):
    """No frame came in time."""


class FrameChannel:
    """Frames in both directions over one socket."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._reader = FrameReader()
        self._outgoing = bytearray()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    @property
    def backlog(self) -> int:
        """Bytes that wait to be sent."""
        return len(self._outgoing)

    def send(self, data: bytes) -> None:
        """Send what the pipe takes now; :meth:`receive` sends the rest."""
        self._outgoing += data
        self._flush()

    def receive(self, seconds: float) -> Frame:
        """Wait for the next frame.

        Raises
        ------
        ChannelClosed, ChannelStalled
            No frame will come, or none came within ``seconds``.
        WireError
            What came is no frame.
        """
        deadline = time.monotonic() + seconds
        while (frame := self._reader.take()) is None:
            left = deadline - time.monotonic()
            writing = select.POLLOUT if self._outgoing else 0
            self._poll.modify(self._connection, select.POLLIN | writing)
            if left <= 0 or not (ready := self._poll.poll(1000 * left)):
                raise ChannelStalled
            [(_, events)] = ready
            if events & ~select.POLLOUT:
                self._read()
            if events & select.POLLOUT:
                self._flush()
        return frame

    def _read(self) -> None:
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise ChannelClosed from error
        if not data:
            raise ChannelClosed
        self._reader.feed(data)

    def _flush(self) -> None:
        try:
            while self._outgoing:
                sent = self._connection.send(self._outgoing)
                del self._outgoing[:sent]
        except BlockingIOError:
            return
        except OSError:
            # The child is gone: what it said before is still to be read.
            self._outgoing.clear()

    def close(self) -> None:
        self._connection.close()
