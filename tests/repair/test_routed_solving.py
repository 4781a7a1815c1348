"""Solving with a checkpoint asks the router whom training asked."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from specahd import api
from specahd.api.problems import settings_of
from specahd.checkpoint.frozen import Checkpoint, freeze
from specahd.core.program import Level, Outcome, Tier
from specahd.core.settings import Accept
from specahd.engine.improver import SandboxedEngine
from specahd.repair.cases import make_case
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.repair.router import ResponseArchive, Utilities
from specahd.routing.base import Region, contracts
from specahd.tracking.solving import print_summary

DATA = Path(__file__).parent.parent / "data"
PROBLEM = api.make_problem("cvrp", repair="insertion")
SEEDS = {level: contract.seeds for level, contract in contracts(PROBLEM.operator).items()}
UPPERS = tuple(replace(program, tier=Tier.COMPILED) for program in SEEDS[Level.UPPER][:2])
CHEAPEST, BLINKS = (replace(program, tier=Tier.COMPILED) for program in SEEDS[Level.LOWER])


def checkpoint(folder, *repertoire, best, uppers=UPPERS[:1], utilities=None):
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
        uppers=uppers,
        utilities=utilities,
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


def test_the_upper_program_that_saved_most_from_solutions_like_it_searches(tmp_path, capsys):
    made = api.ProblemInstance(PROBLEM, next(PROBLEM.generate("lower_train", 3)))
    solving = api.make_problem("cvrp", repair="insertion", baseline="savings")
    like = make_case(solving, made.data).describe(solving)
    described = tuple(like.tolist()), tuple((-like).tolist())
    best = Utilities(described, ((0.1, 0.3), (0.2, 0.0)))
    options = {"best": BLINKS, "uppers": UPPERS}
    chosen = checkpoint(tmp_path / "chosen", BLINKS, **options, utilities=best)
    alone = [
        checkpoint(tmp_path / program.id, BLINKS, best=BLINKS, uppers=(program,))
        for program in UPPERS
    ]
    found = [api.solve(made, checkpoint=each, repairs=3000) for each in (chosen, *alone)]
    assert found[0].programs == (UPPERS[1].id, BLINKS.id)
    assert found[0].data == found[2].data != found[1].data
    told = (
        f"{UPPERS[1].id} of 2 upper programs: from the training solutions most like this one it "
        "saved 20.00%, the others at most 10.00%"
    )
    assert (found[0].choice, found[1].choice) == (told, "")
    assert (found[0].record()["choice"], "choice" in found[1].record()) == (told, False)
    for each in found[:2]:
        print_summary({**each.statistics(), "unserved": []}, None, [])
    assert capsys.readouterr().out.count("\nprogram   ") == 1
    # An evaluation chooses alike, and begins with another solution.
    repaired = [api.load(each).repair(made) for each in (chosen, *alone)]
    used = [step.upper for step in repaired[0].repair.steps]
    index = [program.id for program in UPPERS].index(used[0])
    assert {*used} == {UPPERS[index].id}
    assert repaired[1].data != repaired[0].data == repaired[1 + index].data
    assert index == 1


def test_an_evaluation_tells_the_engine_whether_the_first_solution_was_given(tmp_path, monkeypatch):
    def noted(self, solution, *, given=False):
        with told.open("a") as file:
            print(given, file=file)
        begin(self, solution, given=given)

    told, begin = tmp_path / "told", SandboxedEngine.start
    monkeypatch.setattr(SandboxedEngine, "start", noted)
    frozen = checkpoint(tmp_path / "frozen", CHEAPEST, best=CHEAPEST)
    api.evaluate(frozen, [DATA / "tiny.vrp"])
    api.evaluate(frozen, [DATA / "tiny.vrp"], incumbent=DATA / "tiny.sol")
    # Workers are forked, so they note it too, but not into a list of this process.
    assert told.read_text().split() == ["False", "True"]
