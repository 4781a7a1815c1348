"""Nothing that differs from run to run reaches a program's answer or what is told of it."""

import math

import nondeterminism
import numpy as np
import pytest
import runners
from hypothesis import example, given
from hypothesis import strategies as st
from program_pair import HERE, HONEST, PROGRAMS

from specahd.core.program import Outcome
from specahd.programs.definition import define
from specahd.programs.guard import guard
from specahd.sandbox.session import Call, Launch, Sandbox, SessionLimits
from specahd.sandbox.wire import describe_error, one_line

ARGUMENTS = ("a", "b")


def source(body):
    return f"def f(a, b):\n    {body}\n"


@pytest.fixture(scope="module")
def results(shared):
    """Return what each program ended in, twice in each of two processes.

    Each process has a zygote with addresses of its own. The order of the programs differs, so
    that what they find in memory does, too.
    """
    bodies = nondeterminism.ALL
    programs = [Launch(source(body), "f", HONEST) for body in bodies]
    calls = [Call(number, 0, (np.array([1]),)) for number in range(len(bodies)) for _ in range(2)]
    found = {body: [] for body in bodies}
    for step in (1, -1):
        with (
            Sandbox(shared, [HONEST], [HERE]) as sandbox,
            sandbox.session(programs, SessionLimits(5.0)) as session,
        ):
            asked = calls[::step]
            for call, result in zip(asked, session.call_many(asked), strict=True):
                told = result.outcome, result.detail, [array.tolist() for array in result.output]
                found[bodies[call.program]].append(told)
    return found


@pytest.mark.parametrize("body", nondeterminism.ALL)
def test_a_program_ends_alike_in_every_process(results, body):
    assert guard(source(body), "f", ARGUMENTS) is None
    first, *others = results[body]
    assert others == [first] * 3
    assert "0x7" not in first[1]
    if body in nondeterminism.SAME:
        assert first[0] is Outcome.OK, first


def test_a_detail_that_a_child_made_up_tells_no_address(sandbox):
    with sandbox.session(PROGRAMS, SessionLimits(5.0)) as session:
        result = session.call(Call(1, 0, runners.attack("tell_an_address")))
    assert (result.outcome, result.detail) == (Outcome.CRASHED, "made at 0x0 by program.py")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<map object at 0x7f01aB>,\n <f at 0x55D>", "<map object at 0x0>, <f at 0x0>"),
        ("File /usr/lib/python3.11/x.py, in /tmp/a-b/", "File x.py, in"),
        ("shapes (3,) and (4,) / 2, a/b, 1/2/3", "shapes (3,) and (4,) / 2, a/b, 1/2/3"),
        ("x" * 2000, "x" * 1000),
    ],
)
def test_a_detail_is_one_line_without_addresses_and_directories(text, line):
    assert one_line(text) == line


def test_a_failure_that_cannot_be_told_is_named():
    nested = ()
    for _ in range(100_000):
        nested = (nested,)
    assert describe_error(KeyError(nested)) == "KeyError"
    assert describe_error(KeyError("x")) == "KeyError: 'x'"
    assert describe_error(OSError(2, "No such file", "/srv/x")) == "FileNotFoundError: No such file"


elements = st.one_of(
    st.integers(-(2**40), 2**40),
    st.integers(0, 300),
    st.sampled_from([True, 0.5, 2.0, -1.0, math.inf]),
    st.tuples(st.integers(0, 50), st.integers(0, 50)),
)
# What a program may do to sets, after which they are to be in the order of Python's own.
STEPS = (
    "s.add(x[0]) if x else None",
    "s.update(x)",
    "s.update(x, y)",
    "s.update(dict.fromkeys(x))",
    "s.update(set(x))",
    "s |= set(y)",
    "s ^= set(x)",
    "s -= set(x)",
    "s = s | frozenset(x)",
    "s = s ^ {e for e in y}",
    "s = set(x) & s",
    "s = s.union(x, set(y))",
    "s = set.union(s, x)",
    "s = s.symmetric_difference(x)",
    "s = set(s)",
    "s = set(frozenset(s))",
    "s = s.copy()",
    "s = {*s, *x}",
    "s = {7, *s, -3, *x}",
    "s = {*x, s.pop() if s else 1, *s}",
    "s = {1, 2, 3, -4} | s",
    "s = {0, 8, 16, 24, 32, 1}",
    "s = {e for e in s if e in {1, 2, 3} or e in s}",
    "s.discard(x[0]) if x else None",
    "s.pop() if s else None",
    "s = set(dict.fromkeys(x).keys())",
)


@given(
    st.lists(elements, max_size=40),
    st.lists(elements, max_size=40),
    st.lists(st.sampled_from(STEPS), max_size=8),
)
@example([], [0, 1, -1, 2, 14], ["s.update(x, y)", "s = {*s, *x}"])
def test_sets_keep_the_order_that_python_gives_them(x, y, steps):
    lines = "".join(f"    {step}\n" for step in steps)
    source = f"def f(x, y):\n    s = set()\n{lines}    return list(s)\n"
    assert guard(source, "f", ("x", "y")) is None
    plain = {}
    exec(source, plain)
    assert repr(define(source, "f")(x, y)) == repr(plain["f"](x, y))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'b' > 'a' >= 'a'", True),
        ("sorted(['b', 'a', 'c'])[0] == 'a'", True),
        ("'a' != 'b' and 'a' == 'a' and not ''", True),
        ("{'a': 1}['a']", 1),
        ("dict.fromkeys(['a', 'b']) == {'b': None, 'a': None}", True),
        ("isinstance(set(), set) and isinstance({1}, set) and not isinstance([], set)", True),
        ("isinstance(frozenset(), (list, frozenset)) and not isinstance({1}, frozenset)", True),
        ("frozenset([1]) in {frozenset([1]), (1, 2.5, 'x')}", True),
        ("set([1, 2]) == {2, 1} == frozenset([1, 2])", True),
        ("np.array([1.9]).astype('int64' if x else 'float')[0]", 1),
        ("float('inf') == math.inf", True),
        ("[[np.add.at(z, [0, 0, 2], 1), z][1] for z in [np.zeros(3)]][0].tolist()", [2, 0, 1]),
    ],
)
def test_strings_and_sets_are_used_as_ever(expression, value):
    source = f"def f(x, y):\n    return {expression}\n"
    assert guard(source, "f", ("x", "y")) is None
    assert define(source, "f")([1], []) == value
