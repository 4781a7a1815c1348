"""Every method of ``conf/method`` on every problem, offline: 60 programs on tiny instances."""

from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice

import numpy as np
import pytest

from offered import PROBLEMS
from specahd import api
from specahd.config import files
from specahd.core import journal
from specahd.repair.execution import Execution
from specahd.repair.system import RepairSystem
from specahd.sandbox.executor import LocalExecutor

# One round, so that all scores are of equal tasks.
BUDGET = api.Budget(60, 1, lower_train=2, upper_train=1, selection=1, validation=1)
NODES = 12


def tiny(name, repair):
    """Return a problem whose instances are the first nodes of those that it generates."""
    problem = api.make_problem(name, repair=repair)
    whole = problem.generate
    problem.generate = lambda pool, seed: map(cut, islice(whole(pool, seed), 2))
    return problem


def cut(instance):
    kept = {"coords": instance.coords[:NODES]}
    if hasattr(instance, "demands"):
        demands = instance.demands[:NODES]
        # Several routes, so that there is something to choose.
        capacity = int(max(demands.max(), demands.sum() // 3))
        kept |= {"demands": demands, "capacity": min(instance.capacity, capacity)}
    if hasattr(instance, "windows"):
        names = [field.name for field in fields(instance.windows)]
        times = {name: getattr(instance.windows, name)[:NODES] for name in names}
        kept["windows"] = replace(instance.windows, **times)
    return replace(instance, **kept)


class Lent:
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
class Lending(Execution):
    """Starts workers for the first training of a problem and operator, for to start takes long."""

    workers: dict = None

    def start(self, problem, cases, tiers=None):
        key = problem.name, problem.repair
        if key not in self.workers:
            self.workers[key] = Lent(super().start(problem, cases, tiers))
        return self.workers[key]


@pytest.fixture(scope="module")
def execution():
    workers = {}
    with ExitStack() as stack:
        yield Lending(partial(LocalExecutor, workers=1), workers=workers)
        for lent in workers.values():
            stack.callback(lent.executor.close)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", files.names("method"))
def test_it_finds_a_program_better_than_the_seed_program(execution, tmp_path, name, method):
    # The tasks of the comparison.
    problem = tiny(name, "append" if method == "specahd" else "construct")
    run = api.train(
        problem, "offline", method, BUDGET, out=tmp_path / "run", pools=tmp_path / "pools",
        execution=execution,
    )  # fmt: skip
    assert run.stopped is None
    assert run.spent.tickets == BUDGET.programs
    records = [one for one in journal.read(run.directory / "journal.jsonl") if "sample" in one]
    assert len(records) == BUDGET.programs
    programs = [one for one in records if one["level"] == "lower"]
    scores = {one["sample"]: one["score"] for one in programs}
    kept = [scores[sample] for sample in programs[-1]["survivors"] if sample in scores]
    assert max(kept) > seed_score(run.directory)


def seed_score(directory):
    """Return the mean response of the lower seed program."""
    measured = journal.read(directory / "responses.jsonl")
    [seed] = [one for one in measured if one.get("carried") == "lower-seed"]
    saved = [
        0.0 if merged is None else max(0.0, before - merged) / before
        for before, merged in zip(seed["cost_before"], seed["cost_merged"], strict=True)
    ]
    return np.mean(saved)
