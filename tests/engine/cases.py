"""What the tests of passes are run on: the arrays that programs see, and small programs."""

from contextlib import closing
from functools import cache

import numpy as np

from specahd.sandbox.session import Sandbox
from specahd.sandbox.shared_arrays import SharedArrays


def block_of(problem, instance, near=12):
    """Return the arrays of an instance as the child has them, with so many neighbours a node."""
    block = {
        name: np.zeros(shape, kind) for name, (kind, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, block)
    matrix = block["distance_matrix"]
    others = matrix[:, 1:].copy()
    np.fill_diagonal(others[1:], np.inf)
    found = np.argsort(others, axis=1, kind="stable")[:, : min(near, len(matrix) - 2)] + 1
    block["neighbours"] = np.ascontiguousarray(found)
    block["neighbour_distances"] = np.take_along_axis(matrix, found, 1)
    for array in block.values():
        array.flags.writeable = False
    return block


def program_of(name, arguments, body):
    """Return the source of a program with some lines."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def {name}({', '.join(arguments.split())}):\n{lines}"


@cache
def have_compiled(role):
    """Have the Python that zygotes are forked from compile the loops of a role, and keep them.

    In a new clone each process of the tests would else compile them for itself: half a minute of
    CPU time a problem.
    """
    uppers = getattr(role, "_uppers", role)
    name = uppers.family.groups if role is uppers else uppers.family.positions
    with (
        closing(SharedArrays.allocate([])) as shared,
        Sandbox(shared, [], compiled=[name]) as sandbox,
    ):
        assert sandbox.status


def translated(role, function):
    """Return the number of a function of ours as a program of some role."""
    have_compiled(role)
    interface = role._interface
    return role.translate(interface.source_of(function), interface.name)
