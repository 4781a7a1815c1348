import csv
import io
import json
import re
from html.parser import HTMLParser

import pandas
import pytest

from run_directories import row, sample, write_run
from specahd.reporting.document import Document, Section, Strong, Table
from specahd.reporting.figures import Drawing
from specahd.reporting.summary import summarise
from specahd.runs.reading import name_passed_over, read_runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for problem, cost in (("tsp", 90.0), ("cvrp", 80.0)):
        for seed in (0, 1):
            write_run(
                place / f"{problem}-seed{seed}", problem=problem, seed=seed,
                validation=[row("a", 200, cost - seed), row("b", 1000, cost, rollbacks=seed)],
            )  # fmt: skip
    return read_runs(place)


@pytest.fixture(scope="module")
def summary(runs):
    return summarise(runs)


@pytest.fixture
def summarised(tmp_path, monkeypatch):
    """Summarises the runs that a test wrote, without the seconds that figures take."""
    drawing = Drawing("<svg/>", b"")
    monkeypatch.setattr("specahd.reporting.summary.render", lambda *of: drawing)
    return lambda: summarise(read_runs(tmp_path))


def cells(markdown, heading):
    section = markdown.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_tables_hold_the_means_of_the_rows(summary):
    markdown = summary.document.markdown()
    _, _, cvrp, tsp = cells(markdown, "Checkpoints")
    assert cvrp == [
        "cvrp", "nearest", "0, 1", "2/2", "8", "+2.00%", "+20.25%", "+20.00 to +20.50%", "4/4",
        "1/5", "0",
    ]  # fmt: skip
    assert tsp[6] == "+10.25%"
    assert cells(markdown, "Validation by size")[2:4] == [
        ["cvrp", "200", "2", "nearest", "100.0", "79.5", "+20.50%", "2/2", "0/2", "0"],
        ["cvrp", "1,000", "2", "nearest", "100.0", "80.0", "+20.00%", "2/2", "1/3", "0"],
    ]
    columns, _, lower, upper, *_ = cells(markdown, "Programs by outcome")
    assert columns == ["runs", "level", "programs", "ok", "parse\\_error", "duplicate"]
    assert lower == ["cvrp", "lower", "4", "2", "2", "0"]
    assert upper == ["cvrp", "upper", "4", "2", "0", "2"]


def test_sizes_have_their_bound_where_every_row_tells_one(tmp_path, summarised):
    costs = [row("a", 200, 90.0) | {"lower_bound": 80.0}, row("b", 200, 90.0) | {"lower_bound": 70}]
    write_run(tmp_path / "a", problem="sdvrp", validation=costs)
    markdown = summarised().document.markdown()
    columns, _, told = cells(markdown, "Validation by size")
    assert (columns[-1], told[-1]) == ("2 Σ q d / Q", "75.0")


def test_metrics_and_curves_are_data(summary):
    assert sorted(summary.metrics) == ["cvrp", "tsp"]
    assert json.loads(summary.metrics["cvrp"]) == {
        "selection": 2.0,
        "validation": 20.25,
        "runs": 2,
        "failed": 0,
    }
    assert sorted(summary.curves) == ["cvrp-lower", "cvrp-upper", "tsp-lower", "tsp-upper"]
    assert list(csv.DictReader(io.StringIO(summary.curves["tsp-upper"]))) == [
        {"programs": "3", "best": "0.02"},
        {"programs": "4", "best": "0.035"},
    ]


def test_equal_rows_give_equal_bytes_without_times_or_paths(runs, summary, tmp_path):
    assert summarise(runs[::-1]) == summary
    document = summary.document
    text = document.html() + document.markdown() + "".join(summary.metrics.values())
    assert str(tmp_path.parent) not in text
    assert not re.search(r"20\d\d-\d\d|\d\d:\d\d", text)


class Tags(HTMLParser):
    VOID = ("meta", "path", "use", "br")

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = []
        self.links = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_html_is_whole_and_needs_no_other_file(summary):
    tags = Tags()
    tags.feed(summary.document.html())
    assert tags.open == []
    assert tags.seen.count("table") == 3
    assert tags.seen.count("svg") == 1
    assert all(link.startswith("#") for link in tags.links)


