"""Whether the tables of the pages follow from the rows in the repository.

    python benchmarks/published.py

Makes each table anew that stands in README.md, docs/ or the notes between two marks,

    <!-- begin: ROWS TABLE -->
    <!-- end: ROWS TABLE -->

where ROWS is a file of the notes' folder of rows without its ending, as `report` writes it, and
TABLE one of the tables that `report rows=FILE` makes of it. A page may have figures of these tables
in its text too: in a paragraph that ends in `<!-- figures: ROWS TABLE … -->` every share of a
hundred has to be one of theirs.
"""

import re
import sys
from functools import cache
from pathlib import Path

from specahd.reporting.collected import read_table
from specahd.reporting.document import Document, Section, Table
from specahd.reporting.methods import comparison_tables

ROOT = Path(__file__).parent.parent
ROWS = ROOT / "benchmarks" / "notes" / "rows"
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *ROWS.parent.glob("*.md")]
_BLOCK = re.compile(r"(<!-- begin: (\S+) (\S+) -->\n).*?(<!-- end: \2 \3 -->)", re.DOTALL)
_FIGURES = re.compile(r"<!-- figures: (\S+(?: \S+)+) -->")
_SHARE = re.compile(r"(?<![\w.])[+-]?(\d+(?:\.(\d+))?)%")
_NUMBER = re.compile(r"\d[\d,]*\.\d+")


@cache
def tables(rows: str) -> dict[str, Table]:
    """Return the tables that a report makes of a file of rows, by name."""
    read = read_table(ROWS / f"{rows}.parquet")
    document = comparison_tables(
        read.runs, read.seconds, read.references, read.spending, read.baseline_seconds
    )
    return {table.name: table for table in document.tables()}


def markdown(rows: str, name: str) -> str:
    """Return a table as Markdown."""
    text = Document("", [Section("", [tables(rows)[name]])]).markdown()
    return text[text.index("|") :]


def filled(page: str) -> str:
    """Return a page with its tables made anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{markdown(found[2], found[3])}\n{found[4]}", page)


def unfounded(page: str) -> list[str]:
    """Return the figures of a page's marked paragraphs that are in none of their tables."""
    wrong = []
    for paragraph in page.split("\n\n"):
        mark = _FIGURES.search(paragraph)
        if mark is None:
            continue
        text, (rows, *names) = paragraph[: mark.start()], mark[1].split()
        cells = " ".join(markdown(rows, name) for name in names)
        known = [float(number.replace(",", "")) for number in _NUMBER.findall(cells)]
        for share in _SHARE.finditer(text):
            decimals = len(share[2] or "")
            if not any(f"{number:.{decimals}f}" == share[1] for number in known):
                wrong.append(share[0])
    return wrong


def main() -> int:
    """Rewrite the pages; return 1 if a figure in a text is in no table."""
    wrong = []
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        path.write_text(filled(page), encoding="utf-8")
        wrong += [f"{path.relative_to(ROOT)}: {figure}" for figure in unfounded(page)]
    sys.stdout.write("".join(f"in no table: {each}\n" for each in wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
