"""Zygotes without the seconds of their imports and their warm-up, where these say nothing.

A zygote imports NumPy, and one that compiles programs first compiles what most programs need of
numba, which takes seven seconds of CPU time. ``fork_zygotes`` has those of this process, and of
its forks, forked from a Python of either kind that has done so once (``warm_zygotes.py``). They
confine themselves, and are told what to do, as any other. The tests of ``tests/sandbox``, and
commands that are started cold, have zygotes that the sandbox starts itself.
"""

import json
import os
import select
import signal
import subprocess

from forking import ask
from specahd.sandbox import client, session


class ForkedZygote:
    """What the sandbox's client needs of ``subprocess.Popen``."""

    def __init__(self, kind, runners, places):
        reading, writing = os.pipe()
        self.stdin = os.fdopen(writing, "wb")
        self._alive, told = os.pipe()
        order = json.dumps({"runners": runners, "places": places}).encode()
        ask(kind, order, [reading, 2, *places, told])
        for descriptor in (reading, told):
            os.close(descriptor)
        said = b""
        while not said.endswith(b"\n") and (more := os.read(self._alive, 1)):
            said += more
        assert said, "the Python that is forked for zygotes did not start, or has ended"
        self.pid, self.returncode = int(said), None

    def wait(self, timeout=None):
        """Wait until it has ended."""
        if self.returncode is None:
            if not select.select([self._alive], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("zygote", timeout)
            os.close(self._alive)
            self.returncode = 0
        return self.returncode

    def poll(self):
        """Return 0 if it has ended, None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class PlainClient(client.SandboxClient):
    """A client whose zygote is forked from the Python that is warm."""

    kind = "plain"

    def _start_process(self, descriptors, runners):
        return ForkedZygote(self.kind, list(runners), list(descriptors))


class CompilingClient(PlainClient):
    """The same for zygotes that compile programs."""

    kind = "compiling"


def fork_zygotes(wanted=True):
    """Have the zygotes of this process forked, or started as ever."""
    session.Sandbox._start = _start_forking if wanted else _start


_start = session.Sandbox._start


def _start_forking(sandbox, compiling):
    forked = CompilingClient if compiling else PlainClient
    return forked(sandbox._shared, sandbox._runners[compiling], sandbox._path)
