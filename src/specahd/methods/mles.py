"""MLES (Hu et al. 2026): evolution of heuristics with observations of a program's behaviour.

Here an observation is a text about the measurements of a program on each task.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.core.program import Level, Outcome
from specahd.search.base import Query, RoundStart, Sample

_SEEN = "first a description and interpretation of the observation in single quotes"
_WEAKNESSES = "in square brackets the weaknesses of the program, and what could be improved"
_PARAMETERS = (
    "in square brackets its key parameters, what they do, and why which of them should change"
)
INITIAL = Operator("i1", "Design a novel program for the task, of your own.")
OPERATORS = {
    operator.name: operator
    for operator in (
        Operator(
            "e1", "Write a new program of a totally different form than {parents}.", parents=2
        ),
        Operator(
            "e2",
            "Identify the idea at the core of {parents}, and write a new program of a different "
            "form with this idea as its backbone.",
            parents=2,
            treatment=Treatment.COMBINE,
        ),
        Operator(
            "m1",
            "Find the weaknesses of {parents}, and write a better program that mends them.",
            parents=1,
            treatment=Treatment.RESTRUCTURE,
            skills=True,
            analysis=_WEAKNESSES,
        ),
        Operator(
            "m2",
            "Improve {parents} by other parameter settings.",
            parents=1,
            treatment=Treatment.RETUNE,
            skills=True,
            analysis=_PARAMETERS,
        ),
        Operator(
            "m1_text",
            "Say what the observation shows and why {parents} led to it. Find its weaknesses, and "
            "write a better program that mends them.",
            parents=1,
            treatment=Treatment.RESTRUCTURE,
            skills=True,
            analysis=f"{_SEEN}, next {_WEAKNESSES}",
        ),
        Operator(
            "m2_text",
            "Say what the observation shows and why {parents} led to it. Then improve it by other "
            "parameter settings.",
            parents=1,
            treatment=Treatment.RETUNE,
            skills=True,
            analysis=f"{_SEEN}, next {_PARAMETERS}",
        ),
    )
}
"""The variations by name; those that end in ``_text`` show an observation."""
PRESSURE = 0.5
"""Rate at which the probability of a parent falls exponentially with its rank."""
ATTEMPTS = 50
"""Least limit of initial programs; fewer are requested if the population is full before."""
WORST = 3
"""Number of a program's worst tasks in an observation."""
_UNITS = {Level.LOWER: "region", Level.UPPER: "instance"}


