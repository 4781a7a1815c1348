"""The page *lineage*: the family tree of a run's programs, with source, idea and changes."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from statistics import median

from specahd.core.program import Level
from specahd.reporting.document import format_number
from specahd.reporting.family import Family, Member, read_family
from specahd.reporting.page import asset, embed, page

PAGE = "lineage.html"
_LEVELS = (Level.UPPER, Level.LOWER)
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


def lineage_page(directory: Path, name: str) -> str:
    """Return the page of a run, which may still be in progress.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    family = read_family(directory)
    kinds = {member.id: kind for level in _LEVELS for member, kind in _kinds(family.of(level))}
    trees = [
        f'<h2>{level.value.capitalize()} level</h2><figure class="tree">'
        f"{_tree(family.of(level), kinds)}</figure>"
        for level in _LEVELS
        if any(member.ticket for member in family.of(level))
    ]
    children = family.children()
    data = {
        member.id: {
            "facts": _facts(member),
            "detail": member.detail,
            "idea": member.idea,
            "source": member.source,
            "reply": "" if member.source else member.reply,
            "parents": list(dict.fromkeys(member.parents)),
            "children": children.get(member.id, []),
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
        ).id
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
        member.id: (_MARGIN + _ACROSS * place, _MARGIN + 14 + _DOWN * member.generation)
        for place, member in enumerate(members)
    }
    width = 2 * _MARGIN + _ACROSS * (len(members) - 1)
    height = 2 * _MARGIN + 14 + _DOWN * max(member.generation for member in members)
    marks, lines, circles = [], [], []
    current_round = 0
    for member in members:
        x, y = places[member.id]
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
                    f'{escape(member.id)}"/>'
                )
        if member.role:
            circles.append(f'<circle class="ring" cx="{x}" cy="{y}" r="8.5"/>')
        title = escape(f"{member.id}: {_facts(member)}")
        circles.append(
            f'<circle class="{kinds[member.id]}" cx="{x}" cy="{y}" r="5" tabindex="0" '
            f'data-of="{escape(member.id)}"><title>{title}</title></circle>'
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
        rows.append(
            f'<tr data-of="{escape(member.id)}" tabindex="0"><td class="left">{escape(member.id)}'
            f"</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
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
