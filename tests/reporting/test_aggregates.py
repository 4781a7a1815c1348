"""Runs and rows are named, grouped and counted before they are averaged."""

import pytest

from run_directories import row, sample, write_run
from specahd.core.errors import FileError
from specahd.core.program import Level, Outcome
from specahd.reporting.aggregates import (
    apply_labels,
    best_score_curve,
    count_outcomes,
    group_by_size,
    mean_convergence,
    read_labels,
)
from specahd.runs.reading import read_runs

HEAD = "level,problem,source,label,note\n"


def rows_of(tmp_path, *rows):
    write_run(tmp_path / "run", validation=rows)
    [run] = read_runs(tmp_path)
    return run.validation


def test_few_sizes_stand_for_themselves_and_many_share_ranges(tmp_path):
    few = rows_of(tmp_path / "few", row("b", 1000, 90.0), row("a", 200, 90.0), row("c", 200, 90.0))
    assert {size: len(rows) for size, rows in group_by_size(few).items()} == {"200": 2, "1,000": 1}
    sizes = [7, 50, 51, 100, 101, 2000, 2001, 18_512, 900, 7]
    many = rows_of(tmp_path / "many", *(row(f"r{n}", size, 90.0) for n, size in enumerate(sizes)))
    assert {size: len(rows) for size, rows in group_by_size(many).items()} == {
        "1–50": 3,
        "51–100": 2,
        "101–200": 1,
        "501–1,000": 1,
        "1,001–2,000": 1,
        "2,001–5,000": 1,
        "above 10,000": 1,
    }


def test_a_curve_breaks_where_a_round_ends(tmp_path):
    samples = [
        sample("lower", 1, None),
        sample("lower", 1, 0.1),
        sample("upper", 1, 0.5),
        sample("lower", 2, 0.05),
    ]
    for seed in (0, 1):
        write_run(tmp_path / str(seed), seed=seed, programs=3, samples=samples[: 4 - seed])
    write_run(tmp_path / "2", seed=2, programs=3, samples=[sample("lower", 1, 0.9)])
    one, two, partial = read_runs(tmp_path)
    assert list(best_score_curve(one, Level.LOWER)) == [[(2, 0.1)], [(4, 0.05)]]
    assert list(best_score_curve(two, Level.LOWER)) == [[(2, 0.1)]]
    assert mean_convergence([one, two, partial], Level.UPPER) == [(3, 0.5)]
    assert mean_convergence([one, two, partial], Level.LOWER) == [(2, 0.1), (4, 0.05)]


def test_every_program_counts_whatever_became_of_it(tmp_path):
    write_run(tmp_path / "0")
    write_run(tmp_path / "1", seed=1)
    counts = count_outcomes(read_runs(tmp_path))
    assert counts[Level.LOWER] == {Outcome.PARSE_ERROR: 2, Outcome.OK: 2}
    assert counts[Level.UPPER] == {Outcome.DUPLICATE: 2, Outcome.OK: 2}


def test_a_label_replaces_the_source_where_level_and_problem_match(tmp_path):
    for number, (problem, method, level) in enumerate(
        [("cvrp", "old", "both"), ("tsp", "old", "both"), ("cvrp", "old", "lower")]
    ):
        write_run(
            tmp_path / "runs" / str(number), problem=problem, method=method,
            choices={"ablation": "no_filter"}, options={"search": {"levels": level}},
        )  # fmt: skip
    path = tmp_path / "labels.csv"
    path.write_text(f"{HEAD}both,cvrp,old,new,batch of June\nlower,cvrp,no_filter,w/o filter,\n")
    runs, section = apply_labels(read_runs(tmp_path / "runs"), read_labels(path))
    assert [run.kind.method for run in runs] == ["new", "old", "old"]
    assert [run.kind.values(["ablation"]) for run in runs][2] == ["w/o filter"]
    assert section.parts[1].rows == [
        ["0", "0", "both", "cvrp", "old", "new", "batch of June"],
        ["2", "0", "lower", "cvrp", "no_filter", "w/o filter", ""],
    ]
    same, nothing = apply_labels(read_runs(tmp_path / "runs"), [])
    assert (same, nothing) == (read_runs(tmp_path / "runs"), None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n", "expected the columns level, problem, source, label, note in its first line"),
        (f"{HEAD}both,cvrp,old\n", "line 2 lacks one of"),
        (f"{HEAD}all,cvrp,old,new,\n", "line 2 has the level all, expected both, lower, upper"),
        (f"{HEAD}both,cvrp,a,b,\nboth,cvrp,a,c,\n", "line 3 maps both, cvrp, a again"),
    ],
)
def test_a_file_that_is_no_mapping_gets_one_sentence(tmp_path, text, told):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=told):
        read_labels(path)
