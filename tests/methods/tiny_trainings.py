"""Trainings of a second or two: instances of a few nodes, and workers that many trainings share."""

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from specahd import api
from specahd.core.settings import Pools
from specahd.repair.execution import Execution
from specahd.repair.system import RepairSystem
from specahd.routing.pools import prepare_pools
from specahd.sandbox.executor import LocalExecutor

NODES = 12
ALONE = partial(LocalExecutor, workers=1)


def tiny_pools(problem: str, folder: Path) -> Path:
    """Write pools whose instances are the first nodes of those that the problem generates."""
    made = api.make_problem(problem)
    whole = made.generate
    made.generate = lambda pool, seed: map(_cut, islice(whole(pool, seed), 2))
    prepare_pools(made, Pools(str(folder)))
    return folder


def _cut(instance):
    kept = {"coords": instance.coords[:NODES]}
    if hasattr(instance, "demands"):
        demands = instance.demands[:NODES]
        # Several routes, so that there is something to choose.
        capacity = int(max(demands.max(), demands.sum() // 3))
        kept |= {"demands": demands, "capacity": min(instance.capacity, capacity)}
    windows = getattr(instance, "windows", None)
    if windows is not None:
        kept["windows"] = windows.changed(lambda times: times[:NODES])
    return replace(instance, **kept)


def budget(programs: int) -> api.Budget:
    # One round, so that all scores are of equal tasks.
    return api.Budget(programs, 1, lower_train=2, upper_train=1, selection=1, validation=1)


class _Lent:
    """Workers that stay when a training ends, for the next one on the same cases."""

    def __init__(self, executor):
        self.executor = executor
        self.trainings = 0

    def submit(self, method, *arguments):
        return self.executor.submit(method, *map(self._own, arguments))

    def _own(self, argument):
        # Workers know by the key what they have launched, and every training has a round 1.
        if isinstance(argument, RepairSystem):
            return replace(argument, key=f"{self.trainings} {argument.key}")
        return argument

    def close(self):
        self.trainings += 1


@dataclass(frozen=True)
class LentWorkers(Execution):
    """Starts workers once for a problem and repair operator: to start takes as long as to run."""

    executor: partial = ALONE
    lent: dict = field(default_factory=dict)

    def start(self, problem, cases):
        key = problem.name, problem.repair
        if key not in self.lent:
            self.lent[key] = _Lent(super().start(problem, cases))
        return self.lent[key]

    def close(self):
        for each in self.lent.values():
            each.executor.close()
