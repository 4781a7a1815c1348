"""What a checkpoint's manifest says of its training: what decides the programs, and no more."""

import dataclasses
import hashlib
import json
from functools import partial
from math import inf

import numpy as np
import pytest
from omegaconf import OmegaConf

from frozen import seed_checkpoint
from offered import METHODS
from specahd.api.plans import TrainingPlan
from specahd.api.problems import make_problem
from specahd.api.provenance import provenance
from specahd.checkpoint.frozen import freeze, thaw
from specahd.checkpoint.manifest import SUMS
from specahd.config import files
from specahd.core.budget import Budget
from specahd.core.program import Level
from specahd.core.settings import CallLimits, Penalty, Pools, Settings
from specahd.design.coupled import Coupled
from specahd.memory.memory import Memory
from specahd.methods.eoh import EoH
from specahd.repair.execution import Execution

BUDGET = Budget(4, rounds=1, lower_train=2, upper_train=2, selection=2, validation=2)


@pytest.fixture
def plan(tmp_path):
    folder = tmp_path / "pools" / "cvrp"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    problem = make_problem("cvrp")
    return TrainingPlan(
        problem=problem,
        proposer=files.make_from("llm", "offline"),
        method=files.factory_of("method", "specahd_one_pass"),
        memories={level: files.make_from("memory", "structural") for level in Level},
        budget=BUDGET,
        seed=3,
        settings=Settings(),
        pools=Pools(str(tmp_path / "pools"), 5),
    )


def test_it_holds_every_option_that_decides_the_programs(plan):
    read = json.loads(json.dumps(provenance(plan)))
    memory = {"encoders": ["syntax", "tokens", "idea"], "threshold": 0.996}
    memory |= {"filter": True, "skills": 3}
    assert read == {
        "seed": 3,
        "method": {
            "class": "specahd.design.coupled.Coupled",
            "policy": {
                "class": "specahd.methods.eoh.EoH",
                "population": 10,
                "operators": ["e1", "e2", "m1", "m2", "m3"],
                "rank_offset": 0,
                "distinct": False,
            },
        },
        "memory": {"lower": memory, "upper": memory},
        "budget": {
            "programs": 4,
            "rounds": 1,
            "lower_share": 0.5,
            **dict.fromkeys(("lower_train", "upper_train", "selection", "validation"), 2),
        },
        "search": {
            "levels": "both",
            "repertoire": None,
            "lag": 8,
            "finalists": 1,
            "beta": 0.5,
            "repertoire_size": 10,
            "neighbours": 5,
            "cells": 4000,
            "penalty": {"weight": 1.0, "empty": 0.01, "rejected": 0.005, "rolled_back": 0.005},
            "accept": "improving",
        },
        "limits": {
            "upper_call": 10.0,
            "lower_call": 1.0,
            "lower_node": None,
            "candidate": 120.0,
            "instance": None,
            "memory_gb": 2.0,
        },
        "pools": {"seed": 5, "manifest": hashlib.sha256(b"{}").hexdigest()},
    }


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        {"budget": dataclasses.replace(BUDGET, selection=3)},
        {"settings": Settings(lag=1)},
        {"settings": Settings(passes=2)},
        {"settings": Settings(tries=2)},
        {"settings": Settings(uppers=2, passes=2)},
        {"settings": Settings(penalty=Penalty(empty=0.5))},
        {"execution": Execution(limits=CallLimits(lower_call=2.0))},
        {"method": partial(Coupled, policy=partial(EoH, population=9))},
        {"method": partial(Coupled, policy=EoH, upper=EoH)},
        {"method": files.factory_of("method", "eoh")},
        {"memories": {Level.LOWER: Memory(), Level.UPPER: files.make_from("memory", "structural")}},
        {"memories": {level: files.make_from("memory", "structural", fuse=2) for level in Level}},
    ],
)
def test_what_changes_the_programs_changes_it(plan, change):
    assert provenance(dataclasses.replace(plan, **change)) != provenance(plan)


@pytest.mark.parametrize(
    "change",
    [
        {"budget": dataclasses.replace(BUDGET, name="tiny", max_cost=2.0, max_tokens=5)},
        {"settings": Settings(samplers=1)},
        {"execution": Execution(executor=partial(dict, workers=1))},
        {"method": partial(Coupled, policy=EoH)},
    ],
)
def test_what_changes_no_program_does_not_change_it(plan, change):
    assert provenance(dataclasses.replace(plan, **change)) == provenance(plan)


def test_a_given_repertoire_is_named_by_what_it_holds(plan, tmp_path):
    freeze(seed_checkpoint("cvrp"), tmp_path / "given")
    given = Settings(levels="upper", repertoire=str(tmp_path / "given"))
    named = provenance(dataclasses.replace(plan, settings=given))["search"]["repertoire"]
    assert named == hashlib.sha256((tmp_path / "given" / SUMS).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_comes_with_specahd_is_told_with_its_options(plan, name):
    maker = files.factory_of("method", name)
    told = provenance(dataclasses.replace(plan, method=maker))["method"]
    assert json.loads(json.dumps(told)) == told
    policy = files.declared_options("method", name)["policy"]
    stated = {key for key, value in policy.items() if key[0] != "_" and value is not None}
    assert told["policy"]["class"] == policy["_target_"]
    assert stated <= told["policy"].keys()


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (inf, "inf"),
        (True, True),
        ("${not} told to Hydra", "${not} told to Hydra"),
        ({1: (2, None)}, {"1": [2, None]}),
        (OmegaConf.create({"weights": {"e1": 0.5}}), {"weights": {"e1": 0.5}}),
        (max, {"class": "builtins.max"}),
        (object(), {"class": "builtins.object"}),
        (partial(EoH, population=3, operators=()), None),
    ],
)
def test_an_option_of_any_kind_is_told_and_read_back(plan, tmp_path, option, told):
    def method(option):
        raise AssertionError("made")

    said = provenance(dataclasses.replace(plan, method=partial(method, option=option)))
    if told is not None:
        assert said["method"]["option"] == told
    freeze(dataclasses.replace(seed_checkpoint("cvrp"), training=said), tmp_path / "frozen")
    assert thaw(tmp_path / "frozen").training == said


def test_a_training_writes_it_and_a_checkpoint_keeps_it(api_run, tmp_path):
    checkpoint = api_run / "run" / "checkpoint"
    frozen = thaw(checkpoint)
    assert frozen.training["budget"]["programs"] == 4
    manifest = (api_run / "pools" / "cvrp" / "manifest.json").read_bytes()
    assert frozen.training["pools"]["manifest"] == hashlib.sha256(manifest).hexdigest()
    freeze(frozen, tmp_path / "again")
    assert (tmp_path / "again" / SUMS).read_text() == (checkpoint / SUMS).read_text()
