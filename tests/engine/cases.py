"""What the tests of passes are run on: the arrays that programs see, and small programs."""

import numpy as np


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


def translated(role, function):
    """Return the number of a function of ours as a program of some role."""
    interface = role._interface
    return role.translate(interface.source_of(function), interface.name)
