"""A report as parts, and the two forms it is written in: Markdown and one HTML file."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid; } td { border-bottom: 1px solid #8884; }
.left { text-align: left; }
figure { margin: 1rem 0; background: white; color: black; padding: 0.5rem; border-radius: 6px; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { font-size: 0.9rem; padding: 0.25rem 0.5rem; }
"""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text; the first ``words`` columns are words, the others numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """An SVG drawing, and the file beside the report that holds it too."""

    file: str
    caption: str
    svg: str


Part = str | Table | Figure
"""A text is one paragraph."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    sections: Sequence[Section]

    def markdown(self) -> str:
        """Return the report as Markdown; figures are links to their files."""
        blocks = [f"# {_escape_markdown(self.title)}"]
        for section in self.sections:
            blocks.append(f"## {_escape_markdown(section.heading)}")
            blocks += [_markdown(part) for part in section.parts]
        return "\n\n".join(blocks) + "\n"

    def html(self) -> str:
        """Return the report as one HTML file that needs no other."""
        body = [f"<h1>{escape(self.title)}</h1>"]
        for section in self.sections:
            body.append(f"<h2>{escape(section.heading)}</h2>")
            body += [_html(part) for part in section.parts]
        head = (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        )
        return head + "\n".join(body) + "\n</body>\n</html>\n"


def _markdown(part: Part) -> str:
    match part:
        case str():
            return _escape_markdown(part)
        case Figure(file, caption):
            return f"![{Path(file).stem}]({file})\n\n{_escape_markdown(caption)}"
        case Table(columns, rows, words):
            rule = [":---" if place < words else "---:" for place in range(len(columns))]
            lines = [
                map(_escape_markdown, columns),
                rule,
                *(map(_escape_markdown, row) for row in rows),
            ]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _html(part: Part) -> str:
    match part:
        case str():
            return f"<p>{escape(part)}</p>"
        case Figure(_, caption, svg):
            return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
        case Table(columns, rows, words):
            lines = [_cells("th", columns, words), *(_cells("td", row, words) for row in rows)]
            table = "\n".join(f"<tr>{line}</tr>" for line in lines)
            return f'<div class="wide"><table>\n{table}\n</table></div>'


def _cells(tag: str, cells: Sequence[str], words: int) -> str:
    left = ' class="left"'
    return "".join(
        f"<{tag}{left if place < words else ''}>{escape(cell)}</{tag}>"
        for place, cell in enumerate(cells)
    )


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
