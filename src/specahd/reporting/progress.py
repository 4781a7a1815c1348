"""The page *search* of a run, also during the run: scores, outcomes, spending, repertoire."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from specahd.core.program import Level, Outcome
from specahd.core.sums import sequential_sum
from specahd.reporting.document import Strong, Table, format_number, format_percent, table_html
from specahd.reporting.family import Family, Member, outcome_counts, read_family
from specahd.reporting.figures import LEVELS, draw_outcomes, draw_scores, draw_total, svg
from specahd.reporting.page import page
from specahd.runs.configuration import read_configuration
from specahd.runs.files import CONFIG
from specahd.runs.records import Round

PAGE = "search.html"
_SCORES = {
    Level.LOWER: "Lower level: best score so far (in the coupled search, J of the repertoire).",
    Level.UPPER: "Upper level: best score so far (mean U − λΩ).",
}
_ROUNDS = (
    "A dot is a program; the line is the best score so far. It restarts with each round, because "
    "each round measures on its own tasks."
)
_OUTCOMES = "What became of each program; in the upper half of a row those of the upper level."


class _Budget(Struct):
    programs: int


class _Configuration(Struct):
    budget: _Budget


def search_page(directory: Path, name: str) -> str:
    """Return the page of a run, which may still be in progress.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    family = read_family(directory)
    asked = read_configuration(directory / CONFIG, _Configuration)["budget"]["programs"]
    programs = family.requested()
    figures = "".join(
        f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"
        for drawing, caption in _figures(programs, max(asked, len(programs)))
    )
    body = [
        f"<p>{escape(_state(family, programs, asked))}</p>",
        f'<div class="grid">{figures}</div>',
        *_rounds(family),
    ]
    return page(f"{name}: course of the search", body)


def _state(family: Family, programs: Sequence[Member], asked: int) -> str:
    counts = outcome_counts(family)
    tokens = sum(member.tokens for member in programs)
    tokens += sum(each.tokens for each in family.auxiliary)
    costs = [*(member.cost for member in programs), *(each.cost for each in family.auxiliary)]
    parts = [
        f"{len(programs)} of {asked} tickets are used; {counts[Outcome.OK]} programs are ok",
        f"{len(family.rounds)} rounds have ended",
        f"{format_number(tokens, 0)} tokens, {sequential_sum(costs):.4g} of money"
        if tokens
        else "no tokens used",
    ]
    if family.auxiliary:
        parts.append(f"{len(family.auxiliary)} requests beside those for programs")
    return f"{'; '.join(parts)}."


def _figures(programs: Sequence[Member], end: int) -> Iterator[tuple[str, str]]:
    """Yield drawings and captions; a level without a score and a total of zero have none."""
    for level in LEVELS:
        if any(each.level is level and each.best is not None for each in programs):
            yield svg(draw_scores, programs, [level], end), f"{_SCORES[level]} {_ROUNDS}"
    if programs:
        yield svg(draw_outcomes, programs, end), _OUTCOMES
    measures: Sequence[tuple[str, str, Callable[[Member], float]]] = (
        ("tokens", "Tokens of prompts and replies so far.", lambda each: each.tokens),
        ("money", "Money so far, in the currency of the prices.", lambda each: each.cost),
        ("seconds", "Seconds from request to result, of all programs so far.",
         lambda each: each.seconds or 0.0),
    )  # fmt: skip
    for name, caption, measure in measures:
        totals = list(accumulate(map(measure, programs)))
        if totals and totals[-1] > 0:
            yield svg(draw_total, programs, totals, name, end), caption


def _rounds(family: Family) -> Iterator[str]:
    if not family.rounds:
        return
    columns = ("round", "J", "utility", "selection", "size")
    rows = []
    for each in family.rounds:
        selection = "–" if each.selection is None else format_percent(each.selection)
        measured = _figure(each.objective), _figure(each.utility), selection
        rows.append([str(each.round), *measured, str(len(each.repertoire))])
    yield "<h2>Rounds</h2>"
    yield "<p>Selection is the mean improvement on the selection pool, which chooses the round of "
    yield "the checkpoint; size is that of the repertoire.</p>"
    yield table_html(Table(columns, rows))
    for title, kept in (
        ("Upper programs", lambda each: each.chosen),
        ("Repertoire", lambda each: each.repertoire),
    ):
        table = _kept(family.rounds, kept)
        if table.rows:
            yield f"<h2>{title} by round</h2>"
            yield "<p>The place in greedy order; bold where it is new.</p>"
            yield table_html(table)


def _kept(rounds: Sequence[Round], kept: Callable[[Round], Sequence[str]]) -> Table:
    names = dict.fromkeys(name for each in rounds for name in kept(each))
    rows = []
    for name in names:
        cells = []
        before: Sequence[str] = ()
        for each in rounds:
            now = kept(each)
            place = f"{now.index(name) + 1}" if name in now else "–"
            cells.append(Strong(place) if name in now and name not in before else place)
            before = now
        rows.append([name, *cells])
    return Table(("program", *(f"round {each.round}" for each in rounds)), rows)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
