"""Tables of the ablations (the paper's Table 3) and of routing studies (Table 5, App. E)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum, isfinite, nan
from pathlib import Path
from statistics import fmean, stdev

from msgspec import Struct

from specahd.core import journal
from specahd.core.program import Outcome
from specahd.evaluation.rows import average_rows
from specahd.reporting.document import Part, Section, Table, format_number, format_percent
from specahd.runs.reading import Run, choose_runs

_PROTOCOLS = {
    "lower": "The lower search alone.",
    "upper": "The upper search over a frozen repertoire.",
    "both": "Both levels.",
}
_TEXT = (
    "Improvement over B on validation, by run (seed), and the mean ± the sample standard deviation "
    "over the complete runs. Three runs allow no test of significance. Duplicates counts rejected "
    "programs, and with skills counts requests with skill records, over all runs. Seconds are "
    "those of one evaluation of the validation pool, without the baseline's."
)
_FIGURES = ("response", "gain", "regret", "hits")


class _Study(Struct):
    """A line of ``study.jsonl`` after its regions: a policy, or a part of the repertoire."""

    record: str = ""
    policy: str = ""
    members: int = 0
    regions: int = 0
    response: float = nan
    gain: float = nan
    regret: float = nan
    hits: float = nan
    coverage: float = nan
    deviation: dict[str, float] = {}


def ablation_section(
    found: Sequence[Run], seconds: Mapping[str, Mapping[str, float]]
) -> Section | None:
    """Return a section with a table for each protocol that has ablations; None without any.

    Parameters
    ----------
    seconds
        Seconds of validation by the name of a run and the instance, where known.
    """
    groups: dict[str, dict[tuple[str, str, str], list[Run]]] = defaultdict(dict)
    for run in choose_runs(found):
        protocol, variant, memory = run.kind.values(["search.levels", "ablation", "memory"])
        key = (run.kind.problem, "complete" if variant in ("none", "None") else variant, memory)
        groups[protocol if protocol in _PROTOCOLS else "both"].setdefault(key, []).append(run)
    parts: list[Part] = []
    for protocol, protocol_text in _PROTOCOLS.items():
        variants = groups[protocol]
        if any(variant != "complete" for _, variant, _ in variants):
            rows = [
                [problem, variant, memory, *_ablated(runs, seconds)]
                for (problem, variant, memory), runs in sorted(
                    variants.items(), key=_complete_first
                )
            ]
            columns = (
                "problem", "variant", "memory", "mean", "±", "by run", "selection", "duplicates",
                "with skills", "complete", "s",
            )  # fmt: skip
            parts += [protocol_text, Table(columns, rows, words=3, name=f"ablations-{protocol}")]
    return Section("Ablations", [_TEXT, *parts]) if parts else None


def _complete_first(item: tuple[tuple[str, str, str], list[Run]]) -> tuple[str, str, bool, str]:
    problem, variant, memory = item[0]
    return problem, memory, variant != "complete", variant


def _ablated(runs: Sequence[Run], seconds: Mapping[str, Mapping[str, float]]) -> list[str]:
    complete = sorted((run for run in runs if run.complete), key=lambda run: run.seed)
    shares = [average_rows(run.validation).improvement for run in complete]
    known = [share for share in shares if isfinite(share)]
    chosen = [average_rows(run.selection).improvement for run in complete]
    took = [fsum(seconds[run.name].values()) for run in complete if seconds.get(run.name)]
    samples = [sample for run in runs for sample in run.samples]
    return [
        format_percent(fmean(known) if known else nan),
        format_number(100 * stdev(known), 2) if len(known) > 1 else "–",
        ", ".join(f"{100 * share:.2f}" if isfinite(share) else "T" for share in shares) or "–",
        format_percent(fmean(chosen) if chosen else nan),
        str(sum(sample.outcome is Outcome.DUPLICATE for sample in samples)),
        str(sum(bool(sample.skills) for sample in samples)),
        f"{len(complete)}/{len(runs)}",
        format_number(fmean(took) if took else nan, 1),
    ]


def routing_section(studies: Mapping[str, Path]) -> Section | None:
    """Return the tables of routing studies; None if no study has stored its policies.

    Parameters
    ----------
    studies
        Path of ``study.jsonl`` by the name of the evaluation.

    Raises
    ------
    FileError
        A line is not what an evaluation writes.
    """
    policies, growth = [], []
    for name, path in studies.items():
        for record in journal.read_records(path, _Study):
            if record.record == "policy":
                figures = [_with_deviation(record, figure) for figure in _FIGURES]
                policies.append([name, record.policy, str(record.regions), *figures])
            elif record.record == "growth":
                figures = [
                    f"{value:.{decimals}f}"
                    for value, decimals in (
                        (record.response, 4), (record.regret, 3), (record.coverage, 2),
                    )
                ]  # fmt: skip
                growth.append([name, str(record.members), *figures])
    if not policies:
        return None
    text = (
        "Every member of the repertoire was run on every held-out region. Response is scaled in "
        "each region between the worst and the best member; ΔGB is the improvement over the member "
        "that was best in training; regret is the excess over the best member, hits how often the "
        "choice is as good, all in percent. ± is the sample standard deviation over the repeats of "
        "random choice."
    )
    heads = ("evaluation", "policy", "regions", "response", "ΔGB", "regret", "hits")
    parts: list[Part] = [text, Table(heads, policies, words=2, name="routing")]
    if growth:
        columns = ("evaluation", "members", "best response", "regret", "coverage")
        parts += [
            "The repertoire as it grows in greedy order, each region repaired by the best member.",
            Table(columns, growth, name="repertoire-growth"),
        ]
    return Section("Routing and growth of the repertoire", parts)


def _with_deviation(record: _Study, figure: str) -> str:
    decimals = 4 if figure == "response" else 2 if figure == "hits" else 3
    cell = f"{getattr(record, figure):.{decimals}f}"
    spread = record.deviation.get(figure)
    return cell if spread is None else f"{cell} ± {spread:.{decimals}f}"
