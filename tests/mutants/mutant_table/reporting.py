"""What is broken in specahd.reporting."""

ROWS = {
    "src/specahd/reporting/aggregates.py": [
        ("enumerate(run.samples, start=1)", "enumerate(run.samples, start=0)", "tests/reporting/test_aggregates.py::test_a_curve_breaks_where_a_round_ends"),
        ("if run.complete\n", "if run\n", "tests/reporting/test_aggregates.py::test_a_curve_breaks_where_a_round_ends"),
        ("if row.size <= end", "if row.size < end", "tests/reporting/test_aggregates.py::test_few_sizes_stand_for_themselves_and_many_share_ranges"),
    ],
    "src/specahd/reporting/common.py": [
        ("for run in runs if run.complete]", "for run in runs]", "tests/reporting/test_summary.py::test_a_partial_run_enters_into_no_mean"),
        ("for run in runs if run.seed in common]", "for run in runs]", "tests/reporting/test_summary.py::test_methods_are_averaged_over_common_instances_and_seeds_and_the_rest_is_named"),
        ("if row.instance in instances)", "if row)", "tests/reporting/test_summary.py::test_methods_are_averaged_over_common_instances_and_seeds_and_the_rest_is_named"),
    ],
}  # fmt: skip
