"""The repair operator insertion in a real sandbox, where loops of the engine differ."""

import ast
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaExperimentalFeatureWarning

from specahd.core.answer import Answer
from specahd.core.errors import ConfigError
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import Accept, CallLimits, Penalty
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.sdvrp.problem import SDVRP
from specahd.problems.tsp.problem import TSP
from specahd.problems.vrptw.problem import VRPTW
from specahd.programs.parsed import price
from specahd.repair import staged_cases
from specahd.repair.cases import Incumbent, make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.responses import ResponseTable
from specahd.repair.router import ResponseArchive
from specahd.repair.searching import SLICES
from specahd.repair.staged_cases import stage_cases
from specahd.repair.system import RepairSystem
from specahd.routing.base import Region, contracts
from specahd.sandbox.calls import Call
from specahd.sandbox.session import Session

pytestmark = pytest.mark.integration

INCUMBENTS = [Incumbent(0), Incumbent(1)]


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
        self.tasks = self.evaluator.expose([self.seeds[Level.UPPER][0]], INCUMBENTS)

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


@pytest.fixture(scope="module", params=[CVRP, SDVRP, TSP])
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


@pytest.mark.parametrize("answer", ["len(detours) + 7", "int(noise[9999])"])
def test_what_is_no_position_or_raises_is_replaced_and_counted(bench, answer):
    cheapest = bench.written(Level.LOWER, "return int(np.argmin(detours))")
    expected = bench.evaluator.respond(cheapest, bench.tasks)
    result = bench.evaluator.respond(bench.written(Level.LOWER, f"return {answer}"), bench.tasks)
    assert result.outcome is Outcome.OK
    for task, one, other in zip(bench.tasks, result.responses, expected.responses, strict=True):
        assert one.fallbacks >= 50 * len(task.region.nodes)
        assert other.fallbacks == 0
        assert one.cost_merged == other.cost_merged


def test_a_lower_program_ends_at_its_first_failure(bench, monkeypatch):
    def counted(session, calls):
        for result in call_many(session, calls):
            ended.append(result.outcome)
            yield result

    ended, call_many = [], Session.call_many
    monkeypatch.setattr(Session, "call_many", counted)
    monkeypatch.setattr(bench.evaluator, "_limits", CallLimits(lower_call=0.05))
    # The compiler leaves out a loop whose result nobody uses.
    loop = "total = 0.0\n    while total < 9.0:\n        total = 0.5 * total + 1.0"
    endless = bench.written(Level.LOWER, f"{loop}\n    return int(total)")
    result = bench.evaluator.respond(endless, bench.tasks)
    assert (result.launched, result.outcome) == (False, Outcome.TIMEOUT)
    assert ended == [Outcome.TIMEOUT]
    assert len(bench.tasks) > 1


@pytest.mark.parametrize(
    "body", ["return {1, 2}", "return sorted(noise, key=abs)[0]", "return 1.5"]
)
def test_what_does_not_compile_is_an_outcome_of_its_own(bench, body):
    result = bench.evaluator.respond(bench.written(Level.LOWER, body), bench.tasks)
    assert (result.launched, result.outcome) == (False, Outcome.NOT_COMPILED)
    assert result.detail
    program = bench.written(Level.UPPER, body)
    result = bench.evaluator.utility(program, bench.system(), INCUMBENTS[:1], Penalty())
    assert (result.outcome, result.utilities) == (Outcome.NOT_COMPILED, ())


def test_groups_are_tasks_in_their_order(bench):
    last = len(bench.cases[0].instance.coords) - 1
    one, other = (
        bench.evaluator.expose(
            [bench.written(Level.UPPER, f"return np.array({group})")], INCUMBENTS[:1]
        )
        for group in (
            [3, 1, last, 0, last + 1, 5, 2],
            [last, 3, 1, last, 0, 0, 5, 2, 3, -4, 10**9],
        )
    )
    assert [task.region.nodes for task in one] == [(3, 1, last), (5, 2)]
    assert [task.region.nodes for task in other] == [(last, 3, 1), (5, 2)]
    assert one[0].key != other[0].key
    assert one[1].key == other[1].key


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
        result = bench.evaluator.utility(program, system, INCUMBENTS, Penalty())
        assert result.outcome is Outcome.OK
        assert min(result.utilities) > 0
    repair = bench.evaluator.repair([program], system, 1)
    assert repair.improvement == result.utilities[1]
    assert len(repair.steps) == SLICES
    assert bench.problem.check(bench.cases[1].instance, repair.solution) == ()


def test_an_upper_program_of_more_steps_makes_fewer_passes(bench):
    wasted, system = [], bench.system()
    for steps in (0, 50, 2500):
        body = f"i = 0\n    while i < {steps}:\n        i += 1\n    return np.array([1, 2, 3])"
        program = bench.written(Level.UPPER, body)
        result = bench.evaluator.utility(program, system, INCUMBENTS, Penalty())
        assert result.work.steps == steps * result.work.passes
        wasted.append(result.work)
    none, some, many = wasted
    # Three insertions a pass or fewer, and 50 / 250 or 2500 / 250 for steps.
    assert none.passes > some.passes > 2.5 * many.passes
    assert none.repairs == pytest.approx(some.repairs, rel=0.01)
    again = bench.evaluator.utility(program, system, INCUMBENTS, Penalty())
    assert again == result


