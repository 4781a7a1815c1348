"""What prompts say of a round: counted by hand on small instances, and nothing of a clock."""

from dataclasses import replace

import numpy as np
import pytest
from hydra.utils import instantiate

from offered import PROBLEMS, configuration
from specahd.core.contract import Context, Parent
from specahd.core.program import Level, Outcome, Program
from specahd.design.facts import (
    COMPARED,
    EACH,
    IDEA,
    IDEAS,
    TRIED,
    Facts,
    Tried,
    lower_result_facts,
    request_context,
    served_facts,
    tried_facts,
    upper_result_facts,
)
from specahd.engine.orders import Work
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import make_case
from specahd.repair.evaluator import CallLimits, UpperResult
from specahd.repair.responses import RepairTask, Response
from specahd.routing.base import Region


def problem_of(name):
    return instantiate(configuration(name))


@pytest.fixture(scope="module")
def cvrp():
    """Two instances with their baseline solutions."""
    problem = problem_of("cvrp")
    pool = problem.generate("lower_train", 3)
    return problem, [make_case(problem, next(pool)) for _ in range(2)]


def task(case, nodes):
    return RepairTask("x#1", case, Region(tuple(nodes)), ())


def program(idea):
    return Program("lower-1-0001", Level.LOWER, "", idea, "i1", contract="append")


def test_regions_are_counted(cvrp):
    problem, cases = cvrp
    one, other = (case.baseline for case in cases)
    tasks = [task(0, [one[0][0], one[1][0], one[1][1]]), task(1, other[0][:2])]
    regions, _, limits = Facts(problem, cases, CallLimits(lower_call=4, candidate=2)).lower(tasks)
    sizes = sorted(case.instance.size for case in cases)
    share = (3 / cases[0].instance.size + 2 / cases[1].instance.size) / 2
    assert regions == (
        f"2 regions of 2 instances of {sizes[0]} to {sizes[1]} ({sum(sizes) / 2:.0f} on average) "
        f"customers. A region has 2 to 3 (2 on average) customers, {100 * share:.0f} % of its "
        "instance on average, pieces of 1 to 2 (1.5 on average) routes of its solution."
    )
    assert limits == (
        "Limits of CPU time: 4 s for a region, 2 s for all regions, which have 5 customers "
        "together: 400 ms for each on average; the regions after these seconds count 0. Within "
        "the limits speed does not enter into the score. A second is about five million steps of a "
        "simple loop, each with a look into a list, an addition and a comparison."
    )
    limits = CallLimits(lower_call=4, lower_node=0.0025, candidate=2)
    both = "Limits of CPU time: 4 s for a region and 2.5 ms for each of its customers, 2 s for all"
    assert Facts(problem, cases, limits).lower(tasks)[2].startswith(both)


def test_what_the_kept_programs_save_is_told_by_thirds_of_the_sizes():
    tasks = [task(0, range(size)) for size in (9, 2, 4, 6)]
    assert served_facts(tasks, np.array([0.08, 0.0, 0.02, 0.04])) == [
        "With the best of the kept programs on each, regions save 1.000 % on those of 2 to 4 (3 on "
        "average), 4.000 % on those of 6, 8.000 % on those of 9; none of them saves anything on 1 "
        "region."
    ]
    [told] = served_facts(tasks[:1], np.array([0.5]))
    assert told.endswith("regions save 50.000 % on those of 9.")


def test_the_latest_ideas_that_were_not_kept_are_told():
    tried = [
        Tried(replace(program(f"Idea {number}."), id=str(number)), number / 100, "fails" * number)
        for number in range(TRIED + 3)
    ]
    last = str(TRIED + 2)
    told = [f"Idea {n} ({n:.3f} %, {'fails' * n})" for n in range(2, TRIED + 2)]
    assert tried_facts(tried, {last}) == [f"Tried lately and not kept: {'; '.join(told)}."]
    assert tried_facts(tried[:1], ()) == ["Tried lately and not kept: Idea 0 (0.000 %)."]
    assert tried_facts(tried, {one.program.id for one in tried}) == []


def test_solutions_that_were_repaired_before_are_told(cvrp):
    problem, cases = cvrp
    facts = Facts(problem, cases, CallLimits())
    fresh = task(0, cases[0].baseline[0][:2])
    [_, gap, _] = facts.lower([fresh, replace(fresh, solution=cases[0].baseline)])
    assert gap.endswith(
        " 1 of the 2 regions are of such solutions after programs repaired them, and have less to "
        "save."
    )
    assert "repaired" not in facts.lower([fresh])[1]
    [_, gap, _] = facts.upper([0, 1], (), None, repaired=1)
    assert " 1 of the 2 instances occur a second time, with the solutions that " in gap
    assert "second time" not in facts.upper([0, 1], (), None)[1]


