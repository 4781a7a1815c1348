"""What is broken in specahd.routing."""

ROWS = {
    "src/specahd/routing/vehicles/feasibility.py": [
        ("bool((loads <= capacity).all())", "bool((loads <= capacity + 1).all())", "tests/problems/cvrp/test_checker.py::test_a_route_may_be_full_and_no_fuller"),
        ("np.flatnonzero(loads > capacity)", "np.flatnonzero(loads >= capacity)", "tests/problems/cvrp/test_checker.py::test_a_route_may_be_full_and_no_fuller"),
        ("np.bincount(route_of, weights=demands[customers],", "np.bincount(route_of, weights=demands[1:][customers - 1] > 0,", "tests/problems/cvrp/test_checker.py::test_violations_say_what_is_wrong"),
        ("bool((lengths > 0).all())", "True", "tests/problems/cvrp/test_checker.py::test_a_feasible_solution_with_one_fault_is_refused"),
        ("len(customers) == len(visits) == size", "len(customers) == size", "tests/problems/cvrp/test_checker.py::test_a_feasible_solution_with_one_fault_is_refused"),
        ("(visits >= 1) & (visits <= size)", "(visits >= 0) & (visits <= size)", "tests/problems/cvrp/test_checker.py::test_violations_say_what_is_wrong"),
        ("np.flatnonzero(counts > 1)", "np.flatnonzero(counts > 2)", "tests/problems/cvrp/test_checker.py::test_violations_say_what_is_wrong"),
        ("walk = np.zeros(int(lengths.sum()) + len(solution) + 1, np.int64)", "walk = np.zeros(int(lengths.sum()) + len(solution), np.int64)", "tests/problems/cvrp/test_checker.py::test_cost_by_hand"),
    ],
    "src/specahd/routing/groups.py": [
        ("if len(nodes) < 2:", "if len(nodes) < 1:", "tests/routing/test_groups.py::test_rejections_keep_their_reason"),
        ("len(nodes) > max_size", "len(nodes) >= max_size", "tests/routing/test_groups.py::test_rejections_keep_their_reason tests/routing/test_groups.py::test_a_group_of_the_largest_size_is_kept"),
        ("if len(regions) == max_regions:", "if len(regions) > max_regions:", "tests/routing/test_groups.py::test_rejections_keep_their_reason"),
        ("1 <= node <= largest", "1 <= node < largest", "tests/routing/test_groups.py::test_depot_and_strangers_and_repetitions_are_dropped"),
        ("used.update(nodes)", "used.update(nodes[:1])", "tests/routing/test_groups.py::test_only_kept_regions_use_their_customers"),
    ],
}  # fmt: skip
