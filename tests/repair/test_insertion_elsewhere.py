"""The repair operator insertion in a real sandbox, where loops are others than the CVRP's."""

from dataclasses import replace

import numpy as np
import pytest

from specahd.core.errors import ConfigError
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import Accept, CallLimits, Penalty
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.problem import TSP
from specahd.repair.archive import ResponseArchive
from specahd.repair.cases import Incumbent, make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.responses import ResponseTable
from specahd.repair.searching import SLICES
from specahd.repair.staged_cases import stage_cases
from specahd.repair.system import RepairSystem
from specahd.routing.base import contracts

pytestmark = pytest.mark.integration


class Bench:
    """A problem, two of its cases at different stages, and what evaluates programs on them."""

    def __init__(self, kind):
        self.problem = kind(repair="insertion", max_regions=4, max_size=8)
        self.contracts = contracts(self.problem.operator)
        self.seeds = {level: contract.seeds for level, contract in self.contracts.items()}
        instances = sorted(self.problem.generate("upper_train", 2024), key=lambda each: each.size)
        self.cases = stage_cases(self.problem, make_cases(self.problem, instances[:2]))
        shared = share_arrays(self.problem, self.cases)
        self.evaluator = Evaluator(self.problem, self.cases, shared, CallLimits())
        self.tasks = self.evaluator.expose(
            [self.seeds[Level.UPPER][0]], list(map(Incumbent, [0, 1]))
        )

    def written(self, level, body):
        contract = self.contracts[level]
        source = f"def {contract.name}({', '.join(contract.arguments)}):\n    {body}\n"
        return Program("x", level, source, "", "i1", contract=contract.id)

    def system(self):
        programs = self.seeds[Level.LOWER]
        archive = ResponseArchive(self.problem.descriptor_names)
        archive.extend(ResponseTable(self.tasks))
        router = archive.router([program.id for program in programs], n_neighbors=5)
        return RepairSystem("both", programs, router, Accept.IMPROVING)


@pytest.fixture(scope="module", params=[SDVRP, TSP])
def bench(request):
    made = Bench(request.param)
    yield made
    made.evaluator.close()


def test_the_hand_written_programs_answer_and_repeat_themselves(bench):
    assert {task.case for task in bench.tasks} == {0, 1}
    assert len({task.descriptor for task in bench.tasks}) == len(bench.tasks)
    for program in bench.seeds[Level.LOWER]:
        result = bench.evaluator.respond(program, bench.tasks)
        assert (result.outcome, result.tier) == (Outcome.OK, Tier.COMPILED)
        assert {response.outcome for response in result.responses} == {Outcome.OK}
        assert bench.evaluator.respond(program, bench.tasks) == result
        for task, response in zip(bench.tasks, result.responses, strict=True):
            cost = bench.cases[task.case].cost
            assert response.cost_merged <= response.cost_before == cost
        assert sum(response.score for response in result.responses) > 0


def test_what_is_no_position_or_raises_is_replaced_and_counted(bench):
    cheapest = bench.written(Level.LOWER, "return int(np.argmin(detours))")
    expected = bench.evaluator.respond(cheapest, bench.tasks)
    for answer in ("len(detours) + 7", "int(noise[9999])"):
        program = bench.written(Level.LOWER, f"return {answer}")
        result = bench.evaluator.respond(program, bench.tasks)
        for task, one, other in zip(bench.tasks, result.responses, expected.responses, strict=True):
            assert one.fallbacks >= 50 * len(task.region.nodes)
            assert other.fallbacks == 0
            assert one.cost_merged == other.cost_merged


def test_what_does_not_compile_is_an_outcome_of_its_own(bench):
    for level in Level:
        program = bench.written(level, "return {1, 2}")
        if level is Level.LOWER:
            result = bench.evaluator.respond(program, bench.tasks)
        else:
            result = bench.evaluator.utility(program, bench.system(), [Incumbent(0)], Penalty())
        assert result.outcome is Outcome.NOT_COMPILED


def test_groups_are_tasks_in_their_order(bench):
    last = len(bench.cases[0].instance.coords) - 1
    program = bench.written(Level.UPPER, f"return np.array([3, 1, {last}, 0, {last + 1}, 5, 2])")
    tasks = bench.evaluator.expose([program], [Incumbent(0)])
    assert [task.region.nodes for task in tasks] == [(3, 1, last), (5, 2)]


def test_no_answer_names_a_node_that_is_not_there(bench):
    """Whatever the process of the programs answers."""
    selector, case = bench.problem.operator.selector, bench.cases[0]
    last = len(case.instance.coords) - 1
    answer = [np.array([4]), np.array([1, 0, last + 1, last])]
    [region] = selector.validate(case.instance, case.baseline, answer).regions
    assert region.nodes == (1, last)


def test_an_upper_program_is_scored_over_all_passes(bench):
    system = bench.system()
    for program in bench.seeds[Level.UPPER]:
        result = bench.evaluator.utility(program, system, [Incumbent(0), Incumbent(1)], Penalty())
        assert result.outcome is Outcome.OK
        assert min(result.utilities) > 0
    repair = bench.evaluator.repair([program], system, 1)
    assert repair.improvement == result.utilities[1]
    assert len(repair.steps) == SLICES
    assert bench.problem.check(bench.cases[1].instance, repair.solution) == ()


def test_an_upper_program_that_names_nobody_or_raises_repairs_nothing(bench):
    for size in ("0", "exposures[10**9]"):
        program = bench.written(Level.UPPER, f"return np.zeros({size}, np.int64)")
        repair = bench.evaluator.repair([program], bench.system(), 0)
        assert (repair.outcome, repair.steps) == (Outcome.EMPTY_REGIONS, ())
        assert repair.improvement == 0.0


def test_fixed_edges_are_refused_before_anything_is_repaired():
    instance = replace(next(TSP().generate("upper_train", 3)), fixed_edges=((3, 5),))
    assert make_cases(TSP(), [instance])
    with pytest.raises(ConfigError, match="has fixed edges"):
        make_cases(TSP(repair="insertion"), [instance])
