"""The repair operator insertion in a real sandbox: compiled programs, searches, stages."""

import ast
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaExperimentalFeatureWarning

from specahd.core.answer import Answer
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import Accept, CallLimits, Penalty
from specahd.engine.neighbourhood_search import SliceResult
from specahd.engine.orders import Order
from specahd.engine.price import price
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.problem import TSP
from specahd.problems.vrptw.problem import VRPTW
from specahd.repair import staged_cases
from specahd.repair.archive import ResponseArchive
from specahd.repair.cases import Incumbent, make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.responses import ResponseTable
from specahd.repair.searching import SLICES, RoutedImprover, search_case
from specahd.repair.staged_cases import STAGES, stage_cases
from specahd.repair.system import RepairSystem
from specahd.routing.base import Region, contracts
from specahd.sandbox.calls import Call, Result

pytestmark = pytest.mark.integration

PROBLEM = CVRP(repair="insertion", max_regions=4, max_size=8)
CONTRACTS = contracts(PROBLEM.operator)
INCUMBENTS = [Incumbent(0), Incumbent(1)]
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
    return evaluator.expose([SEEDS[Level.UPPER][0]], INCUMBENTS)


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
    result = evaluator.utility(written(Level.UPPER, body), system, INCUMBENTS[:1], Penalty())
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


@pytest.mark.parametrize("answer", ["len(detours) + 7", "int(noise[9999])"])
def test_what_is_no_position_or_raises_is_replaced_and_counted(evaluator, tasks, answer):
    result = evaluator.respond(written(Level.LOWER, f"return {answer}"), tasks)
    cheapest = evaluator.respond(SEEDS[Level.LOWER][0], tasks)
    assert result.outcome is Outcome.OK
    for task, response, same in zip(tasks, result.responses, cheapest.responses, strict=True):
        assert response.fallbacks >= 50 * len(task.region.nodes)
        assert same.fallbacks == 0
        assert response.cost_merged == same.cost_merged


def test_groups_are_tasks_in_their_order(evaluator):
    one, other = (
        evaluator.expose([written(Level.UPPER, f"return np.array({group})")], INCUMBENTS[:1])
        for group in ([3, 1, 7, 0, 5, 2], [7, 3, 1, 7, 0, 0, 5, 2, 3, -4, 10**9])
    )
    assert [task.region.nodes for task in one] == [(3, 1, 7), (5, 2)]
    assert [task.region.nodes for task in other] == [(7, 3, 1), (5, 2)]
    assert one[0].key != other[0].key
    assert one[1].key == other[1].key


class Scripted:
    """An engine whose upper program names two groups, and which finds what it is given."""

    def __init__(self, *solutions, groups=((1, 2), (4, 3))):
        self.solutions, self.groups = list(solutions), groups
        self.told, self.asked, self.lowers = [], [], ()

    def ask(self, inputs):
        self.asked.append(inputs)
        lengths = np.array([len(group) for group in self.groups], np.int64)
        nodes = np.array([node for group in self.groups for node in group], np.int64)
        return Result(Outcome.OK, (lengths, nodes))

    def improve(self, seconds, repairs, share, end_share):
        self.told.append((seconds, repairs, share, end_share, tuple(self.lowers)))
        return SliceResult(Outcome.OK, solution=self.solutions.pop(0), repairs=repairs, fallbacks=2)


