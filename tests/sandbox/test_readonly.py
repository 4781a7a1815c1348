"""Programs keep nothing between calls: what they are given cannot be written to."""

import numpy as np
import pytest
from program_pair import HERE, HONEST

from specahd.core.program import Outcome
from specahd.programs.guard import guard
from specahd.sandbox.session import Call, Launch, Sandbox, SessionLimits
from specahd.sandbox.shared_arrays import SharedArrays

VALUES = np.array([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0], [4.0, 6.0, 5.0]])
# ``a`` is a block that is mapped read-only, ``b`` the array of a call.
WRITES = [
    "a[0, 0] = 9",
    "a += 1",
    "a[a > 1] = 0",
    "a.T[0, 0] = 9",
    "a.reshape(-1)[0] = 9",
    "a.flat[0] = 9",
    "a.fill(9)",
    "a.sort()",
    "a.take([0], out=a[0, :1])",
    "a.sum(axis=0, out=a[0])",
    "a.cumsum(axis=0, out=a)",
    "np.add.at(a, (0, 0), 1)",
    "np.add.at(a.T, (0, 0), 1)",
    "[op.at(a, (0, 0), 1) for op in [np.add]]",
    "(lambda x: np.multiply.at(x, (0, 0), 5))(a)",
    "np.add.at(*[a, (0, 0), 1])",
    "np.maximum.at(np.broadcast_to(a, (2, 3, 3)), (0, 0, 0), 99)",
    "np.add.at(a.astype(float, copy=False), (0, 0), 1)",
    "np.add.reduce(a, axis=0, out=a[0])",
    "np.add.reduceat(a, [0, 1, 2], out=a)",
    "np.add(a, 1, out=a)",
    "np.sqrt(a, a)",
    "np.copyto(a, 9)",
    "np.put(a, [0], 9)",
    "np.putmask(a, a > 1, 9)",
    "np.place(a, a > 1, [9])",
    "np.fill_diagonal(a, 9)",
    "np.nan_to_num(a, copy=False)",
    "np.median(a, overwrite_input=True)",
    "np.quantile(a, 0.5, axis=0, out=a[0])",
    "np.clip(a, 2, 3, out=a)",
    "np.matmul(a, a, out=a)",
    "np.einsum('ij->ji', a, out=a)",
    "np.einsum('ii->i', a)[0] = 9",
    "np.concatenate([a, a], out=np.broadcast_to(a[0], (6, 3)))",
    "np.take(a, [0], out=a[0, :1])",
    "np.broadcast_to(a, (2, 3, 3))[0] = 9",
    "np.split(a, 3)[0][0] = 9",
    "np.cumsum(a, 0, None, a)",
    "np.argmin(a, 0, b)",
    "b[0] = 9",
    "b.sort()",
    "np.add.at(b, [0], 1)",
    "b += 1",
]


@pytest.fixture(scope="module")
def sandbox():
    shared = SharedArrays.allocate([{"matrix": (np.float64, VALUES.shape)}])
    shared.writable(0)["matrix"][:] = VALUES
    with Sandbox(shared, [HONEST], [HERE]) as sandbox:
        yield sandbox
    assert np.array_equal(shared.arrays(0)["matrix"], VALUES)
    shared.close()


def launch(line):
    """A program that first says what it sees, by way of a number, and then writes."""
    source = f"def f(a, b):\n    {line}\n    return [1]\n"
    assert guard(source, "f", ("a", "b")) is None
    return Launch(source, "f", HONEST)


LOOK = "def f(a, b):\n    return [int(x) for x in a.ravel()] + [int(x) for x in b]\n"


def test_what_is_given_cannot_be_written_to(sandbox):
    programs = [*map(launch, WRITES), Launch(LOOK, "f", HONEST)]
    calls = [Call(number, 0, (np.array([3, 1, 2]),)) for number in range(len(programs))]
    with sandbox.session(programs, SessionLimits(5.0)) as session:
        *results, seen = session.call_many(calls)
    for line, result in zip(WRITES, results, strict=True):
        assert result.outcome is Outcome.CRASHED, (line, result)
        reasons = ("read-only", "writ", "not acceptable")
        assert any(words in result.detail for words in reasons), (line, result)
    [values] = seen.output
    assert values.tolist() == [*VALUES.ravel().tolist(), 3, 1, 2]
