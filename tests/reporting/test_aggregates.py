from math import isnan

from specahd.core.program import Level, Outcome
from specahd.reporting.aggregates import by_size, convergence, curve, means, outcomes
from specahd.reporting.runs import read_runs

from .written import row, sample, write_run


def rows_of(tmp_path, *rows):
    write_run(tmp_path / "run", validation=rows)
    [run] = read_runs(tmp_path)
    return run.validation


def test_a_failed_instance_is_counted_and_never_imputed(tmp_path):
    rows = rows_of(
        tmp_path,
        row("a", 10, 90.0),
        row("b", 10, 60.0, feasible=False),
        row("c", 10, 1e9, status="T"),
    )
    found = means(rows)
    assert (found.rows, found.failed, found.infeasible) == (3, 1, 1)
    assert (found.baseline_cost, found.cost, found.improvement) == (100.0, 75.0, 0.25)
    assert isnan(means([]).improvement)


def test_few_sizes_stand_for_themselves_and_many_share_ranges(tmp_path):
    few = rows_of(tmp_path / "few", row("b", 1000, 90.0), row("a", 200, 90.0), row("c", 200, 90.0))
    assert {size: len(rows) for size, rows in by_size(few).items()} == {"200": 2, "1,000": 1}
    sizes = [7, 50, 51, 100, 101, 2000, 2001, 18_512, 900, 7]
    many = rows_of(tmp_path / "many", *(row(f"r{n}", size, 90.0) for n, size in enumerate(sizes)))
    assert {size: len(rows) for size, rows in by_size(many).items()} == {
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
        write_run(tmp_path / str(seed), seed=seed, samples=samples[: 4 - seed])
    one, two = read_runs(tmp_path)
    assert list(curve(one, Level.LOWER)) == [[(2, 0.1)], [(4, 0.05)]]
    assert list(curve(two, Level.LOWER)) == [[(2, 0.1)]]
    assert convergence([one, two], Level.UPPER) == [(3, 0.5)]
    assert convergence([one, two], Level.LOWER) == [(2, 0.1), (4, 0.05)]


def test_every_program_counts_whatever_became_of_it(tmp_path):
    write_run(tmp_path / "0")
    write_run(tmp_path / "1", seed=1)
    counts = outcomes(read_runs(tmp_path))
    assert counts[Level.LOWER] == {Outcome.PARSE_ERROR: 2, Outcome.OK: 2}
    assert counts[Level.UPPER] == {Outcome.DUPLICATE: 2, Outcome.OK: 2}
