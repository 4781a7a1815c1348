"""Put the tables of a comparison into the note of the eleven methods.

    python benchmarks/comparison/results.py NAME METHODS.md

METHODS.md is what `python -m specahd.report` made of the runs; its tables replace what stands
between `<!-- begin: NAME -->` and `<!-- end: NAME -->`.
"""

import re
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "notes" / "2026-11-22-eleven-methods-at-equal-budget.md"


def filled(document: str, name: str, report: str) -> str:
    """Return a document with the tables of a report between the marks of that name."""
    marks = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    parts = re.split(f"({'|'.join(map(re.escape, marks))})", document)
    if len(parts) != 5:
        raise SystemExit(f"{DOCUMENT} does not have the marks of {name} once.")
    # The title and how to read it stand in the document; problems become the next lower level.
    sections = [text.strip() for text in report.split("\n## ")[1:]]
    tables = [text for text in sections if not text.startswith("How to read")]
    parts[2] = "\n\n" + "".join(f"### {text}\n\n" for text in tables)
    return "".join(parts)


def main(name: str, report: str) -> None:
    """Rewrite the document."""
    text = filled(DOCUMENT.read_text(encoding="utf-8"), name, Path(report).read_text("utf-8"))
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
