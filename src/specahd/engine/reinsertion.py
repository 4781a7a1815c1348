"""What the sandbox child does where customers of a group are inserted again.

The loops are plain Python here, as tests run them; the problems compile the same functions, and
only compiled programs are called by a search. Nothing here is trusted: the trusted process merges
and checks the complete solution.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import of_block

NEIGHBOURS = 40
"""How many of the nearest customers positions are looked for at."""
NOISE = 32
"""How many random numbers a program of the upper level is given for each group."""
SHARES = 1_000_000
"""Progress travels as an integer: so many parts make the whole."""

KEPT = 256
"""Of how many instances the neighbours are kept."""
MOST_NOISE, SPARE = 1 << 17, 61
"""How many numbers a rebuild draws before they come again, and from how many places on."""

Loop = Any
"""One of the loops below, in Python or compiled."""


def random_numbers(seed: int, count: int) -> FloatArray:
    """Return numbers, uniform in [0, 1), from a seed of 63 bits (splitmix64)."""
    counted = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = counted + np.uint64(seed)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    whole = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)
    return whole.astype(np.float64) * 2.0**-53


def nearest(distances: Any, count: int) -> IntArray:
    """Return the nearest customers of every node, nearest first, shape (n + 1, ``count``).

    ``count`` is at least 1; 0 stands where there are fewer.
    """
    size = len(distances)
    near = np.zeros((size, count), np.int64)
    lengths = np.zeros(count)
    for node in range(size):
        found = 0
        for other in range(1, size):
            if other == node:
                continue
            length = distances[node, other]
            if found == count and length >= lengths[count - 1]:
                continue
            place = min(found, count - 1)
            while place > 0 and lengths[place - 1] > length:
                lengths[place] = lengths[place - 1]
                near[node, place] = near[node, place - 1]
                place -= 1
            lengths[place] = length
            near[node, place] = other
            found = min(found + 1, count)
    return near


def linked(lengths: Any, customers: Any, nodes: int) -> Any:
    """Return the stops before and after every customer, and the number of its route."""
    preceding = np.zeros(nodes, np.int64)
    following = np.zeros(nodes, np.int64)
    route_of = np.zeros(nodes, np.int64)
    start = 0
    for route in range(len(lengths)):
        end = start + lengths[route]
        for place in range(start, end):
            node = customers[place]
            route_of[node] = route
            if place > start:
                preceding[node] = customers[place - 1]
            if place + 1 < end:
                following[node] = customers[place + 1]
        start = end
    return preceding, following, route_of


def gains(distances: Any, preceding: Any, following: Any) -> Any:
    """Return by how much a solution gets cheaper without each customer."""
    saved = np.zeros(len(preceding))
    for node in range(1, len(preceding)):
        before = preceding[node]
        after = following[node]
        saved[node] = distances[before, node] + distances[node, after] - distances[before, after]
    return saved


def ask(
    programs: Any,
    preceding: Any,
    following: Any,
    route_of: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    removal_gains: Any,
    demands: Any,
    capacity: int,
    exposures: Any,
    noise: Any,
    progress: float,
    max_groups: int,
    max_size: int,
) -> Any:
    """Return what an upper program answers."""
    return programs[0](
        preceding,
        following,
        route_of,
        neighbours,
        neighbour_distances,
        depot_distances,
        removal_gains,
        demands,
        capacity,
        exposures,
        noise,
        progress,
        max_groups,
        max_size,
    )


@dataclass(frozen=True)
class Loops:
    """The loops of this operator, as they are or compiled.

    Parameters
    ----------
    rebuild
        The problem's own, which takes a group out and inserts it again.
    """

    rebuild: Loop
    nearest: Loop = nearest
    linked: Loop = linked
    gains: Loop = gains
    ask: Loop = ask
    _known: dict[int, tuple[Any, IntArray, FloatArray]] = field(default_factory=dict)

    def neighbours(self, arrays: Mapping[str, Any], distances: Any) -> tuple[IntArray, FloatArray]:
        """Return the nearest customers of every node, and the distances to them.

        Those of the last instances are kept, with the arrays that they are known by.
        """
        if id(arrays) not in self._known:
            if len(self._known) == KEPT:
                self._known.clear()
            near = self.nearest(distances, max(1, min(NEIGHBOURS, len(arrays["demands"]) - 2)))
            lengths = np.take_along_axis(np.asarray(distances), near, axis=1)
            near.flags.writeable = lengths.flags.writeable = False
            self._known[id(arrays)] = arrays, near, lengths
        return self._known[id(arrays)][1:]


def propose_with(
    loops: Loops, program: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Run an upper program on one solution."""
    lengths, customers, exposures, (max_groups, max_size, seed, progress) = inputs
    distances = of_block(arrays)
    neighbours, neighbour_distances = loops.neighbours(arrays, distances)
    preceding, following, route_of = loops.linked(lengths, customers, len(arrays["demands"]))
    answer = loops.ask(
        program,
        preceding,
        following,
        route_of,
        neighbours,
        neighbour_distances,
        distances[0],
        loops.gains(distances, preceding, following),
        arrays["demands"],
        int(arrays["capacity"][0]),
        exposures,
        random_numbers(int(seed), NOISE * int(max_groups)),
        float(progress) / SHARES,
        int(max_groups),
        int(max_size),
    )
    size = len(arrays["demands"]) - 1
    return Answer(split(answer, size, int(max_groups), int(max_size)))


def propose(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Run an upper program as it is."""
    return propose_with(Loops(rebuild=None), [program], arrays, inputs)


def split(answer: Any, customers: int, max_groups: int, max_size: int) -> list[IntArray]:
    """Return the groups of an answer as lengths and members.

    What is no customer, comes a second time, or is beyond a limit is dropped; so are empty groups.
    """
    groups: list[list[int]] = [[]]
    used = set()
    for node in np.asarray(answer).tolist():
        if node == 0:
            if groups[-1]:
                if len(groups) == max_groups:
                    break
                groups.append([])
        elif 1 <= node <= customers and node not in used and len(groups[-1]) < max_size:
            groups[-1].append(node)
            used.add(node)
    kept = [group for group in groups if group]
    members = [node for group in kept for node in group]
    return [np.array([len(group) for group in kept], np.int64), np.array(members, np.int64)]
