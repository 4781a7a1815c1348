"""The common seeds and instances of a problem's runs: means are taken over these."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from specahd.runs.files import POOLS
from specahd.runs.reading import Run

_NAMED = 3
"""Largest number of instances that a remark lists by name."""


@dataclass(frozen=True, slots=True)
class Common:
    """The runs that are counted in means, with their rows of the common instances.

    Parameters
    ----------
    groups
        The counted runs by the name of their group; a group may have none.
    remarks
        One line for each exclusion, with the reason; empty if nothing was left out.
    """

    groups: Mapping[str, Sequence[Run]]
    remarks: Sequence[str]


def restrict_to_common(groups: Mapping[str, Sequence[Run]], pools: Sequence[str] = POOLS) -> Common:
    """Keep the instances and seeds that all complete runs of a problem share.

    Parameters
    ----------
    groups
        Runs that differ only in their seeds, by name.
    pools
        The pools whose instances are compared.
    """
    counted: dict[str, Sequence[Run]] = {}
    remarks: list[str] = []
    problems: dict[str, dict[str, list[Run]]] = defaultdict(dict)
    for name, runs in groups.items():
        problems[runs[0].kind.problem][name] = [run for run in runs if run.complete]
    for problem, done in problems.items():
        alike, new_remarks = _of_common_seeds(problem, done)
        remarks += new_remarks
        for pool in pools:
            alike, new_remarks = _on_common_instances(problem, pool, alike)
            remarks += new_remarks
        counted |= alike
    return Common({name: counted[name] for name in groups}, remarks)


def _of_common_seeds(
    problem: str, groups: Mapping[str, Sequence[Run]]
) -> tuple[Mapping[str, Sequence[Run]], list[str]]:
    seeds = [{run.seed for run in runs} for runs in groups.values() if runs]
    common = set.intersection(*seeds) if seeds else set()
    left = [
        f"{run.name} (seed {run.seed})"
        for runs in groups.values()
        for run in runs
        if run.seed not in common
    ]
    if not left:
        return groups, []
    if not common:
        return groups, [f"{problem}: no seed is common to all; each mean is over its own seeds."]
    kept = {name: [run for run in runs if run.seed in common] for name, runs in groups.items()}
    return kept, [f"{problem}: left out, since not all have that seed: {', '.join(left)}."]


def _on_common_instances(
    problem: str, pool: str, groups: Mapping[str, Sequence[Run]]
) -> tuple[Mapping[str, Sequence[Run]], list[str]]:
    present = [{row.instance for row in run.rows(pool)} for runs in groups.values() for run in runs]
    common = set.intersection(*present) if present else set()
    remarks = list(_remarks(problem, pool, groups, common))
    if not remarks:
        return groups, []
    kept = {name: [_only(run, pool, common) for run in runs] for name, runs in groups.items()}
    return kept, remarks


def _only(run: Run, pool: str, instances: set[str]) -> Run:
    rows = tuple(row for row in run.rows(pool) if row.instance in instances)
    return replace(run, validation=rows) if pool == "validation" else replace(run, selection=rows)


def _remarks(
    problem: str, pool: str, groups: Mapping[str, Sequence[Run]], common: set[str]
) -> Iterator[str]:
    """Yield one line on the excluded instances for all runs that exclude the same ones."""
    left: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for runs in groups.values():
        for run in runs:
            left[tuple(sorted({row.instance for row in run.rows(pool)} - common))].append(run.name)
    for instances, names in left.items():
        if instances:
            more = len(instances) - _NAMED
            listed = ", ".join(instances[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            yield (
                f"{problem}, {pool}: {len(common)} instances are common to all; "
                f"left out of {', '.join(names)}: {listed}."
            )
