import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from worker import Worker, filled_arrays, refuse

from specahd.core import extras
from specahd.core.errors import ConfigError, ProcessLost
from specahd.sandbox.cluster import RayExecutor
from specahd.sandbox.executor import LocalExecutor


@pytest.fixture
def executor():
    executor = LocalExecutor(Worker, filled_arrays(), workers=2)
    yield executor
    executor.close()


def test_results_come_in_the_order_of_submission(executor):
    futures = [executor.submit("add", number) for number in range(200)]
    assert [future.result() for future in futures] == list(range(100, 300))


def test_exceptions_propagate_with_their_origin(executor):
    with pytest.raises(KeyError, match="lost") as caught:
        executor.submit("fail").result()
    assert "in fail" in "".join(caught.value.__notes__)
    with pytest.raises(RuntimeError, match="cannot be sent"):
        executor.submit("unsendable").result()
    with pytest.raises(Exception, match="pickle"):
        executor.submit("add", lambda: None).result()
    assert executor.submit("add", 1).result() == 101


def test_a_killed_worker_loses_nothing(executor, tmp_path):
    futures = [executor.submit("add", number) for number in range(50)]
    dying = executor.submit("die_once", str(tmp_path / "marker"))
    more = [executor.submit("add", number) for number in range(50)]
    assert dying.result(20) == "survived"
    assert [f.result(20) for f in futures + more] == [*range(100, 150)] * 2


def test_the_work_is_elsewhere_and_idle_workers_are_replaced(executor):
    old = {f.result() for f in [executor.submit("wait", 0.1) for _ in range(4)]}
    assert len(old) == executor.workers == 2
    assert os.getpid() not in old
    for pid in old:
        os.kill(pid, signal.SIGKILL)
    new = {f.result(20) for f in [executor.submit("wait", 0.1) for _ in range(2)]}
    assert len(new) == 2
    assert not old & new


def test_what_always_kills_fails_in_the_end(executor):
    with pytest.raises(RuntimeError, match="lost 3 workers"):
        executor.submit("die").result(20)
    assert executor.submit("add", 1).result() == 101


def test_what_loses_the_process_of_a_program_is_done_again(executor, tmp_path):
    assert executor.submit("lose_once", str(tmp_path / "marker")).result(20) == "survived"
    with pytest.raises(ProcessLost, match="fewer workers"):
        executor.submit("lose").result(20)


def test_a_worker_that_cannot_start():
    with pytest.raises(LookupError, match="no such thing"):
        LocalExecutor(refuse, filled_arrays(), workers=2)
    with pytest.raises(ConfigError, match=r"executor\.workers in \[1, 64\], got 0"):
        LocalExecutor(refuse, filled_arrays(), workers=0)


def test_ray_that_is_not_installed_gets_one_sentence(monkeypatch):
    monkeypatch.setattr(extras, "requires", lambda name: ["is-nowhere>=1; extra == 'ray'"])
    with pytest.raises(ConfigError, match=r"pip install 'specahd\[ray\]'"):
        RayExecutor(Worker, filled_arrays(), workers=2)


def test_close_is_quick_and_leaves_no_process(descendants):
    before = descendants()
    executor = LocalExecutor(Worker, filled_arrays(), workers=2)
    futures = [executor.submit("wait", 600) for _ in range(6)]
    time.sleep(0.2)
    start = time.monotonic()
    executor.close()
    executor.close()
    assert time.monotonic() - start < 5
    assert all(future.done() for future in futures)
    assert descendants() == before
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit("add", 1)


@pytest.mark.skipif(sys.platform != "linux", reason="PDEATHSIG is Linux's")
def test_kill_9_of_the_parent_leaves_nothing_behind():
    parent = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_parent.py"))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout.readline() == "busy\n"
    family = psutil.Process(parent.pid).children(recursive=True)
    # Two workers, a zygote each, a child each.
    assert len(family) == 6
    parent.kill()
    parent.wait()
    _, alive = psutil.wait_procs(family, timeout=5)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []
    parent.stdout.close()
