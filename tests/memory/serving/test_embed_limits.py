"""What clients that send too much, too slowly, or go away, can do to the embedding server."""

import json
import logging
import re
import socket
import struct
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest

from specahd.core.serving import Batching, RequestLimits
from specahd.memory.serving.app import listen, make_app, make_server

CHARACTERS = 32768
TEXTS = 32
# As docs/how-to/embeddings.md has it: 6 bytes a character, and some.
LONGEST = 6 * TEXTS * CHARACTERS + 4096
GOOD = json.dumps({"model": "bert", "input": "a"}).encode()


class Constant:
    """An encoder that takes no time."""

    name, device, dtype, dimension, max_tokens, created = "bert", "cpu", "float32", 2, 9, 0

    def embed(self, texts, batch_size):
        if "fail" in texts:
            raise RuntimeError("the device is lost")
        return np.full((len(texts), 2), 0.5**0.5, np.float32), [1] * len(texts)


@contextmanager
def serving(timeout=60.0, connections=100):
    """Serve in this process; ``port`` says where."""
    limits = RequestLimits(TEXTS, CHARACTERS)
    server = make_server(make_app([Constant()], limits, Batching(wait_ms=0), timeout), connections)
    with listen("127.0.0.1", 0) as listener:
        server.port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield server
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def server():
    with serving() as served:
        yield served


@pytest.fixture
def hasty(caplog):
    """A server that waits for half a second, and must have nothing to say in the end."""
    with serving(timeout=0.5) as served:
        yield served
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def head(length, *more):
    lines = ["POST /v1/embeddings HTTP/1.1", "Host: x", f"Content-Length: {length}", *more]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def answer(connection):
    """Return the status and the error of the next answer; none if the server hangs up."""
    got = b""
    with suppress(ConnectionError):
        while not _is_whole(got) and (more := connection.recv(65536)):
            got += more
    if not got:
        return None, {}
    content = json.loads(got.partition(b"\r\n\r\n")[2])
    return int(got.split()[1]), content.get("error", {})


def _is_whole(got):
    top, end, body = got.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", top)
    return bool(end) and len(body) >= int(length[1])


def works(server):
    with connect(server) as connection:
        connection.sendall(head(len(GOOD)) + GOOD)
        return answer(connection)[0] == 200


def test_a_body_that_is_too_long_is_refused_before_it_comes(server):
    with connect(server) as connection:
        connection.sendall(head(LONGEST + 1))
        status, error = answer(connection)
        assert status == 413
        assert str(LONGEST) in error["message"]


def test_one_of_no_stated_length_is_refused_while_it_comes(server):
    with connect(server) as connection:
        chunked = head(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        connection.sendall(chunked)
        piece = b"%x\r\n%s\r\n" % (2**16, b" " * 2**16)
        for _ in range(LONGEST // 2**16 + 1):
            connection.sendall(piece)
        assert answer(connection)[0] == 413
        # What still comes is passed over, and the connection serves on.
        connection.sendall(piece + b"0\r\n\r\n" + head(len(GOOD)) + GOOD)
        assert answer(connection)[0] == 200


def test_a_body_that_comes_slowly_is_refused(hasty):
    for name, pieces in {"half": [GOOD[:5]], "byte by byte": [b" "] * 25}.items():
        with connect(hasty) as connection:
            connection.sendall(head(1000))
            with suppress(ConnectionError):
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(0.03)
            assert answer(connection)[0] == 408, name
            with suppress(ConnectionError):
                assert connection.recv(1) == b"", name
    assert works(hasty)


def test_an_idle_connection_outlives_the_time_of_a_request(hasty):
    with connect(hasty) as connection:
        for pause in (0.75, 0):
            connection.sendall(head(len(GOOD)) + GOOD)
            assert answer(connection)[0] == 200
            time.sleep(pause)


def test_a_failing_model_is_an_error_of_the_server_which_goes_on(server):
    body = GOOD.replace(b'"a"', b'"fail"')
    with connect(server) as connection:
        connection.sendall(head(len(body)) + body)
        status, error = answer(connection)
        assert (status, error["type"]) == (500, "server_error")
        assert "RuntimeError" in error["message"]
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer(connection)[0] == 200
    assert works(server)


def test_those_that_go_away_in_the_midst_leave_nothing(hasty):
    for reset in (False, True):
        for _ in range(30):
            with connect(hasty) as connection:
                connection.sendall(head(1000) + b"{")
                if reset:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    assert works(hasty)


def test_more_connections_than_there_may_be_are_refused():
    with serving(connections=5) as server, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connect(server))
        with connect(server) as connection:
            connection.sendall(head(len(GOOD)) + GOOD)
            assert connection.recv(12) == b"HTTP/1.1 503"
        stack.close()
        assert any(works(server) or time.sleep(0.1) for _ in range(100))
