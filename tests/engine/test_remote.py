"""Several workers on a real Ray cluster on this machine: the solution is that of local ones."""

import contextlib
import sys

import psutil
import pytest

from specahd import api
from specahd.core.errors import ConfigError
from specahd.engine import tiles

ray = pytest.importorskip("ray", reason="needs the extra: pip install 'specahd[ray]'")
cluster_utils = pytest.importorskip("ray.cluster_utils")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the arrays are opened by /proc")


@pytest.fixture(scope="module")
def cluster():
    cluster = cluster_utils.Cluster()
    cluster.add_node(num_cpus=2, object_store_memory=100_000_000, include_dashboard=False)
    yield cluster
    cluster.shutdown()


@pytest.fixture
def instance(monkeypatch):
    monkeypatch.setattr(tiles, "LEAST_CUSTOMERS", 40)
    problem = api.make_problem("cvrp")
    return api.ProblemInstance(problem, next(problem.generate("validation", 1)))


def solve(instance, **options):
    return api.solve(instance, repairs=20_000, workers=2, **options)


def test_a_cluster_finds_what_this_machine_finds(cluster, instance):
    here = solve(instance)
    there = solve(instance, cluster=cluster.address)
    assert here.routes == there.routes
    assert (there.failure, there.workers) == ("", 2)
    assert there.cost < there.incumbent_cost


def workers():
    """Return the processes of actors that hold a sandbox."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "_WorkerActor" in " ".join(process.cmdline()):
                found.append(process)
    return found


def test_a_worker_that_is_lost_makes_its_part_again(cluster, instance):
    expected = solve(instance)
    killed = []

    def kill(moment, solution):
        if moment.repairs and not killed:
            killed.append(workers()[0])
            killed[0].kill()

    found = solve(instance, cluster=cluster.address, callback=kill)
    assert killed
    assert found.routes == expected.routes


def test_no_cluster_is_a_sentence(instance):
    with pytest.raises(ConfigError, match="Expected cluster to be null, auto or the"):
        solve(instance, cluster="localhost:1")
