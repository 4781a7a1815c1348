"""Φ of a group of nodes anywhere on a tour, against the words that say what it is."""

import numpy as np
import pytest

from offered import problem
from problems.instances import instance_of
from specahd.routing.base import Region
from specahd.routing.geometry import Convention

PROBLEM = problem("tsp-insertion")


@pytest.mark.parametrize(
    ("nodes", "runs"),
    [((4, 1, 2), 2), ((7, 6, 5), 1), ((4, 1, 8, 6), 4), ((1, 3, 5, 7), 3), (tuple(range(1, 9)), 1)],
)
def test_it_is_what_its_names_say(nodes, runs):
    coords, tour = np.random.default_rng(0).uniform(0, 100, (9, 2)), (3, 4, 0, 1, 2, 8, 5, 6, 7)
    instance = instance_of("tsp", coords, convention=Convention.EXACT_2D)
    values = PROBLEM.describe(instance, tour, Region(nodes))
    found = dict(zip(PROBLEM.descriptor_names, values.tolist(), strict=True))

    def away(one, other):
        return float(np.hypot(*(coords[one] - coords[other])))

    around = list(zip(tour, (*tour[1:], tour[0]), strict=True))
    edges = [away(*pair) for pair in around if set(pair) & set(nodes)]
    rest = [node for node in tour if node not in nodes]
    before = sum(away(*pair) for pair in around)
    after = sum(away(one, other) for one, other in zip(rest, (*rest[1:], rest[0]), strict=True))
    near = [min(away(node, other) for other in nodes if other != node) for node in nodes]
    centre = coords[list(nodes)].mean(axis=0)
    expected = {
        "log_size": np.log(len(nodes)),
        "share": len(nodes) / 9,
        "centre_distance": np.hypot(*(centre - coords.mean(axis=0))) / instance.spread,
        "edge_mean": np.mean(edges) / (before / 9),
        "edge_variation": np.std(edges) / np.mean(edges),
        "edge_longest": np.max(edges) / np.mean(edges),
        "fragmentation": runs / len(nodes),
        "detour": (before - after) / sum(edges),
        "nearness": np.mean(near) / np.mean(edges),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_runs_are_described_where_runs_are_the_regions():
    runs = problem("tsp").descriptor_names
    assert runs != PROBLEM.descriptor_names
    assert problem("tsp-construct").descriptor_names == runs
