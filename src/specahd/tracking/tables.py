"""Closing summaries on standard output."""

import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from specahd.repair.rows import PoolSummary
from specahd.repair.study import Policy
from specahd.tracking.selection import TrainedRun


def print_summaries(summaries: Sequence[PoolSummary], title: str, notes: Sequence[str]) -> None:
    """Print a table of pools: baseline, repaired cost, improvement, other baselines beside."""
    console = _console()
    baseline = summaries[0].baseline if summaries else "baseline"
    references = list(summaries[0].references) if summaries else []
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "mean costs; rollbacks: rebuilt regions without a feasible merge, of all"
    table.add_column("pool", no_wrap=True)
    for heading in (baseline, "repaired", "improvement", "rollbacks", *references):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in summaries:
        table.add_row(
            f"{summary.pool} ({summary.instances})",
            f"{summary.baseline_cost:,.1f}",
            f"{summary.cost:,.1f}",
            f"{100 * summary.improvement:+.2f}%",
            f"{summary.rollbacks}/{summary.steps}",
            *(f"{summary.references[name]:,.1f}" for name in references),
        )
    console.print(table)
    failures = [
        f"{summary.pool}: the upper program failed (T) on {summary.failed} of "
        f"{summary.instances} instances, which are left out"
        for summary in summaries
        if summary.failed
    ]
    for note in (*failures, *notes):
        console.print(note, markup=False, highlight=False, soft_wrap=True)


def print_policies(policies: Mapping[str, Policy], title: str) -> None:
    """Print a routing study: one row per policy."""
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "ΔGB: signed improvement over the globally best member in training"
    table.add_column("policy", no_wrap=True)
    for heading in ("response", "ΔGB", "regret", "oracle hits"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, policy in policies.items():
        table.add_row(
            name,
            f"{policy.response:.4f}",
            f"{policy.gain:+.3f}%",
            f"{policy.regret:.3f}%",
            f"{policy.hits:.1f}%",
        )
    _console().print(table)


def print_trainings(runs: Sequence[TrainedRun], title: str) -> None:
    """Print the runs that were considered, the chosen one first and marked."""
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "selection alone decides; ties go to the smaller seed, then run id"
    for heading in ("", "run", "seed", "method", "budget", "status"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "seed" else "left")
    for heading in ("selection", "validation (not used)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for place, run in enumerate(runs):
        table.add_row(
            "→" if place == 0 and not run.objection else "",
            run.id[:8],
            str(run.seed),
            run.choice("method"),
            run.choice("budget"),
            run.objection or "complete",
            *("" if value is None else f"{100 * value:+.2f}%" for value in run.scores),
        )
    _console().print(table)


def _console() -> Console:
    # A file has no width; 80 columns would cut the numbers of large instances.
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else 100)
