"""Random programs act alike in both tiers, or are not compiled: the short form of the fuzzer."""

from collections import Counter

import pytest
from both_tiers import FREE, scene
from reduction import reduced

SEED = 0


@pytest.mark.parametrize(("problem", "programs"), [(FREE, 40), ("cvrp", 16)])
def test_random_programs_act_alike_in_both_tiers(problem, programs):
    kinds = Counter()
    with scene(problem) as bench:
        for index in range(programs):
            source = bench.draw(SEED, index)
            verdict = bench.judge(source)
            assert verdict.kind not in ("differ", "other error"), f"{verdict.detail}\n{source}"
            kinds[verdict.kind] += 1
    assert kinds["same answers"] >= programs // 10
    assert kinds["same failures"] >= 1


def test_a_program_that_numba_sees_otherwise_is_told():
    """The judge itself: NumPy's scalars wrap in both tiers, Python's integers in one alone."""
    with scene(FREE) as bench:
        head = f"def answer({', '.join(bench.arguments)}):\n    "
        assert bench.judge(f"{head}return nodes[-1]\n").kind == "same answers"
        assert bench.judge(f"{head}return nodes[99]\n").detail == "IndexError"
        assert bench.judge(f"{head}return level\n").kind == "not compiled"


def test_reduction_keeps_what_matters():
    source = """def f(a, b):
    x = a + 1
    if b:
        for i in range(3):
            y = a[3 * b] + 2
    return x
"""
    small = reduced(source, lambda text: "a[" in text)
    assert small == "def f(a, b):\n    y = a[3]\n"
