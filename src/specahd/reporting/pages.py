"""Pages on single runs, and the part of a report on them.

The page *lineage* is the family tree of a run's programs, with source, idea and changes; *search*
has scores, outcomes, spending and the repertoire, also during the run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import structs

from specahd.core import journal
from specahd.core.folders import atomic_folder
from specahd.core.program import Level, Outcome
from specahd.core.sums import sequential_sum
from specahd.evaluation.files import ROUTES, rows_file
from specahd.evaluation.rows import Routes, RowRecord, average_rows
from specahd.reporting.aggregates import group_by_kind
from specahd.reporting.document import (
    Code,
    Figure,
    Links,
    Part,
    Section,
    Strong,
    Table,
    asset,
    embed,
    format_number,
    format_percent,
    page,
    table_html,
)
from specahd.reporting.family import (
    Family,
    Member,
    read_family,
    read_frozen_programs,
)
from specahd.reporting.figures import (
    LEVELS,
    OUTLINES,
    draw_outcomes,
    draw_routes,
    draw_scores,
    draw_total,
    render,
    svg,
)
from specahd.runs.configuration import RunConfiguration
from specahd.runs.reading import Run
from specahd.runs.records import Round

PAGES = "pages"
"""Name of the folder of pages, beside the report."""
LINEAGE, SEARCH = "lineage.html", "search.html"
_ACROSS, _DOWN, _MARGIN = 13, 26, 16
"""Pixels between tickets, between generations, and of the margin."""
_GAINS = {
    "much": "better than its best parent, by the median gain or more",
    "some": "better by less",
    "same": "equal",
    "less": "worse",
    "unknown": "not measured",
}
_HOW = (
    "Each circle is a program: from left to right in the order in which they were asked for, from "
    "top to bottom by generation. A line leads to each parent. The darker, the more it gained over "
    "its best parent (without parents: over the seed program) on the tasks of its round; white "
    "ones were not measured. A ring: the checkpoint has it. Choose one to see its source, its idea "
    "and what it changed."
)
_SCORES = {
    Level.LOWER: "Lower level: best score so far (in the coupled search, J of the repertoire).",
    Level.UPPER: "Upper level: best score so far (mean U − λΩ).",
}
_ROUNDS = (
    "A dot is a program; the line is the best score so far. It restarts with each round, because "
    "each round measures on its own tasks."
)
_OUTCOMES = "What became of each program; in the upper half of a row those of the upper level."


def read_routes(directory: Path) -> tuple[dict[str, Any], list[list[int]]] | None:
    """Return the instance that a run stored, as ``draw_routes`` takes it, and its regions.

    The regions are those whose rebuilding was accepted. None if there is nothing to draw: nodes
    have to be points of a plane, numbered from 0, unlike in some own problems.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    drawn = next(journal.read_records(directory / ROUTES, Routes), None)
    if drawn is None:
        return None
    known = range(len(drawn.coords))
    nodes = [node for route in (*drawn.before, *drawn.after) for node in route]
    if not nodes or any(len(each) != 2 for each in drawn.coords) or not set(nodes) <= set(known):
        return None
    rows = journal.read_records(directory / rows_file("validation"), RowRecord)
    steps: list[Any] = next((row.steps for row in rows if row.instance == drawn.instance), [])
    regions = [[node for node in step.nodes if node in known] for step in steps if step.accepted]
    return structs.asdict(drawn), regions


def write_pages(folder: Path, runs: Sequence[Run], place: Path) -> None:
    """Write both pages of each run, and remove the pages of an earlier report.

    Raises
    ------
    FileError
        A run's file is not what a run writes.
    """
    with atomic_folder(place) as staging:
        for run in runs:
            for name, make in _MAKERS.items():
                path = staging / _file(run, name)
                path.write_text(make(folder / run.name, run.name), encoding="utf-8")


