"""What the pools of every problem are; tests/contracts says what they have in common."""

import hashlib
import itertools
import re
from collections import Counter

import numpy as np
import pytest
import pyvrp
import vrplib as other_reader

from offered import PROBLEMS, problem
from problems.conftest import generated
from specahd.core.errors import ConfigError
from specahd.problems.sdvrp.pools import DEMANDS, FAMILIES
from specahd.problems.tsp.instance import SIDE
from specahd.routing.base import CONFIRMATION, POOLS
from specahd.routing.geometry import Convention, distances
from specahd.routing.pools import refuse_overlap

GOLDEN = [
    ("cvrp", "lower_train", "e77dd5446ea802b31a3a58eb90576182e54baf5337964d42d70f3915d6f59cbf"),
    ("cvrp", "upper_train", "73573c2a2066060e30efee5f1ee0fcf38648ef88d39196bfdd530aa858005f71"),
    ("cvrp", "selection", "659abf19343a9dee92afd93c6611ac9f1919e858ca6c2027b281c5f213931e25"),
    ("cvrp", "validation", "3248d3d68348cefcedefaed04a16c440556b3600732f19846a09d01d5ca3c1a4"),
    ("cvrp", "confirmation", "86bfbffab717cc26a18ee0b2134dd6ad12b669441e137cfd3d1955b04d8c7e98"),
    ("sdvrp", "lower_train", "ae282d3c9db9fa40b5f6198f611d4aab73e8f2cf0ed661713740a2bb04a88272"),
    ("sdvrp", "upper_train", "704e83901c50e74a62781ea352844f4f91f86c974919ce18017218130e32e6c2"),
    ("sdvrp", "selection", "be8fdf71dc644a6abdfc32922cda58630a9874c99c6a30d99f2764f6fed19e09"),
    ("sdvrp", "validation", "0313247fdc483a58c5507e29e9ebfd0acaddafc84b0d7192096333e5364b5e06"),
    ("sdvrp", "confirmation", "2cf0f5af298e73dc418c44dcbb52c4a12f8e09bfe5db6b86a3fe445c0d25bbae"),
    ("tsp", "lower_train", "68e5ed984bce3ff8890612dac1113362071ff159e51d463d04ddcfb0886b2fdf"),
    ("tsp", "upper_train", "a7ba562067efbef8072c0d4744b608c3c401d6f4b069c743f6b78927d405de73"),
    ("tsp", "selection", "b47e4615457c8806f9523d77d2318d3a078559fb9a913f059f8a399bd77c8f9a"),
    ("tsp", "validation", "a4c9357fe332f0b06334f2645e3140d76d903d72b7e153eb6c953929ca37243b"),
    ("tsp", "confirmation", "54b6bf577c48dc9f3624150b7b35a2c59fc1a2b8bef32227e62915208359f0d0"),
    ("vrptw", "lower_train", "cedf9286ace706cbb28e85621749d3d447b117b935e1f164c477340efc737696"),
    ("vrptw", "upper_train", "6b3dfff90b4a41821d7d2aa49e841c0d4bd1ac8e6103f9cbc9336ad153023067"),
    ("vrptw", "selection", "2bee473d1ee1ed3267f9c6bf660316f960753a222ecd222b92e126c25a850587"),
    ("vrptw", "validation", "f5e47a1e35a22193721164d0c20172ec8822a17bb926bbf612c154499f8e48ba"),
    ("vrptw", "confirmation", "5b080401d9e5dd41bf0d1cb8b8405d1467f72cdf219f909588c8dab748065599"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "pool", "digest"), GOLDEN)
def test_same_bytes_everywhere(name, pool, digest):
    text = "".join(map(problem(name).dumps, generated(name)[pool]))
    assert hashlib.sha256(text.encode()).hexdigest() == digest


@pytest.mark.parametrize("name", PROBLEMS)
def test_confirmation_shares_no_instance_with_the_others(name):
    refuse_overlap(
        {
            pool: {x.name: problem(name).dumps(x) for x in instances}
            for pool, instances in generated(name).items()
        }
    )


