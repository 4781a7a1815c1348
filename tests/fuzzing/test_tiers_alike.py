"""Random programs act alike in both tiers, or are not compiled: the short form of the fuzzer."""

from collections import Counter
from dataclasses import replace

import once
import pytest
from both_tiers import DIFFERENT, scene
from reduction import reduced

pytestmark = pytest.mark.integration

SEED = 0


@pytest.fixture(scope="module")
def free():
    with scene() as bench:
        yield bench


def counted(bench, programs):
    """Count what random programs do; fail where one differs between the tiers."""
    kinds = Counter()
    for index in range(programs):
        source = bench.draw(SEED, index)
        verdict = bench.judge(source)
        assert verdict.kind != DIFFERENT, f"{verdict.detail}\n{source}"
        kinds[verdict.kind] += 1
    return kinds


@pytest.mark.parametrize("programs", [12, pytest.param(48, marks=pytest.mark.slow)])
def test_random_programs_act_alike_in_both_tiers(free, programs):
    kinds = counted(free, programs)
    assert kinds["same answers"] + kinds["failures"] >= programs // 4
    assert min(kinds["same answers"], kinds["failures"]) >= 1


@pytest.mark.parametrize(
    ("body", "kind", "detail"),
    [
        ("return nodes[-1]", "same answers", ""),
        ("return nodes[99]", "failures", "IndexError"),
        ("return len([])", "not compiled", None),
    ],
)
def test_the_judge_tells_what_programs_do(free, body, kind, detail):
    verdict = free.judge(f"def answer({', '.join(once.KINDS)}):\n    {body}\n")
    assert verdict.kind == kind
    assert detail in (None, verdict.detail)


@pytest.mark.parametrize("compiled", ["once:one_more", "heaps:0:once:STALE"])
def test_the_judge_tells_a_wrong_answer_and_what_depends_on_the_heap(free, compiled):
    wrong = replace(free, compiled=compiled)
    with wrong.sandbox:
        verdict = wrong.judge(f"def answer({', '.join(once.KINDS)}):\n    return total\n")
    assert verdict.kind == "differ"


def test_reduction_keeps_what_matters():
    source = """def f(a, b):
    x = a + 1
    if b:
        for i in range(3):
            y = a[3 * b] + 2
    return x
"""
    small = reduced(source, lambda text: text.startswith("def") and "a[" in text)
    assert small == "def f(a, b):\n    y = a[3]\n"
