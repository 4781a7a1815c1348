"""What is broken in specahd.problems."""

ROWS = {
    "src/specahd/problems/vrptw/checker.py": [
        ("if start > due[node]:", "if start >= due[node]:", "tests/problems/vrptw/test_checker.py::test_windows_one_unit_too_narrow"),
        ("max(time + next(legs), ready[node])", "time + next(legs)", "tests/problems/vrptw/test_checker.py::test_windows_one_unit_too_narrow tests/problems/vrptw/test_checker.py::test_violations_say_what_is_wrong"),
        ("time = start + service[node]", "time = start", "tests/problems/vrptw/test_checker.py::test_violations_say_what_is_wrong"),
        ("if time > due[0]:", "if time >= due[0]:", "tests/problems/vrptw/test_checker.py::test_windows_one_unit_too_narrow"),
        ("time = ready[0]", "time = 0", "tests/problems/vrptw/test_checker.py::test_a_vehicle_leaves_when_the_depot_opens"),
        ("return length / instance.parts", "return length", "tests/problems/vrptw/test_checker.py::test_costs_are_told_in_the_unit_of_the_file"),
        ("return (*coverage, *_late(instance, solution))", "return coverage", "tests/problems/vrptw/test_checker.py::test_violations_say_what_is_wrong"),
    ],
    "src/specahd/problems/sdvrp/checker.py": [
        ("if load > instance.capacity:", "if load >= instance.capacity:", "tests/problems/sdvrp/test_checker.py::test_a_demand_beyond_the_capacity_is_split_by_hand"),
        ("received[customer] == demands[customer]", "received[customer] >= demands[customer]", "tests/problems/sdvrp/test_checker.py::test_a_unit_lost_and_a_unit_too_many_do_not_cancel"),
        ("quantity < 1", "quantity < 0", "tests/problems/sdvrp/test_checker.py::test_violations_say_what_is_wrong"),
        ("if customer in seen:", "if False:", "tests/problems/sdvrp/test_checker.py::test_violations_say_what_is_wrong"),
        ("load += quantity", "load = quantity", "tests/problems/sdvrp/test_checker.py::test_violations_say_what_is_wrong"),
    ],
    "src/specahd/problems/tsp/checker.py": [
        ("(counts == 1).all()", "(counts >= 1).all()", "tests/problems/tsp/test_checker.py::test_a_tour_with_one_fault_is_refused"),
        ("following[start] != end and following[end] != start", "following[start] != end", "tests/problems/tsp/test_checker.py::test_a_fixed_edge_may_be_driven_either_way"),
        ("(*tour[1:], tour[0])", "(*tour[1:], tour[-1])", "tests/problems/tsp/test_checker.py::test_a_fixed_edge_may_be_driven_either_way"),
        ("[*solution, *solution[:1]]", "[*solution]", "tests/problems/tsp/test_checker.py::test_cost_by_hand"),
        ("visits < instance.size", "visits <= instance.size", "tests/problems/tsp/test_checker.py::test_a_tour_with_one_fault_is_refused"),
    ],
    "src/specahd/problems/cvrp/construct.py": [
        # In the sandbox, which starts without our environment.
        ("fallbacks += 1", "fallbacks += 2", "tests/repair/test_evaluator.py::test_unavailable_answers_fall_back_and_are_counted"),
    ],
}  # fmt: skip
