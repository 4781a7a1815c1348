"""The uploader of a tracked command without the seconds of its imports.

It is forked before the command begins, from a Python that has imported everything, and waits for
its orders as one that has just started does. A command that tracks nobody never asks for it, and
it ends with the command; a second run in the same process starts one of its own. Commands that
are started cold have the real one.
"""

import os
import signal
import subprocess
from types import SimpleNamespace

from specahd.core.environment import public_variables
from specahd.tracking import mlflow


class ReadyUploader:
    """What the observer needs of ``subprocess.Popen``."""

    def __init__(self):
        orders, writing = os.pipe()
        reading, answers = os.pipe()
        self.returncode = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(writing)
            os.close(reading)
            serve(orders, answers)
        os.close(orders)
        os.close(answers)
        self.stdin = os.fdopen(writing, "wb", buffering=0)
        self.stdout = os.fdopen(reading, "rb", buffering=0)

    def wait(self):
        """Return its exit status; negative for a signal."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def kill(self):
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


def serve(orders, answers):
    """Become the uploader, with the environment that the command would give it."""
    os.setpgid(0, 0)
    known = public_variables()
    os.environ.clear()
    os.environ.update(known)
    for descriptor, place in ((orders, 0), (answers, 1), (os.open(os.devnull, os.O_WRONLY), 2)):
        os.dup2(descriptor, place)
        os.close(descriptor)
    try:
        status = mlflow.main()
    except BaseException:  # noqa: BLE001  a command that never asked has closed its pipe
        status = 1
    os._exit(status)


def prepare():
    """Fork the uploader that this process will ask for first."""
    ready = [ReadyUploader()]

    def start(command, **options):
        return ready.pop() if ready else subprocess.Popen(command, **options)

    mlflow.subprocess = SimpleNamespace(
        Popen=start, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL
    )
