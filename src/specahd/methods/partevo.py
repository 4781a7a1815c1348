"""PartEvo (Hu and Zhang 2025): evolution in clusters of similar programs."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.errors import ConfigError
from specahd.core.options import Option, checked
from specahd.memory.partition import FEATURES, partition_programs
from specahd.search.base import Query, RoundStart, Sample

INITIAL = Operator(
    "init",
    "Write a novel and efficient program of your own. If ideas of other programs are listed, its "
    "idea differs from them by at least 30 %.",
)
SUMMARY = Operator(
    "summary",
    "Review these programs and the earlier summary, if there is one. Summarize which techniques "
    "are effective for this problem and which are not.",
    treatment=Treatment.DESCRIBE,
)
REFLECTION = Operator(
    "reflection",
    "You are an expert who reviews {parents}. Make suggestions for improving it.",
    parents=1,
    treatment=Treatment.DESCRIBE,
)
REFLECTED = Operator(
    "re",
    "Write a different program that is motivated by {parents}. It is up to you whether you follow "
    "the expert's suggestions, if there are any.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
    skills=True,
)
CROSS_CLUSTER = Operator(
    "cc",
    "Take program 1 as the main framework, and incorporate the traits of the others, which come "
    "from other groups of programs, into a better program.",
    parents=3,
    treatment=Treatment.COMBINE,
)
SUMMARIZED = Operator(
    "se",
    "Go by the ideas and the summary above, and modify {parents} into a more promising program.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
    skills=True,
)
GUIDED = Operator(
    "lge",
    "Improve program 1, and keep its core framework.",
    parents=3,
    treatment=Treatment.COMBINE,
)
OPERATORS = {one.name: one for one in (REFLECTED, CROSS_CLUSTER, SUMMARIZED, GUIDED)}
"""The variations by name. re: after an expert's reflection; cc: across clusters; se: after the
summary; lge: with the best programs of the cluster and of all clusters."""
BATCH = 3
"""Number of initial programs that are requested together, with the same list of ideas."""
ATTEMPTS = 3
"""Largest number of tries for each initial program."""
MOST = 90
"""Largest population: its reflections are requested in a row, and the loop allows 100."""
SUMMED = 10
"""Largest number of programs in a summary."""
IDEA = 200
"""Longest idea in a list, in characters."""


@dataclass(eq=False, slots=True)
class Cluster:
    """A cluster of similar programs and their children; it keeps at most ``capacity`` of them."""

    members: list[Parent]
    capacity: int


@dataclass(frozen=True, slots=True)
class Step:
    """A planned request; ``cluster`` is the index of the cluster that a child joins."""

    operator: Operator
    cluster: int = 0
    parents: tuple[Parent, ...] = ()
    hints: str = ""


class PartEvo:
    """Search method with clusters that evolve in parallel, and an external set of best programs.

    Initial programs are requested in batches, and shall differ from the ideas so far. They are
    partitioned once by k-means; the capacity of a cluster is its initial size. An iteration renews
    the summary of the external set, then applies the operators in turn. In each cluster, members
    are drawn in proportion to their fitness (``lge``: all members). Each gets a child, which is
    added to the cluster and offered to the external set. Then a cluster above its capacity is
    reduced by another such draw.

    Deviations from the authors' code, the original:

    - Syntax is compared by the cosine of paths in normal forms, where the values assigned to a
      variable replace its name, not by CodeBLEU. Ideas are compared by their words, not by BERT,
      and k-means is our own, because CodeBLEU, BERT and scikit-learn are no dependencies.
    - The idea of a program is its tag; no request is made for tags.
    - Every operator is applied in every iteration, as in the authors' examples.
    - The seed program is an initial program. Initial programs use at most half of a round's
      tickets, so that small budgets reach the operators. A later round of a coupled search
      partitions the programs carried over, which are the best of all clusters.
    - A reply without a program uses a ticket, as in every method, and is not requested again.
    - A score of 0 is valid; the original treats an objective of 0 as a failure.
    """

    @checked("method.policy.")
    def __init__(
        self,
        population: Annotated[int, Option("programs that a level keeps, 2 to 90", 2, MOST)] = 16,
        clusters: Annotated[int, Option("groups of programs that are alike, at most", 1)] = 4,
        parents: Annotated[int, Option("programs of a cluster that an operator varies", 1)] = 2,
        partners: Annotated[int, Option("other clusters that a crossover looks at", 1)] = 2,
        archive: Annotated[
            int, Option("best programs of all clusters that are kept for summaries", 1)
        ] = 30,
        features: Annotated[
            Sequence[str], Option("what programs are partitioned by", choices=FEATURES)
        ] = ("syntax",),
        operators: Annotated[
            Sequence[str], Option("variations of a cluster, in turn", choices=OPERATORS)
        ] = tuple(OPERATORS),
    ) -> None:
        if set(operators) == {CROSS_CLUSTER.name}:
            raise ConfigError("Expected method.policy.operators beside cc, which needs clusters.")
        self.size = population
        self._most_clusters = clusters
        self._most_parents = parents
        self._partners = partners
        self._cross_cluster = replace(CROSS_CLUSTER, parents=1 + partners)
        self._capacity = archive
        self._features = tuple(features)
        self._operators = tuple(operators)
        self._external: list[Parent] = []
        self._initial: list[Parent] = []
        self._attempts = 0
        self._clusters: list[Cluster] = []
        self._summary = ""
        self._turns: deque[str] = deque()
        self._asking: deque[Step] = deque()
        self._under_way: dict[int, Step] = {}
        self._reflections: dict[str, str] = {}
        self._children: list[tuple[int, Parent]] = []

    @property
    def members(self) -> list[Parent]:
        """The best of the external set and of the children that will be offered to it."""
        return _best([*self._external, *(child for _, child in self._children)])[: self.size]

    def begin(self, start: RoundStart) -> None:
        """Begin with the carried programs; if more than the seeds, ask for no initial ones."""
        self._initial = list(start.carried)
        self._external = _best(start.carried)[: self._capacity]
        attempts = min(ATTEMPTS * self.size, max(1, start.tickets // 2))
        self._attempts = 0 if start.founded else attempts
        self._clusters = []
        self._children = []
        self._turns.clear()
        self._asking.clear()

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Return the query of the next step; None until the results that it needs are received."""
        if not self._asking and self._under_way:
            return None
        while not self._asking:
            self._go_on(rng)
        step = self._asking[0]
        hints = step.hints
        if step.operator is REFLECTED:
            reflection = self._reflections.get(step.parents[0].program.id)
            if reflection is None:
                return None
            hints = f"Suggestions of the expert:\n{reflection}" if reflection else ""
        self._asking.popleft()
        self._under_way[index] = step
        return Query(step.operator, step.parents, hints)

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Store the summary, a reflection or a child."""
        step = self._under_way.pop(sample.request.index)
        if step.operator is SUMMARY:
            self._summary = sample.text or self._summary
        elif step.operator is REFLECTION:
            self._reflections[step.parents[0].program.id] = sample.text
        elif sample.retained:
            self._children.append((step.cluster, sample.parent))

    def _go_on(self, rng: np.random.Generator) -> None:
        """Add the children to the clusters, and queue the next steps, if there are any."""
        self._take_in(rng)
        if not self._clusters:
            if len(self._initial) < self.size and (self._attempts > 0 or not self._initial):
                batch = max(1, min(BATCH, self._attempts))
                self._attempts -= batch
                ideas = _listed(self._initial)
                hints = f"Ideas of other programs:\n{ideas}" if ideas else ""
                self._asking.extend([Step(INITIAL, hints=hints)] * batch)
                return
            self._clusters = self._partition(rng)
        if not self._turns:
            self._turns.extend(self._operators)
            self._asking.append(Step(SUMMARY, hints=self._standing()))
            return
        self._line_up(self._turns.popleft(), rng)

    def _take_in(self, rng: np.random.Generator) -> None:
        children = [child for _, child in self._children]
        self._external = _best([*self._external, *children])[: self._capacity]
        if not self._clusters:
            self._initial += children
        for number, cluster in enumerate(self._clusters):
            cluster.members += [child for where, child in self._children if where == number]
            if len(cluster.members) > cluster.capacity:
                cluster.members = _draw(cluster.members, cluster.capacity, rng)
        self._children = []

    def _partition(self, rng: np.random.Generator) -> list[Cluster]:
        chosen = _best(self._initial)[: self.size]
        groups = partition_programs(chosen, self._features, self._most_clusters, rng)
        return [Cluster(members, len(members)) for members in groups]

    def _standing(self) -> str:
        """Return the text to summarise: programs of the external set, and the last summary."""
        count = min(SUMMED, len(self._external))
        places = np.linspace(0, len(self._external) - 1, count).round().astype(int)
        listing = _listed([self._external[place] for place in places], scores=True)
        earlier = f"\n\nEarlier summary:\n{self._summary}" if self._summary else ""
        return f"Programs so far, best first:\n{listing}{earlier}"

    def _line_up(self, name: str, rng: np.random.Generator) -> None:
        """Queue the requests of an operator."""
        if name == CROSS_CLUSTER.name and len(self._clusters) == 1:
            return
        if name == GUIDED.name:
            self._asking.extend(
                self._guided(number, parent)
                for number, cluster in enumerate(self._clusters)
                for parent in cluster.members
            )
            return
        drawn = [
            (number, parent)
            for number, cluster in enumerate(self._clusters)
            for parent in _draw(cluster.members, self._most_parents, rng)
        ]
        if name == REFLECTED.name:
            self._reflections = {}
            steps = (REFLECTION, REFLECTED)
            self._asking.extend(Step(step, at, (parent,)) for step in steps for at, parent in drawn)
        elif name == CROSS_CLUSTER.name:
            partners = [self._drawn_partners(number, rng) for number in range(len(self._clusters))]
            self._asking.extend(
                Step(self._cross_cluster, at, (parent, *partners[at])) for at, parent in drawn
            )
        else:
            learned = f"\n\nWhat was learned:\n{self._summary}" if self._summary else ""
            hints = f"Ideas of programs so far, best first:\n{_listed(self._external)}{learned}"
            self._asking.extend(Step(SUMMARIZED, at, (parent,), hints) for at, parent in drawn)

    def _drawn_partners(self, number: int, rng: np.random.Generator) -> list[Parent]:
        """Return a member of each of some other clusters, for all parents of one cluster."""
        other_clusters = [at for at in range(len(self._clusters)) if at != number]
        count = min(self._partners, len(other_clusters))
        chosen = rng.choice(other_clusters, size=count, replace=False)
        return [_draw(self._clusters[at].members, 1, rng)[0] for at in chosen]

    def _guided(self, number: int, parent: Parent) -> Step:
        """Return the step that shows a program with the best of its cluster and of all."""
        leaders = (
            (_best(self._clusters[number].members)[0], "the best of its group"),
            (self._external[0], "the best of all"),
        )
        parents: dict[str, Parent] = {parent.program.id: parent}
        sentences = []
        for leader, what in leaders:
            if leader.program.id not in parents:
                parents[leader.program.id] = leader
                sentences.append(f"Program {len(parents)} is {what}.")
        return Step(GUIDED, number, tuple(parents.values()), " ".join(sentences))


def proportions(scores: Sequence[float]) -> NDArray[np.float64]:
    """Return the probabilities of a draw by fitness: the score minus the worst score, plus 1."""
    weights = np.asarray(scores) - min(scores) + 1
    return np.asarray(weights / weights.sum())


def _draw(members: Sequence[Parent], count: int, rng: np.random.Generator) -> list[Parent]:
    """Draw members by fitness, each at most once; return all members if there are too few."""
    if count >= len(members):
        return list(members)
    weights = proportions([member.score for member in members])
    drawn = rng.choice(len(members), size=count, replace=False, p=weights)
    return [members[place] for place in sorted(drawn)]


def _best(parents: Iterable[Parent]) -> list[Parent]:
    """Return each program once, best first; among equal scores the older first."""
    unique = {parent.program.id: parent for parent in parents}
    return sorted(unique.values(), key=lambda parent: -parent.score)


def _listed(parents: Sequence[Parent], *, scores: bool = False) -> str:
    """Return the ideas, one in each line, with the scores if ``scores`` is true."""
    return "\n".join(
        f"- {f'{100 * parent.score:.3f} %: ' if scores else ''}"
        f"{shorten(parent.program.idea, IDEA, placeholder=' ...')}"
        for parent in parents
    )
