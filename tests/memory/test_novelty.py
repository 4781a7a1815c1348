"""What counts as the same program."""

import numpy as np
import pytest

from specahd.core.program import Level, Program
from specahd.memory.memory import Memory
from specahd.memory.novelty import Verdict

BASE = "def f(a, b):\n    x = a + 1\n    return sorted(b, key=lambda k: k * x)\n"
SAME = [
    BASE,
    "def f(a, b):\n    # a comment\n    total = (a + 1)\n"
    "    return sorted(b, key=lambda q: q * total)\n",
]
OTHER = [
    "def f(a, b):\n    x = a + 2\n    return sorted(b, key=lambda k: k * x)\n",
    "def f(a, b):\n    x = b + 1\n    return sorted(b, key=lambda k: k * x)\n",
    "def f(a, b):\n    x = a + 1\n    return sorted(b, key=lambda k: x * k)\n",
]


def program(identifier, source):
    return Program(identifier, Level.LOWER, source, "Sort.", "i1", contract="append")


@pytest.mark.parametrize("source", SAME)
def test_layout_and_local_names_do_not_make_a_program_new(source):
    novelty = Memory(filter=True)
    assert novelty.judge(program("first", BASE)).duplicate_of is None
    assert novelty.judge(program("second", source)).duplicate_of == "first"


@pytest.mark.parametrize("source", OTHER)
def test_another_tree_is_new(source):
    novelty = Memory(filter=True)
    assert novelty.judge(program("first", BASE)).duplicate_of is None
    assert novelty.judge(program("second", source)).duplicate_of is None


def test_without_a_filter_everything_passes():
    novelty = Memory()
    assert novelty.judge(program("first", BASE)) == Verdict()
    assert novelty.judge(program("second", BASE)) == Verdict()


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
    memory.judge(Program("first", Level.LOWER, BASE, "0", "i1", contract="append"))
    verdict = memory.judge(
        Program("second", Level.LOWER, OTHER[0], str(similarity), "i1", contract="append")
    )
    assert verdict.nearest == "first"
    assert verdict.duplicate_of == ("first" if duplicate else None)
