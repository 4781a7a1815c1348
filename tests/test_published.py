"""The tables of the pages follow from rows in the repository."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS, NAME = "2026-11-28-programs-of-ten-methods-in-passes", "cvrp-methods"


@pytest.fixture(scope="module")
def published():
    spec = importlib.util.spec_from_file_location("published", ROOT / "benchmarks/published.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_and_figures_of_the_pages_are_those_of_the_rows(published):
    blocks = 0
    for path in published.PAGES:
        page = path.read_text(encoding="utf-8")
        assert published.filled(page) == page, f"{path}: run python benchmarks/published.py"
        assert published.unfounded(page) == [], path
        blocks += page.count(f"<!-- begin: {ROWS} ")
    assert blocks


def test_every_table_of_the_results_is_of_rows():
    page = (ROOT / "docs" / "results.md").read_text()
    made = re.sub(r"<!-- begin: (\S+ \S+) -->.*?<!-- end: \1 -->", "", page, flags=re.DOTALL)
    assert re.findall(r"^\|.*", made, flags=re.MULTILINE) == []


def test_a_table_that_is_not_of_the_rows_is_made_anew(published):
    begin, end = (f"<!-- {word}: {ROWS} {NAME} -->\n" for word in ("begin", "end"))
    page = f"a\n{begin}| old |\n{end}b\n"
    table = published.markdown(ROWS, NAME)
    assert "| eoh\\_s | 24,252.1 |" in table
    assert published.filled(page) == f"a\n{begin}\n{table}\n{end}b\n"


def test_a_figure_in_a_text_has_to_be_in_a_table(published):
    mark = f"<!-- figures: {ROWS} {NAME} -->"
    # 8.92 stands there, and is 8.9 with one decimal; 8.93 and 8.8 do not.
    text = f"EoH-S: +8.92%, or 8.9%.\n{mark}\n\nNot marked: 77.7%.\n"
    assert published.unfounded(text) == []
    assert published.unfounded(f"One: 8.93%.\nTwo: +8.8%.\n{mark}") == ["8.93%", "+8.8%"]
