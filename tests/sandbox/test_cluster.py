"""A real Ray cluster on this machine: two nodes, one of which dies."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
import worker
from worker import Worker, filled_arrays, refuse

from specahd.core import journal
from specahd.core.errors import ConfigError
from specahd.sandbox.cluster import RayExecutor

ray = pytest.importorskip("ray", reason="needs the extra: pip install 'specahd[ray]'")
cluster_utils = pytest.importorskip("ray.cluster_utils")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the arrays are opened by /proc")
NODE = {"num_cpus": 2, "object_store_memory": 100_000_000, "include_dashboard": False}
TRAIN = [
    sys.executable, "-m", "specahd.train", "budget=smoke", "budget.programs=24",
    "budget.lower_train=6", "budget.upper_train=4", "budget.selection=4", "budget.validation=5",
    "tracking=none",
]  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    # The nodes cannot import this folder.
    ray.cloudpickle.register_pickle_by_value(worker)
    cluster = cluster_utils.Cluster()
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()
    ray.cloudpickle.unregister_pickle_by_value(worker)


@pytest.fixture
def killed_parent(cluster):
    """A second node, which the test may kill."""
    node = cluster.add_node(**NODE)
    yield node
    cluster.remove_node(node)
    cluster.wait_for_nodes()


@pytest.fixture
def executor(cluster, killed_parent):
    executor = RayExecutor(Worker, filled_arrays(), workers=4, address=cluster.address)
    # Work is for everyone only when everyone is there.
    await_blocks(executor, 4)
    yield executor
    executor.close()


def await_blocks(executor, workers):
    """Wait until so many workers answer; return the block that each one reads, by process."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        blocks = dict(f.result() for f in [executor.submit("block") for _ in range(50)])
        if len(blocks) >= workers:
            return blocks
        time.sleep(0.2)
    raise TimeoutError(f"Only {len(blocks)} of {workers} workers came.")


def family(node):
    """Return the processes of a node: the raylet, its workers, their children."""
    raylets = [psutil.Process(entry.process.pid) for entry in node.all_processes["raylet"]]
    return raylets + [child for raylet in raylets for child in raylet.children(recursive=True)]


def kill(processes):
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def test_results_and_exceptions_are_those_of_the_worker(executor):
    futures = [executor.submit("add", number) for number in range(100)]
    assert [future.result() for future in futures] == list(range(100, 200))
    with pytest.raises(KeyError, match="lost") as caught:
        executor.submit("fail").result()
    assert "in fail" in "".join(caught.value.__notes__)
    assert executor.submit("add", 1).result() == 101


def test_a_node_has_the_arrays_once(executor, killed_parent):
    blocks = await_blocks(executor, 4)
    there = {process.pid for process in family(killed_parent)}
    assert len(blocks.keys() & there) == len(blocks.keys() - there) == 2
    assert len({block for process, block in blocks.items() if process in there}) == 1
    assert len({block for process, block in blocks.items() if process not in there}) == 1
    assert len(set(blocks.values())) == 2


def test_a_killed_worker_loses_nothing(executor, tmp_path):
    dying = executor.submit("die_once", str(tmp_path / "marker"))
    futures = [executor.submit("add", number) for number in range(50)]
    assert dying.result(60) == "survived"
    assert [future.result(60) for future in futures] == list(range(100, 150))
    with pytest.raises(RuntimeError, match="lost 3 workers"):
        executor.submit("die").result(60)
    assert executor.submit("add", 1).result(60) == 101


def test_a_killed_node_loses_nothing_and_another_may_join(cluster, executor, killed_parent):
    old = await_blocks(executor, 4)
    futures = [executor.submit("wait", 0.2) for _ in range(30)]
    time.sleep(0.5)
    dead = family(killed_parent)
    kill(dead)
    assert {future.result(60) for future in futures} <= old.keys()
    joined = cluster.add_node(**NODE)
    try:
        new = await_blocks(executor, 4)
        assert len(new.keys() - old.keys()) == 2
        assert not new.keys() & {process.pid for process in dead}
    finally:
        cluster.remove_node(joined)


