"""Solving with a checkpoint asks the router whom training asked."""

from dataclasses import replace

import numpy as np

from specahd import api
from specahd.api.problems import settings_of
from specahd.checkpoint.frozen import Checkpoint, freeze
from specahd.core.program import Level, Outcome, Tier
from specahd.core.settings import Accept
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.repair.router import ResponseArchive
from specahd.routing.base import Region, contracts

PROBLEM = api.make_problem("cvrp", repair="insertion")
SEEDS = {level: contract.seeds for level, contract in contracts(PROBLEM.operator).items()}
CHEAPEST, BLINKS = (replace(program, tier=Tier.COMPILED) for program in SEEDS[Level.LOWER])


def checkpoint(folder, *repertoire, best):
    """Freeze a checkpoint whose router chooses one member for every region."""
    descriptor = (0.0,) * len(PROBLEM.descriptor_names)
    table = ResponseTable([RepairTask("x#1", 0, Region((1, 2)), descriptor)])
    for program in repertoire:
        cost = 1.0 if program is best else 2.0
        table.add(program.id, [Response(Outcome.OK, 2.0, cost)])
    archive = ResponseArchive(PROBLEM.descriptor_names)
    archive.extend(table)
    frozen = Checkpoint(
        problem="cvrp",
        settings=settings_of(PROBLEM),
        uppers=(replace(SEEDS[Level.UPPER][0], tier=Tier.COMPILED),),
        repertoire=repertoire,
        archive=archive,
        statistics=archive.statistics(),
        accept=Accept.IMPROVING,
        neighbours=1,
    )
    freeze(frozen, folder)
    return folder


def test_who_is_routed_to_repairs_alone(tmp_path):
    made = api.ProblemInstance(PROBLEM, next(PROBLEM.generate("lower_train", 3)))
    both = (CHEAPEST, BLINKS)
    alone = checkpoint(tmp_path / "alone", BLINKS, best=BLINKS)
    routed = checkpoint(tmp_path / "routed", *both, best=BLINKS)
    other = checkpoint(tmp_path / "other", *both, best=CHEAPEST)
    found = [api.solve(made, checkpoint=each, repairs=3000) for each in (alone, routed, other)]
    assert found[0].data == found[1].data != found[2].data
    assert found[1].history[0][1] > found[1].cost
    assert np.unique([each.search.repairs for each in found[:2]]).size == 1
