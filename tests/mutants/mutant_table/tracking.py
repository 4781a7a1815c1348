"""What is broken in specahd.tracking."""

ROWS = {
    "src/specahd/tracking/selection.py": [
        ("-(score or 0.0), training.seed", "(score or 0.0), training.seed", "tests/tracking/test_selection.py::test_selection_decides_whatever_validation_says"),
        ("training.seed, training.id", "-training.seed, training.id", "tests/tracking/test_selection.py::test_ties_go_to_the_smaller_seed_then_to_the_smaller_run_id"),
        ("if spent < budget:", "if spent <= budget:", "tests/tracking/test_selection.py::test_a_run_without_tickets_is_complete"),
    ],
    "src/specahd/tracking/sweep_results.py": [
        ("{name: stdev(each) for", "{name: stdev(each) / 2**0.5 for", "tests/tracking/test_sweeps.py::test_means_and_sample_deviations_are_those_of_the_complete_jobs"),
        ("if not job.complete:\n        return {}", "if not job.seed:\n        return {}", "tests/tracking/test_sweeps.py::test_means_and_sample_deviations_are_those_of_the_complete_jobs"),
    ],
}  # fmt: skip
