"""Facts about a round for prompts: its tasks, their solutions, limits and failures.

Facts are counts, costs and configured limits, never measured times: the prompts of a run are
the same on every machine, and again when it is resumed.
"""

import math
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from specahd.core.contract import Context, Parent
from specahd.core.program import Outcome, Program
from specahd.core.settings import CallLimits
from specahd.engine.improver import MAX_SIZE, STEP_REPAIRS
from specahd.engine.orders import Work
from specahd.engine.schedule import group_count
from specahd.repair.cases import Case
from specahd.repair.evaluator import UpperResult
from specahd.repair.merge import EPSILON
from specahd.repair.responses import RepairTask, Response, count_outcomes
from specahd.routing.base import AnyProblem, FloatArray

COMPARED = 24
"""Number of instances on which the solutions are compared with those of other constructions."""
IDEAS = 3
"""Number of programs of the repertoire in a prompt, the first ones."""
IDEA = 320
"""Longest idea in a list of several, in characters."""
TRIED = 4
"""Number of programs in a prompt that were tried and not kept, the latest ones."""
EACH = 12
"""The largest number of instances that are listed one by one."""
REASON = 200
"""Longest reason of a failure, in characters."""


_PACE = (
    "A second is about five million steps of a simple loop, each with a look into a list, an "
    "addition and a comparison."
)
"""A measure of seconds for programs that have no clock; an estimate, the same on every machine."""
_SPEED = {
    False: f"Within the limits speed does not enter into the score. {_PACE}",
    True: "A program of more operations is given fewer insertions, so that all take equally "
    "long: in its text, an operation on arrays counts a tenth of a repair, one in a loop a "
    "three-hundredth.",
}
"""Sentences on speed, by whether programs make a search of many insertions."""


class Tried(NamedTuple):
    """A program of the round, its score, and in words how it failed."""

    program: Program
    score: float
    failures: str = ""


