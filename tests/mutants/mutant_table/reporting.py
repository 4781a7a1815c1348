"""What is broken in specahd.reporting."""

ROWS = {
    "src/specahd/reporting/aggregates.py": [
        ("enumerate(run.samples, start=1)", "enumerate(run.samples, start=0)", "tests/reporting/test_aggregates.py::test_a_curve_breaks_where_a_round_ends"),
        ("if run.complete\n", "if run\n", "tests/reporting/test_aggregates.py::test_a_curve_breaks_where_a_round_ends"),
        ("if row.size <= end", "if row.size < end", "tests/reporting/test_aggregates.py::test_few_sizes_stand_for_themselves_and_many_share_ranges"),
    ],
    "src/specahd/reporting/summary.py": [
        ("for run in runs if run.complete for row in run.rows(pool)", "for run in runs for row in run.rows(pool)", "tests/reporting/test_summary.py::test_a_partial_run_enters_into_no_mean"),
    ],
}  # fmt: skip
