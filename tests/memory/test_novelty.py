"""What counts as the same program."""

import numpy as np
import pytest

from specahd.core.program import Level, Program
from specahd.memory.memory import Memory

BASE = "def f(a, b):\n    x = a + 1\n    return sorted(b, key=lambda k: k * x)\n"
LIKE = [
    (BASE, True),
    (
        "def f(a, b):\n    # a comment\n    total = (a + 1)\n"
        "    return sorted(b, key=lambda q: q * total)\n",
        True,
    ),
    ("def f(a, b):\n    x = a + 2\n    return sorted(b, key=lambda k: k * x)\n", False),
    ("def f(a, b):\n    x = b + 1\n    return sorted(b, key=lambda k: k * x)\n", False),
    ("def f(a, b):\n    x = a + 1\n    return sorted(b, key=lambda k: x * k)\n", False),
]


def program(identifier, source, idea="Sort."):
    return Program(identifier, Level.LOWER, source, idea, "i1", contract="append")


@pytest.mark.parametrize(("source", "same"), LIKE)
def test_layout_and_local_names_do_not_make_a_program_new_but_another_tree_does(source, same):
    novelty = Memory(filter=True)
    assert novelty.judge(program("first", BASE)).duplicate_of is None
    assert novelty.judge(program("second", source)).duplicate_of == ("first" if same else None)


class Stated:
    """An encoder whose cosines with all earlier programs stand in a program's idea."""

    def __init__(self):
        self.cosine = []

    def add(self, programs):
        self.cosine += [float(program.idea) for program in programs]

    def cosines(self, position):
        return np.array(
            [1.0 if at == position else self.cosine[position] for at in range(position + 1)]
        )


@pytest.mark.parametrize(
    ("similarity", "duplicate"),
    [
        (0.95, True),
        (0.949999, False),
        # Six decimals are compared.
        (0.9499996, True),
        (0.9499994, False),
        (1.0, True),
    ],
)
def test_a_similarity_of_exactly_the_threshold_makes_a_duplicate(similarity, duplicate):
    memory = Memory({"stated": Stated()}, fuse=1, threshold=0.95, filter=True)
    memory.judge(program("first", BASE, "0"))
    verdict = memory.judge(program("second", LIKE[-1][0], str(similarity)))
    assert verdict.nearest == "first"
    assert verdict.duplicate_of == ("first" if duplicate else None)