def programs_section(folder: Path, runs: Sequence[Run]) -> Section:
    """Return a section of links to the pages of runs, and sources of their frozen programs."""
    links = [
        (f"{PAGES}/{_file(run, name)}", f"{run.name}: {Path(name).stem}")
        for run in runs
        for name in _MAKERS
    ]
    parts: list[Part] = [
        "Of each run that counts, the lineage of all its programs (source, idea, parents and what "
        "changed) and the course of its search; below, of each kind the programs of the "
        "checkpoint that is best on selection.",
        Links(links),
    ]
    for name, group in group_by_kind(runs).items():
        run = max(group, key=_rank)
        if drawn := read_routes(folder / run.name):
            caption = f"{run.name}: {_caption(*drawn)}"
            parts.append(Figure(f"routes-{name}.svg", caption, *render(draw_routes, *drawn)))
        for program in read_frozen_programs(folder / run.name):
            score = "" if program.score is None else f", score {program.score:.4g}"
            idea = f": {program.idea}" if program.idea else ""
            parts.append(
                Code(f"{run.name}, {program.role}, {program.id}{score}{idea}", program.source)
            )
    return Section("Runs and programs", parts)


def _caption(drawn: dict[str, Any], regions: Sequence[Sequence[int]]) -> str:
    return (
        f"{drawn['instance']}, of validation: in colour the edges that only one of both solutions "
        f"has; dashed the outlines of the regions whose rebuilding was accepted ({len(regions)}"
        + (f", the first {OUTLINES} are drawn)." if len(regions) > OUTLINES else ").")
    )


def _rank(run: Run) -> tuple[bool, float]:
    improvement = average_rows(run.selection).improvement
    return run.complete, improvement if isfinite(improvement) else -1.0


def _file(run: Run, page: str) -> str:
    return f"{run.name.replace('/', '_')}-{page}"


