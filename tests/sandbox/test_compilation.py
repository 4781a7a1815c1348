"""Who waits for numba is told, once, and only while it compiles what it keeps."""

import importlib.util
import multiprocessing
import os
import socket
import subprocess
import sys

import pytest
from numba import njit

from specahd.core.compilation import listening
from specahd.sandbox.client import SandboxClient
from specahd.sandbox.zygote import _report_compilation

LOOPS = """
from numba import njit

@njit(cache=True)
def twice(value):
    return 2 * value

@njit
def thrice(value):
    return 3 * value

class Runner:
    def warm_up(self):
        thrice(twice(1))

    def __call__(self, program, arrays, inputs):
        raise NotImplementedError

runner, other = Runner(), Runner()
"""


@pytest.fixture
def loops(tmp_path):
    """Return what loads a module with a loop that is kept and one that is not, each time anew."""
    path = tmp_path / "loops_of_a_test.py"
    path.write_text(LOOPS)

    def load():
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_compiling_what_is_kept_is_told_once(loops):
    told = []
    with listening(lambda: told.append("compiling")):
        assert loops().thrice(1) == 3
        assert told == []
        module = loops()
        assert module.twice(1) == 2
        assert told == ["compiling"]
        assert module.twice(1.5) == 3.0
        assert told == ["compiling"]
    with listening(lambda: told.append("again")):
        assert loops().twice(1) == 2  # from the disk
    njit(lambda value: value)(1)
    loops().twice(1j)
    assert told == ["compiling"]


def test_a_fork_leaves_it_to_the_process_that_waits(loops, tmp_path):
    def tell():
        (tmp_path / "told").touch()

    def work():
        loops().twice(1)

    with listening(tell):
        fork = multiprocessing.get_context("fork").Process(target=work)
        fork.start()
        fork.join()
        assert fork.exitcode == 0
    assert not (tmp_path / "told").exists()


def test_a_zygote_tells_who_started_it(loops, shared, tmp_path):
    runners = [f"loops_of_a_test:{name}" for name in ("runner", "other")]
    told = []
    for _ in range(2):
        with listening(lambda: told.append("compiling")):
            client = SandboxClient(shared, runners, [str(tmp_path)])
        assert client.alive
        assert "seccomp" in client.status
        client.close()
    assert told == ["compiling"]


def test_a_zygote_for_which_nobody_waits_ends_without_a_word(capfd):
    ours, its = socket.socketpair()
    ours.close()
    zygote = os.fork()
    if not zygote:
        try:
            _report_compilation(its)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(zygote, 0)[1]) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("order", ["", '{"path": ['])
def test_a_zygote_whose_order_never_comes_ends_without_a_word(order):
    words = [sys.executable, "-m", "specahd.sandbox.zygote"]
    done = subprocess.run(words, input=order, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