def test_the_solutions_are_compared_with_those_of_the_best_other_construction(cvrp):
    problem, cases = cvrp
    [_, gap, *_] = Facts(problem, cases, CallLimits()).upper([0, 1], (), None)
    ratios = [
        case.cost / problem.cost(case.instance, problem.baseline(case.instance, "savings"))
        for case in cases
    ]
    assert gap == (
        "The solutions to repair are those of the construction 'nearest', which cost "
        f"{100 * (sum(ratios) / 2 - 1):.1f} % more than those of 'savings'."
    )
    best = problem_of("cvrp")
    best.baseline_name = "savings"
    good = [make_case(best, case.instance) for case in cases]
    [_, gap, *_] = Facts(best, good, CallLimits()).upper([0, 1], (), None)
    assert gap == "The solutions to repair are those of the construction 'savings'."


def test_solutions_that_cost_nothing_are_not_compared(cvrp):
    problem, cases = cvrp
    free = replace(cases[0], cost=0.0)
    told = "The solutions to repair are those of the construction 'nearest'"
    assert Facts(problem, [free], CallLimits())._gap([0]) == f"{told}."
    both = Facts(problem, [free, cases[1]], CallLimits())._gap([0, 1])
    assert both == Facts(problem, cases, CallLimits())._gap([1])


def test_no_more_instances_are_compared_than_needed(cvrp):
    problem, cases = cvrp
    facts = Facts(problem, [cases[0]] * COMPARED + [None], CallLimits())
    assert facts._gap(range(COMPARED + 1)).endswith("'savings'.")


def test_an_upper_program_learns_who_rebuilds_and_what_proposals_hold(cvrp):
    _, cases = cvrp
    small = problem_of("cvrp")
    small.max_regions, small.max_size = 2, 4
    facts = Facts(small, cases, CallLimits(upper_call=7))
    tasks = [task(0, cases[0].baseline[0][:2]), task(1, cases[1].baseline[0][:3])]
    covered = facts.covered(tasks, [0, 1])
    total = sum(case.instance.size for case in cases)
    assert covered == 5 / total
    bounded = Facts(small, cases, CallLimits(upper_call=7, instance=4.5))
    [_, _, limit] = bounded.upper([0, 1], (), covered)
    assert limit.startswith("Limit of CPU time: 7 s an instance. All passes over an instance, with")
    assert " end after 4.5 s, so a quick proposal leaves time for more. A second is" in limit
    ideas = ["Near customers first.", "Far first. " * 50, "Any.", "None."]
    room, _, limit, last = facts.upper([0, 1], [program(idea) for idea in ideas], covered)
    held = sum(8 / case.instance.size for case in cases) / 2
    each = [f"{case.instance.size}/{len(case.baseline)}" for case in cases]
    assert f" routes, in their order {', '.join(each)}. max_groups is 2 and max_size is 4: " in room
    assert "in their order" not in facts.upper([0] * (EACH + 1), (), None)[0]
    assert f"hold {100 * held:.0f} % of the customers" in room
    assert room.endswith(f"learned on held {100 * covered:.0f} %.")
    assert limit.startswith("Limit of CPU time: 7 s an instance.")
    assert last.startswith(
        "Each proposal is rebuilt by one of these programs, chosen by its features:"
    )
    assert "Near customers first; Far first." in last
    assert last.endswith(f"Any; and {len(ideas) - IDEAS} more.")
    assert len(last) < 120 + IDEAS * IDEA
    *_, last = facts.upper([0, 1], [program(ideas[1])], covered)
    assert last.startswith("Each proposal is rebuilt by a program: Far first. Far first.")
    assert last.endswith(" ...")


def test_of_a_search_by_passes_its_insertions_are_told(cvrp):
    _, cases = cvrp
    problem = CVRP(repair="insertion", max_regions=3, repairs_per_customer=70)
    facts = Facts(problem, cases, CallLimits())
    # How much the lower programs' regions held says nothing of a search.
    [room, _, time, *_] = facts.upper([0, 1], (), 0.5)
    assert time == (
        "Limit of CPU time: 10 s an instance. 250 steps of its loops count as one insertion, so "
        "that all programs take equally long."
    )
    bounded = Facts(problem, cases, CallLimits(instance=4)).upper([0, 1], (), 0.5)
    assert bounded[2] == time  # such a search ends by its repairs
    low, high = sorted(case.instance.size for case in cases)
    mean = (low + high) / 2
    assert " A search makes 70 insertions for each of the customers, one for each in a " in room
    assert room.endswith(f" max_groups is 1, max_size {low} to {high} ({mean:.0f} on average).")
    [region, _, limit] = facts.lower([task(0, [1, 2, 3]), task(1, [4, 5])])
    assert region.endswith(" A program makes 70 insertions for each of the customers of a region.")
    assert f"which take about {70 * 5} calls" in limit


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_has_facts(name):
    problem = problem_of(name)
    case = make_case(problem, next(problem.generate("lower_train", 3)))
    facts = Facts(problem, [case], CallLimits())
    nodes = range(1, 5)
    region, *_ = facts.lower([task(0, nodes)])
    room, *_ = facts.upper([0], (), None)
    routes = bool(problem.routes(case.baseline))
    assert ("pieces of" in region) == routes
    assert ("customers" if routes else "nodes") in region
    assert ("routes" in room) == routes
    *_, regions, size = problem.operator.selector.contract.arguments
    assert f"{regions} is {problem.max_regions} and {size} is {problem.max_size}" in room


