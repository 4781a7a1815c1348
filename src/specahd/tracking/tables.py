"""Closing summaries on standard output."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from specahd.core.display import visible
from specahd.reporting.document import format_percent

if TYPE_CHECKING:
    from specahd.evaluation.rows import PoolSummary
    from specahd.evaluation.study import Study
    from specahd.tracking.registry import TrainedRun

_POOL_WIDTH = 16
"""Most characters of a pool's name in one line; a longer name is wrapped."""
_KEPT = 3
"""Number of columns that are never left out: before, after, and the difference."""
_NOTHING = 0.00005
"""Least improvement, as a share, that a percentage with two decimals shows."""
_WIDEST = 1000
"""Width in characters at which every table shows all of its figures."""


def print_summaries(summaries: "Sequence[PoolSummary]", title: str, notes: Sequence[str]) -> None:
    """Print a table of pools: baseline, repaired cost, improvement, and other baselines."""
    output = stdout_console()
    columns = _columns(summaries)
    pools = [f"{visible(summary.pool)} ({summary.instances})" for summary in summaries]
    left_out = _drop_columns(
        columns, output.width, min(_POOL_WIDTH, max(map(len, ("pool", *pools))))
    )
    units = {summary.unit for summary in summaries if summary.unit}
    caption = f"mean costs{''.join(f' in {unit}' for unit in sorted(units))}"
    if "rollbacks" in columns:
        caption += "; rollbacks: rebuilt regions without a feasible merge, of all"
    table = new_table(title, caption)
    # Only this column may be wrapped; the cells of the others are never cut.
    table.add_column("pool", overflow="fold")
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in zip(pools, *columns.values(), strict=True):
        table.add_row(*row)
    output.width = max(output.width, _table_width(columns, _POOL_WIDTH))
    output.print(table)
    for note in (*left_out, *_remarks(summaries), *notes):
        output.out(visible(note), highlight=False)


def _columns(summaries: "Sequence[PoolSummary]") -> dict[str, list[str]]:
    """Return the columns of figures by their headings, the references last."""
    [source] = {summary.baseline for summary in summaries}
    columns = {
        # The name of a file is in the title.
        source if len(source) <= _POOL_WIDTH else "incumbent": [
            f"{each.baseline_cost:,.1f}" for each in summaries
        ],
        "repaired": [f"{each.cost:,.1f}" for each in summaries],
        "improvement": [format_percent(each.improvement) for each in summaries],
        "rollbacks": [f"{each.rollbacks}/{each.steps}" for each in summaries],
    }
    for name in summaries[0].references:
        columns[name] = [f"{each.references[name]:,.1f}" for each in summaries]
    return columns


def _table_width(columns: Mapping[str, Sequence[str]], pool: int) -> int:
    """Return the width of the table, with the lines and blanks around every cell."""
    figures = [max(map(len, (heading, *cells))) for heading, cells in columns.items()]
    return 1 + sum(width + 3 for width in (pool, *figures))


def _drop_columns(columns: dict[str, list[str]], width: int, pool: int) -> list[str]:
    """Drop columns that do not fit, references first; return a line for each of them."""
    lines: list[str] = []
    while _table_width(columns, pool) > width and len(columns) > _KEPT:
        heading, cells = columns.popitem()
        lines.insert(0, f"{heading}, for which the table has no room: {', '.join(cells)}")
    return lines


def _remarks(summaries: "Sequence[PoolSummary]") -> list[str]:
    """Return sentences on failures, and on pools without an improvement."""
    lines = []
    for each in summaries:
        if each.failed:
            lines.append(
                f"{each.pool}: the upper program failed (T) on {each.failed} of "
                f"{each.instances} instances, which are left out"
            )
        if abs(each.improvement) < _NOTHING:
            others = each.references.items()
            better = [f"{name} ({cost:,.1f})" for name, cost in others if cost < each.cost]
            references = f"; better than {each.cost:,.1f}: {', '.join(better)}" if better else ""
            gained = "nothing was gained" if each.improvement <= 0 else "next to nothing was gained"
            lines.append(f"{each.pool}: {gained}{references}")
    return lines


def cheaper_references(summary: "PoolSummary") -> list[str]:
    """Return a line on each baseline solver with cheaper solutions than the written ones."""
    lines = []
    for name, count in summary.cheaper.items():
        of_all = f"on {count} of {summary.instances} instances"
        where = of_all if summary.instances > 1 else "than the one that was written"
        if count:
            lines.append(f"{name} finds a cheaper solution {where}: baseline={name}")
    return lines


def print_study(study: "Study", title: str) -> None:
    """Print a routing study: one row per policy, then one per size of the growing repertoire."""
    table = new_table(
        f"routing on {title}",
        "ΔGB: signed improvement over the globally best member in training; "
        "±: sample deviation over repeats",
    )
    table.add_column("policy", no_wrap=True)
    for heading in ("response", "ΔGB", "regret", "oracle hits"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, policy in study.policies.items():
        cells = {
            "response": (f"{policy.response:.4f}", ".4f"),
            "gain": (f"{policy.gain:+.3f}%", ".3f"),
            "regret": (f"{policy.regret:.3f}%", ".3f"),
            "hits": (f"{policy.hits:.1f}%", ".1f"),
        }
        spread = policy.deviation
        table.add_row(
            name,
            *(
                f"{text} ± {spread[figure]:{form}}" if figure in spread else text
                for figure, (text, form) in cells.items()
            ),
        )
    stdout_console(_WIDEST).print(table)
    grown = new_table(f"the best of the first members on {title}", "")
    for heading in ("members", "best response", "regret", "coverage"):
        grown.add_column(heading, justify="right", no_wrap=True)
    for each in study.growth:
        grown.add_row(
            str(each.members),
            f"{each.response:.4f}",
            f"{each.regret:.3f}%",
            f"{each.coverage:.1f}%",
        )
    stdout_console(_WIDEST).print(grown)


def print_trainings(runs: "Sequence[TrainedRun]", title: str) -> None:
    """Print the runs that were considered, the chosen one first and marked."""
    table = new_table(title, "selection alone decides; ties go to the smaller seed, then run id")
    for heading in ("", "run", "seed", "method", "budget", "status"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "seed" else "left")
    for heading in ("selection", "validation (not used)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for place, run in enumerate(runs):
        table.add_row(
            "→" if place == 0 and not run.objection else "",
            run.id[:8],
            str(run.seed),
            visible(run.choice("method")),
            visible(run.choice("budget")),
            run.objection or "complete",
            *("" if value is None else format_percent(value) for value in run.scores),
        )
    stdout_console(_WIDEST).print(table)


def new_table(title: str, caption: str) -> Table:
    """Return a table without columns."""
    return Table(
        title=visible(title), caption=caption, title_justify="left", caption_justify="left"
    )


def stdout_console(width: int | None = None) -> Console:
    """Return a console on standard output, with its own width by default."""
    # A file has no width; 80 columns would cut the numbers of large instances.
    most = None if sys.stdout.isatty() else 100
    return Console(file=sys.stdout, width=width or most, markup=False)