def test_before_each_slice_the_router_says_who_repairs_what_was_found(cases):
    case = replace(cases[0], progress=0.5, cost=100.0)
    singles = tuple((node,) for route in case.baseline for node in route)
    solutions = [singles, singles[1:] + singles[:1]]
    costs = dict(zip(solutions, (90.0, 50.0), strict=True))
    problem = CVRP(repair="insertion", repairs_per_customer=20)
    problem.cost = lambda instance, solution: costs[solution]
    system = frozen([], *SEEDS[Level.LOWER])
    script = Scripted(None, *solutions, *[None] * (SLICES - 3))
    repair = search_case(problem, problem.operator, case, system, lambda: script)
    assert (repair.outcome, repair.cost, repair.solution) == (Outcome.OK, 50.0, solutions[1])
    assert len(script.told) == len(repair.steps) == len(script.asked) == SLICES
    total = 20 * case.instance.size / np.mean([price(p.source) for p in system.repertoire])
    assert sum(told[1] for told in script.told) == round(total)
    assert [told[0] for told in script.told] == [None] * SLICES
    orders = [Order.decode(inputs[0]) for inputs in script.asked]
    # Half of the descent lay behind it.
    assert script.told[0][2] == orders[0].progress == 0.5
    assert script.told[-1][3] == 1.0
    assert {order.repairs for order in orders} == {0}
    # Of an archive without responses the first member is chosen, once for each group.
    assert {told[4] for told in script.told} == {(0, 0)}
    seen = [problem.unflat(case.instance, inputs[1:]) for inputs in script.asked]
    assert seen[:4] == [case.baseline, case.baseline, *solutions]
    gained = [(step.cost_before, step.cost_merged, step.accepted) for step in repair.steps]
    assert gained[:4] == [(100, 100, False), (100, 90, True), (90, 50, True), (50, 50, False)]
    assert repair.steps[0].region.nodes == (1, 2, 4, 3)
    assert repair.steps[0].fallbacks == 2


def test_in_a_long_search_the_router_is_asked_ten_times(cases):
    script = Scripted(*[None] * 40)
    routed = RoutedImprover(PROBLEM, PROBLEM.operator, cases[0], lambda _: 1, (0, 1), script)
    for number in range(40):
        routed.improve(0.5, None, number / 40, (number + 1) / 40)
    assert len(script.asked) == SLICES
    assert {told[4] for told in script.told} == {(1, 1)}


def test_of_a_portfolio_each_member_searches_alone(cases):
    system = replace(frozen([], *SEEDS[Level.LOWER]), portfolio=True)
    scripts = [Scripted(*[None] * SLICES) for _ in system.repertoire]
    given = iter(scripts)
    search_case(PROBLEM, PROBLEM.operator, cases[0], system, lambda: next(given))
    assert [{told[4] for told in script.told} for script in scripts] == [{(0, 0)}, {(1, 1)}]


def test_where_nobody_is_named_all_members_repair(cases):
    system, script = frozen([], *SEEDS[Level.LOWER]), Scripted(*[None] * SLICES, groups=())
    repair = search_case(PROBLEM, PROBLEM.operator, cases[0], system, lambda: script)
    assert {told[4] for told in script.told} == {(0, 1)}
    assert repair.steps[0].program == "+".join(sorted(p.id for p in system.repertoire))


def test_a_search_that_is_told_an_infeasible_solution_ends_with_a_rollback(cases):
    case, system = cases[0], frozen([], *SEEDS[Level.LOWER])
    script = Scripted(case.baseline[1:])
    repair = search_case(PROBLEM, PROBLEM.operator, case, system, lambda: script)
    assert [step.outcome for step in repair.steps] == [Outcome.INFEASIBLE_MERGE]
    assert (repair.solution, repair.cost) == (case.baseline, case.cost)


def test_an_upper_program_is_scored_over_all_passes(evaluator, tasks, cases):
    system = frozen(tasks, *SEEDS[Level.LOWER])
    scores = [
        evaluator.utility(program, system, INCUMBENTS, Penalty()) for program in SEEDS[Level.UPPER]
    ]
    for result in scores:
        assert result.outcome is Outcome.OK
        assert min(result.utilities) > 0
    repair = evaluator.repair([SEEDS[Level.UPPER][-1]], system, 0)
    assert repair.improvement == scores[-1].utilities[0]
    assert len(repair.steps) == SLICES
    assert PROBLEM.check(cases[0].instance, repair.solution) == ()


