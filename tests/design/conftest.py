"""Rounds with the real loop, method, archive and router; only the measures are made up."""

from types import SimpleNamespace

import pytest
from arithmetic import POOLS, PROBLEM, Arithmetic, InTurn

from specahd.core.budget import Budget, Ledger
from specahd.core.events import Observer
from specahd.core.journal import read_records
from specahd.core.program import Level
from specahd.core.settings import Settings
from specahd.design.coupled import Coupled
from specahd.memory.memory import Memory
from specahd.methods.eoh import EoH
from specahd.runs.journal import Journal
from specahd.search.engine import Engine


@pytest.fixture
def trained(tmp_path):
    def train(
        *numbers,
        tickets=12,
        kind=Coupled,
        policy=lambda: EoH(3),
        executor=None,
        replay=None,
        allowance=None,
        stop=None,
        parts=None,
        **settings,
    ):
        """Run to the end and return all that there is to look at."""
        executor = executor or Arithmetic()
        split = {name: settings.pop(name) for name in ("rounds", "lower_share") if name in settings}
        if settings.get("levels") == "upper":
            settings["repertoire"] = "given"
        ledger = Ledger(tickets)
        with (
            Journal(tmp_path) as journal,
            Engine(
                seed=5,
                lag=1,
                samplers=1,
                proposer=InTurn(*(numbers or (3, 4, 5, 6, 7, 8))),
                ledger=ledger,
                journal=journal,
                memories={level: Memory() for level in Level},
                observer=Observer(),
                replay=replay,
                allowance=allowance,
            ) as engine,
        ):
            search = kind(
                problem=PROBLEM,
                engine=engine,
                executor=executor,
                policy=policy,
                budget=Budget(tickets, **{"rounds": 2, **split}),
                settings=Settings(**settings),
                journal=journal,
                observer=Observer(),
                **{"pools": POOLS, **(parts or {})},
            )
            candidates = []
            for candidate in search.rounds():
                candidates.append(candidate)
                engine.stopped = stop or engine.stopped
        records = list(read_records(tmp_path / "journal.jsonl"))
        return SimpleNamespace(
            candidates=candidates,
            cases=executor.cases,
            draft=search.draft(),
            ledger=ledger,
            responses=list(read_records(tmp_path / "responses.jsonl")),
            rounds=[record for record in records if record.get("record") == "round"],
            samples=[record for record in records if "sample" in record],
            systems=executor.systems,
        )

    return train
