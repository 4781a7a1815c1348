"""Skill records: what they state is in the sample, and noise makes them state nothing."""

import math
from collections import Counter
from statistics import NormalDist, fmean, stdev

import numpy as np
import pytest

from specahd.core.program import Level, Program
from specahd.memory.skills import CONDITIONS, SIDE, TOLERANCE, Effects, make_skill

SEEDS = 80
NAMES = tuple(f"coordinate_{number}" for number in range(14))
PARENT = Program(
    "lower-seed", Level.LOWER, "def f(a):\n    return a\n", "Be.", "seed", contract="append"
)
CHILD = Program(
    "lower-1-0001", Level.LOWER, "def f(a):\n    return -a\n", "Be not.", "m1", contract="append"
)


def recorded(differences, descriptors, instances=None, failures=()):
    instances = np.arange(len(differences)) if instances is None else instances
    effects = Effects(np.array(differences, float), descriptors, NAMES, instances, dict(failures))
    return make_skill(CHILD, PARENT, effects, version=1)


def drawn(tasks, seed):
    """Return descriptors of tasks, on scales of their own."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(tasks, len(NAMES))) * rng.uniform(0.01, 50, len(NAMES)) + 3, rng


def by_hand(kind, descriptors, instances):
    """Return the supported effects of one kind of tasks, in plain Python."""
    found = {}
    for position, name in enumerate(NAMES):
        pairs = [
            (float(row[position]), bool(is_it), int(instance))
            for row, is_it, instance in zip(descriptors, kind, instances, strict=True)
            if math.isfinite(row[position])
        ]
        values = [value for value, _, _ in pairs]
        inside = [value for value, is_it, _ in pairs if is_it]
        outside = [value for value, is_it, _ in pairs if not is_it]
        if len(inside) < 8 or len(outside) < 8 or len(set(values)) == 1:
            continue
        centre, spread = fmean(values), stdev(values)
        effect = fmean((value - centre) / spread for value in inside) - fmean(
            (value - centre) / spread for value in outside
        )
        bound = NormalDist().inv_cdf(1 - 0.05 / (4 * len(NAMES)))
        together = Counter()
        for _, is_it, instance in pairs:
            together[instance] += 1 / len(inside) if is_it else -1 / len(outside)
        alone = 1 / len(inside) + 1 / len(outside)
        if abs(effect) > bound * math.sqrt(max(alone, sum(w**2 for w in together.values()))):
            found[name] = effect
    return dict(sorted(found.items(), key=lambda item: -abs(item[1]))[:3])


@pytest.mark.parametrize("seed", range(8))
def test_the_statistics_are_those_of_a_slow_computation(seed):
    descriptors, rng = drawn(90, seed)
    standard = (descriptors - descriptors.mean(axis=0)) / descriptors.std(axis=0)
    differences = standard[:, 0] - 1.5 * standard[:, 2] + 0.3 * rng.normal(size=90)
    differences[rng.random(90) < 0.2] = 0
    descriptors[rng.random(descriptors.shape) < 0.1] = np.nan
    # Neighbours are of one instance, and partly alike.
    instances = np.arange(90) // 3 * 2
    differences += np.repeat(rng.normal(size=30), 3) * (differences != 0)
    skill = recorded(differences, descriptors, instances)
    assert (skill.tasks, skill.better, skill.worse) == (
        90,
        sum(value > 0 for value in differences.tolist()),
        sum(value < 0 for value in differences.tolist()),
    )
    assert skill.gain == pytest.approx(fmean(differences.tolist()))
    for stated, kind in ((skill.helped, differences > 0), (skill.failed, differences < 0)):
        expected = by_hand(kind, descriptors, instances)
        assert [condition.coordinate for condition in stated] == list(expected)
        for condition in stated:
            assert condition.effect == pytest.approx(expected[condition.coordinate], abs=0.0051)
    assert skill.helped or skill.failed


@pytest.mark.parametrize("tasks", [20, 185])
def test_noise_seldom_makes_a_statement(tasks):
    stated = 0
    for seed in range(SEEDS):
        descriptors, rng = drawn(tasks, seed)
        # Skewed like counts and ratios are.
        skewed = np.exp((descriptors - 3) / np.abs(descriptors - 3).mean(axis=0))
        skill = recorded(rng.choice([-1.0, 0.0, 1.0], tasks), skewed)
        stated += bool(skill.helped or skill.failed)
    assert stated < 0.1 * SEEDS


def test_tasks_that_are_alike_in_all_are_no_more_than_one():
    stated = apart = 0
    for seed in range(SEEDS):
        descriptors, rng = drawn(60, seed)
        instances = np.repeat(np.arange(60), 3)
        differences = rng.choice([-1.0, 0.0, 1.0], 60)[instances]
        skill = recorded(differences, descriptors[instances], instances)
        stated += bool(skill.helped or skill.failed)
        skill = recorded(differences, descriptors[instances])
        apart += bool(skill.helped or skill.failed)
    assert stated < 0.1 * SEEDS < apart


@pytest.mark.parametrize(("better", "stated"), [(SIDE - 1, False), (SIDE, True)])
def test_too_few_tasks_support_nothing(better, stated):
    for of_the_kind, kind in ((better, "few"), (100 - better, "most")):
        differences = np.where(np.arange(100) < of_the_kind, 1.0, 0.0)
        descriptors = np.tile(differences[:, None] * 1000, (1, len(NAMES)))
        assert bool(recorded(differences, descriptors).helped) == stated, kind


def test_tasks_without_a_descriptor_support_nothing():
    differences = np.where(np.arange(40) < 20, 1.0, 0.0)
    descriptors = np.tile(differences[:, None], (1, len(NAMES)))
    descriptors[: 20 - SIDE + 1] = np.nan
    assert recorded(differences, descriptors).helped == ()
    descriptors[20 - SIDE] = 1.0
    assert len(recorded(differences, descriptors).helped) == CONDITIONS


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6, np.nan])
def test_a_coordinate_that_is_the_same_everywhere_says_nothing(value):
    descriptors = np.full((40, len(NAMES)), value)
    descriptors[::2] *= 1 + 1e-13
    differences = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    skill = recorded(differences, descriptors)
    assert (skill.helped, skill.failed) == ((), ())


def test_rounding_noise_is_no_difference():
    differences = [TOLERANCE / 2, -TOLERANCE / 2, 0.0, 2 * TOLERANCE, -2 * TOLERANCE, 1.0]
    skill = recorded(differences, np.zeros((6, len(NAMES))))
    assert (skill.tasks, skill.better, skill.worse) == (6, 2, 1)


def test_a_record_names_its_sources_and_its_failures():
    skill = recorded([0.1, -0.3], np.zeros((2, 14)), failures={"timeout": 1})
    assert skill.record == {
        "record": "skill",
        "id": "lower-1-0001/1",
        "program": "lower-1-0001",
        "parent": "lower-seed",
        "version": 1,
        "change": "Be not. Code: `a` became `-a`.",
        "tasks": 2,
        "better": 1,
        "worse": 1,
        "gain": pytest.approx(-0.1),
        "helped": {},
        "failed": {},
        "failures": {"timeout": 1},
    }
