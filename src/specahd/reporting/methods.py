"""Comparison of methods: which is better, costs by size, seconds, tokens and money."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, groupby
from math import inf, isfinite, nan
from statistics import fmean, stdev
from types import MappingProxyType

from specahd.evaluation.rows import Row, average_rows, mean_or_nan
from specahd.reporting import ranking
from specahd.reporting.aggregates import (
    BOUND,
    HOW_TO_READ_BOUNDS,
    Common,
    count_cheaper,
    group_by_kind,
    group_by_size,
    lower_bounds,
    restrict_to_common,
)
from specahd.reporting.document import (
    Document,
    Part,
    Section,
    Strong,
    Table,
    format_number,
    format_percent,
)
from specahd.reporting.ranking import Entry
from specahd.runs.configuration import NO_CONTROL, RunKind
from specahd.runs.reading import Run, Spending, choose_runs

_TEXT = (
    "The tables show mean costs on unseen instances by size, over the seeds and instances that the"
    " complete runs have in common. Lower is better; the cheapest method is bold. The first number"
    " in parentheses counts the instances that all methods solved; the means are over these. T "
    "counts the others, on which an upper program failed. B is the baseline solver. Improvement is"
    " the mean over the seeds of the saving relative to B's solutions, ± the sample standard "
    "deviation, without the groups that are not compared. Below B counts solutions that are "
    "cheaper than B's, over all seeds. Gap is the mean excess over the best known costs, where "
    "known. Seconds are means per instance, without compilation and without B's time; those of a "
    "reference are its total time. What a training took, as means over the runs: programs that "
    "were asked for, evaluations (calls of programs that were measured), CPU seconds of all "
    "processes, tokens and money. Failed is the share of rebuilt regions (or of complete "
    "instances) without a feasible result."
)


_NO_PROGRAM = "no program"
_SAMPLED = "sampled"
_HOW_CONTROLS = (
    "Improvement over B of the same frozen system without a program (hand-written ones alone), "
    "with programs sampled without parents, and searched; ± is the sample standard deviation over "
    "the seeds. What the search is worth is what it adds to the first. Groups that limits decide "
    "are left out."
)
_MOST_LIMITED = 0.1
"""The largest share of calls that limits end in a group that is compared."""
_BASELINE, _BOUND = "baseline", "bound"
"""Marks of a baseline solver and of a lower bound, in the column of complete runs."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An untrained reference solver on the same instances."""

    name: str
    rows: Sequence[Row]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the table, before it is formatted: a method, a reference or a bound."""

    name: str
    rows: Sequence[Row]
    improvements: Sequence[float]
    seconds: float
    complete: str
    spending: Spending
    programs: float = nan

    def costs(self, sizes: Mapping[str, Sequence[str]]) -> list[float]:
        """Return its mean costs over the instances of each size; nan if it lacks an instance."""
        known: dict[str, list[float]] = defaultdict(list)
        for row in self.rows:
            if not row.failed:
                known[row.instance].append(row.cost)
        means = {name: mean_or_nan(costs) for name, costs in known.items()}
        return [fmean(means.get(name, nan) for name in names) for names in sizes.values() if names]

    def cells(self) -> dict[str, str]:
        """Return its cells by column, but those of its costs."""
        of = average_rows(self.rows)
        solved = [row for row in self.rows if not row.failed]
        gaps = mean_or_nan(row.cost / row.best_known - 1 for row in solved if row.best_known > 0)
        untrained = self.complete in (_BASELINE, _BOUND)
        return {
            "improvement": _improvement(self.improvements) if self.complete != _BASELINE else "–",
            "below B": "–" if untrained else count_cheaper(self.rows),
            "gap": format_percent(gaps),
            "s": format_number(self.seconds, 3),
            "complete": self.complete,
            "programs": format_number(self.programs, 0),
            "evaluations": format_number(self.spending.evaluations, 0),
            "CPU s": format_number(self.spending.cpu_seconds, 0),
            "tokens": format_number(self.spending.tokens, 0),
            "money": format_number(self.spending.cost, 2),
            "failed": f"{of.rollbacks}/{of.steps}" if of.steps else "–",
            "T": str(of.failed),
        }


def is_comparison(runs: Sequence[Run]) -> bool:
    """Return whether runs of one problem differ in more than their seed."""
    kinds = {run.kind for run in runs}
    return len({kind.problem for kind in kinds}) < len(kinds)


def comparison_tables(
    found: Sequence[Run],
    seconds: Mapping[str, Mapping[str, float]],
    references: Mapping[str, Sequence[Reference]],
    spending: Mapping[str, Spending],
    baseline_seconds: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    *,
    pairs: bool = False,
) -> Document:
    """Return the comparison of methods for each problem: which is better, and a table of all.

    Parameters
    ----------
    seconds
        Seconds of a pass by the name of a run and the instance of its validation pool, where
        known.
    references
        Reference solvers by problem.
    spending
        Tokens and money of a run's requests, by the name of the run.
    baseline_seconds
        Seconds of the baseline solver by the name of a run and the instance, where known.
    pairs
        Whether a table compares every two methods, too.
    """
    kinds = group_by_kind(choose_runs(found)).items()
    sections: list[Section] = []
    controls: list[list[str]] = []
    for problem, group in groupby(kinds, key=lambda item: item[1][0].kind.problem):
        groups = {_label(name, runs[0].kind): runs for name, runs in group}
        common = restrict_to_common(groups, ["validation"])
        baselines = [*references.get(problem, ()), *_baselines(common.groups, baseline_seconds)]
        noun = "method" if len({runs[0].kind.method for runs in groups.values()}) > 1 else "setting"
        limited = _limited(common.groups)
        answer = _ranking(problem, common.groups, baselines, noun, limited, pairs=pairs)
        table = _table(problem, groups, common.groups, seconds, baselines, spending, noun, limited)
        controls += _controls(problem, common.groups, baselines, limited)
        parts = [*answer, "Mean costs by size.", table]
        parts += [HOW_TO_READ_BOUNDS] if table.rows[-1][0] == BOUND else []
        parts += _left_out(groups, common, baselines)
        sections.append(Section(problem, parts))
    if controls:
        columns = (
            "problem", "method", "instances", "seeds", _NO_PROGRAM, _SAMPLED, "searched",
            "best other method", "B", "its start",
        )  # fmt: skip
        table = Table(columns, controls, words=2, name="controls")
        sections.insert(0, Section("What a search adds", [_HOW_CONTROLS, table]))
    sections.append(Section("How to read the tables of methods", [ranking.HOW_TO_READ, _TEXT]))
    return Document("Comparison of methods", sections)


def _label(name: str, kind: RunKind) -> str:
    """Return the name of a kind of runs in the table of its problem: ``specahd, no program``."""
    control = kind.control.replace(" ", "_")
    return name.removeprefix(f"{kind.problem}-").replace(f"-{control}", f", {kind.control}")


def _baselines(
    groups: Mapping[str, Sequence[Run]], seconds: Mapping[str, Mapping[str, float]]
) -> list[Reference]:
    """Return each baseline solver of the runs as a reference."""
    rows: dict[str, dict[str, Row]] = defaultdict(dict)
    took: dict[str, dict[str, float]] = defaultdict(dict)
    for run in (run for runs in groups.values() for run in runs):
        for row in run.validation:
            its = replace(
                row, cost=row.baseline_cost, improvement=0.0, failed=False, steps=0, rollbacks=0
            )
            rows[row.baseline].setdefault(row.instance, its)
            if row.instance in seconds.get(run.name, ()):
                took[row.baseline].setdefault(row.instance, seconds[run.name][row.instance])
    return [Reference(f"B: {name}", list(each.values()), took[name]) for name, each in rows.items()]


def _by_size(groups: Mapping[str, Sequence[Run]]) -> dict[str, list[str]]:
    """Return the instances of each size."""
    rows = {row.instance: row for runs in groups.values() for run in runs for row in run.validation}
    return {
        size: [row.instance for row in each] for size, each in group_by_size(rows.values()).items()
    }


def _limited(groups: Mapping[str, Sequence[Run]]) -> dict[str, str]:
    """Return the sizes at which limits end more than a tenth of a group's calls, and whose."""
    found = {}
    for size, names in _by_size(groups).items():
        shares = {}
        for name, runs in groups.items():
            rows = [row for run in runs for row in run.validation if row.instance in names]
            calls = sum(row.calls for row in rows)
            shares[name] = sum(row.limited for row in rows) / calls if calls else 0.0
        over = {name: share for name, share in shares.items() if share > _MOST_LIMITED}
        if over:
            found[size] = ", ".join(f"{name} {share:.0%}" for name, share in over.items())
    return found


