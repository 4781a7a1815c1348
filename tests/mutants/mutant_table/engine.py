"""What is broken in specahd.engine."""

ROWS = {
    "src/specahd/engine/renumbered.py": [
        ("Answer([sizes, self._nodes[customers]])", "Answer([sizes, customers])", "tests/engine/test_renumbered.py::test_groups_are_named_and_given_in_the_numbers_outside"),
        ("order, self._places[group])", "order, group)", "tests/engine/test_renumbered.py::test_groups_are_named_and_given_in_the_numbers_outside"),
        ("not in NODES", "in NODES", "tests/engine/test_renumbered.py::test_only_matrices_beyond_a_near_cache_are_renumbered"),
    ],
    "src/specahd/routing/space_filling.py": [
        ("turned = upper == 0", "turned = upper == 1", "tests/problems/tsp/test_baseline.py::test_the_hilbert_curve_visits_every_cell_and_steps_to_the_next"),
    ],
    "src/specahd/engine/timed_strings.py": [
        ("key = due_times[node] - ready_times[node]", "key = ready_times[node]", "tests/engine/test_route_ends.py::test_strings_are_inserted_in_an_order_of_time"),
        ("key = -latest_starts[node]", "key = latest_starts[node]", "tests/engine/test_route_ends.py::test_most_ends_are_inserted_in_the_order_of_service"),
        ("ends = noise[draw + 31] < 0.2", "ends = noise[draw + 31] > 0.2", "tests/engine/test_route_ends.py::test_one_side_of_a_cut_leaves"),
        ("noise[draw + 29] < 0.8", "noise[draw + 29] < 0.7", "tests/engine/test_route_ends.py::test_most_ends_are_inserted_in_the_order_of_service"),
    ],
}  # fmt: skip
