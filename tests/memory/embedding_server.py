"""The embedding server as a process of its own, on a port that is free."""

import re
import signal
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def running(models_dir, *names, options=(), cwd, end=signal.SIGTERM):
    """Serve the models of ``models_dir`` by these names; ``url`` is the API's base.

    A server that the test has not ended is ended by a signal, and must then exit with 0.
    """
    process = start(models_dir, *names, options=options, cwd=cwd)
    try:
        read_address(process)
        yield process
        if process.poll() is None:
            process.send_signal(end)
            assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()


def start(models_dir, *names, options=(), cwd):
    described = ",".join(f"{name}:{{}}" for name in names)
    return subprocess.Popen(
        [
            sys.executable, "-m", "specahd.embed", f"models_dir={models_dir}", "device=cpu",
            f"serve=[{','.join(names)}]", f"+models={{{described}}}", "port=0", *options,
        ],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def read_address(process):
    """Wait until the server serves, and note its ``url`` and ``port``."""
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"at (http://[\d.]+:(\d+)/v1)", line):
            process.url, process.port = found[1], int(found[2])
            return
    raise AssertionError("".join(said) + process.communicate()[1])