class Facts:
    """Sentences about the rounds of a run.

    Parameters
    ----------
    cases
        The run's cases; without cases there are no facts.
    limits
        The limits of programs.
    """

    def __init__(self, problem: AnyProblem, cases: Sequence[Case], limits: CallLimits) -> None:
        self._problem = problem
        self._cases = cases
        self._limits = limits
        self._gaps: dict[tuple[int, ...], str] = {}

    def lower(self, tasks: Sequence[RepairTask]) -> list[str]:
        """Return sentences about a round of the lower level on these tasks."""
        if not self._cases:
            return []
        indices = sorted({task.case for task in tasks})
        regions = [(self._cases[task.case], task.region.nodes) for task in tasks]
        sizes = [len(nodes) for _, nodes in regions]
        share = fmean(len(nodes) / case.instance.size for case, nodes in regions)
        crossed = [self._routes(case, nodes) for case, nodes in regions]
        pieces = f", pieces of {_span(crossed, 1)} routes of its solution" if any(crossed) else ""
        operator = self._problem.operator
        limits, trial, each = self._limits, "", operator.repairs_per_customer
        calls = sum(operator.repairs(task.region) for task in tasks)
        work = f"have {calls} {self._nodes(indices)} together"
        by_size = ""
        if limits.lower_node is not None:
            by_size = f" and {1000 * limits.lower_node:g} ms for each of its {self._nodes(indices)}"
        if each:
            work = f"take about {calls} calls"
            trial = (
                f" A program makes {each} insertions for each of the {self._nodes(indices)} of a "
                "region."
            )
        return [
            f"{_count(len(tasks), 'region')} of {self._instances(indices)}. A region has "
            f"{_span(sizes)} {self._nodes(indices)}, {_percent(share, 0)} of its instance on "
            f"average{pieces}.{trial}",
            self._gap(indices) + _repaired(tasks),
            f"Limits of CPU time: {limits.lower_call:g} s for a region{by_size}, "
            f"{limits.candidate:g} s for all regions, which {work}: "
            f"{_milliseconds(limits, calls)} ms for each on average; the regions after these "
            f"seconds count 0. {_SPEED[each > 0]}",
        ]

    def upper(
        self,
        indices: Sequence[int],
        repertoire: Sequence[Program],
        covered: float | None,
        repaired: int = 0,
    ) -> list[str]:
        """Return sentences about a round of the upper level.

        Parameters
        ----------
        indices
            The instances on which programs are scored.
        repertoire
            The programs that rebuild what is proposed.
        covered
            Share of the nodes that were in the proposals from which the round's regions
            came; None if there are none.
        repaired
            Number of the instances that occur again, as the system of before repaired them.
        """
        if not self._cases:
            return []
        problem = self._problem
        sizes = [self._cases[index].instance.size for index in indices]
        room = problem.max_regions * problem.max_size
        share = fmean(min(1.0, room / size) for size in sizes)
        budget = problem.max_regions, problem.max_size
        arguments = problem.operator.selector.contract.arguments
        names = [name for name in arguments if name.startswith("max_")]
        if len(names) != len(budget):
            # A selector may have other names for regions.
            names = ["the most proposals", "the largest size"]
        known = " and ".join(
            f"{name} is {value}" for name, value in zip(names, budget, strict=True)
        )
        room_for = (
            f"{known}: proposals can hold {_percent(share, 0)} of the {self._nodes(indices)} of an "
            "instance on average; the rest stay as they are."
        )
        if each := problem.operator.repairs_per_customer:
            # The engine sets the number by the size of an instance.
            covered = None
            room_for = (
                f"A search makes {each} insertions for each of the "
                f"{self._nodes(indices)}, one for each in a group. {names[0]} is "
                f"{_span([group_count(size) for size in sizes])}, {names[1]} "
                f"{_span([min(size, MAX_SIZE) for size in sizes])}."
            )
        routes = [len(problem.routes(self._cases[index].baseline)) for index in indices]
        learned = f" Those that the lower programs learned on held {_percent(covered or 0.0, 0)}."
        driven = f" and {_span(routes)} routes" if any(routes) else ""
        if any(routes) and len(indices) <= EACH:
            pairs = zip(sizes, routes, strict=True)
            driven += f", in their order {', '.join(f'{size}/{count}' for size, count in pairs)}"
        together, speed = self._limits.instance, "Within it speed does not enter into the score."
        if each:
            speed = (
                f"{round(1 / STEP_REPAIRS)} steps of its loops count as one insertion, so that "
                "all programs take equally long."
            )
        elif together is not None:
            speed = (
                f"All passes over an instance, with the rebuilds of what is proposed, end after "
                f"{together:g} s, so a quick proposal leaves time for more."
            )
        return [
            f"{self._instances(indices)}{driven}. {room_for}{'' if covered is None else learned}",
            self._gap(indices) + _again(repaired, len(indices)),
            f"Limit of CPU time: {self._limits.upper_call:g} s an instance. {speed}"
            f"{'' if each else f' {_PACE}'}",
            *_rebuilders(repertoire),
        ]

    def covered(self, tasks: Sequence[RepairTask], indices: Sequence[int]) -> float | None:
        """Return the share of the instances' nodes that is in the regions; None if unknown."""
        total = sum(self._cases[index].instance.size for index in indices) if self._cases else 0
        return sum(len(task.region.nodes) for task in tasks) / total if total else None

    def _routes(self, case: Case, nodes: Iterable[int]) -> int:
        """Return the number of routes that contain any of the nodes."""
        members = set(nodes)
        return sum(not members.isdisjoint(route) for route in self._problem.routes(case.baseline))

    def _nodes(self, indices: Sequence[int]) -> str:
        routed = any(self._problem.routes(self._cases[index].baseline) for index in indices)
        return "customers" if routed else "nodes"

    def _instances(self, indices: Sequence[int]) -> str:
        sizes = [self._cases[index].instance.size for index in indices]
        of = _count(len(indices), "instance")
        return f"{of} of {_span(sizes)} {self._nodes(indices)}"

    def _gap(self, indices: Sequence[int]) -> str:
        """Return a sentence on the gap of the baseline to the best of the other constructions."""
        key = tuple(indices[:COMPARED])
        if key not in self._gaps:
            self._gaps[key] = self._compared([self._cases[index] for index in key])
        return self._gaps[key]

    def _cost(self, case: Case, name: str) -> float:
        """Return the cost of another construction's solution of a case."""
        solution = self._problem.baseline(case.instance, name)
        return self._problem.cost(case.instance, solution)

    def _compared(self, cases: Sequence[Case]) -> str:
        problem = self._problem
        line = f"The solutions to repair are those of the construction {cases[0].source!r}"
        if any(case.progress for case in cases):
            line += f", most of them after {_either(problem.operator.stages)} repairs per customer"
        gaps = {
            name: fmean(
                case.cost / max(EPSILON, self._cost(case, name)) - 1
                for case in cases
                if case.cost > 0
            )
            for name in problem.references
            if name != cases[0].source and any(case.cost > 0 for case in cases)
        }
        name = max(gaps, key=lambda name: gaps[name], default=None)
        if name is None or round(gaps[name], 3) <= 0:
            return f"{line}."
        return f"{line}, which cost {_percent(gaps[name], 1)} more than those of {name!r}."