class MLES:
    """Search method with LLM4AD's population of EoH; its mutations show a program's behaviour.

    Initial programs are requested until ``population`` were retained; then the operators are
    applied in turn. New programs are added to a buffer; failures and duplicates only count. After
    ``population`` of them, the best of buffer and population survive. A duplicate has the code or
    the score of a program in either. The probability of a parent is proportional to
    ``exp(-rank / 2)``; each is drawn at most once if there are enough.

    Deviations from LLM4AD's code, the original:

    - Observations are texts, for language models without vision. ``m1_text`` is the original's;
      ``m2_text`` is similar, for parameters. They replace ``m1_M`` and ``m2_M``, which show images.
    - An observation lists failures and the worst tasks by number, with the saving of the program
      and that of the best one. It has no routes, loads or crossings, because the loop passes
      measurements to a method, not solutions. A program carried over from an earlier round has
      only scores.
    - The seed program is a member from the start.
    - Initial programs use at most half of a round's tickets, so that small budgets reach the
      operators; a later round of a coupled search begins with the programs carried over.
    - If too few initial programs are valid, the original ends; here the search continues.
    - All samples under way share one cycle of operators; in the original each thread has its own
      cycle, with an offset.
    """

    @checked("method.policy.")
    def __init__(
        self,
        population: Annotated[
            int, Option("programs that a level keeps, and of a generation, at least 2", 2)
        ] = 5,
        operators: Annotated[
            Sequence[str],
            Option("variations in turn, once the population is founded", choices=OPERATORS),
        ] = ("e1", "e2", "m1_text", "m2_text"),
    ) -> None:
        self.size = population
        self._operators = tuple(OPERATORS[name] for name in operators)
        self._unit = _UNITS[Level.LOWER]
        self._population: list[Parent] = []
        self._buffer: list[Parent] = []
        self._buffered = 0
        self._founded = False
        self._left = 0
        self._under_way = 0
        self._turn = 0
        self._measured: dict[str, Mapping[str, Any]] = {}

    @property
    def members(self) -> list[Parent]:
        """The programs that would survive if the generation ended now."""
        known = [*self._population, *self._buffer]
        return sorted(known, key=lambda parent: -parent.score)[: self.size]

    def begin(self, start: RoundStart) -> None:
        """Begin with the carried programs; it is founded if they are more than the seeds."""
        self._unit = _UNITS[start.contract.level]
        self._population = sorted(start.carried, key=lambda parent: -parent.score)[: self.size]
        self._buffer, self._buffered = [], 0
        self._measured = {}
        self._founded = start.founded
        self._left = min(max(ATTEMPTS, 2 * self.size), max(1, start.tickets // 2))
        self._turn = 0
        self._under_way = 0

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Return queries for initial programs until founded, then the operators in turn."""
        if not self._founded and self._left <= 0:
            if self._under_way:
                return None
            self._end_generation()
        self._under_way += 1
        if not (self._founded and self._population):
            self._left -= 1
            return Query(INITIAL)
        operator = self._operators[self._turn % len(self._operators)]
        self._turn += 1
        parents = self._draw(operator.parents, rng)
        hints = ""
        if operator.name.endswith("_text"):
            hints = self._observation(parents[0])
        return Query(operator, parents, hints)

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Add a program to the buffer; end the generation when the buffer is full."""
        self._under_way -= 1
        # Replies without a program and failed initial programs do not count.
        if sample.retained or (self._founded and sample.program is not None):
            self._buffered += 1
        if sample.retained and not self._repeats(sample.parent):
            self._buffer.append(sample.parent)
            self._measured[sample.parent.program.id] = sample.measured
        if self._buffered >= self.size:
            self._end_generation()

    def _repeats(self, candidate: Parent) -> bool:
        return any(
            one.program.source == candidate.program.source or one.score == candidate.score
            for one in (*self._population, *self._buffer)
        )

    def _end_generation(self) -> None:
        """End a generation; the first one founds the population."""
        self._founded = True
        self._population, self._buffer, self._buffered = self.members, [], 0
        kept = {parent.program.id for parent in self._population}
        self._measured = {
            name: measured for name, measured in self._measured.items() if name in kept
        }

    def _draw(self, count: int, rng: np.random.Generator) -> tuple[Parent, ...]:
        """Return parents, the better ones first."""
        ranks = np.arange(len(self._population))
        weights = np.exp(-PRESSURE * ranks)
        few = count > len(ranks)
        drawn = rng.choice(ranks, size=count, replace=few, p=weights / weights.sum())
        return tuple(self._population[rank] for rank in sorted(drawn))

    def _observation(self, parent: Parent) -> str:
        best = np.max([one.responses for one in (*self._population, *self._buffer)], axis=0)
        measured = self._measured.get(parent.program.id, {})
        return observation(parent.responses, measured, best, self._unit)


def observation(
    responses: Sequence[float],
    measured: Mapping[str, Any],
    best: NDArray[np.float64],
    unit: str,
) -> str:
    """Describe a program's behaviour on its tasks, mainly where it fell short.

    Parameters
    ----------
    responses, best
        The program's score on each task, and the best score of a kept program on it.
    measured
        As in :class:`specahd.search.base.Sample`; missing values are not reported.
    unit
        Name for a task: ``region`` or ``instance``.
    """
    percents = [100 * response for response in responses]
    lines = [
        f"Observation of program 1, which was run on {len(percents)} {unit}s. It has a score on "
        "each, in percent; told are those on which the best score known exceeds its own most.",
        f"- Scores: {fmean(percents):.3f} on average, {median(percents):.3f} in the middle, "
        f"{min(percents):.3f} to {max(percents):.3f}; above 0 on "
        f"{sum(percent > 0 for percent in percents)} of the {unit}s.",
        *_failures(measured, unit),
    ]
    missed = best - np.asarray(responses)
    worst = [int(task) for task in np.argsort(-missed, kind="stable")[:WORST] if missed[task] > 0]
    lines += [
        f"- {unit.capitalize()} {task + 1}: {percents[task]:.3f}, where {100 * best[task]:.3f} is "
        f"known{_behaviour(task, measured)}."
        for task in worst
    ]
    if not worst:
        lines.append(f"- On no {unit} does a program kept reach more.")
    return "\n".join(lines)


def _failures(measured: Mapping[str, Any], unit: str) -> list[str]:
    """Return a line for each kind of failure of a program on the tasks."""
    lines = []
    outcomes = measured.get("outcomes", ())
    kinds = sorted({str(one) for one in outcomes if one != Outcome.OK})
    if kinds:
        counts = (f"{list(map(str, outcomes)).count(kind)} ({_words(kind)})" for kind in kinds)
        lines.append(f"- Failed {unit}s: {', '.join(counts)}.")
    fallbacks = measured.get("fallbacks", ())
    if any(fallbacks):
        concerned = sum(count > 0 for count in fallbacks)
        lines.append(
            f"- {sum(fallbacks)} of its choices were unavailable, on {concerned} of the {unit}s."
        )
    empty = [mean is None for mean in measured.get("regions", ())]
    if any(empty):
        lines.append(f"- Nothing valid was proposed on {sum(empty)} of the {unit}s.")
    penalties = measured.get("penalties", ())
    if any(penalties):
        lines.append(f"- Penalties take {100 * fmean(penalties):.3f} points on average.")
    return lines


def _behaviour(task: int, measured: Mapping[str, Any]) -> str:
    """Return the outcome of a task, as the end of a sentence about it."""
    text = ""
    if "cost_merged" in measured:
        merged, before = measured["cost_merged"][task], measured["cost_before"][task]
        if merged is None:
            text += f"; it failed there ({_words(measured['outcomes'][task])})"
        elif before > 0:
            change = 100 * (merged / before - 1)
            text += f"; the solution changed from a cost of {before:.6g} to {merged:.6g}"
            text += f", {change:+.3f} %"
        if measured["fallbacks"][task]:
            text += f"; {measured['fallbacks'][task]} choices were unavailable"
    elif "utilities" in measured:
        text += f"; it saved {100 * measured['utilities'][task]:.3f} %"
        text += f", less penalties of {100 * measured['penalties'][task]:.3f} points"
        if measured["regions"][task] is None:
            text += ", and proposed nothing valid"
    return text


def _words(outcome: str) -> str:
    return str(outcome).replace("_", " ")
