"""Runs of a tour: the validator V, the local problem of the rebuild R, and the merge M."""

from collections.abc import Sequence

import numpy as np

from specahd.problems.tsp.instance import Solution
from specahd.routing.base import IntArray, Region, Rejection, Validation
from specahd.routing.groups import is_consistent, is_vector, nested

SMALLEST = 4
"""Minimum number of nodes of a run: two anchors and two cities whose order can change."""


def whole_tour(solution: Solution) -> Region:
    """Return the closed tour as one region: a run that ends where it begins.

    Its only anchor is the first node of ``solution``. No upper program can
    propose it; the repair operator ``construct`` rebuilds it.
    """
    return Region((*solution, solution[0]))


def validate(
    solution: Solution, output: Sequence[IntArray], max_regions: int, max_size: int
) -> Validation:
    """Apply the validator's rules (the paper, appendix B) to the answer of an upper program.

    Nodes that do not exist and repetitions are dropped from a proposal. It
    must then be a run of consecutive nodes of the tour, which may pass the end
    of ``solution``. A run against the direction of the tour is the same path
    between the same anchors: it is kept and reversed.

    Parameters
    ----------
    output
        ``[lengths, values]`` of the proposed runs; ``lengths == [-1]`` means
        that the program returned no list of sequences. Both come from
        untrusted code.
    max_regions, max_size
        Maximum number of regions kept, and of nodes in each, anchors included.

    Returns
    -------
    The kept runs in tour order, and a rejection for each other proposal: ``malformed``,
    ``empty`` (fewer than 2 nodes between the anchors), ``oversized``,
    ``not_contiguous``, ``overlapping`` (a mutable node is mutable or an anchor
    in an earlier run, or an anchor is mutable there) or ``over_budget``.
    """
    if not is_consistent(output):
        return Validation(1, (), (Rejection(0, "malformed"),))
    proposals = nested(*output)
    size = len(solution)
    position = {node: place for place, node in enumerate(solution)}
    regions: list[Region] = []
    rejections: list[Rejection] = []
    mutable: set[int] = set()
    anchors: set[int] = set()
    for index, proposal in enumerate(proposals):
        if len(regions) == max_regions:
            rejections.append(Rejection(index, "over_budget"))
            continue
        # A dict drops repetitions and keeps the order.
        nodes = [node for node in dict.fromkeys(proposal) if node in position]
        if len(nodes) < SMALLEST:
            rejections.append(Rejection(index, "empty"))
            continue
        if len(nodes) > max_size:
            rejections.append(Rejection(index, "oversized"))
            continue
        places = np.array([position[node] for node in nodes])
        steps = set((np.diff(places) % size).tolist())
        if steps == {size - 1}:
            nodes.reverse()
        elif steps != {1}:
            rejections.append(Rejection(index, "not_contiguous"))
            continue
        ends, interior = (nodes[0], nodes[-1]), nodes[1:-1]
        if not (
            mutable.isdisjoint(interior)
            and anchors.isdisjoint(interior)
            and mutable.isdisjoint(ends)
        ):
            rejections.append(Rejection(index, "overlapping"))
            continue
        regions.append(Region(tuple(nodes)))
        mutable.update(interior)
        anchors.update(ends)
    return Validation(len(proposals), tuple(regions), tuple(rejections))


def local_nodes(region: Region) -> list[int]:
    """Return the nodes of a run as its local problem numbers them.

    The anchors come first and last, and the nodes between them are sorted, so
    that the numbers do not reveal the incumbent's order.
    """
    start, *interior, end = region.nodes
    return [start, *sorted(interior), end]


def merge(solution: Solution, region: Region, output: Sequence[IntArray]) -> Solution | None:
    """Put a rebuilt path between the anchors of a run; None when ``output`` is malformed.

    This function does not check that every node is visited once.

    Parameters
    ----------
    output
        ``[path]`` from untrusted code: the local indices of the nodes between the
        anchors in their new order.
    """
    if len(output) != 1 or not is_vector(output[0]):
        return None
    [path] = output
    interior = len(region.nodes) - 2
    if path.size != interior:
        return None
    if path.min() < 1 or path.max() > interior:
        return None
    local = local_nodes(region)
    first = solution.index(region.nodes[0]) + 1
    merged = list(solution)
    for offset, index in enumerate(path.tolist()):
        merged[(first + offset) % len(merged)] = local[index]
    return tuple(merged)
