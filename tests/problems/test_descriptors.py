"""Descriptors of regions do not change when the plane is moved, turned or scaled."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from offered import PROBLEMS, problem
from specahd.routing.base import Region
from specahd.routing.geometry import Convention


def transformed(instance, scale=1.0, angle=0.0, shift=(0.0, 0.0)):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    changed = {"coords": scale * instance.coords @ turn.T + shift}
    if hasattr(instance, "windows"):
        windows = instance.windows
        times = (scale * each for each in (windows.ready, windows.due, windows.service))
        changed["windows"] = type(windows)(*times)
    return replace(instance, convention=Convention.EXACT_2D, **changed)


def region_of(name, instance, solution, rng):
    if name == "tsp":
        start, size = int(rng.integers(instance.size)), int(rng.integers(4, 51))
        return Region(tuple(np.roll(solution, -start)[:size].tolist()))
    nodes = rng.choice(np.arange(1, instance.size + 1), rng.integers(2, 50), replace=False)
    return Region(tuple(nodes.tolist()))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "change",
    [
        {"shift": (3e4, -7e3)},
        {"angle": 0.7},
        {"angle": np.pi / 2},
        {"scale": 1e-3},
        {"scale": 640.0, "angle": 2.0, "shift": (-500.0, 1e5)},
    ],
)
def test_descriptor_is_invariant(name, change):
    rng = np.random.default_rng(4)
    each = problem(name)
    for instance in islice(each.generate("validation", 3), 12):
        unrounded = transformed(instance)
        solution = each.baseline(unrounded, "nearest")
        region = region_of(name, instance, solution, rng)
        before = each.describe(unrounded, solution, region)
        after = each.describe(transformed(instance, **change), solution, region)
        assert before.shape == (len(each.descriptor_names),)
        np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6)
