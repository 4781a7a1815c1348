"""What is broken in specahd.engine."""

ROWS = {
    "src/specahd/engine/timed_strings.py": [
        ("key = due_times[node] - ready_times[node]", "key = ready_times[node]", "tests/engine/test_route_ends.py::test_strings_are_inserted_in_an_order_of_time"),
        ("key = -latest_starts[node]", "key = latest_starts[node]", "tests/engine/test_route_ends.py::test_most_ends_are_inserted_in_the_order_of_service"),
        ("ends = noise[draw + 31] < 0.2", "ends = noise[draw + 31] > 0.2", "tests/engine/test_route_ends.py::test_one_side_of_a_cut_leaves"),
        ("noise[draw + 29] < 0.8", "noise[draw + 29] < 0.7", "tests/engine/test_route_ends.py::test_most_ends_are_inserted_in_the_order_of_service"),
    ],
}  # fmt: skip
