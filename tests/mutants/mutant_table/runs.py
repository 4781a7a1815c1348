"""What is broken in specahd.runs."""

ROWS = {
    "src/specahd/runs/rows.py": [
        ("fsum(listed) / len(listed) if listed else nan", "sorted(listed)[len(listed) // 2] if listed else nan", "tests/runs/test_run_rows.py::test_a_failed_instance_is_counted_and_never_imputed"),
        ("done = [row for row in rows if not row.failed]", "done = list(rows)", "tests/runs/test_run_rows.py::test_a_failed_instance_is_counted_and_never_imputed"),
        ('sum(outcome != "ok" for outcome in outcomes)', 'sum(outcome == "ok" for outcome in outcomes)', "tests/runs/test_run_rows.py::test_a_failed_instance_is_counted_and_never_imputed"),
        ("mean(row.baseline_cost for row in done)", "mean(row.baseline_cost for row in rows)", "tests/runs/test_run_rows.py::test_a_mean_baseline_is_over_the_same_instances"),
    ],
    "src/specahd/runs/reading.py": [
        ("len(self.samples) >= self.programs", "len(self.samples) > self.programs", "tests/runs/test_reading.py::test_a_run_is_complete_when_its_tickets_are_spent_and_its_rows_are_there"),
        ("if not all(self.rows(pool) for pool in POOLS):", "if not any(self.rows(pool) for pool in POOLS):", "tests/runs/test_reading.py::test_a_run_is_complete_when_its_tickets_are_spent_and_its_rows_are_there"),
        ("return run.complete, *progress, run.name", "return *progress, run.name", "tests/runs/test_reading.py::test_a_complete_run_comes_before_partial_ones_even_if_nobody_recorded_its_time"),
        ("(float(len(run.samples)), run.recorded)", "(run.recorded, float(len(run.samples)))", "tests/runs/test_reading.py::test_of_partial_runs_that_with_most_samples_counts"),
        ("key = (run.kind, run.seed)", "key = (run.kind, 0)", "tests/runs/test_reading.py::test_runs_of_another_seed_or_option_do_not_compete"),
    ],
}  # fmt: skip
