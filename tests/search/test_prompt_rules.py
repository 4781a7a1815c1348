"""The guard refuses what the rules of a prompt rule out, and allows what they allow."""

import re

import pytest
from sample_requests import CONTRACTS, request

from specahd.core.program import Level
from specahd.programs.guard import guard
from specahd.search.prompts import render

CLAIMED = {
    "np.random": "return np.random.rand()",
    "np.empty": "return np.empty(3)",
    "np.vectorize": "return np.vectorize(a)",
    "nested functions": "def g(): return 1",
    "classes": "class C: pass",
    "recursion": "return f(a)",
    "try": "try: pass\n    except: pass",
    "raise": "raise a",
    "with": "with a: pass",
    "del": "del a[0]",
    "match": "match a:\n        case 1: pass",
    "yield": "yield 1",
    "global": "global x",
    "nonlocal": "nonlocal x",
    ":=": "return (x := a)",
    "f-strings": "return f'{a}'",
    "no others": "return str(a)",
    "where=": "return np.log(a, where=a > 0)",
    "ASCII": "return 'é'",
    "other modules": "return heapq.nsmallest(3, a)",
}


@pytest.mark.parametrize("word", CLAIMED)
def test_what_the_prompt_rules_out_is_refused(word):
    rules = re.search(r"Rules:\n(?:- .*\n)+", render(request(CONTRACTS["cvrp", Level.LOWER], "i1")))
    assert word in rules.group()
    assert guard(f"def f(a):\n    {CLAIMED[word]}\n", "f", ["a"]) is not None


@pytest.mark.parametrize(
    "line",
    [
        "return min(a, key=lambda node: a[node])",
        "return [math.hypot(x, y) for x, y in zip(a, a)]",
        "return np.linalg.norm(a) + np.linalg.solve(a, a) + np.linalg.eigh(a) + np.linalg.svd(a)",
        "return np.divide(a, a, out=np.zeros(3), where=a > 0)",
        "a = a.copy()\n    a[0] = 1\n    return a",
    ],
)
def test_what_the_prompt_allows_is_allowed(line):
    assert guard(f"def f(a):\n    {line}\n", "f", ["a"]) is None
