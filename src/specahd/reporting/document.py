"""A report as parts, and its formats: Markdown, LaTeX, CSV, and HTML as self-contained pages."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote

from specahd.core.display import csv_text, visible
from specahd.core.folders import write_atomically

_LATEX = {mark: f"\\{mark}" for mark in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "λ": r"$\lambda$",
    "Ω": r"$\Omega$",
    "Σ": r"$\Sigma$",
    "−": "$-$",
    "±": r"$\pm$",
    "–": "--",
}


_NUMBER = r"[+-]?[\d,]*\.?\d+"
_CELL = re.compile(
    rf"(?P<value>{_NUMBER})(?P<percent>%?)( ± (?P<deviation>{_NUMBER}))?"
    rf"( \((?P<low>{_NUMBER}) to (?P<high>{_NUMBER})\))?"
    rf"(, dearer on (?P<dearer>\d+) of (?P<of>\d+))?"
)
_BOUNDS = re.compile(rf"(?P<low>{_NUMBER}) to (?P<high>{_NUMBER})")
_COUNTS = re.compile(r"\d+( ?/ ?\d+){1,2}")
_PARTS = ("value", "deviation", "low", "high", "dearer", "of")
_NAMES_OF_COUNTS = {2: ("value", "of"), 3: ("wins", "ties", "losses")}


class Strong(str):
    """A cell in bold."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table with cells of text.

    Parameters
    ----------
    words
        Number of leading columns that hold words; the other columns hold numbers.
    name
        Name of its CSV file, without the ending.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    name: str = "table"

    def csv(self) -> str:
        """Return the table as CSV; every number has a column of its own, empty where not known.

        A cell ``+1.20% ± 0.30`` of a column ``c`` becomes +1.20 in ``c (%)`` and 0.30 in
        ``c deviation``. Bounds are in ``c low`` and ``c high``, ``2/3`` in ``c`` and ``c of``, and
        ``5 / 0 / 1`` in ``c wins``, ``c ties`` and ``c losses``. A column of words stays as it is.
        """
        split = [
            [[name, *(str(row[place]) for row in self.rows)]]
            if place < self.words
            else list(_numeric(name, [str(row[place]) for row in self.rows]))
            for place, name in enumerate(self.columns)
        ]
        columns = [column for parts in split for column in parts]
        return csv_text(list(zip(*columns, strict=True)))


@dataclass(frozen=True, slots=True)
class Figure:
    """An SVG drawing, the name of its file beside the report, and the same drawing as PNG."""

    file: str
    caption: str
    svg: str
    png: bytes

    def write(self, directory: Path) -> None:
        """Write both files.

        Raises
        ------
        WriteError
            The disk is full or read-only.
        """
        write_atomically(directory / self.file, visible(self.svg, keep="\n") + "\n")
        write_atomically((directory / self.file).with_suffix(".png"), self.png)


@dataclass(frozen=True, slots=True)
class Code:
    """The source of a program, and a line about it."""

    caption: str
    source: str


@dataclass(frozen=True, slots=True)
class Links:
    """Links to files beside the report: pairs of address and name."""

    pages: Sequence[tuple[str, str]]


Part = str | Table | Figure | Code | Links
"""A part of a section; a text is one paragraph."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the parts below it."""

    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    sections: Sequence[Section]

    def appended(self, *sections: Section) -> "Document":
        """Return the document with further sections at its end."""
        return replace(self, sections=[*self.sections, *sections])

    def markdown(self) -> str:
        """Return the report as Markdown; figures are links to their files."""
        blocks = [f"# {_escape_markdown(self.title)}"]
        for section in self.sections:
            blocks.append(f"## {_escape_markdown(section.heading)}")
            blocks += [_markdown(part) for part in section.parts]
        return visible("\n\n".join(blocks), keep="\n\t") + "\n"

    def html(self) -> str:
        """Return the report as one HTML file that needs no other file."""
        body = []
        for section in self.sections:
            body.append(f"<h2>{escape(section.heading)}</h2>")
            body += [_html(part) for part in section.parts]
        return page(self.title, body)

    def latex(self) -> str:
        """Return the tables in LaTeX, for a document that loads the package booktabs."""
        blocks = []
        for section in self.sections:
            for part in section.parts:
                if isinstance(part, Table):
                    blocks.append(f"% {visible(section.heading)}\n{_latex(part)}")
        return "\n\n".join(blocks) + "\n"

    def figures(self) -> Iterator[Figure]:
        """Yield the figures in their order."""
        for section in self.sections:
            yield from (part for part in section.parts if isinstance(part, Figure))

    def tables(self) -> Iterator[Table]:
        """Yield the tables in their order."""
        for section in self.sections:
            yield from (part for part in section.parts if isinstance(part, Table))


