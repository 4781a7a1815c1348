import numpy as np
import pytest

from problems.conftest import generated
from problems.instances import instance_of
from specahd.problems.cvrp.problem import CVRP
from specahd.routing import distances as computing
from specahd.routing.kernels.construction import neighbouring_pairs
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.baselines import savings


def test_savings_by_hand(data):
    assert savings(CVRP().read(data / "tiny.vrp")) == ((1, 3), (2, 4), (5,))
    assert savings(CVRP().read(data / "tiny-explicit.vrp")) == ((1, 2), (3,))


@pytest.mark.parametrize("neighbours", [2, 7, 100])
def test_savings_looks_at_every_pair_of_near_customers_in_its_turn(neighbours, monkeypatch):
    monkeypatch.setattr(baselines, "NEIGHBOURS", neighbours)
    # Few places, so that many customers are equally far from another one.
    coords = np.random.default_rng(3).integers(0, 12, (80, 2))
    instance = instance_of("cvrp", coords, capacity=9)
    near, _ = baselines._nearest(instance)
    pairs = {
        (min(i, j) + 1, max(i, j) + 1) for i, row in enumerate(near.tolist()) for j in row if i != j
    }
    begins, ends = neighbouring_pairs(*baselines._nearest(instance))
    owners = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    assert list(zip(owners.tolist(), ends.tolist(), strict=True)) == sorted(pairs)


def test_many_customers_are_joined_among_fewer_neighbours(monkeypatch):
    monkeypatch.setattr(computing, "LARGEST_MATRIX", 50)
    instance = generated("cvrp")["validation"][0]
    assert instance.size > 50
    assert baselines._nearest(instance)[0].shape[1] == baselines.FEW_NEIGHBOURS + 1
    assert CVRP.check(instance, savings(instance)) == ()