def counted(name, pool, columns=slice(1, 2)):
    """Count the instances of a pool by words of their names."""
    return Counter(tuple(x.name.split("-")[columns]) for x in generated(name)[pool])


EVEN = {
    ("cvrp", "lower_train"): (["uniform"], 256),
    ("cvrp", "upper_train"): (["uniform"], 60),
    ("cvrp", "selection"): (["uniform"], 60),
    ("cvrp", "validation"): (["clustered", "ring", "corridor", "mixed"], 15),
    ("tsp", "lower_train"): (["clustered"], 128),
    ("tsp", "validation"): (["ring", "corridor", "mixed"], 20),
    **{("vrptw", pool): (["c1", "c2", "r1", "r2", "rc1", "rc2"], 10) for pool in POOLS},
}
"""docs/reference/pools.md: the families of a pool, and how many instances each has."""


def test_families_are_even():
    for (name, pool), (families, count) in EVEN.items():
        assert counted(name, pool) == {(family,): count for family in families}
    for pool in ("upper_train", "selection"):
        assert counted("tsp", pool) == {("clustered",): 48, ("uniform",): 12}
    for name in ("cvrp", "tsp", "vrptw"):
        assert counted(name, CONFIRMATION) == counted(name, "validation")
    for pool in (*POOLS, CONFIRMATION):
        kinds = {(family, demand): 5 for family in FAMILIES for demand in DEMANDS}
        assert counted("sdvrp", pool, slice(1, 3)) == kinds


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_the_instances_hold(name):
    for instance in itertools.chain(*generated(name).values()):
        size = instance.size + (name in ("cvrp", "sdvrp"))
        assert re.search(f"-n{size}-s(2024|7024)[0-9]{{3}}$", instance.name)
        assert (instance.coords == np.rint(instance.coords)).all()
        side = 2 * instance.coords[0, 0] if name == "vrptw" else SIDE if name == "tsp" else 1000
        assert 0 <= instance.coords.min() <= instance.coords.max() <= side
        if name == "tsp":
            continue
        least, most = instance.demands[1:].min(), instance.demands.max()
        assert instance.demands[0] == 0
        if name == "cvrp":
            assert 1 <= least <= most <= 9 < instance.capacity <= 150
        elif name == "sdvrp":
            low, high = DEMANDS[instance.name.split("-")[2]]
            assert 100 <= instance.capacity <= 200
            assert low <= 100 * least / instance.capacity
            assert 100 * most / instance.capacity <= high
        else:
            assert 1 <= least <= most <= 46 <= instance.capacity


def test_every_customer_can_be_served_alone():
    for instance in itertools.chain(*generated("vrptw").values()):
        ready, due = instance.windows.ready, instance.windows.due
        away = distances(instance.coords[0], instance.coords, Convention.EUC_2D)
        start = np.maximum(away, ready)
        assert (start <= due).all()
        assert (start + instance.windows.service + away <= due[0]).all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_files_read_the_same_elsewhere(name, tmp_path):
    path = tmp_path / f"x{problem(name).suffix}"
    for pool in ("lower_train", "validation"):
        instance = generated(name)[pool][0]
        path.write_text(problem(name).dumps(instance))
        theirs = other_reader.read_instance(path)
        assert theirs["name"] == instance.name
        assert theirs["type"] == name.upper()
        np.testing.assert_array_equal(theirs["node_coord"], instance.coords)
        if name != "tsp":
            assert theirs["capacity"] == instance.capacity
            np.testing.assert_array_equal(theirs["demand"], instance.demands)
        if name == "vrptw":
            windows = instance.windows
            clients = pyvrp.read(path, round_func="round").clients()
            rows = [(x.tw_early, x.tw_late, x.service_duration, *x.delivery) for x in clients]
            given = (windows.ready, windows.due, windows.service, instance.demands)
            np.testing.assert_array_equal(rows, np.stack(given, axis=1)[1:])


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("pool", "seed"), [("public", 2024), ("selection", -1)])
def test_what_cannot_be_generated(name, pool, seed):
    with pytest.raises(ConfigError, match="Expected a pool"):
        next(problem(name).generate(pool, seed))