def _numeric(name: str, cells: Sequence[str]) -> Iterator[list[str]]:
    """Yield the CSV columns of a column: its name, then its cells."""
    found = [_numbers(cell) for cell in cells]
    if not any(found):
        yield [name, *cells]
        return
    percent = " (%)" if any("%" in cell for cell in cells) else ""
    for part in dict.fromkeys(part for numbers in found for part in numbers):
        head = f"{name}{percent}" if part == "value" else f"{name} {part}"
        yield [head, *(numbers.get(part, "") for numbers in found)]


def _numbers(cell: str) -> dict[str, str]:
    """Return the numbers of a cell by what they are; empty for words."""
    if _COUNTS.fullmatch(cell):
        counts = [part.strip() for part in cell.split("/")]
        return dict(zip(_NAMES_OF_COUNTS[len(counts)], counts, strict=True))
    matched = _CELL.fullmatch(cell) or _BOUNDS.fullmatch(cell)
    named = matched.groupdict() if matched else {}
    return {part: named[part].replace(",", "") for part in _PARTS if named.get(part)}


def _markdown(part: Part) -> str:
    match part:
        case str():
            return _escape_markdown(part)
        case Figure(file, caption, _, _):
            return f"![{Path(file).stem}]({file})\n\n{_escape_markdown(caption)}"
        case Code(caption, source):
            code = "\n".join(f"    {line}" for line in source.rstrip().splitlines())
            return f"{_escape_markdown(caption)}\n\n{code}"
        case Links(pages):
            return "\n".join(f"- [{_escape_markdown(name)}]({quote(to)})" for to, name in pages)
        case Table(columns, rows, words, _):
            rule = [":---" if place < words else "---:" for place in range(len(columns))]
            lines = [map(_escape_markdown, columns), rule, *(map(_cell, row) for row in rows)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _html(part: Part) -> str:
    match part:
        case str():
            return f"<p>{escape(part)}</p>"
        case Figure(_, caption, svg, _):
            return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
        case Code(caption, source):
            return (
                f"<details><summary>{escape(caption)}</summary>"
                f'<pre class="python">{escape(source.rstrip())}</pre></details>'
            )
        case Links(pages):
            items = (f'<li><a href="{quote(to)}">{escape(name)}</a></li>' for to, name in pages)
            return f"<ul>{''.join(items)}</ul>"
        case Table():
            return table_html(part)


def table_html(table: Table) -> str:
    """Return a table as HTML; the script of the page can sort it."""
    words = table.words
    lines = [_cells("th", table.columns, words), *(_cells("td", row, words) for row in table.rows)]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table>\n{body}\n</table></div>'


def _cells(tag: str, cells: Sequence[str], words: int) -> str:
    left = ' class="left"'
    return "".join(
        f"<{tag}{left if place < words else ''}>{_bold(cell)}</{tag}>"
        for place, cell in enumerate(cells)
    )


def _bold(cell: str) -> str:
    return f"<b>{escape(cell)}</b>" if isinstance(cell, Strong) else escape(cell)


def _cell(cell: str) -> str:
    return f"**{_escape_markdown(cell)}**" if isinstance(cell, Strong) else _escape_markdown(cell)


def _latex(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(map(_latex_cell, cells))} \\\\"

    columns = "l" * table.words + "r" * (len(table.columns) - table.words)
    body = [line(table.columns), r"\midrule", *map(line, table.rows)]
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *body, r"\bottomrule", r"\end{tabular}"]
    )


def _latex_cell(cell: str) -> str:
    text = "".join(_LATEX.get(mark, mark) for mark in visible(cell))
    return rf"\textbf{{{text}}}" if isinstance(cell, Strong) else text


def format_number(value: float, decimals: int) -> str:
    """Format a number for a cell; nan stands for unknown."""
    return f"{value:,.{decimals}f}" if isfinite(value) else "–"


def format_percent(share: float) -> str:
    """Format a share as a percentage for a cell; nan stands for unknown."""
    return f"{100 * share:+.2f}%" if isfinite(share) else "–"


def _escape_markdown(text: str) -> str:
    """Escape Markdown's special characters."""
    for mark in "\\`*_|<>[]":
        text = text.replace(mark, f"\\{mark}")
    return text


@cache
def asset(name: str) -> str:
    """Return the text of a style sheet or a script in the folder of this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(
    title: str, body: Sequence[str], *, styles: str = "", scripts: str = "", first: str = ""
) -> str:
    """Return a page that needs no other file and no network; control characters become escapes.

    Parameters
    ----------
    body
        Parts in HTML.
    first
        Identifier of the item that the page's script shows first.
    """
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('page.css')}{styles}</style>\n</head>\n"
        f'<body data-first="{escape(first)}">\n<h1>{escape(title)}</h1>\n'
        + "\n".join(body)
        + f"\n<script>\n{asset('page.js')}{scripts}</script>\n</body>\n</html>\n"
    )
    return visible(text, keep="\n\t")


def embed(name: str, data: Any) -> str:
    """Return a script element with data for the page; ``<`` is escaped, so no data can end it."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
