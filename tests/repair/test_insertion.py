"""The repair operator insertion in a real sandbox: compiled programs, passes, stages."""

import ast
from dataclasses import replace

import numpy as np
import pytest

from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import Accept, CallLimits, Penalty
from specahd.engine.insertion import PASSES, REPEATS
from specahd.engine.price import price
from specahd.engine.strings import greedy_with_blinks
from specahd.problems.cvrp.compiled_insertion import REBUILD
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.cvrp.reinsertion import rebuild
from specahd.repair.archive import ResponseArchive
from specahd.repair.cases import make_cases, share_arrays
from specahd.repair.descent import STAGES, staged
from specahd.repair.evaluator import Evaluator
from specahd.repair.responses import ResponseTable
from specahd.repair.system import RepairSystem, repair_case
from specahd.routing.base import PassOperator, Region, contracts
from specahd.sandbox.calls import Result

PROBLEM = CVRP(repair="insertion", max_regions=4, max_size=8)
CONTRACTS = contracts(PROBLEM.operator)
SEEDS = {level: contract.seeds for level, contract in CONTRACTS.items()}


@pytest.fixture(scope="module")
def cases():
    instances = [x for x, _ in zip(PROBLEM.generate("upper_train", 2024), range(2), strict=False)]
    return make_cases(PROBLEM, instances)


@pytest.fixture(scope="module")
def evaluator(cases):
    made = Evaluator(PROBLEM, cases, share_arrays(PROBLEM, cases), CallLimits())
    yield made
    made.close()


@pytest.fixture(scope="module")
def tasks(evaluator):
    return evaluator.expose(SEEDS[Level.UPPER][0], [0, 1])


def written(level, body):
    contract = CONTRACTS[level]
    source = f"def {contract.name}({', '.join(contract.arguments)}):\n    {body}\n"
    return Program("x", level, source, "", "i1", contract=contract.id)


def frozen(tasks, *programs):
    archive = ResponseArchive(PROBLEM.descriptor_names)
    archive.extend(ResponseTable(tasks))
    router = archive.router([program.id for program in programs], n_neighbors=5)
    return RepairSystem("-".join(p.id for p in programs), programs, router, Accept.IMPROVING)


@pytest.mark.parametrize(
    "body", ["return {1, 2}", "return sorted(noise, key=abs)[0]", "return 1.5"]
)
def test_what_does_not_compile_is_an_outcome_of_its_own(evaluator, tasks, body):
    result = evaluator.respond(written(Level.LOWER, body), tasks)
    assert (result.launched, result.outcome) == (False, Outcome.NOT_COMPILED)
    assert result.detail
    system = frozen(tasks, SEEDS[Level.LOWER][0])
    result = evaluator.utility(written(Level.UPPER, body), system, [0], Penalty())
    assert (result.outcome, result.utilities) == (Outcome.NOT_COMPILED, ())


def test_the_hand_written_programs_answer_and_repeat_themselves(evaluator, tasks, cases):
    scores = []
    for program in SEEDS[Level.LOWER]:
        result = evaluator.respond(program, tasks)
        assert (result.outcome, result.tier) == (Outcome.OK, Tier.COMPILED)
        assert {response.outcome for response in result.responses} == {Outcome.OK}
        assert evaluator.respond(program, tasks) == result
        for task, response in zip(tasks, result.responses, strict=True):
            assert response.cost_merged <= response.cost_before == cases[task.case].cost
        scores.append(sum(response.score for response in result.responses))
    assert min(scores) > 0


def test_unavailable_answers_are_replaced_and_counted(evaluator, tasks):
    result = evaluator.respond(written(Level.LOWER, "return len(detours) + 7"), tasks)
    cheapest = evaluator.respond(SEEDS[Level.LOWER][0], tasks)
    assert result.outcome is Outcome.OK
    for task, response, same in zip(tasks, result.responses, cheapest.responses, strict=True):
        assert response.fallbacks == REPEATS * len(task.region.nodes)
        assert response.cost_merged == same.cost_merged


def test_a_program_that_raises_has_no_other_tier(evaluator, tasks):
    result = evaluator.respond(written(Level.LOWER, "return int(noise[len(noise)])"), tasks)
    assert (result.launched, result.outcome) == (True, Outcome.CRASHED)
    assert {response.score for response in result.responses} == {0.0}


def test_groups_are_tasks_in_their_order(evaluator):
    one, other = (
        evaluator.expose(written(Level.UPPER, f"return np.array({group})"), [0])
        for group in ([3, 1, 7, 0, 5, 2], [7, 3, 1, 7, 0, 0, 5, 2, 3, -4, 10**9])
    )
    assert [task.region.nodes for task in one] == [(3, 1, 7), (5, 2)]
    assert [task.region.nodes for task in other] == [(7, 3, 1), (5, 2)]
    assert one[0].key != other[0].key
    assert one[1].key == other[1].key


