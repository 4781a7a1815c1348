"""PartEvo (Hu and Zhang 2025): evolution in clusters of programs that are alike."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.errors import ConfigError
from specahd.core.ranges import check_integer
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
"""The variations by name: by an expert's reflection, across clusters, by the summary of what was
learned, and by the best programs of the cluster and of all."""
BATCH = 3
"""Initial programs that are asked for at once, after the same ideas."""
ATTEMPTS = 3
"""Initial programs that are tried at most, for each that is wanted."""
MOST = 90
"""Largest population: its reflections are asked for in a row, of which the loop bears 100."""
SUMMED = 10
"""Programs of which a summary is made, at most."""
IDEA = 200
"""Longest idea in a list, in characters."""


@dataclass(eq=False, slots=True)
class Cluster:
    """Programs that are alike, with those that came of them; ``capacity`` of them stay."""

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
    """Clusters that evolve side by side, and an external set of the best programs of all.

    Initial programs are written in batches, each to differ from the ideas that are there, and
    partitioned once by k-means into clusters, whose sizes then are their capacities. An iteration
    renews the summary of the external set and goes through the operators in turn. Of every
    cluster, members drawn in proportion to their fitness (``lge``: all members) get a child each,
    which joins the cluster and is offered to the external set; then a cluster above its capacity
    is cut back by such a draw.

    Deviations from the authors' code, the original:

    - Syntax is compared by the cosine of the paths in the trees' normal form, by which variables
      count as what is assigned to them, not by CodeBLEU, and ideas by their words, not by BERT:
      neither package is one of ours; nor is scikit-learn's k-means.
    - The idea that comes with every program is its tag; no call is made for tags.
    - Every operator is carried out in every iteration, as in the authors' examples.
    - The seed program is an initial program. These take at most half of a round's tickets, so
      that small budgets reach the operators; a later round of a coupled search partitions the
      programs carried over, which are the best of all clusters.
    - A reply without a program takes a ticket, as with every method, and is not asked for again.
    - A score of 0 is a score; the original takes an objective of 0 for a failure.

    Parameters
    ----------
    population
        Initial programs that are partitioned, from 2 to ``MOST``; also how many of the best are
        members.
    clusters
        How many, at most.
    parents
        The parents in each cluster that get a child by an operator.
    partners
        Other clusters of which ``cc`` shows a member, at least 1.
    archive
        Programs of the external set.
    features
        The features that partition programs, from :data:`specahd.memory.partition.FEATURES`.
    operators
        In turn, among :data:`OPERATORS`, not ``cc`` alone.
    """

    def __init__(
        self,
        population: int = 16,
        clusters: int = 4,
        parents: int = 2,
        partners: int = 2,
        archive: int = 30,
        features: Sequence[str] = ("syntax",),
        operators: Sequence[str] = tuple(OPERATORS),
    ) -> None:
        check_integer("method.policy.population", population, 2, MOST)
        counts = {"clusters": clusters, "parents": parents, "partners": partners}
        for name, value in {**counts, "archive": archive}.items():
            check_integer(f"method.policy.{name}", value, 1)
        _among("features", features, FEATURES)
        _among("operators", operators, OPERATORS)
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
        """Begin with the carried programs; if they are more than the seeds, partition them."""
        self._initial = list(start.carried)
        self._external = _best(start.carried)[: self._capacity]
        attempts = min(ATTEMPTS * self.size, max(1, start.tickets // 2))
        self._attempts = 0 if start.founded else attempts
        self._clusters = []
        self._children = []
        self._turns.clear()
        self._asking.clear()

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Ask for the next step; at the end of an operator, wait for all that is under way."""
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
        """Keep the summary, a reflection or a child."""
        step = self._under_way.pop(sample.request.index)
        if step.operator is SUMMARY:
            self._summary = sample.text or self._summary
        elif step.operator is REFLECTION:
            self._reflections[step.parents[0].program.id] = sample.text
        elif sample.retained:
            self._children.append((step.cluster, sample.parent))

    def _go_on(self, rng: np.random.Generator) -> None:
        """Take the children in, and put the next steps in line, if the next operator has any."""
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
        """Return the step that shows a program the best of its cluster and of all."""
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
    """Return the probabilities of a draw in proportion to fitness: 1 more than the worst score."""
    weights = np.asarray(scores) - min(scores) + 1
    return np.asarray(weights / weights.sum())


def _draw(members: Sequence[Parent], count: int, rng: np.random.Generator) -> list[Parent]:
    """Draw in proportion to fitness, each member once at most; all where there are too few."""
    if count >= len(members):
        return list(members)
    weights = proportions([member.score for member in members])
    drawn = rng.choice(len(members), size=count, replace=False, p=weights)
    return [members[place] for place in sorted(drawn)]


def _best(parents: Iterable[Parent]) -> list[Parent]:
    """Return programs best first, the older first among equals, each once."""
    unique = {parent.program.id: parent for parent in parents}
    return sorted(unique.values(), key=lambda parent: -parent.score)


def _listed(parents: Sequence[Parent], *, scores: bool = False) -> str:
    """Return ideas, one a line, with the scores if wanted."""
    return "\n".join(
        f"- {f'{100 * parent.score:.3f} %: ' if scores else ''}"
        f"{shorten(parent.program.idea, IDEA, placeholder=' ...')}"
        for parent in parents
    )


def _among(name: str, given: Sequence[str], known: Iterable[str]) -> None:
    if not given or not set(given) <= set(known):
        raise ConfigError(
            f"Expected method.policy.{name} among {', '.join(known)}, "
            f"got {', '.join(map(str, given)) or 'none'}."
        )
