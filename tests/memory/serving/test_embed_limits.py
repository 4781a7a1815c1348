"""What clients that send too much, too slowly, or go away, can do to the embedding server."""

import json
import re
import select
import socket
import struct
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from embedding_server import read_address, running, start

CHARACTERS = 32768
TEXTS = 32
# As docs/embeddings.md has it: 6 bytes a character, and some.
LONGEST = 6 * TEXTS * CHARACTERS + 4096
LIMITS = [f"max_texts={TEXTS}", f"max_characters={CHARACTERS}"]
GOOD = json.dumps({"model": "bert", "input": "a"}).encode()


@pytest.fixture(scope="module")
def server(tiny_models, tmp_path_factory):
    with running(tiny_models, "bert", options=LIMITS, cwd=tmp_path_factory.mktemp("s")) as process:
        yield process


@pytest.fixture
def hasty(tiny_models, tmp_path):
    """A server that waits for a second, and must have nothing to say in the end."""
    options = ["timeout=1", "connections=40"]
    process = start(tiny_models, "bert", options=options, cwd=tmp_path)
    try:
        read_address(process)
        yield process
        process.terminate()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()


def head(length, *more):
    lines = ["POST /v1/embeddings HTTP/1.1", "Host: x", f"Content-Length: {length}", *more]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def answer(connection):
    """Return the status and the words of the next answer; none if the server hangs up."""
    got = b""
    with suppress(ConnectionError):
        while not _is_whole(got) and (more := connection.recv(65536)):
            got += more
    if not got:
        return None, ""
    content = json.loads(got.partition(b"\r\n\r\n")[2])
    return int(got.split()[1]), content.get("error", {}).get("message")


def _is_whole(got):
    top, end, body = got.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", top)
    return bool(end) and len(body) >= int(length[1])


def works(server):
    with connect(server) as connection:
        connection.sendall(head(len(GOOD)) + GOOD)
        return answer(connection)[0] == 200


def works_in_the_end(server):
    """Say whether it works once it has seen that others are gone."""
    return any(works(server) or time.sleep(0.1) for _ in range(100))


def peak(server):
    """Return the most memory that the server has had, in bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def test_a_body_that_is_too_long_is_refused_before_it_comes(server):
    with connect(server) as connection:
        connection.sendall(head(LONGEST + 1))
        assert answer(connection) == (413, f"Expected a body of at most {LONGEST} bytes.")


def test_one_of_no_stated_length_is_refused_while_it_comes(server):
    with connect(server) as connection:
        chunked = head(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        connection.sendall(chunked)
        piece = b"%x\r\n%s\r\n" % (2**16, b" " * 2**16)
        for _ in range(LONGEST // 2**16 + 1):
            connection.sendall(piece)
        assert answer(connection) == (413, f"Expected a body of at most {LONGEST} bytes.")
        # What still comes is passed over, and the connection serves on.
        connection.sendall(piece + b"0\r\n\r\n" + head(len(GOOD)) + GOOD)
        assert answer(connection)[0] == 200


def test_long_bodies_at_once_take_no_more_memory_than_a_few(server):
    assert works(server)
    before = peak(server)
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(16)]
        for connection in connections:
            connection.sendall(head(LONGEST))
        for connection in connections:
            connection.sendall(b" " * (LONGEST - 1))
        refused = []
        # Whichever two stay: they wait for their last byte.
        while len(refused) < 14:
            ready, _, _ = select.select(connections, [], [], 20)
            assert ready
            refused += [answer(connection) for connection in ready]
            connections = [connection for connection in connections if connection not in ready]
    for status, words in refused:
        assert status == 429
        assert re.fullmatch(r"Requests of \d+ bytes are coming in; ask again later\.", words)
    # Two and what uvicorn has in hand; without a bound it would be 16.
    assert peak(server) - before < 5 * LONGEST
    assert works(server)


SLOW = {
    "nothing": [],
    "half a head": [head(10)[:30]],
    "half a body": [head(len(GOOD)), GOOD[:5]],
    "a head without an end": [head(10)[:-2], *[b"X-More: 1\r\n"] * 200],
    "a body byte by byte": [head(1000), *[b" "] * 200],
    "the second request": [head(len(GOOD)) + GOOD, None, head(10)],
}


def test_a_slow_client_is_hung_up_on(hasty):
    for name, pieces in SLOW.items():
        with connect(hasty) as connection:
            with suppress(ConnectionError):
                for piece in pieces:
                    if piece is None:
                        assert answer(connection)[0] == 200
                        continue
                    connection.sendall(piece)
                    time.sleep(0.05)
            status, words = answer(connection)
            # A client that sends on may lose the answer.
            assert status in ((408,) if len(pieces) < 9 else (408, None)), name
            assert words in ("Expected a whole request within 1 seconds.", ""), name
            with suppress(ConnectionError):
                assert connection.recv(1) == b"", name
    assert works(hasty)


def test_an_idle_connection_outlives_the_time_of_a_request(hasty):
    with connect(hasty) as connection:
        for _ in range(2):
            connection.sendall(head(len(GOOD)) + GOOD)
            assert answer(connection)[0] == 200
            time.sleep(1.5)


def test_half_sent_requests_are_bounded_in_number_and_leave_nothing(hasty):
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(hasty)) for _ in range(120)]
        for connection in connections:
            with suppress(ConnectionError):
                connection.sendall(head(1000) + b"{")
        statuses = [answer(connection)[0] for connection in connections]
    assert set(statuses) <= {408, 503, None}
    assert statuses.count(408) <= 40 + statuses.count(None)
    assert works_in_the_end(hasty)
    # Those that go away in the midst, politely or not.
    for reset in (False, True):
        for _ in range(30):
            with connect(hasty) as connection:
                connection.sendall(head(1000) + b"{")
                if reset:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    assert works_in_the_end(hasty)
