"""What a round tells its levels, and what it keeps of them."""

from types import SimpleNamespace

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.core.events import Observer
from specahd.core.program import Level
from specahd.design.coupled import Coupled, Settings
from specahd.repair.merge import Accept
from specahd.repair.responses import RepairTask, task_key
from specahd.repair.system import RepairSystem
from specahd.routing.base import Region
from specahd.search.past import Past

PROBLEM = instantiate(OmegaConf.load(CONF_DIR / "problem" / "cvrp.yaml"))
REGION = Region((1, 2, 3))
DESCRIPTOR = (0.5,) * len(PROBLEM.descriptor_names)
TASK = RepairTask(task_key("x", REGION.nodes), 0, REGION, DESCRIPTOR)


class Forgetful:
    """A method that keeps no program."""

    size = 2
    members = ()


class Engine:
    """Runs nothing and remembers which searches it was given."""

    def __init__(self):
        self.past = Past(tasks={1: {"tasks": [TASK.record()]}})
        self.searches = []

    def carry(self, search, programs, tickets):
        self.searches.append((search, programs, tickets))

    def run(self, search, tickets):
        return 0


@pytest.fixture
def coupled():
    def make(**settings):
        engine = Engine()
        journal = SimpleNamespace(responses=SimpleNamespace(append=lambda record: None))
        return engine, Coupled(
            problem=PROBLEM,
            engine=engine,
            executor=None,
            policy=Forgetful,
            pools={"lower_train": [0], "upper_train": [0]},
            settings=Settings(**settings),
            journal=journal,
            observer=Observer(),
        )

    return make


@pytest.mark.parametrize("accept", Accept)
def test_upper_programs_are_asked_for_by_the_rule_of_acceptance(coupled, accept):
    engine, search = coupled(accept=accept)
    search._upper_round(1, 4, RepairSystem("r", (), None, accept), {})
    [(level, _, tickets)] = engine.searches
    gets_cheaper = "gets\n    cheaper" in level.contract.document
    assert (gets_cheaper, tickets) == (accept is Accept.IMPROVING, 4)


def test_a_method_that_keeps_nothing_leaves_what_there_was(coupled):
    engine, search = coupled()
    seed = PROBLEM.operator.contract.seed
    measures = {}
    assert search._lower_round(1, 4, measures) == 0
    [(level, programs, _)] = engine.searches
    assert (level.contract.level, programs) == (Level.LOWER, [seed])
    assert search._repertoire == (seed,)
    assert search._members[Level.LOWER] == [seed]
    assert measures["J"] == 0.0
