"""The example of a run: one instance before and after, whatever the problem."""

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

from specahd.config import CONF_DIR
from specahd.core.program import Outcome
from specahd.repair.cases import make_case
from specahd.repair.maps import write_example
from specahd.repair.system import Repair

PROBLEMS = sorted(path.stem for path in (CONF_DIR / "problem").glob("*.yaml"))


@pytest.mark.parametrize("name", PROBLEMS)
def test_routes_visit_every_node_before_and_after(name, tmp_path: Path):
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        problem = instantiate(compose(f"problem/{name}")["problem"])
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
