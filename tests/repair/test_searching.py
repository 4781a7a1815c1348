"""A search in slices, before each of which the router says who repairs; the engine is a script."""

from dataclasses import replace

import numpy as np
import pytest

from specahd.core.program import Level, Outcome
from specahd.core.settings import Accept
from specahd.engine.neighbourhood_search import SliceResult
from specahd.engine.orders import Order, Work
from specahd.problems.cvrp.problem import CVRP
from specahd.programs.parsed import price
from specahd.repair.cases import make_case
from specahd.repair.router import ResponseArchive
from specahd.repair.searching import SLICES, RoutedImprover, search_case
from specahd.repair.system import RepairSystem
from specahd.routing.base import contracts
from specahd.sandbox.calls import Result

PROBLEM = CVRP(repair="insertion", max_regions=4, max_size=8)


@pytest.fixture(scope="module")
def case():
    return make_case(PROBLEM, next(PROBLEM.generate("upper_train", 2024)))


@pytest.fixture
def system():
    programs = contracts(PROBLEM.operator)[Level.LOWER].seeds
    archive = ResponseArchive(PROBLEM.descriptor_names)
    router = archive.router([program.id for program in programs], n_neighbors=5)
    return RepairSystem("both", programs, router, Accept.IMPROVING)


class Scripted:
    """An engine whose upper program names two groups, and which finds what it is given."""

    work = Work(1, 2, 3, 4, 5, 6)

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


def test_before_each_slice_the_router_says_who_repairs_what_was_found(case, system):
    case = replace(case, progress=0.5, cost=100.0)
    singles = tuple((node,) for route in case.baseline for node in route)
    solutions = [singles, singles[1:] + singles[:1]]
    costs = dict(zip(solutions, (90.0, 50.0), strict=True))
    problem = CVRP(repair="insertion", repairs_per_customer=20)
    problem.cost = lambda instance, solution: costs[solution]
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
    assert repair.work is script.work


def test_in_a_long_search_the_router_is_asked_ten_times(case):
    script = Scripted(*[None] * 40)
    routed = RoutedImprover(PROBLEM, PROBLEM.operator, case, lambda _: 1, (0, 1), script)
    for number in range(40):
        routed.improve(0.5, None, number / 40, (number + 1) / 40)
    assert len(script.asked) == SLICES
    assert {told[4] for told in script.told} == {(1, 1)}


def test_of_a_portfolio_each_member_searches_alone(case, system):
    system = replace(system, portfolio=True)
    scripts = [Scripted(*[None] * SLICES) for _ in system.repertoire]
    given = iter(scripts)
    search_case(PROBLEM, PROBLEM.operator, case, system, lambda: next(given))
    assert [{told[4] for told in script.told} for script in scripts] == [{(0, 0)}, {(1, 1)}]


def test_where_nobody_is_named_all_members_repair(case, system):
    script = Scripted(*[None] * SLICES, groups=())
    repair = search_case(PROBLEM, PROBLEM.operator, case, system, lambda: script)
    assert {told[4] for told in script.told} == {(0, 1)}
    assert repair.steps[0].program == "+".join(sorted(p.id for p in system.repertoire))


def test_a_search_that_is_told_an_infeasible_solution_ends_with_a_rollback(case, system):
    script = Scripted(case.baseline[1:])
    repair = search_case(PROBLEM, PROBLEM.operator, case, system, lambda: script)
    assert [step.outcome for step in repair.steps] == [Outcome.INFEASIBLE_MERGE]
    assert (repair.solution, repair.cost) == (case.baseline, case.cost)
