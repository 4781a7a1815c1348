"""The routing study (Appendix E): policies compared on held-out regions that every member repaired.

All policies are evaluated on the same stored signed costs, so no program runs twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from specahd.core.journal import Record
from specahd.core.program import Program
from specahd.core.seeding import generator
from specahd.repair.responses import RepairTask, ResponseTable
from specahd.repair.router import Router
from specahd.routing.base import FloatArray, IntArray
from specahd.sandbox.executor import Executor

RANDOM_REPEATS = 30
SIZES = (1, 2, 4, 6, 10)
"""Sizes at which the growing repertoire is evaluated; the full size is added."""
_TIED = 1e-9
_FIGURES = ("response", "gain", "regret", "hits")


@dataclass(frozen=True, slots=True)
class Policy:
    """Figures of one way of choosing a member for each region, on held-out regions.

    Parameters
    ----------
    response
        Mean response, scaled within each region to [0, 1] between its worst and
        best member (1 where they agree).
    gain
        ΔGB: mean signed improvement over the globally best member, in percent of its cost.
    regret
        Mean excess over the best member, in percent of the best cost.
    hits
        Share of regions on which the choice is as good as the best, in percent.
    deviation
        For a random policy, the sample standard deviation of these figures over
        :data:`RANDOM_REPEATS` repeats, of which they are the means.
    """

    response: float
    gain: float
    regret: float
    hits: float
    deviation: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Growth:
    """Figures of the first members of a repertoire, with the best of them for each region.

    Parameters
    ----------
    members
        Number of members.
    response, regret
        Those of :class:`Policy`, scaled between the worst and best of all members.
    coverage
        Share of regions on which one of these members is as good as the best of all, in percent.
    """

    members: int
    response: float
    regret: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Study:
    """Results of a routing study.

    Parameters
    ----------
    regions
        Number of regions that were replayed.
    policies
        The figures of the policies, by name.
    growth
        The growth of the repertoire in its greedy order.
    """

    regions: int
    policies: Mapping[str, Policy]
    growth: Sequence[Growth]

    def records(self) -> Iterator[Record]:
        """Yield the records of ``study.jsonl`` that follow the regions."""
        for name, policy in self.policies.items():
            yield {"record": "policy", "policy": name, "regions": self.regions, **asdict(policy)}
        for each in self.growth:
            yield {"record": "growth", "regions": self.regions, **asdict(each)}


def replay(
    executor: Executor, repertoire: Sequence[Program], tasks: Sequence[RepairTask]
) -> ResponseTable:
    """Measure every member on every task."""
    table = ResponseTable(tasks)
    if tasks:
        jobs = [executor.submit("respond", program, table.tasks) for program in repertoire]
        for program, job in zip(repertoire, jobs, strict=True):
            table.add(program.id, job.result().responses)
    return table


def region_records(
    instance: str, table: ResponseTable, router: Router, programs: Sequence[str]
) -> list[dict[str, Any]]:
    """Return each region of an instance with every member's signed cost, and the router's choice.

    Parameters
    ----------
    programs
        The repertoire's names, in its order.
    """
    records = []
    for column, task in enumerate(table.tasks):
        responses = {program: table.rows[program][column] for program in programs}
        records.append(
            {
                "instance": instance,
                "task": task.key,
                "nodes": list(task.region.nodes),
                "descriptor": list(task.descriptor),
                "cost_before": responses[programs[0]].cost_before,
                "cost_merged": {name: r.cost_merged for name, r in responses.items()},
                "outcome": {name: r.outcome for name, r in responses.items()},
                "routed": programs[router.choose(np.array(task.descriptor))],
            }
        )
    return records


def signed_costs(regions: Sequence[Record], programs: Sequence[str]) -> FloatArray:
    """Return the cost of the complete solution after each repair, shape (regions, programs).

    A failed or infeasible repair leaves the incumbent and so its cost.
    """
    rows = []
    for region in regions:
        merged = [region["cost_merged"][program] for program in programs]
        rows.append([region["cost_before"] if cost is None else cost for cost in merged])
    return np.array(rows, float).reshape(len(regions), len(programs))


def study_regions(regions: Sequence[Record], programs: Sequence[str], best: int) -> Study:
    """Compare the router, the globally best member in training, random choice and hindsight.

    Parameters
    ----------
    regions
        The records that :func:`region_records` returns; none give an empty study.
    programs
        The repertoire's names, in its greedy order.
    best
        Index of the member that was best in training.
    """
    if not regions:
        return Study(0, {}, ())
    costs = signed_costs(regions, programs)
    routed = np.array([programs.index(region["routed"]) for region in regions])
    globally_best = np.full(len(costs), best)
    rng = generator(0, "routing-study")
    drawn = [rng.integers(len(programs), size=len(costs)) for _ in range(RANDOM_REPEATS)]
    policies = {
        "SpecAHD": _judge(costs, routed, globally_best),
        "global best": _judge(costs, globally_best, globally_best),
        "random": _averaged([_judge(costs, choice, globally_best) for choice in drawn]),
        "oracle": _judge(costs, costs.argmin(axis=1), globally_best),
    }
    largest = len(programs)
    sizes = [*(size for size in SIZES if size < largest), largest]
    return Study(len(costs), policies, [_grown(costs, size) for size in sizes])


def _judge(costs: FloatArray, choice: IntArray, globally_best: IntArray) -> Policy:
    rows = np.arange(len(costs))
    chosen, reference = costs[rows, choice], costs[rows, globally_best]
    response, regret, hits = _figures(costs, chosen)
    gain = float(100 * ((reference - chosen) / reference).mean())
    return Policy(response, gain, regret, hits)


def _grown(costs: FloatArray, members: int) -> Growth:
    return Growth(members, *_figures(costs, costs[:, :members].min(axis=1)))


def _figures(costs: FloatArray, chosen: FloatArray) -> tuple[float, float, float]:
    """Return the response, regret and hits of the chosen costs among those of all members."""
    low, high = costs.min(axis=1), costs.max(axis=1)
    span = np.where(high > low, high - low, 1.0)
    response = np.where(high > low, (high - chosen) / span, 1.0)
    return (
        float(response.mean()),
        float(100 * ((chosen - low) / low).mean()),
        float(100 * (chosen <= low + _TIED).mean()),
    )


def _averaged(policies: Sequence[Policy]) -> Policy:
    """Return the mean of policies with the sample standard deviation of each figure."""
    values = {name: [getattr(policy, name) for policy in policies] for name in _FIGURES}
    return Policy(
        **{name: float(np.mean(each)) for name, each in values.items()},
        deviation={name: float(np.std(each, ddof=1)) for name, each in values.items()},
    )