def request_context(
    known: Sequence[str],
    example: float | None,
    best: Parent | None,
    measured: Mapping[str, str],
) -> Context:
    """Return the context of a request, with facts about the round and the shown programs.

    Parameters
    ----------
    example
        The score of the seed program, None if unknown.
    best
        The best program so far; the context has its idea unless it is shown.
    measured
        A sentence about each program shown, by identifier.
    """
    if best is None:
        return Context(known, example, None, measured)
    idea = "" if best.program.id in measured else best.program.idea
    return Context(known, example, best.score, measured, idea)


def survival_facts(repertoire_size: int) -> list[str]:
    """Describe how the lower programs of a round survive."""
    if repertoire_size == 1:
        return []
    return ["Programs that are the best on some regions are kept beside those of the best mean."]


def served_facts(tasks: Sequence[RepairTask], gains: FloatArray) -> list[str]:
    """Describe on regions of which size the kept lower programs save much or little.

    Parameters
    ----------
    gains
        What the best of the kept programs saves on each task, as a share of the cost.
    """
    sizes = np.array([len(task.region.nodes) for task in tasks])
    thirds = [third for third in np.array_split(np.argsort(sizes, kind="stable"), 3) if len(third)]
    parts = [
        f"{_percent(float(gains[third].mean()), 3)} on those of {_span(sizes[third].tolist())}"
        for third in thirds
    ]
    missed = int((gains <= 0).sum())
    none = f"; none of them saves anything on {_count(missed, 'region')}" if missed else ""
    return [f"With the best of the kept programs on each, regions save {', '.join(parts)}{none}."]


def tried_facts(tried: Iterable[Tried], kept: Collection[str]) -> list[str]:
    """Return a sentence on the latest programs that are not among those kept."""
    lost = [each for each in tried if each.program.id not in kept][-TRIED:]
    told = [
        f"{_short_idea(each.program)} ({100 * each.score:.3f} %"
        f"{f', {each.failures}' if each.failures else ''})"
        for each in lost
    ]
    return [f"Tried lately and not kept: {'; '.join(told)}."] if told else []


def turn_facts(uppers: int, passes: int, *, chosen: bool) -> list[str]:
    """Describe how several kept upper programs of a round survive and take turns.

    Parameters
    ----------
    chosen
        Whether one of them is chosen for each instance instead.
    """
    if uppers == 1:
        return []
    if chosen:
        return [
            f"Up to {uppers} programs are kept, those that save most where the others save less. "
            "Each instance is searched by one of them, chosen by its size, its routes and what "
            "else describes it, so a program that is best on one kind of instances is worth more "
            "than a better form of a known one."
        ]
    return [
        f"Up to {uppers} programs are kept, those that save most where the others save less. They "
        f"take turns, each in a pass of its own over what the others left, up to {passes} in all, "
        "so a new way to choose is worth more than a better form of a known one. The score of a "
        "program is what one pass of its own saves."
    ]


def lower_result_facts(responses: Sequence[Response]) -> str:
    """Describe where a lower program reduced the cost, and how it failed elsewhere."""
    gains = sum(response.score > 0 for response in responses)
    facts = [f"it saves something on {gains} of {len(responses)} regions"]
    if failed := failures(responses):
        facts.append(failed)
    fallbacks = sum(response.fallbacks for response in responses)
    if fallbacks:
        facts.append(f"{fallbacks} of its choices were unavailable")
    return ", ".join(facts)


def failures(responses: Sequence[Response]) -> str:
    """Describe on how many regions a lower program failed, and how; empty if on none."""
    failed = [response for response in responses if response.cost_merged is None]
    return f"fails on {_kinds(failed)}" if failed else ""