def test_searches_with_a_checkpoint_are_as_long_as_asked_for(cases):
    problem = CVRP(repair="insertion", repairs_per_customer=20, final_repairs_per_customer=70)
    system, upper = frozen([], *SEEDS[Level.LOWER]), SEEDS[Level.UPPER][-1]
    each = [CVRP(repair="insertion", repairs_per_customer=number) for number in (20, 70)]
    trained, final = (measured(one, cases, upper, system) for one in each)
    assert trained != final
    assert measured(problem, cases, upper, system) == (trained[0], final[1])


def measured(problem, cases, upper, system):
    """Return what an upper program saves in training, and frozen."""
    made = Evaluator(problem, cases, share_arrays(problem, cases), CallLimits())
    with closing(made):
        [trained] = made.utility(upper, system, INCUMBENTS[:1], Penalty()).utilities
        return trained, made.repair([upper], system, 0).improvement


@pytest.mark.parametrize("size", ["0", "exposures[10**9]"])
def test_an_upper_program_that_names_nobody_or_raises_repairs_nothing(evaluator, tasks, size):
    system = frozen(tasks, *SEEDS[Level.LOWER])
    program = written(Level.UPPER, f"return np.zeros({size}, np.int64)")
    repair = evaluator.repair([program], system, 0)
    assert (repair.outcome, repair.steps) == (Outcome.EMPTY_REGIONS, ())
    assert repair.improvement == 0.0


def test_a_merge_takes_the_solution_of_an_answer():
    operator, report = PROBLEM.operator, np.zeros(8, np.int64)
    solution = ((1, 2), (3, 4), (5,))
    merged = operator.merge(CASE, solution, Region((1, 4)), [report, np.array([2, 4, 0, 3, 1])])
    assert merged == ((2, 4), (3, 1))
    assert operator.merge(CASE, solution, Region((1,)), [report]) == solution
    for wrong in ([], [report, np.array([0.5])], [report, np.zeros(99, int)], [report] * 3):
        assert operator.merge(CASE, solution, Region((1,)), wrong) is None


class CASE:
    size = 5


@pytest.mark.parametrize("kind", [CVRP, VRPTW, SDVRP, TSP])
def test_training_cases_are_at_all_stages_of_a_descent(kind):
    problem = kind(repair="insertion")
    [case] = make_cases(problem, [next(problem.generate("upper_train", 2024))])
    made = stage_cases(problem, [case] * 4)
    assert [case.progress for case in made] == list(STAGES.values())
    costs = [case.cost for case in made]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == 4
    assert made == stage_cases(problem, [case] * 4)
    for each in made:
        assert problem.check(each.instance, each.baseline) == ()
        assert problem.cost(each.instance, each.baseline) == each.cost
    assert stage_cases(kind(), [case] * 4) == [case] * 4


@njit
def one(number):
    return number + 1


@njit
def other(number):
    return number - 1


def compiled_anew(program, arrays, inputs):
    """Compile a loop that takes a program, as those of the engine do."""

    @njit
    def loop(first):
        chosen = one if first else other
        return chosen(1)

    return Answer([np.array([loop(True)])])


def test_no_user_sees_what_the_compiler_thinks_of_functions_as_arguments():
    with pytest.warns(NumbaExperimentalFeatureWarning, match="First-class function"):
        compiled_anew(None, {}, ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert staged_cases._InProcess(compiled_anew, None, {}).call(Call(0, 0, ())).output[0] == 2


def test_what_takes_longer_repairs_less():
    [cheap, blinks] = SEEDS[Level.LOWER]
    dear = written(Level.LOWER, "return int(np.argmin(detours * 1.1 + rests * 0.2 - noise ** 2.0))")
    assert price(cheap.source) == 1.0
    assert 1.0 < price(blinks.source) < 1.1 < 1.3 < price(dear.source)
    repairs = [
        PROBLEM.operator.of(program).repairs_per_customer for program in (cheap, blinks, dear)
    ]
    assert repairs[0] == 50
    assert 1 < repairs[2] < repairs[1] < 50
    endless = written(Level.LOWER, f"return {'-'.join(['noise.argmax()'] * 999)}")
    assert PROBLEM.operator.of(endless).repairs_per_customer == 1
    assert ast.parse(endless.source)
