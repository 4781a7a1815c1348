"""MCTS-AHD (Zheng et al. 2025): a tree of programs, descended by upper confidence bounds."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.core.program import Outcome
from specahd.search.base import Query, RoundStart, Sample
from specahd.search.prompts import idea_and_code

MOST_DIFFERENT = 5
"""Largest number of programs that e1 shows."""
ATTEMPTS = 3
"""Largest number of attempts of an expansion."""
ROOTS = 4
"""Number of children that the root needs before the search descends the tree."""
INITIAL = Operator(
    "i1",
    "Write a new program from scratch. Do not start from the example; choose an approach "
    "of your own that fits the problem.",
)
DIFFER = Operator(
    "e1",
    "Write a program whose form is totally different from {parents}, and that scores high.",
    parents=MOST_DIFFERENT,
)
BLEND = Operator(
    "e2",
    "Write a program whose form is similar to that of program 1, and that takes up what makes "
    "program 2 good. It should score higher than both.",
    parents=2,
    treatment=Treatment.COMBINE,
)
MODIFY = Operator(
    "m1",
    "Write a modified version of {parents}, with new mechanisms and new formulas.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
)
RETUNE = Operator(
    "m2",
    "Find the main parameters of {parents}, and write a version with other settings of them.",
    parents=1,
    treatment=Treatment.RETUNE,
)
DESCRIBE = Operator(
    "describe",
    "Describe in fewer than three sentences what the code of {parents} does: its idea, as it was "
    "carried out. Do not repeat the code.",
    parents=1,
    treatment=Treatment.DESCRIBE,
)


@dataclass(eq=False)
class Node:
    """A node of the tree: a measured program; the root has no program.

    Parameters
    ----------
    value
        Q: the score of the node until it has children, then the best Q of its children.
    visits
        1 plus the number of nodes that were added below; the root begins at 0.
    below
        For a child of the root: this node and all nodes below it.
    """

    parent: Parent | None = None
    above: "Node | None" = None
    value: float = -math.inf
    visits: int = 0
    children: "list[Node]" = field(default_factory=list)
    below: "list[Node]" = field(default_factory=list)

    @property
    def program(self) -> Parent:
        """The program of a node that is not the root."""
        assert self.parent is not None
        return self.parent

    @property
    def path(self) -> "Iterator[Node]":
        """The node and its ancestors, without the root."""
        node: Node | None = self
        while node is not None and node.above is not None:
            yield node
            node = node.above


@dataclass(eq=False)
class Expansion:
    """A planned variation of a node, and the number of its failed attempts."""

    node: Node
    operator: Operator
    attempts: int = 0


class MCTSAHD:
    """Monte Carlo tree search over programs, each node a program, each edge an operator.

    The root first gets four children of different scores. An iteration then descends from the
    root by upper confidence bounds (:func:`confidence_bound`), and expands its last node: once
    with e2, ``variations`` times each with m1 and m2, once with s1. A node on the way that has
    few children for its visits gets one more: the root by e1, others by e2. An expansion that
    fails or repeats a program of the tree is tried three times in all, but not again after a
    timeout. After each measured program a second request asks for a description of its code.
    Later prompts show it in place of the model's own sentence. A description uses no ticket,
    but its tokens are counted.

    The original is sequential. Here the expansions of one iteration, about seven programs, are
    under way together, and each program is described as soon as it was measured. The next
    iteration waits for all programs and descriptions. The expansions do not depend on each
    other, except that a descent uses the bounds from before its own widenings. With
    ``search.lag`` and ``search.samplers`` of 8 an iteration takes the time of about two replies.

    Deviations from the original:

    - Only measured programs are described: the description of a failed one would not be used.
    - The programs carried over, at first the seed program, are children of the root, and count
      among the four.
    - The bounds of Q are the least and the greatest score so far. The original begins with 0 and
      -10000, which enclose all of its scores, because these are negative costs.
    - Depth counts from the root. In the port every node has depth 1, so that its limit never acts.
    - s1 needs two programs of different scores on the path; e2 needs an elite program besides the
      node. Otherwise the expansion is left out, as s1 is in the original.

    ``exploration`` is λ0; the weight falls to 0 with the tickets. ``widening`` is α: a node is
    widened while it has fewer children than its visits to the power α.
    """

    @checked("method.policy.")
    def __init__(
        self,
        elite: Annotated[int, Option("programs kept, of different scores, at least 2", 2)] = 10,
        exploration: Annotated[
            float, Option("weight of exploration at the beginning, at least 0", 0)
        ] = 0.1,
        widening: Annotated[
            float, Option("children of a node: its visits to this power, 0 to 1", 0, 1)
        ] = 0.5,
        depth: Annotated[int, Option("no descent goes below it, at least 1", 1)] = 10,
        variations: Annotated[
            int, Option("programs by each of m1 and m2 in an expansion, at least 1", 1)
        ] = 2,
    ) -> None:
        self.size = elite
        self.members: list[Parent] = []
        self.root = Node()
        self._exploration = exploration
        self._widening = widening
        self._depth = depth
        combine = "List the ideas of {parents} that help, and write a program that combines them."
        self._combine = Operator("s1", combine, depth, Treatment.COMBINE)
        self._mix = (BLEND, *[MODIFY] * variations, *[RETUNE] * variations, self._combine)
        self._least, self._greatest = math.inf, -math.inf
        self._tickets = 1
        self._result_count = 0
        self._due: deque[Expansion] = deque()
        self._undescribed: deque[Node] = deque()
        self._under_way: dict[int, Expansion | Node] = {}
        self._ideas: dict[str, str] = {}
        self._sources: set[str] = set()

    def begin(self, start: RoundStart) -> None:
        """Make the programs carried over the children of a new root."""
        self.root = Node()
        self.members = []
        self._least, self._greatest = math.inf, -math.inf
        self._tickets = max(1, start.tickets)
        self._result_count = 0
        self._due.clear()
        self._undescribed.clear()
        self._under_way.clear()
        self._sources.clear()
        for parent in start.carried:
            self._add(self.root, parent)

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Ask for descriptions, then for the expansions of the iteration; wait for its end."""
        if self._undescribed:
            node = self._undescribed.popleft()
            self._under_way[index] = node
            return Query(DESCRIBE, (node.program,))
        query = self._expansion(index, rng)
        if query is None and not self._under_way:
            self._due.extend(self._iteration())
            # One expansion is always possible: m1, or i1 if there is no program.
            query = self._expansion(index, rng)
        return query

    def _expansion(self, index: int, rng: np.random.Generator) -> Query | None:
        """Return the query of the next expansion that is possible; None if there is none."""
        while self._due:
            expansion = self._due.popleft()
            parents = self._draw_parents(expansion, rng)
            if parents is None:
                continue
            self._under_way[index] = expansion
            views = tuple(idea_and_code(self._idea(one), one.program.source) for one in parents)
            return Query(expansion.operator, tuple(parents), views=views)
        return None

    def _idea(self, parent: Parent) -> str:
        return self._ideas.get(parent.program.id, parent.program.idea)

    def _draw_parents(self, expansion: Expansion, rng: np.random.Generator) -> list[Parent] | None:
        """Return the programs that an expansion shows, drawn anew each time; None if too few."""
        node, operator = expansion.node, expansion.operator
        if operator is INITIAL:
            return []
        if operator is DIFFER:
            drawn = [
                child.below[rng.integers(len(child.below))].program for child in self.root.children
            ]
            count = min(int(rng.integers(2, MOST_DIFFERENT + 1)), len(drawn))
            return [drawn[place] for place in rng.integers(len(drawn), size=count)]
        if operator is BLEND:
            own = node.program.program.id
            candidates = [one for one in self.members if one.program.id != own]
            if not candidates:
                return None
            weights = elite_weights(len(candidates))
            return [node.program, candidates[rng.choice(len(candidates), p=weights)]]
        if operator is self._combine:
            ancestors = _distinct([one.program for one in node.path])
            return ancestors if len(ancestors) > 1 else None
        return [node.program]

    def _iteration(self) -> Iterator[Expansion]:
        """Yield the expansions of the next iteration: on the path, then at its last node."""
        children = self.root.children
        if len(children) < ROOTS:
            yield Expansion(self.root, DIFFER if self._founded else INITIAL)
            return
        node, depth = self.root, 0
        left = max(0.0, 1 - self._result_count / self._tickets)
        while node.children and depth < self._depth:
            if is_widened(node.visits, len(node.children), self._widening):
                yield Expansion(node, DIFFER if node is self.root else BLEND)
            bounds = [
                confidence_bound(
                    child.value,
                    (self._least, self._greatest),
                    self._exploration * left,
                    node.visits,
                    child.visits,
                )
                for child in node.children
            ]
            node = node.children[int(np.argmax(bounds))]
            depth += 1
        for operator in self._mix:
            yield Expansion(node, operator)

    @property
    def _founded(self) -> bool:
        """Whether the root has children, and the round has received a result."""
        return bool(self.root.children) and self._result_count > 0

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Add a program to the tree, or retry its expansion; store a description."""
        asked = self._under_way.pop(sample.request.index)
        if isinstance(asked, Node):
            if sample.text:
                self._ideas[asked.program.program.id] = sample.text
            return
        self._result_count += 1
        if sample.retained and sample.parent.program.source not in self._sources:
            parent = sample.parent
            scores = [child.program.score for child in self.root.children]
            # A program with the score of another child of the root counts as the same approach.
            if asked.node is not self.root or parent.score not in scores:
                self._undescribed.append(self._add(asked.node, parent))
            return
        asked.attempts += 1
        if asked.attempts < ATTEMPTS and sample.outcome is not Outcome.TIMEOUT:
            self._due.append(asked)

    def _add(self, above: Node, parent: Parent) -> Node:
        """Add a node, and update its ancestors."""
        self._sources.add(parent.program.source)
        node = Node(parent, above, parent.score, 1)
        above.children.append(node)
        self._least = min(self._least, parent.score)
        self._greatest = max(self._greatest, parent.score)
        self.members = _distinct(sorted([*self.members, parent], key=lambda one: -one.score))
        del self.members[self.size :]
        if above is self.root:
            node.below.append(node)
        up: Node | None = above
        while up is not None:
            up.value = max(child.value for child in up.children)
            up.visits += 1
            if up.above is self.root:
                up.below.append(node)
            up = up.above
        return node


def confidence_bound(
    value: float, bounds: tuple[float, float], exploration: float, visits: int, own: int
) -> float:
    """Return the UCT value of a child: its Q, scaled by the bounds of Q, plus exploration.

    Parameters
    ----------
    exploration
        λ0 times the share of the tickets that is left.
    visits, own
        Visits of the child's parent node, and of the child.
    """
    least, greatest = bounds
    height = (value - least) / (greatest - least) if greatest > least else 0.0
    return height + exploration * math.sqrt(math.log(visits + 1) / own)


def is_widened(visits: int, children: int, widening: float) -> bool:
    """Return whether a node gets another child: it has too few for its visits."""
    return int(visits**widening) > children


def elite_weights(count: int) -> Sequence[float]:
    """Return the weight of each elite program, best first: 1 / (rank + 1 + count)."""
    weights = 1.0 / (np.arange(count) + 1 + count)
    return list(weights / weights.sum())


def _distinct(parents: Sequence[Parent]) -> list[Parent]:
    """Return the first program of each score."""
    found: dict[float, Parent] = {}
    for parent in parents:
        found.setdefault(parent.score, parent)
    return list(found.values())