def _controls(
    problem: str,
    groups: Mapping[str, Sequence[Run]],
    references: Sequence[Reference],
    limited: Mapping[str, str],
) -> list[list[str]]:
    """Return a line on each method that has a control without programs: what is the search's.

    The best of the other methods stands beside it, and the strength of the start: the excess of B
    over the best known costs, or over the cheapest solutions of all rows where none are known.
    """
    compared = _compared(groups, limited)
    every = [row for runs in groups.values() for run in runs for row in run.validation]
    every += [row for each in references for row in each.rows]
    cheapest: dict[str, float] = {}
    for row in every:
        if row.instance in compared and not row.failed:
            cheapest[row.instance] = min(row.cost, cheapest.get(row.instance, inf))
    shares = {
        name: [_mean_improvement(run, compared) for run in runs] for name, runs in groups.items()
    }
    lines = []
    for name, runs in groups.items():
        control = _control(name, groups)
        if control is None:
            continue
        solved = {row.instance: row for run in runs for row in run.validation}
        starts = [row for row in solved.values() if row.instance in compared]
        known = all(row.best_known > 0 for row in starts)
        best = {row.instance: row.best_known for row in starts} if known else cheapest
        excess = mean_or_nan(row.baseline_cost / best[row.instance] - 1 for row in starts)
        others = {
            mean_or_nan(each): other
            for other, each in shares.items()
            if each and runs[0].kind.method != groups[other][0].kind.method
        }
        rival = others[max(others)] if others else ""
        lines.append(
            [
                problem,
                name,
                str(len(starts)),
                str(len(runs)),
                _improvement(shares[control]),
                _improvement(shares.get(f"{name}, {_SAMPLED}", ())),
                _improvement(shares[name]),
                f"{rival} {_improvement(shares[rival])}" if rival else "–",
                ", ".join(sorted({row.baseline for row in starts})),
                f"{excess:.2%} above the {'best known' if known else 'cheapest here'}",
            ]
        )
    return lines


