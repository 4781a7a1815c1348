"""The example of a run: one instance before and after, whatever the problem."""

import json

import pytest

from offered import problem as problem_of
from specahd.core.program import Outcome
from specahd.repair.cases import make_case
from specahd.repair.maps import write_example
from specahd.repair.system import Repair


@pytest.mark.parametrize("name", ["tsp", "sdvrp"])
def test_routes_visit_every_node_before_and_after(name, tmp_path):
    problem = problem_of(name)
    instances = problem.generate("selection", 0)
    cases = [make_case(problem, next(instances)) for _ in range(4)]
    gains = [0.0, 0.5, 0.25, 0.75]
    repairs = [
        Repair(Outcome.OK, "", 8.0, 8.0 * (1 - gain), case.baseline, 0, (), (), {})
        for case, gain in zip(cases, gains, strict=True)
    ]
    write_example(tmp_path, problem, cases, repairs)
    example = json.loads((tmp_path / "routes.json").read_text())
    assert example["instance"] == cases[1].instance.name
    for routes in (example["before"], example["after"]):
        assert {node for route in routes for node in route} == set(range(1, len(example["coords"])))
    assert (example["cost_before"], example["cost_after"]) == (cases[1].cost, 4.0)