def lineage_page(directory: Path, name: str) -> str:
    """Return the page on the family tree of a run's programs; the run may be in progress.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    family = read_family(directory)
    kinds = {
        member.sample: kind for level in LEVELS[::-1] for member, kind in _kinds(family.of(level))
    }
    trees = [
        f'<h2>{level.value.capitalize()} level</h2><figure class="tree">'
        f"{_tree(family.of(level), kinds)}</figure>"
        for level in LEVELS[::-1]
        if any(member.ticket for member in family.of(level))
    ]
    children = family.children()
    data = {
        member.sample: {
            "facts": _facts(member),
            "detail": member.detail,
            "idea": member.idea or "",
            "source": member.source or "",
            "reply": "" if member.source else member.reply,
            "parents": list(dict.fromkeys(member.parents)),
            "children": children.get(member.sample, []),
        }
        for member in family.members.values()
    }
    body = [
        f"<p>{_HOW}</p>",
        _legend(),
        f'<div class="columns"><div>{"".join(trees)}</div>'
        f'<section id="program" aria-live="polite"></section>{_table(family)}</div>',
        embed("programs", data),
    ]
    return page(
        f"{name}: lineage of programs",
        body,
        styles=asset("lineage.css"),
        scripts=asset("lineage.js"),
        first=_first(family),
    )


def _first(family: Family) -> str:
    """Return the program to show first: the one in the checkpoint with the largest gain."""
    members = family.members.values()
    return (
        max(
            members,
            key=lambda each: (bool(each.role), each.ticket > 0, each.gain or 0.0, -each.ticket),
        ).sample
        if members
        else ""
    )


def _kinds(members: Sequence[Member]) -> Iterator[tuple[Member, str]]:
    """Yield each program of a level with the class of its gain."""
    gains = [member.gain for member in members if member.gain is not None and member.gain > 0]
    much = median(gains) if gains else 0.0
    for member in members:
        gain = member.gain
        if gain is None:
            yield member, "unknown"
        elif gain > 0:
            yield member, "much" if gain >= much else "some"
        else:
            yield member, "same" if gain == 0 else "less"


def _tree(members: Sequence[Member], kinds: Mapping[str, str]) -> str:
    places = {
        member.sample: (_MARGIN + _ACROSS * place, _MARGIN + 14 + _DOWN * member.generation)
        for place, member in enumerate(members)
    }
    width = 2 * _MARGIN + _ACROSS * (len(members) - 1)
    height = 2 * _MARGIN + 14 + _DOWN * max(member.generation for member in members)
    marks, lines, circles = [], [], []
    current_round = 0
    for member in members:
        x, y = places[member.sample]
        if member.ticket and member.round != current_round:
            current_round = member.round
            left = x - _ACROSS / 2
            marks.append(
                f'<line x1="{left}" x2="{left}" y1="0" y2="{height}" stroke-dasharray="3 3"/>'
                f'<text x="{left + 3}" y="11">round {current_round}</text>'
            )
        for parent in dict.fromkeys(member.parents):
            if parent in places:
                a, b = places[parent]
                lines.append(
                    f'<line x1="{a}" y1="{b}" x2="{x}" y2="{y}" data-of="{escape(parent)} '
                    f'{escape(member.sample)}"/>'
                )
        if member.role:
            circles.append(f'<circle class="ring" cx="{x}" cy="{y}" r="8.5"/>')
        title = escape(f"{member.sample}: {_facts(member)}")
        circles.append(
            f'<circle class="{kinds[member.sample]}" cx="{x}" cy="{y}" r="5" tabindex="0" '
            f'data-of="{escape(member.sample)}"><title>{title}</title></circle>'
        )
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" width="{max(width, 120)}" '
        f'height="{height}" role="img">{"".join([*marks, *lines, *circles])}</svg>'
    )


def _legend() -> str:
    circle = '<svg width="14" height="14"><circle class="{}" cx="7" cy="7" r="5"/></svg> {}</span>'
    parts = [f"<span>{circle.format(kind, meaning)}" for kind, meaning in _GAINS.items()]
    return f'<div class="legend">{"".join(parts)}</div>'


def _table(family: Family) -> str:
    columns = ("ticket", "round", "operator", "outcome", "score", "gain", "checkpoint")
    rows = []
    for member in sorted(family.members.values(), key=lambda each: not each.ticket):
        cells = [
            str(member.ticket) if member.ticket else "–",
            str(member.round) if member.ticket else "–",
            member.operator or "–",
            member.outcome.value if member.ticket else "–",
            _figure(member.score),
            _figure(member.gain, sign="+"),
            member.role or "–",
        ]
        name = escape(member.sample)
        rows.append(
            f'<tr data-of="{name}" tabindex="0"><td class="left">{name}</td>'
            f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        )
    head = '<th class="left">program</th>' + "".join(f"<th>{column}</th>" for column in columns)
    table = f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    return f'<div class="all"><h2>All programs</h2>{table}</div>'


def _figure(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.4g}"


def _facts(member: Member) -> str:
    """Return a description of a program in one line."""
    if not member.ticket:
        return "the search began with it" + (
            f"; in the checkpoint: {member.role}" * bool(member.role)
        )
    parts = [
        f"operator {member.operator}" if member.operator else "",
        f"round {member.round}, ticket {member.ticket}",
        member.outcome.value,
        f"score {_figure(member.score)}" if member.score is not None else "",
        f"gain {_figure(member.gain, '+')}" if member.gain is not None else "",
        f"{format_number(member.tokens, 0)} tokens" if member.tokens else "",
        f"cost {member.cost:.4g}" if member.cost else "",
        f"{member.seconds:.2f} s" if member.seconds is not None else "",
        f"in the checkpoint: {member.role}" if member.role else "",
    ]
    return ", ".join(filter(None, parts))


def search_page(directory: Path, name: str) -> str:
    """Return the page on the course of a run's search; the run may be in progress.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    family = read_family(directory)
    asked = RunConfiguration.read(directory).budget.programs
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
    ok = sum(member.outcome is Outcome.OK for member in programs)
    tokens = sum(member.tokens for member in programs)
    tokens += sum(each.tokens for each in family.auxiliary)
    costs = [*(member.cost for member in programs), *(each.cost for each in family.auxiliary)]
    parts = [
        f"{len(programs)} of {asked} tickets are used; {ok} programs are ok",
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


_MAKERS = {LINEAGE: lineage_page, SEARCH: search_page}