def _control(name: str, groups: Mapping[str, Sequence[Run]]) -> str | None:
    """Return the name of the runs without programs that a search's runs are compared with."""
    kinds = {other: runs[0].kind for other, runs in groups.items() if runs}
    if name not in kinds or kinds[name].control != NO_CONTROL:
        return None
    wanted = kinds[name].without_programs()
    for other, kind in kinds.items():
        if kind.control == _NO_PROGRAM and kind.without_programs() == wanted:
            return other
    return None


def _compared(groups: Mapping[str, Sequence[Run]], limited: Collection[str]) -> set[str]:
    """Return the instances of the sizes that limits do not decide."""
    sizes = _by_size(groups).items()
    return {name for size, names in sizes for name in names if size not in limited}


def _mean_improvement(run: Run, instances: Collection[str]) -> float:
    return average_rows([row for row in run.validation if row.instance in instances]).improvement


def _ranking(
    problem: str,
    groups: Mapping[str, Sequence[Run]],
    references: Sequence[Reference],
    noun: str,
    limited: Mapping[str, str],
    *,
    pairs: bool,
) -> list[Part]:
    entries = [
        *(Entry(name, [_costs(run.validation) for run in runs]) for name, runs in groups.items()),
        *(Entry(each.name, [_costs(each.rows)], reference=True) for each in references),
    ]
    programs = sorted({run.programs for runs in groups.values() for run in runs})
    budget = f"{' or '.join(map(str, programs))} programs"
    sizes = _by_size(groups)
    return ranking.compare(problem, entries, sizes, budget, noun, limited=limited, pairs=pairs)


def _costs(rows: Sequence[Row]) -> dict[str, float]:
    return {row.instance: row.cost for row in rows if not row.failed}


