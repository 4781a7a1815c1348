"""The commands as a user starts them, without the seconds of their imports where these say nothing.

``call``, ``run`` and ``start`` run ``python -m specahd.COMMAND`` in a process of its own, forked
from a Python that has imported everything already (``warm_python.py``), unless ``cold`` asks for
a new interpreter or the environment has what an interpreter or a library reads as it starts.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from forking import ask

# Who reads variables of these names has read them before the fork; but for PYTHONPATH.
READ_AT_START = ("PYTHON", "NUMBA_", "OMP_", "OPENBLAS_", "LD_", "MPL", "HYDRA_", "GIT_")
READ_AT_START += ("SPECAHD_CACHE",)
# The environment of the Python that is forked.
KNOWN = dict(os.environ)

# A training of seconds, of which the tests make most.
SMALL = [
    "budget=smoke",
    "budget.programs=12",
    "budget.rounds=2",
    "budget.lower_train=4",
    "budget.upper_train=3",
    "budget.selection=3",
    "budget.validation=5",
    "search.uppers=1",
    "tracking=none",
]
# The least of trainings, tracked or not.
TINY = [
    "budget=smoke",
    "budget.programs=4",
    "budget.rounds=1",
    "budget.lower_train=2",
    "budget.upper_train=2",
    "budget.selection=2",
    "budget.validation=2",
    "search.uppers=1",
]


def call(command, *arguments, cwd, env=None, check=True, cold=False, timeout=300):
    """Run a command to its end and return it; unless told otherwise, it has to succeed."""
    done = run(f"specahd.{command}", *arguments, cwd=cwd, env=env, cold=cold, timeout=timeout)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def run(module, *arguments, cwd, env=None, cold=False, timeout=300):
    """Run ``python -m MODULE`` with words and more environment; return what became of it."""
    process = start(module, *arguments, cwd=cwd, env=env, cold=cold)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return subprocess.CompletedProcess([module, *arguments], process.returncode, out, err)


def start(module, *arguments, cwd, env=None, cold=False, session=False):
    """Start ``python -m MODULE``, in a session of its own if asked, as a terminal does."""
    environment = {**os.environ, **(env or {})}
    words = [str(word) for word in arguments]
    if cold or read_at_start(environment) != read_at_start(KNOWN):
        return subprocess.Popen(
            [sys.executable, "-m", module, *words],
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=session,
        )
    place = {"cwd": str(Path(cwd).resolve()), "env": environment, "session": session}
    return Forked({"module": module, "arguments": words, **place})


def read_at_start(environment):
    """Return the part of an environment that is too late for a process that has begun."""
    names = {name for name in environment if name.startswith(READ_AT_START)} - {"PYTHONPATH"}
    return {name: environment[name] for name in names}


def tree(directory):
    """Return the bytes of all files below a directory, by their paths in it."""
    paths = sorted(path for path in Path(directory).rglob("*") if path.is_file())
    return {path.relative_to(directory): path.read_bytes() for path in paths}


class Forked:
    """A command in a process that was forked, with what the tests need of ``subprocess.Popen``."""

    def __init__(self, wanted, streams=None):
        self.wanted, self.returncode = wanted, None
        own = [] if streams else [tempfile.TemporaryFile("w+") for _ in range(2)]  # noqa: SIM115
        self._streams = own
        self._pipe, writing = os.pipe()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            streams = streams or [file.fileno() for file in (nothing, *own)]
            ask("commands", json.dumps(wanted).encode(), [*streams, writing])
        os.close(writing)
        told = self._read()
        assert told, "the Python that is forked did not start, or has ended"
        self.pid = int(told)

    def _read(self):
        told = b""
        while not told.endswith(b"\n") and (more := os.read(self._pipe, 1)):
            told += more
        return told

    def wait(self, timeout=None):
        """Wait until it ends, and return its exit status; negative for a signal."""
        if self.returncode is None:
            if not select.select([self._pipe], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.wanted["arguments"], timeout)
            self.returncode = int(self._read())
            os.close(self._pipe)
        return self.returncode

    def poll(self):
        """Return its exit status, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def communicate(self, timeout=None):
        """Wait until it ends, and return what it wrote on its two streams."""
        self.wait(timeout)
        told = []
        for stream in self._streams:
            stream.seek(0)
            told.append(stream.read())
            stream.close()
        return tuple(told)

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)
