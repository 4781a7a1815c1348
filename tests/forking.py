"""Pythons that have imported and compiled what tests need, and fork themselves for each of them.

The process that starts the tests offers them (``offer``): it listens at an address for each, and
starts one when somebody first asks for it. All processes of the tests ask the same ones
(``ask``), which end with the process that started them.
"""

import array
import os
import select
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from threading import Thread

HERE = Path(__file__).parent
KINDS = {
    "commands": ["warm_python.py"],
    "plain": ["warm_zygotes.py", "plain"],
    "compiling": ["warm_zygotes.py", "compiling"],
}
NAME = "SPECAHD_TESTS"
"""The variable that tells the processes of one call of pytest where they are offered."""


def offer():
    """Listen for who asks, for as long as this process lives."""
    global _place
    _place = os.environ[NAME] = f"specahd-tests-{os.getpid()}"
    alive, ended = socket.socketpair()
    listeners = {}
    for kind in KINDS:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(_address(kind))
        listener.listen(64)
        listeners[listener] = kind
    Thread(target=_start_when_asked, args=(listeners, ended), daemon=True).start()
    _held.append(alive)


def ask(kind, order, descriptors):
    """Have a process forked that gets an order, as bytes, and descriptors."""
    socket.send_fds(_connection(kind), [order], descriptors)


def orders():
    """Yield an order and its descriptors at a time, in the Python that was started.

    It ends with the process that offered it. A fork that is to do more than to fork calls
    ``leave`` first.
    """
    listener, ended = (socket.socket(fileno=int(word)) for word in sys.argv[-2:])
    _held[:] = [listener, ended]
    while True:
        for one in select.select(_held, [], [])[0]:
            if one is ended:
                sys.exit()
            if one is listener:
                _held.append(listener.accept()[0])
                continue
            received = array.array("i")
            message, ancillary, _, _ = one.recvmsg(1 << 20, socket.CMSG_SPACE(256))
            for _, _, data in ancillary:
                received.frombytes(data)
            if message:
                yield message, list(received)
            else:
                _held.remove(one)
                one.close()


def leave():
    """Close, in a fork, what is the server's alone."""
    while _held:
        _held.pop().close()


_held = []
"""Sockets of this process: what ends those that it offers, or what it serves."""
# Kept, since a command may have another environment.
_place = os.environ.get(NAME)


def _address(kind):
    return f"\0{_place}-{kind}"


@cache
def _connection(kind):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(_address(kind))
    return connection


def _start_when_asked(listeners, ended):
    while listeners:
        for listener in select.select(list(listeners), [], [])[0]:
            _start(listener, listeners.pop(listener), ended)
    ended.close()


def _start(listener, kind, ended):
    from specahd.sandbox.client import _environment

    name, *words = KINDS[kind]
    with listener:
        descriptors = listener.fileno(), ended.fileno()
        subprocess.Popen(
            [sys.executable, str(HERE / name), *words, *map(str, descriptors)],
            pass_fds=descriptors,
            env=None if kind == "commands" else _environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