def _table(
    problem: str,
    groups: Mapping[str, Sequence[Run]],
    counted: Mapping[str, Sequence[Run]],
    seconds: Mapping[str, Mapping[str, float]],
    references: Sequence[Reference],
    spending: Mapping[str, Spending],
    noun: str,
    limited: Collection[str],
) -> Table:
    instances = _instances(counted)
    compared = _compared(counted, limited)
    lines = []
    for name, runs in counted.items():
        lines.append(
            _Line(
                name,
                [row for run in runs for row in run.validation],
                [_mean_improvement(run, compared) for run in runs],
                mean_or_nan(_seconds(seconds[run.name], instances) for run in runs),
                f"{sum(run.complete for run in groups[name])}/{len(groups[name])}",
                _mean_spending([spending[run.name] for run in runs]),
                mean_or_nan(run.programs for run in runs),
            )
        )
    rows = {row.instance: row for line in lines for row in line.rows}
    failed = {row.instance for line in lines for row in line.rows if row.failed}
    grouped = _by_size(counted)
    sizes = {
        size: [each for each in names if each not in failed] for size, names in grouped.items()
    }
    least = zip(*(line.costs(sizes) for line in lines), strict=True)
    cheapest = [
        nan if size in limited else min(filter(isfinite, costs), default=nan)
        for size, costs in zip(filter(sizes.__getitem__, sizes), least, strict=True)
    ]
    for solver in references:
        solver_rows = [row for row in solver.rows if row.instance in instances]
        took = _seconds(solver.seconds, instances)
        shares = [average_rows([r for r in solver_rows if r.instance in compared]).improvement]
        mark = _BASELINE if solver.name.startswith("B: ") else "reference"
        lines.append(_Line(solver.name, solver_rows, shares, took, mark, Spending()))
    if bounds := lower_bounds(chain(rows.values(), *(each.rows for each in references)), instances):
        shares = [average_rows([r for r in bounds if r.instance in compared]).improvement]
        lines.append(_Line(BOUND, bounds, shares, nan, _BOUND, Spending()))
    heads = []
    for size, names in sizes.items():
        lost = len(grouped[size]) - len(names)
        if names:
            count = f"{len(names)}, {lost} T" if lost else len(names)
            heads.append(ranking.head(size, count, limited))
    # Recorded and offline replies are free.
    paid = any(line.spending.tokens > 0 for line in lines)
    hidden = set() if paid else {"tokens", "money"}
    told = [line.spending for line in lines]
    hidden |= set() if any(isfinite(each.evaluations) for each in told) else {"evaluations"}
    hidden |= set() if any(isfinite(each.cpu_seconds) for each in told) else {"CPU s"}
    hidden |= set() if any(row.best_known > 0 for row in rows.values()) else {"gap"}
    cells = []
    for line in lines:
        costs = [
            Strong(cell) if cost == least else cell
            for cost, least in zip(line.costs(sizes), cheapest, strict=True)
            for cell in [format_number(cost, 1)]
        ]
        shown = {column: cell for column, cell in line.cells().items() if column not in hidden}
        cells.append([line.name, *costs, *shown.values()])
    return Table((noun, *heads, *shown), cells, name=f"{problem}-methods")


def _mean_spending(used: Sequence[Spending]) -> Spending:
    return Spending(
        *(mean_or_nan(getattr(each, of.name) for each in used) for of in fields(Spending))
    )


def _instances(counted: Mapping[str, Sequence[Run]]) -> set[str]:
    return {row.instance for runs in counted.values() for run in runs for row in run.validation}


def _seconds(took: Mapping[str, float], instances: set[str]) -> float:
    return mean_or_nan(seconds for instance, seconds in took.items() if instance in instances)


def _improvement(shares: Sequence[float]) -> str:
    known = [100 * share for share in shares if isfinite(share)]
    if not known:
        return "–"
    spread = f" ± {stdev(known):.2f}" if len(known) > 1 else ""
    return f"{mean_or_nan(known):+.2f}%{spread}"


def _left_out(
    groups: Mapping[str, Sequence[Run]], common: Common, references: Sequence[Reference]
) -> list[str]:
    partial = [run.name for runs in groups.values() for run in runs if not run.complete]
    lines = [f"Partial, counted in no mean: {', '.join(partial)}."] if partial else []
    instances = _instances(common.groups)
    for solver in references:
        solved = instances & {row.instance for row in solver.rows}
        if solved != instances:
            lines.append(f"{solver.name} has rows of {len(solved)} of {len(instances)} instances.")
    return [*lines, *common.remarks]
