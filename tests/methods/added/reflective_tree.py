"""A search method as a user would add it: this file, and one in conf/method.

It uses what EoH does not: a text between two programs, waiting for it, failures as rewards,
response vectors, a tree, and two populations of which the worse is reset.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.search.base import Query, RoundStart, Sample

WRITE = Operator("write", "Write a program of your own.")
REFLECT = Operator(
    "reflect",
    "Compare {parents}. State in at most 30 words what makes one of them better.",
    parents=2,
    treatment=Treatment.DESCRIBE,
)
REVISE = Operator(
    "revise",
    "Revise {parents}, going by the remarks above.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
    skills=True,
)
JOIN = Operator(
    "join",
    "Each of {parents} is good where the other is not. Write one that is good everywhere.",
    parents=2,
    treatment=Treatment.COMBINE,
)
FAILURE = -0.01
"""The reward of a program that failed, beside scores of a few percent."""


@dataclass(eq=False)
class Node:
    """A measured program in the tree; its value is the mean reward of what was tried below."""

    parent: Parent
    island: int
    above: "Node | None" = None
    visits: int = 1
    rewards: float = 0.0
    failures: list[str] = field(default_factory=list)


class ReflectiveTree:
    """Two islands; on each a tree is descended by upper confidence bounds.

    Parameters
    ----------
    island
        Programs of one island that are members.
    reset
        After how many programs the worse island begins again.
    """

    def __init__(self, island: int = 4, reset: int = 20) -> None:
        self.size = 2 * island
        self._island = island
        self._reset = reset
        self._nodes: list[Node] = []
        self._tickets = 1
        self._tried = 0
        self._under_way: dict[int, Node | int] = {}
        self._remarks: deque[tuple[Node, str]] = deque()

    @property
    def members(self) -> Sequence[Parent]:
        """The best of both islands."""
        found = [parent for island in (0, 1) for parent in self._best(island)[: self._island]]
        return sorted(found, key=lambda parent: -parent.score)

    def begin(self, start: RoundStart) -> None:
        """Plant the programs carried over on the islands in turn."""
        self._tickets = max(1, start.tickets)
        self._tried = 0
        self._remarks.clear()
        self._nodes = [
            Node(parent, number % 2, rewards=parent.score)
            for number, parent in enumerate(start.carried)
        ]

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Ask for a revision if there is a remark, else join, reflect or write anew."""
        island = index % 2
        if self._remarks:
            node, remark = self._remarks.popleft()
            self._under_way[index] = node
            remarks = [f"Remark: {remark}", *(f"Avoid: {why}" for why in node.failures[-1:])]
            return Query(REVISE, (node.parent,), hints="\n".join(remarks))
        if index % 5 == 4 and (pair := self._complementary()):
            self._under_way[index] = island
            return Query(JOIN, pair)
        node = self._descend(island)
        if node is None or len(self._best(island)) < 2:
            self._under_way[index] = island
            return Query(WRITE)
        if node in self._under_way.values():
            # What comes of it decides where to go on.
            return None
        self._under_way[index] = node
        return Query(REFLECT, (self._best(island)[0], node.parent))

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Keep a remark for the next program; let a program grow, or its failure count."""
        origin = self._under_way.pop(sample.request.index)
        if sample.request.operator is REFLECT:
            assert isinstance(origin, Node)
            self._remarks.append((origin, sample.text or "none"))
            return
        self._tried += 1
        above = origin if isinstance(origin, Node) else None
        island = above.island if above else origin
        reward = FAILURE
        if sample.retained:
            reward = sample.parent.score
            self._nodes.append(Node(sample.parent, island, above, rewards=reward))
        elif above is not None:
            above.failures.append(sample.detail)
        while above is not None:
            above.visits += 1
            above.rewards += reward
            above = above.above
        if self._tried % self._reset == 0:
            self._start_again(rng)

    def _start_again(self, rng: np.random.Generator) -> None:
        """Plant one of the better island's programs on the worse, in place of all others."""
        best = [self._best(island) for island in (0, 1)]
        if not all(best):
            return
        worse = int(best[0][0].score > best[1][0].score)
        chosen = best[1 - worse][rng.integers(len(best[1 - worse]))]
        self._nodes = [node for node in self._nodes if node.island != worse]
        # A member stands once among the members.
        self._nodes = [node for node in self._nodes if node.parent.program.id != chosen.program.id]
        self._nodes.append(Node(chosen, worse, rewards=chosen.score))

    def _best(self, island: int) -> list[Parent]:
        nodes = [node for node in self._nodes if node.island == island]
        return [node.parent for node in sorted(nodes, key=lambda node: -node.parent.score)]

    def _descend(self, island: int) -> Node | None:
        """Return the node of an island with the greatest upper confidence bound."""
        nodes = [node for node in self._nodes if node.island == island]
        if not nodes:
            return None
        left = 1 - self._tried / self._tickets
        total = sum(node.visits for node in nodes)
        bounds = [
            node.rewards / node.visits + 0.01 * left * np.sqrt(np.log(total + 1) / node.visits)
            for node in nodes
        ]
        return nodes[int(np.argmax(bounds))]

    def _complementary(self) -> tuple[Parent, ...]:
        """Return the members, one of each island, whose responses differ most."""
        pairs = [(one, other) for one in self._best(0) for other in self._best(1)]
        apart = [np.abs(np.subtract(one.responses, other.responses)).sum() for one, other in pairs]
        return pairs[int(np.argmax(apart))] if pairs else ()
