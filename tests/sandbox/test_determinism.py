"""Nothing that differs from run to run reaches a program's answer or what is told of it."""

import numpy as np
import pytest
import temptations
from scene import HERE, HONEST

from specahd.core.program import Outcome
from specahd.sandbox.guard import guard
from specahd.sandbox.session import Call, Launch, Limits, Sandbox

ARGUMENTS = ("a", "b")


@pytest.fixture(scope="module")
def sandboxes(arena):
    """Two zygotes: each has addresses of its own, and has had different children."""
    with Sandbox(arena, [HONEST], [HERE]) as one, Sandbox(arena, [HONEST], [HERE]) as other:
        yield one, other


def results(sandbox, source):
    with sandbox.session([Launch(source, "f", HONEST)], Limits(5.0)) as session:
        for _ in range(2):
            result = session.call(Call(0, 0, (np.array([1]),)))
            yield result.outcome, result.detail, [array.tolist() for array in result.output]


@pytest.mark.parametrize("body", temptations.ALL)
def test_a_program_ends_alike_in_every_process(sandboxes, body):
    source = f"def f(a, b):\n    {body}\n"
    assert guard(source, "f", ARGUMENTS) is None
    first, second, *others = [result for box in sandboxes for result in results(box, source)]
    assert [second, *others] == [first] * 3
    assert "0x7" not in first[1]
    if body in temptations.SAME:
        assert first[0] is Outcome.OK, first