def test_nothing_is_told_without_cases(cvrp):
    problem, _ = cvrp
    facts = Facts(problem, (), CallLimits())
    assert facts.lower([task(0, [1, 2])]) == facts.upper([0], (), None) == []
    assert facts.covered([task(0, [1, 2])], [0]) is None


def test_failures_of_a_lower_program_are_told_by_kind():
    good, useless = Response(Outcome.OK, 10.0, 9.0, 2), Response(Outcome.OK, 10.0, 11.0, 1)
    failed = [Response(outcome, 10.0, None) for outcome in (Outcome.TIMEOUT, Outcome.CRASHED)]
    assert lower_result_facts([good, useless]) == (
        "it saves something on 1 of 2 regions, 3 of its choices were unavailable"
    )
    assert lower_result_facts([good, *failed, failed[0]]) == (
        "it saves something on 1 of 4 regions, fails on 1 (crashed), 2 (timeout), "
        "2 of its choices were unavailable"
    )


def test_the_score_of_an_upper_program_is_taken_apart():
    assert upper_result_facts(
        UpperResult(Outcome.OK, "", (0.02, 0.04), (0.0, 0.0), ((1.0,), (1.0,)))
    ) == ("it saves 3.000 % (by instance 2.0, 4.0), without penalties")
    assert upper_result_facts(
        UpperResult(Outcome.OK, "", (0.02, 0.0), (0.0, 0.01), ((1.0,), None))
    ) == (
        "it saves 1.000 % (by instance 2.0, 0.0), penalties take 0.500 points, nothing valid on 1 "
        "of 2 instances"
    )
    failed = UpperResult(
        Outcome.NOT_COMPILED, "x1: NotInLanguage:\na set", (0.0,), (0.01,), (None,)
    )
    assert upper_result_facts(failed) == (
        "it saves 0.000 %, penalties take 1.000 points, it fails (not compiled): x1: "
        "NotInLanguage: a set, nothing valid on 1 of 1 instances"
    )


def test_what_the_groups_of_an_upper_program_are_and_what_its_steps_take():
    work = Work(passes=100, groups=400, members=3240, kept=90, steps=50_000, repairs=2000)
    result = UpperResult(Outcome.OK, "", (0.02,), (0.0,), ((1.0,),), work=work)
    assert upper_result_facts(result) == (
        "it saves 2.000 %, without penalties, its groups have 8.1 members on average, 22 % of them "
        "are accepted, and it takes 500 steps a pass, 10 % of its time"
    )
    nothing = replace(result, work=work._replace(groups=0))
    assert "groups" not in upper_result_facts(nothing)


def test_how_far_an_upper_program_is_behind_the_best_is_told_with_its_standard_error():
    best = UpperResult(Outcome.OK, "", (0.05, 0.04, 0.06), (0.0,) * 3, ((1.0,),) * 3)
    other = UpperResult(Outcome.OK, "", (0.02, 0.04, 0.05), (0.0, 0.0, 0.02), ((1.0,),) * 3)
    # 3, 0 and 3 points: 2 on average, with a standard deviation of sqrt(3).
    assert upper_result_facts(other, best).startswith(
        "it saves 3.667 % (by instance 2.0, 4.0, 5.0), 2.00 +- 1.00 points less than the best, pen"
    )
    assert upper_result_facts(other, best).isascii()
    many = UpperResult(Outcome.OK, "", (0.02,) * (EACH + 1), (0.0,) * (EACH + 1), ())
    assert upper_result_facts(many) == "it saves 2.000 %, without penalties"
    failed = UpperResult(Outcome.TIMEOUT, "", (0.02, 0.0), (0.0, 0.01), ((1.0,), None))
    for alone in (
        upper_result_facts(best, best),
        upper_result_facts(best),
        upper_result_facts(failed, best),
    ):
        assert "+-" not in alone


def test_the_best_programs_idea_is_told_where_the_program_is_not_shown():
    best = Parent(program("Far first."), 0.05)
    assert request_context((), 0.01, best, {}).best_idea == "Far first."
    told = request_context((), 0.01, best, {best.program.id: "it saves 5 %"})
    assert (told.best, told.best_idea) == (0.05, "")
    assert request_context((), 0.01, None, {}) == Context((), 0.01)