def test_partial_runs_and_runs_passed_over_are_named(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    write_run(tmp_path / "c", seed=1, validation=())
    write_run(tmp_path / "d", samples=[sample("lower", 1, 0.9)])
    (write_run(tmp_path / "e") / "journal.jsonl").unlink()
    (write_run(tmp_path / "f" / "g") / "config.yaml").unlink()
    runs = read_runs(tmp_path)
    passed_over = name_passed_over(tmp_path, runs)
    assert passed_over == [
        "e: has no journal.jsonl",
        "f/g: has no config.yaml",
        "a: b, of the same kind and seed, is newer",
        "d: b, of the same kind and seed, is complete",
    ]
    markdown = summarise(runs, passed_over).document.markdown()
    assert "counted in no mean: c (no rows of validation)." in markdown
    assert "Passed over: d: b, of the same kind and seed, is complete." in markdown


def test_a_partial_run_enters_into_no_mean(tmp_path, summarised):
    write_run(tmp_path / "whole", validation=[row("a", 10, 90.0)])
    write_run(
        tmp_path / "quarter", seed=1, samples=[sample("lower", 1, 0.9)],
        selection=[row("s", 10, 1.0)], validation=[row("a", 10, 10.0), row("b", 70, 10.0)],
    )  # fmt: skip
    summary = summarised()
    markdown = summary.document.markdown()
    assert "counted in no mean: quarter (1 of 4 programs)." in markdown
    _, _, told = cells(markdown, "Checkpoints")
    assert told[2:8] == ["0", "1/2", "5", "+2.00%", "+10.00%", "+10.00 to +10.00%"]
    assert [line[1] for line in cells(markdown, "Validation by size")[2:]] == ["10"]
    metrics = json.loads(summary.metrics["cvrp"])
    assert metrics == {"selection": 2.0, "validation": 10.0, "runs": 1, "failed": 0}
    assert "0.9" not in summary.curves["cvrp-lower"]


def test_methods_are_averaged_over_common_instances_and_seeds_and_the_rest_is_named(
    tmp_path, summarised
):
    everywhere = [row(name, 10, 90.0) for name in "abcdef"]
    for seed in (0, 1, 2):
        write_run(tmp_path / f"ours-{seed}", seed=seed, validation=everywhere)
    for seed in (0, 1):
        rows = [row("a", 10, 80.0), row("z", 90, 10.0)]
        write_run(tmp_path / f"eoh-{seed}", method="eoh", seed=seed, validation=rows)
    summary = summarised()
    markdown = summary.document.markdown()
    _, _, eoh, ours = cells(markdown, "Checkpoints")
    assert eoh[:8] == [
        "cvrp-eoh", "nearest", "0, 1", "2/2", "8", "+2.00%", "+20.00%", "+20.00 to +20.00%",
    ]  # fmt: skip
    assert ours[2:7] == ["0, 1", "3/3", "12", "+2.00%", "+10.00%"]
    assert [line[1:3] for line in cells(markdown, "Validation by size")[2:]] == [["10", "2"]] * 2
    assert {json.loads(metrics)["runs"] for metrics in summary.metrics.values()} == {2}
    common = "cvrp, validation: 1 instances are common to all; left out of"
    for line in (
        "cvrp: left out, since not all have that seed: ours-2 (seed 2).",
        f"{common} eoh-0, eoh-1: z.",
        f"{common} ours-0, ours-1: b, c, d and 2 more.",
    ):
        assert f"\n\n{line}\n" in markdown


def test_where_nothing_is_common_nothing_is_averaged(tmp_path, summarised):
    write_run(tmp_path / "ours", seed=0)
    write_run(tmp_path / "eoh", method="eoh", seed=1, validation=[row("z", 10, 90.0)])
    summary = summarised()
    markdown = summary.document.markdown()
    assert "cvrp: no seed is common to all; each mean is over its own seeds." in markdown
    assert "cvrp, validation: 0 instances are common to all; left out of eoh: z." in markdown
    assert [line[5:8] for line in cells(markdown, "Checkpoints")[2:]] == [["+2.00%", "–", "–"]] * 2
    assert json.loads(summary.metrics["cvrp-eoh"]) == {"selection": 2.0, "runs": 1, "failed": 0}


def test_where_all_runs_are_partial_there_is_no_mean(tmp_path, summarised):
    write_run(tmp_path / "quarter", samples=[sample("lower", 1, 0.9)])
    summary = summarised()
    assert cells(summary.document.markdown(), "Checkpoints")[2][1:8] == [
        "–", "–", "0/1", "1", "–", "–", "–",
    ]  # fmt: skip
    assert json.loads(summary.metrics["cvrp"]) == {"runs": 0, "failed": 0}


def test_runs_of_different_options_are_not_averaged_as_seeds(tmp_path, summarised):
    for seed in (0, 1):
        for beta in (0.2, 0.9):
            write_run(
                tmp_path / f"{beta}-{seed}", seed=seed, validation=[row("a", 10, 100 * beta)],
                # How many work at it, and where the pools lie, enters into no result.
                options={
                    "search": {"beta": beta, "samplers": seed},
                    "executor": {"workers": seed + 1},
                    "pools": {"dir": str(seed)},
                },
            )  # fmt: skip
    summary = summarised()
    improvements = {
        name: json.loads(metrics)["validation"] for name, metrics in summary.metrics.items()
    }
    assert improvements == {"cvrp-search.beta=0.2": 80.0, "cvrp-search.beta=0.9": 10.0}
    assert "Passed over" not in summary.document.markdown()
    assert "cvrp-search.beta=0.2-lower" in summary.curves


def test_a_run_without_programs_or_rows_is_reported(tmp_path):
    write_run(tmp_path / "a", programs=0, samples=[], selection=(), validation=())
    assert "nan" not in summarise(read_runs(tmp_path)).document.markdown()


def test_what_a_format_would_read_as_its_own_is_escaped():
    document = Document("<b>", [Section("a|b", ["*x*", Table(["h"], [["<i>|"]])])])
    assert "<b>" not in document.html().replace("<body>", "")
    assert '<td class="left">&lt;i&gt;|</td>' in document.html()
    assert r"| \<i\>\| |" in document.markdown()
    assert r"\*x\*" in document.markdown()


def test_a_cell_in_bold_is_bold_in_every_form():
    table = Table(("a_b", "λ ± 1%"), [[Strong("x & y"), Strong("2")]], name="t")
    document = Document("T", [Section("one", ["Words."]), Section("two", [table])])
    assert "| **x & y** | **2** |" in document.markdown()
    assert '<td class="left"><b>x &amp; y</b></td><td><b>2</b></td>' in document.html()
    assert document.latex() == (
        "% two\n\\begin{tabular}{lr}\n\\toprule\n"
        "a\\_b & $\\lambda$ $\\pm$ 1\\% \\\\\n\\midrule\n"
        "\\textbf{x \\& y} & \\textbf{2} \\\\\n\\bottomrule\n\\end{tabular}\n"
    )
    [same] = document.tables()
    assert same.csv() == "a_b,λ ± 1%\nx & y,2\n"


def test_a_csv_file_holds_numbers():
    table = Table(
        ("method", "improvement", "by size", "interval", "complete", "wins", "s", "differs"),
        [
            ["a", "+1.20% ± 0.30", "1,234.5", "-1.00 to +2.00", "2/3", "5 / 0 / 1", "0.5", "no"],
            ["b", "–", "+1.00% (+0.50 to +2.00)", "–", "baseline", "–", Strong("1"), "yes"],
        ],
    )
    read = pandas.read_csv(io.StringIO(table.csv())).set_index("method")
    assert read.loc["a"].dropna().to_dict() == {
        "improvement (%)": 1.2, "improvement deviation": 0.3, "by size (%)": 1234.5,
        "interval low": -1.0, "interval high": 2.0, "complete": 2.0, "complete of": 3.0,
        "wins wins": 5.0, "wins ties": 0.0, "wins losses": 1.0, "s": 0.5, "differs": "no",
    }  # fmt: skip
    assert read.loc["b"].dropna().to_dict() == {
        "by size (%)": 1.0, "by size low": 0.5, "by size high": 2.0, "s": 1.0, "differs": "yes",
    }  # fmt: skip
    numbers = read.drop(columns="differs")
    assert all(pandas.api.types.is_numeric_dtype(kind) for kind in numbers.dtypes)
