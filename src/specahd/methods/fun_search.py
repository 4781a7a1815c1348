"""FunSearch (Romera-Paredes et al. 2024): islands of clusters, prompts of ascending versions."""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from specahd.core.contract import Contract, Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.routing.base import FloatArray
from specahd.search.base import Query, RoundStart, Sample
from specahd.search.versions import completion_prompt

SHOWN = 2
"""Largest number of versions in a prompt."""
COMPLETE = Operator(
    "complete",
    "Write an improved version of {parents}.",
    parents=SHOWN,
    treatment=Treatment.COMBINE,
)
_COLDEST = 0.001
_NOISE = 1e-6
"""Standard deviation of the noise that breaks ties between the best scores of islands."""


class FunSearch:
    """Search method with islands, of which the worse half is reset periodically.

    The programs of an island with equal responses form a cluster. A prompt shows programs of two
    clusters of one island: clusters are drawn by score, programs of a cluster by length. The
    program of the reply is added to that island.

    Deviations from FunSearch's published code, the original:

    - Islands are reset after a number of samples. The original resets them every four hours; then
      a run would depend on the machine, and would end before the first reset.
    - Scores are divided by the largest absolute score of the island before the temperature is
      applied. LLM4AD divides only scores above 1. Scores here are fractions of a cost, which a
      temperature of 0.1 would not distinguish.
    - The score of a cluster is the mean of its responses. The original uses the last response,
      because its tests are ordered; ours are not.
    - The prompt is code, followed by our rules and the form of an answer, because a program that
      breaks them is not measured. A program drawn twice is shown once.
    - A seed program that fails does not end the run: it is shown if an island is empty.
    - A round of the coupled search puts the programs carried over on the islands in turn; the
      islands' other programs have no score under the new measure.
    """

    @checked("method.policy.")
    def __init__(
        self,
        islands: Annotated[int, Option("populations side by side, at least 1", 1)] = 10,
        samples_per_prompt: Annotated[int, Option("how often a prompt is sent, at least 1", 1)] = 4,
        temperature: Annotated[
            float, Option("of the draw of clusters by score, at least 0.001", _COLDEST)
        ] = 0.1,
        temperature_period: Annotated[
            int, Option("programs until the falling temperature starts again", 1)
        ] = 30_000,
        reset_period: Annotated[
            int | None, Option("samples between resets; null: a quarter of the programs", 1)
        ] = None,
    ) -> None:
        self.size = islands
        self._samples_per_prompt = samples_per_prompt
        self._temperature = temperature
        self._temperature_period = temperature_period
        self._reset_period = reset_period
        self._contract: Contract | None = None
        self._islands: list[Island] = [Island() for _ in range(islands)]
        self._prompts: list[tuple[Query, int]] = []
        self._under_way: dict[int, int] = {}
        self._between_resets = 1
        self._since_reset = 0

    @property
    def members(self) -> Sequence[Parent]:
        """The best program of each island, best first."""
        best = {
            parent.program.id: parent
            for island in self._islands
            if (parent := island.best) is not None
        }
        return sorted(best.values(), key=lambda parent: -parent.score)

    def begin(self, start: RoundStart) -> None:
        """Put the programs carried over on the islands in turn."""
        self._contract = start.contract
        self._between_resets = self._reset_period or max(1, start.tickets // 4)
        self._since_reset = 0
        self._prompts.clear()
        self._islands = [Island() for _ in self._islands]
        if start.carried:
            for number, island in enumerate(self._islands):
                island.register(start.carried[number % len(start.carried)])

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Return the prompt of a random island; the same prompt is returned several times."""
        if not self._prompts:
            self._prompts = [self._prompt(rng)] * self._samples_per_prompt
        query, self._under_way[index] = self._prompts.pop()
        return query

    def _prompt(self, rng: np.random.Generator) -> tuple[Query, int]:
        """Return a prompt, and the island that it comes from."""
        assert self._contract is not None
        number = int(rng.integers(len(self._islands)))
        temperature = self._islands[number].cooled(self._temperature, self._temperature_period)
        drawn = self._islands[number].draw(temperature, rng)
        versions = {parent.program.id: parent.program.source for parent in drawn}
        sources = list(versions.values()) or [self._contract.seed.source]
        parents = {parent.program.id: parent for parent in reversed(drawn)}
        return Query(
            COMPLETE, tuple(parents.values()), prompt=completion_prompt(self._contract, sources)
        ), number

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Register a retained program on its island; reset islands if a reset is due."""
        number = self._under_way.pop(sample.request.index)
        self._since_reset += 1
        if not sample.retained:
            return
        self._islands[number].register(sample.parent)
        # As in the original, resets are checked only when a program is registered.
        if self._since_reset > self._between_resets:
            self._since_reset = 0
            self._reset(rng)

    def _reset(self, rng: np.random.Generator) -> None:
        """Reset the worse half; each restarts with the best program of a surviving island."""
        best = [-math.inf if i.best is None else i.best.score for i in self._islands]
        noise = rng.normal(0.0, _NOISE, len(best))
        order = np.argsort(np.array(best) + noise)
        half = len(order) // 2
        for number in order[:half]:
            founder = self._islands[rng.choice(order[half:])].best
            self._islands[number] = Island()
            if founder is not None:
                self._islands[number].register(founder)


class Island:
    """Programs in clusters of equal responses."""

    def __init__(self) -> None:
        self.clusters: dict[tuple[float, ...], list[Parent]] = {}
        self._registered = 0

    @property
    def best(self) -> Parent | None:
        """The first program of the best cluster; None on an empty island."""
        firsts = (programs[0] for programs in self.clusters.values())
        return max(firsts, key=lambda parent: parent.score, default=None)

    def register(self, parent: Parent) -> None:
        """Put a program into the cluster of its responses."""
        self.clusters.setdefault(parent.responses, []).append(parent)
        self._registered += 1

    def cooled(self, temperature: float, period: int) -> float:
        """Return the current temperature, which falls with every program."""
        return temperature * (1 - self._registered % period / period)

    def draw(self, temperature: float, rng: np.random.Generator) -> list[Parent]:
        """Return programs of at most two clusters, drawn independently, worst first."""
        clusters = list(self.clusters.values())
        if not clusters:
            return []
        weights = by_score([programs[0].score for programs in clusters], temperature)
        chosen = rng.choice(len(clusters), size=min(len(clusters), SHOWN), p=weights)
        drawn = []
        for number in chosen:
            programs = clusters[number]
            shorter = by_length([len(parent.program.source) for parent in programs])
            drawn.append(programs[rng.choice(len(programs), p=shorter)])
        return sorted(drawn, key=lambda parent: parent.score)


def by_score(scores: Sequence[float], temperature: float) -> FloatArray:
    """Return the probabilities of clusters: the higher the score, the likelier."""
    values = np.array(scores, dtype=float)
    return _softmax(values / (np.abs(values).max() or 1.0) / temperature)


def by_length(lengths: Sequence[int]) -> FloatArray:
    """Return the probabilities of programs of a cluster: the shorter, the likelier."""
    values = np.array(lengths, dtype=float)
    return _softmax(-(values - values.min()) / (values.max() + 1e-6))


def _softmax(values: FloatArray) -> FloatArray:
    weights = np.exp(values - values.max())
    probabilities: FloatArray = weights / weights.sum()
    return probabilities
