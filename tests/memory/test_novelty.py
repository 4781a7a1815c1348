"""What counts as the same program."""

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