def test_every_pass_sees_what_the_one_before_left(cases):
    case, told = cases[0], []
    operator = PROBLEM.operator

    def propose(inputs):
        lengths, customers, exposures, numbers = inputs
        told.append((lengths, customers, exposures, numbers))
        first = 1 + len(told)
        group = np.array([first, first + 1])
        return Result(Outcome.OK, (np.array([2]), group))

    def rebuild(member, inputs):
        # Each customer of the group on a route of its own, which is feasible and dearer.
        lengths, customers, group, _ = inputs
        routes = [part.tolist() for part in np.split(customers, np.cumsum(lengths)[:-1])]
        changed = [[n for n in r if n not in group] for r in routes if set(group) & set(r)]
        entries = [e for r in [*changed, *([int(n)] for n in group)] if r for e in (*r, 0)]
        return Result(Outcome.OK, (np.array(entries),))

    system = replace(frozen([], *SEEDS[Level.LOWER][:1]), accept=Accept.FEASIBLE)
    repair = repair_case(PROBLEM, case, system, propose, rebuild)
    assert isinstance(operator, PassOperator)
    assert len(told) == len(repair.steps) == operator.passes == PASSES
    assert PROBLEM.check(case.instance, repair.solution) == ()
    lengths, customers, exposures, numbers = told[3]
    assert exposures.sum() == 6
    assert exposures[[2, 3, 4, 5]].tolist() == [1, 2, 2, 1]
    alone = customers[np.cumsum(lengths)[lengths == 1] - 1]
    assert {4, 5} <= set(alone.tolist())
    assert numbers[3] == round(1_000_000 * 3 / PASSES)
    assert len({entry[3][2] for entry in told}) == PASSES


def test_an_upper_program_is_scored_over_all_passes(evaluator, tasks, cases):
    system = frozen(tasks, *SEEDS[Level.LOWER])
    scores = [
        evaluator.utility(program, system, [0, 1], Penalty()) for program in SEEDS[Level.UPPER]
    ]
    for result in scores:
        assert result.outcome is Outcome.OK
        assert min(result.utilities) > 0
    repair = evaluator.repair(SEEDS[Level.UPPER][-1], system, 0)
    assert repair.improvement == scores[-1].utilities[0]
    assert len(repair.steps) > PASSES
    assert PROBLEM.check(cases[0].instance, repair.solution) == ()


def test_a_merge_puts_routes_in_place_of_those_they_share_customers_with():
    operator = PROBLEM.operator
    solution = ((1, 2), (3, 4), (5,))
    merged = operator.merge(CASE, solution, Region((1, 4)), [np.array([2, 4, 0, 3, 1])])
    assert merged == ((5,), (2, 4), (3, 1))
    assert operator.merge(CASE, solution, Region((1,)), [np.zeros(0, np.int64)]) == solution
    for wrong in ([], [np.array([6])], [np.array([-1])], [np.array([0.5])], [np.zeros(99, int)]):
        assert operator.merge(CASE, solution, Region((1,)), wrong) is None


class CASE:
    size = 5


def test_an_instance_of_one_customer_is_left_as_it_is():
    arrays = {
        "demands": np.array([0, 4]),
        "capacity": np.array([10]),
        "distance_matrix": np.array([[0.0, 7.0], [7.0, 0.0]]),
    }
    for run in (rebuild, REBUILD):
        program = greedy_with_blinks
        if run is REBUILD:
            seed = SEEDS[Level.LOWER][-1]
            program = REBUILD.translate(seed.source, CONTRACTS[Level.LOWER].name)
        inputs = (np.array([1]), np.array([1]), np.array([1]), np.array([5, 3, 0]))
        answer = run(program, arrays, inputs)
        assert answer.arrays[0].tolist() == []
        assert answer.fallbacks == 0


def test_training_cases_are_at_all_stages_of_a_descent(cases):
    four = [cases[0]] * 4
    made = staged(PROBLEM, four)
    assert [case.progress for case in made] == list(STAGES.values())
    costs = [case.cost for case in made]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == 4
    assert made == staged(PROBLEM, four)
    for case in made:
        assert PROBLEM.check(case.instance, case.baseline) == ()
        assert PROBLEM.cost(case.instance, case.baseline) == case.cost
    assert staged(CVRP(), four) == four


def test_what_takes_longer_is_repeated_less():
    [cheap, blinks] = SEEDS[Level.LOWER]
    dear = written(Level.LOWER, "return int(np.argmin(detours * 1.1 + rests * 0.2 - noise ** 2.0))")
    assert price(cheap.source) == 1.0
    assert 1.0 < price(blinks.source) < 1.1 < 1.3 < price(dear.source)
    repeats = [PROBLEM.operator.of(program).repeats for program in (cheap, blinks, dear)]
    assert repeats[:2] == [REPEATS, REPEATS]
    assert 1 <= repeats[2] < REPEATS
    endless = written(Level.LOWER, f"return {'-'.join(['noise.argmax()'] * 999)}")
    assert PROBLEM.operator.of(endless).repeats == 1
    assert ast.parse(endless.source)
