"""The closing tables: no figure is ever cut, and words say what figures do not."""

import io
import re

import pytest

from specahd.evaluation.rows import PoolSummary
from specahd.evaluation.study import Growth, Policy, Study
from specahd.tracking.tables import cheaper_references, print_study, print_summaries

LARGE = "75,912,345.6"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def summary(pool="validation", baseline="nearest", improvement=0.0333, **references):
    return PoolSummary(
        pool=pool, instances=60, failed=0, steps=6543, rollbacks=1234, baseline=baseline,
        baseline_cost=75_912_345.6, cost=75_912_345.6, improvement=improvement,
        references=references, cheaper=dict.fromkeys(references, 58), unit="tenths of a mile",
    )  # fmt: skip


def printed(monkeypatch, columns, *summaries):
    return shown_at(monkeypatch, columns, print_summaries, summaries, "a title", ["a note"])


def shown_at(monkeypatch, columns, show, *arguments):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    # A dumb terminal always has 80 columns.
    monkeypatch.setenv("TERM", "xterm")
    show(*arguments)
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("name", ["validation", "a-very-long-name-of-an-instance-n10001.vrp"])
def test_no_figure_is_cut_at_any_width(monkeypatch, columns, name):
    shown = printed(monkeypatch, columns, summary(name, name, savings=5e7, insertion=75_912_345.6))
    assert "…" not in shown
    assert shown.count(LARGE) == 3
    for figure in ("50,000,000.0", "+3.33%", "1234/6543", "savings", "insertion"):
        assert figure in shown, figure


def test_a_study_keeps_its_figures_too(monkeypatch):
    drawn = Policy(0.0123, 1.5, 12.25, 33.3, {"regret": 0.125})
    study = Study(7, {"a policy with a long name": drawn}, [Growth(2, 0.5, 0.75, 87.5)])
    shown = shown_at(monkeypatch, 30, print_study, study, "a title")
    for figure in ("0.0123", "+1.500%", "12.250% ± 0.125", "33.3%", "0.5000", "0.750%", "87.5%"):
        assert figure in shown


def test_references_go_first_where_there_is_no_room(monkeypatch):
    shown = printed(monkeypatch, 80, summary(savings=5e7, insertion=6e7))
    [header] = [line for line in shown.splitlines() if "improvement" in line]
    assert "rollbacks" in header
    assert "savings" not in header
    assert "insertion" not in header
    assert "savings, for which the table has no room: 50,000,000.0" in shown
    shown = printed(monkeypatch, 120, summary(savings=5e7, insertion=6e7))
    assert "no room" not in shown


def test_the_unit_of_costs_is_named(monkeypatch):
    assert "mean costs in tenths of a mile" in printed(monkeypatch, 100, summary())


@pytest.mark.parametrize(
    ("improvement", "words"),
    [
        (0.0, "validation: nothing was gained; better than 75,912,345.6: savings (50,000,000.0)"),
        (1e-6, "validation: next to nothing was gained; better than"),
        (-0.00001, "validation: nothing was gained"),
        (0.00006, None),
    ],
)
def test_a_gain_of_nothing_is_said_in_words(monkeypatch, improvement, words):
    shown = printed(monkeypatch, 200, summary(improvement=improvement, savings=5e7, insertion=9e7))
    assert ("nothing was gained" in shown) == (words is not None)
    assert words is None or words in shown
    assert "insertion (" not in shown


def test_a_reference_that_is_cheaper_is_named():
    assert cheaper_references(summary(savings=5e7)) == [
        "savings finds a cheaper solution on 58 of 60 instances: baseline=savings"
    ]
