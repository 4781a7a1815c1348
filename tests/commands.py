"""The commands as a user starts them, without the seconds of their imports where these say nothing.

``call`` and ``run`` start ``python -m specahd.COMMAND`` in a process of its own. Python itself is
forked from one that has imported everything already (``warm_python.py``), unless ``cold`` asks for
a new interpreter or the environment has what an interpreter or a library reads as it starts.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# Who reads variables of these names has read them before the fork; but for PYTHONPATH.
READ_AT_START = ("PYTHON", "NUMBA_", "OMP_", "OPENBLAS_", "LD_", "MPL", "HYDRA_", "GIT_")

# A training of seconds, of which the tests make most.
SMALL = [
    "budget=smoke",
    "budget.programs=12",
    "budget.rounds=2",
    "budget.lower_train=4",
    "budget.upper_train=3",
    "budget.selection=3",
    "budget.validation=5",
    "tracking=none",
]


def call(command, *arguments, cwd, env=None, check=True, cold=False):
    """Run a command to its end and return it; unless told otherwise, it has to succeed."""
    done = run(f"specahd.{command}", *arguments, cwd=cwd, env=env, cold=cold)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def run(module, *arguments, cwd, env=None, cold=False, timeout=300):
    """Run ``python -m MODULE`` with words and more environment; return what became of it."""
    environment = {**os.environ, **(env or {})}
    words = [str(word) for word in arguments]
    if cold or read_at_start(environment) != read_at_start(known()):
        command = [sys.executable, "-m", module, *words]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout
        )
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        wanted = {"module": module, "arguments": words, "cwd": str(Path(cwd).resolve())}
        status = forked({**wanted, "env": environment}, out, err, timeout)
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess([module, *words], status, out.read(), err.read())


def read_at_start(environment):
    """Return the part of an environment that is too late for a process that has begun."""
    names = {name for name in environment if name.startswith(READ_AT_START)} - {"PYTHONPATH"}
    return {name: environment[name] for name in names}


@cache
def known():
    """Return the environment with which the Python is started that is forked."""
    return dict(os.environ)


@cache
def warm():
    """Start the Python that is forked; it ends with the socket to it, when the tests have ended."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = str(Path(__file__).with_name("warm_python.py"))
    with theirs:
        command = [sys.executable, server, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=known())
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def forked(wanted, out, err, timeout):
    """Have a command run by a fork and return its exit status."""
    reading, writing = os.pipe()
    with open(os.devnull, "rb") as nothing, open(reading, "rb", 0) as pipe:  # noqa: PTH123
        streams = [nothing.fileno(), out.fileno(), err.fileno(), writing]
        socket.send_fds(warm(), [json.dumps(wanted).encode()], streams)
        os.close(writing)
        told = b""
        while chunk := _read(pipe, timeout):
            told += chunk
        process, _, status = told.decode().partition("\n")
        assert process, "the Python that is forked did not start, or has ended"
        if not status:
            os.kill(int(process), signal.SIGKILL)
            raise subprocess.TimeoutExpired(wanted["arguments"], timeout)
        return int(status)


def _read(pipe, timeout):
    ready, _, _ = select.select([pipe], [], [], timeout)
    return pipe.read(4096) if ready else b""
