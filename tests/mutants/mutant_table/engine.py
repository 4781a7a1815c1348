"""What is broken in specahd.engine."""

_RENUMBERED = "tests/engine/test_renumbered.py"

ROWS = {
    "src/specahd/engine/renumbered.py": [
        ("Answer([sizes, self._nodes[customers]])", "Answer([sizes, customers])", f"{_RENUMBERED}::test_groups_are_named_and_given_in_the_numbers_outside"),
        ("order, self._places[group])", "order, group)", f"{_RENUMBERED}::test_groups_are_named_and_given_in_the_numbers_outside"),
        ("len(arrays[DEMANDS]) <= SMALL", "len(nodes) <= SMALL", f"{_RENUMBERED}::test_numbers_inside_follow_the_curve"),
        ("<= SMALL", "< SMALL", f"{_RENUMBERED}::test_large_instances_without_a_matrix_are_renumbered"),
    ],
    "src/specahd/engine/written.py": [
        ("if function is strings_and_ends:", "if False:", "tests/engine/test_own_programs.py::test_what_searches_large_instances_is_one_of_them"),
        ("10.0 * progress * customers + ", "", f"{_RENUMBERED}::test_groups_begin_at_consecutive_customers_that_move_on_with_the_search"),
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
    "src/specahd/engine/tail_exchange.py": [
        ("route_loads[route] + more > capacity or ", "", "tests/engine/test_tail_exchange.py::test_no_vehicle_is_overloaded"),
        (" or route_loads[other] - more > capacity", "", "tests/engine/test_tail_exchange.py::test_no_vehicle_is_overloaded"),
        (" or not _in_time(own, first, second, there)", "", "tests/engine/test_tail_exchange.py::test_no_customer_is_reached_too_late"),
        ("if not _in_time(own, ahead, behind, joined):", "if False:", "tests/engine/test_tail_exchange.py::test_no_customer_is_reached_too_late"),
        ("free[numbers[FREE]] = other", "free[numbers[FREE]] = route", "tests/engine/test_tail_exchange.py::test_a_route_that_lost_all_customers_is_free"),
        ("mark(state, ahead)", "pass", "tests/engine/test_tail_exchange.py::test_whatever_is_accepted_all_is_kept_up_to_date"),
        ("route_loads[other] -= more", "pass", "tests/engine/test_tail_exchange.py::test_whatever_is_accepted_all_is_kept_up_to_date"),
        ("state.costs[CURRENT] += detour", "pass", "tests/engine/test_tail_exchange.py::test_whatever_is_accepted_all_is_kept_up_to_date"),
        ("backward(state, second)", "pass", "tests/engine/test_tail_exchange.py::test_whatever_is_accepted_all_is_kept_up_to_date"),
        ("forward(state, ahead)", "pass", "tests/engine/test_tail_exchange.py::test_whatever_is_accepted_all_is_kept_up_to_date"),
    ],
}  # fmt: skip
