"""What the loopback servers of the tests share, the one of replies and the one of vectors."""

import socket
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LoopbackServer(ThreadingHTTPServer):
    """Serves from a thread of its own while it is entered; ``url`` is its ``base_url``.

    What makes a client wait ends when ``closing`` is set. ``key``, if it is not None, must be
    presented.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler, port, key):
        super().__init__(("127.0.0.1", port), handler)
        self.key = key
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.closing = threading.Event()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Pass over what breaks off: clients that give up are part of the play."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class LoopbackHandler(BaseHTTPRequestHandler):
    """Plays one connection; ``_complain`` is how a subclass refuses a key."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every call takes 40 ms

    def log_message(self, *_):
        pass

    def _body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    @property
    def _presented(self):
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def _admitted(self):
        key = self.server.key
        if key is None or self.headers.get("Authorization") == f"Bearer {key}":
            return True
        self._complain("401")
        return False

    def _hang(self):
        self.server.closing.wait(self.server.stall)
        self.close_connection = True

    def _break(self):
        # Lingering for no time turns the close into a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