def test_idle_workers_that_die_cost_no_submission_an_attempt(executor, killed_parent):
    kill(family(killed_parent))
    futures = [executor.submit("add", number) for number in range(20)]
    assert [future.result(60) for future in futures] == list(range(100, 120))


def test_a_worker_that_cannot_start(cluster):
    with pytest.raises(LookupError, match="no such thing"):
        RayExecutor(refuse, filled_arrays(), workers=1, address=cluster.address)
    assert not ray.is_initialized()


def test_close_is_quick_and_ends_the_workers(cluster, executor):
    workers = [psutil.Process(process) for process in await_blocks(executor, 4)]
    futures = [executor.submit("wait", 600) for _ in range(8)]
    time.sleep(0.5)
    start = time.monotonic()
    executor.close()
    executor.close()
    assert time.monotonic() - start < 5
    assert all(future.done() for future in futures)
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert alive == []
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit("add", 1)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense"])
def test_an_address_without_a_cluster_gets_one_sentence(address):
    start = time.monotonic()
    with pytest.raises(ConfigError, match=rf"executor\.address .* got {address} \(.*\)\.$"):
        RayExecutor(Worker, filled_arrays(), workers=1, address=address)
    assert time.monotonic() - start < 20


def train(place, name, *arguments):
    return subprocess.Popen(
        [*TRAIN, *arguments, f"hydra.run.dir={name}"],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def tree(directory):
    """Return the bytes of a run's files, but for those that hold times or the configuration."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    names = {path.relative_to(directory).as_posix(): path for path in paths}
    timed = ("timings.jsonl", "wal.jsonl", "config.yaml")
    return {name: path.read_bytes() for name, path in names.items() if not name.endswith(timed)}


def await_samples(run, count):
    path = run / "journal.jsonl"
    deadline = time.monotonic() + 120
    while not (path.exists() and len(list(journal.read_records(path))) > count):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} has no {count} records.")
        time.sleep(0.02)


def test_a_run_that_loses_a_node_writes_the_bytes_of_a_local_one(cluster, killed_parent, tmp_path):
    with train(tmp_path, "local") as process:
        assert process.wait(300) == 0, process.stderr.read()
    on_cluster = ["executor=ray", f"executor.address={cluster.address}", "executor.workers=4"]
    with train(tmp_path, "ray", *on_cluster) as process:
        await_samples(tmp_path / "ray", 3)
        dead = family(killed_parent)
        kill(dead)
        assert process.wait(300) == 0, process.stderr.read()
    # The node had workers, and they had sandboxes.
    assert len(dead) > 4
    local = tree(tmp_path / "local")
    assert {"journal.jsonl", "responses.jsonl", "checkpoint/manifest.json"} <= local.keys()
    assert tree(tmp_path / "ray") == local


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_blow_to_a_run_with_its_own_cluster_leaves_no_process(tmp_path, blow):
    with train(tmp_path, "run", "executor=ray", "budget.programs=4000") as process:
        await_samples(tmp_path / "run", 3)
        members = psutil.Process(process.pid).children(recursive=True)
        names = {member.pid: member.name() for member in members}
        # As a terminal does it: the signal goes to all that stand in the foreground.
        if blow is signal.SIGINT:
            os.killpg(process.pid, blow)
        else:
            process.kill()
        said = process.communicate(timeout=60)[1]
    if blow is signal.SIGKILL:
        # Ray's own agents take a minute to notice.
        members = [member for member in members if not names[member.pid].endswith("Agent")]
    # The head, the node, two workers, a zygote each.
    assert len(members) >= 6
    _, alive = psutil.wait_procs(members, timeout=30)
    assert [member for member in alive if member.status() != psutil.STATUS_ZOMBIE] == []
    if blow is signal.SIGINT:
        assert process.returncode == 130
        assert "Traceback" not in said, said
        assert said.splitlines()[-2:] == [
            "Interrupted.",
            "Go on with: python -m specahd.train resume=run",
        ]
