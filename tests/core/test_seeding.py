"""Generators follow from the seed and the path, each step of which counts."""

import pytest

from specahd.core.seeding import generator


def first(seed, *path):
    return generator(seed, *path).integers(2**63)


@pytest.mark.parametrize(
    ("seed", "path"),
    [
        (4, ("lower", 2, 17)),
        (3, ("upper", 2, 17)),
        (3, ("lower", 1, 17)),
        (3, ("lower", 2, 18)),
        (3, ("lower", 17, 2)),
        (3, ("lower", 2)),
        (3, ("lower", 2, 17, "tell")),
    ],
)
def test_another_seed_or_step_gives_another(seed, path):
    assert first(seed, *path) != first(3, "lower", 2, 17)


def test_streams_stay_what_they_are():
    # Runs of earlier versions are repeated with them.
    assert generator(3, "lower", 2, 17).integers(1000, size=4).tolist() == [793, 640, 255, 214]