def test_steps_alone_are_no_repairs(bench):
    loop = "i = 0\n    while i < 900:\n        i += 1"
    program = bench.written(Level.UPPER, f"{loop}\n    return np.zeros(i - 900, np.int64)")
    repair = bench.evaluator.repair([program], bench.system(), 0)
    assert (repair.outcome, repair.steps) == (Outcome.EMPTY_REGIONS, ())


@pytest.mark.parametrize("size", ["0", "exposures[10**9]"])
def test_an_upper_program_that_names_nobody_or_raises_repairs_nothing(bench, size):
    program = bench.written(Level.UPPER, f"return np.zeros({size}, np.int64)")
    repair = bench.evaluator.repair([program], bench.system(), 0)
    assert (repair.outcome, repair.steps) == (Outcome.EMPTY_REGIONS, ())
    assert repair.improvement == 0.0


def test_fixed_edges_are_refused_before_anything_is_repaired():
    instance = replace(next(TSP().generate("upper_train", 3)), fixed_edges=((3, 5),))
    assert make_cases(TSP(), [instance])
    with pytest.raises(ConfigError, match="has fixed edges"):
        make_cases(TSP(repair="insertion"), [instance])


def test_searches_with_a_checkpoint_are_as_long_as_asked_for():
    bench = Bench(CVRP)
    with closing(bench.evaluator):
        each = [CVRP(repair="insertion", repairs_per_customer=number) for number in (20, 70)]
        trained, final = (measured(one, bench) for one in each)
        assert trained != final
        both = CVRP(repair="insertion", repairs_per_customer=20, final_repairs_per_customer=70)
        assert measured(both, bench) == (trained[0], final[1])


def test_a_seed_varies_a_search_and_the_same_one_repeats_it():
    bench = Bench(CVRP)
    with closing(bench.evaluator):
        upper, system = bench.seeds[Level.UPPER][-1], replace(bench.system(), repairs=30)
        seeds = (), (1,), (2,), (1,)
        costs = [
            bench.evaluator.repair([upper], replace(system, seed=seed), 0).cost for seed in seeds
        ]
        assert len({*costs}) > 1
        assert costs[3] == costs[1]
        # In training it is one seed for each round.
        pair = [
            bench.evaluator.utility(upper, replace(system, seed=seed), INCUMBENTS, Penalty())
            for seed in seeds[:2]
        ]
        assert pair[0].utilities != pair[1].utilities


def measured(problem, bench):
    """Return what an upper program saves in training, and frozen."""
    upper, system = bench.seeds[Level.UPPER][-1], bench.system()
    shared = share_arrays(problem, bench.cases)
    with closing(Evaluator(problem, bench.cases, shared, CallLimits())) as made:
        [trained] = made.utility(upper, system, INCUMBENTS[:1], Penalty()).utilities
        return trained, made.repair([upper], system, 0).improvement


def test_a_merge_takes_the_solution_of_an_answer():
    operator, report = CVRP(repair="insertion").operator, np.zeros(8, np.int64)
    solution = ((1, 2), (3, 4), (5,))
    merged = operator.merge(FIVE, solution, Region((1, 4)), [report, np.array([2, 4, 0, 3, 1])])
    assert merged == ((2, 4), (3, 1))
    assert operator.merge(FIVE, solution, Region((1,)), [report]) == solution
    for wrong in ([], [report, np.array([0.5])], [report, np.zeros(99, int)], [report] * 3):
        assert operator.merge(FIVE, solution, Region((1,)), wrong) is None


class FIVE:
    size = 5


@pytest.mark.parametrize("kind", [VRPTW, TSP])
def test_training_cases_are_at_all_stages_of_a_descent(kind):
    problem = kind(repair="insertion")
    [case] = make_cases(problem, [next(problem.generate("upper_train", 2024))])
    made = stage_cases(problem, [case] * 4)
    assert [case.progress for case in made] == list(problem.operator.stages.values())
    costs = [case.cost for case in made]
    assert costs == sorted(costs, reverse=True)
    # A descent of one repair a customer may end where it began.
    assert len(set(costs[1:])) == 3
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
    operator = CVRP(repair="insertion").operator
    contract = contracts(operator)[Level.LOWER]
    [cheap, blinks] = contract.seeds

    def answering(expression):
        head = f"def {contract.name}({', '.join(contract.arguments)}):\n    "
        return replace(cheap, source=f"{head}return {expression}\n")

    dear = answering("int(np.argmin(detours * 1.1 + rests * 0.2 - noise ** 2.0))")
    assert price(cheap.source) == 1.0
    assert 1.0 < price(blinks.source) < 1.1 < 1.3 < price(dear.source)
    repairs = [operator.of(program).repairs_per_customer for program in (cheap, blinks, dear)]
    assert repairs[0] == 50
    assert 1 < repairs[2] < repairs[1] < 50
    endless = answering("-".join(["noise.argmax()"] * 999))
    assert operator.of(endless).repairs_per_customer == 1
    assert ast.parse(endless.source)