def upper_result_facts(result: UpperResult, best: UpperResult | None = None) -> str:
    """Return the parts of an upper program's score, and why it failed or proposed nothing.

    Parameters
    ----------
    best
        Result of the best program so far, on the same instances.
    """
    penalty = fmean(result.penalties)
    facts = [f"it saves {100 * fmean(result.utilities):.3f} %"]
    if best is not None and best is not result and len(result.scores) == len(best.scores) > 1:
        behind = [100 * (b - a) for a, b in zip(result.scores, best.scores, strict=True)]
        error = stdev(behind) / math.sqrt(len(behind))
        facts.append(f"{fmean(behind):.2f} +- {error:.2f} points less than the best")
    if 1 < len(result.scores) <= EACH and result.outcome is Outcome.OK:
        each = ", ".join(f"{100 * utility:.1f}" for utility in result.utilities)
        facts[0] += f" (by instance {each})"
    facts.append(f"penalties take {100 * penalty:.3f} points" if penalty else "without penalties")
    if result.work is not None and result.work.groups:
        facts.append(_work(result.work))
    if result.outcome is not Outcome.OK:
        kind, why = result.outcome.value.replace("_", " "), " ".join(result.detail.split())
        facts.append(f"it fails ({kind}): {textwrap.shorten(why, REASON, placeholder=' ...')}")
    empty = sum(mean is None for mean in result.regions)
    if empty:
        facts.append(f"nothing valid on {empty} of {len(result.regions)} instances")
    return ", ".join(facts)


def _work(work: Work) -> str:
    """Return what is said of the groups of an upper program, and of the steps that it takes."""
    taken = STEP_REPAIRS * work.steps / max(1, work.repairs)
    return (
        f"its groups have {work.members / work.groups:.1f} members on average, "
        f"{_percent(work.kept / work.groups, 0)} of them are accepted, and it takes "
        f"{work.steps / max(1, work.passes):.0f} steps a pass, {_percent(taken, 0)} of its time"
    )


def ideas_in_turn(kept: Sequence[Program]) -> list[str]:
    """Return a sentence with the ideas of the upper programs that currently take turns."""
    return [f"Kept at present: {_ideas(kept, len(kept))}"] if kept else []


def _rebuilders(repertoire: Sequence[Program]) -> list[str]:
    if not repertoire:
        return []
    whom = "one of these programs, chosen by its features" if len(repertoire) > 1 else "a program"
    return [f"Each proposal is rebuilt by {whom}: {_ideas(repertoire, IDEAS)}"]


def _repaired(tasks: Sequence[RepairTask]) -> str:
    """Return what is said of regions of solutions that were repaired before."""
    regions = sum(task.solution is not None for task in tasks)
    if not regions:
        return ""
    return (
        f" {regions} of the {len(tasks)} regions are of such solutions after programs repaired "
        "them, and have less to save."
    )


def _again(repaired: int, of: int) -> str:
    """Return what is said of instances that occur again after a repair."""
    if not repaired:
        return ""
    return (
        f" {repaired} of the {of} instances occur a second time, with the solutions that programs "
        "made of these; scores are means over both kinds, and the second kind has less to save."
    )


def _ideas(programs: Sequence[Program], most: int) -> str:
    ideas = [_short_idea(program) for program in programs[:most]]
    more = len(programs) - len(ideas)
    text = "; ".join([*ideas, f"and {more} more"] if more else ideas)
    return f"{text}{'' if text.endswith('...') else '.'}"


def _short_idea(program: Program) -> str:
    return textwrap.shorten(program.idea.rstrip("."), IDEA, placeholder=" ...")


def _either(stages: Iterable[int]) -> str:
    *first, last = (str(stage) for stage in stages if stage)
    return f"{', '.join(first)} or {last}"


def _kinds(failed: Sequence[Response]) -> str:
    counts = count_outcomes(failed).items()
    return ", ".join(f"{count} ({kind.replace('_', ' ')})" for kind, count in counts)


def _milliseconds(limits: CallLimits, calls: int) -> str:
    return f"{float(f'{1000 * limits.candidate / calls:.2g}'):g}"


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f} %"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _span(numbers: Sequence[int], digits: int = 0) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high} ({fmean(numbers):.{digits}f} on average)"
