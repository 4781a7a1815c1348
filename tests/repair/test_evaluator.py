"""What a worker measures of real programs in a real sandbox."""

import json
from dataclasses import replace

import numpy as np
import pytest

from specahd.core.plain import parse_json
from specahd.core.program import Level, Outcome, Program
from specahd.core.settings import Accept, CallLimits, Penalty
from specahd.design.coupled import recorded_task
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import Incumbent, make_cases, share_arrays
from specahd.repair.evaluator import Evaluator, _Rebuilt
from specahd.repair.racing import FIRST, Race
from specahd.repair.responses import ResponseTable
from specahd.repair.router import ResponseArchive
from specahd.repair.system import RepairSystem
from specahd.routing.base import contracts
from specahd.runs.records import Task
from specahd.sandbox.session import Session

PROBLEM = CVRP(max_regions=8, max_size=50)
SEEDS = {level: contracts(PROBLEM.operator)[level].seed for level in Level}
LOWER = (
    "def select_next_node(current_node, depot, unvisited_nodes, rest_capacity, demands,"
    " distance_matrix):\n    "
)
INCUMBENTS = [Incumbent(0), Incumbent(1), Incumbent(2)]
UPPER = (
    "def generate_customer_groups(routes, coords, demands, capacity, distance_matrix,"
    " max_groups, max_size):\n    "
)


@pytest.fixture(scope="module")
def cases():
    instances = [x for x, _ in zip(PROBLEM.generate("upper_train", 2024), range(3), strict=False)]
    return make_cases(PROBLEM, instances)


@pytest.fixture(scope="module")
def evaluator(cases):
    limits = CallLimits(upper_call=0.5, lower_call=0.2, candidate=1.0)
    made = Evaluator(PROBLEM, cases, share_arrays(PROBLEM, cases), limits)
    yield made
    made.close()


@pytest.fixture(scope="module")
def tasks(evaluator):
    return evaluator.expose([SEEDS[Level.UPPER]], INCUMBENTS)


def lower(body, name="h"):
    return Program(name, Level.LOWER, LOWER + body + "\n", "", "i1", contract="append")


def upper(body):
    return Program("g", Level.UPPER, UPPER + body + "\n", "", "i1", contract="customer_groups")


def frozen(tasks, *programs):
    archive = ResponseArchive(PROBLEM.descriptor_names)
    archive.extend(ResponseTable(tasks))
    router = archive.router([program.id for program in programs], n_neighbors=5)
    return RepairSystem("-".join(p.id for p in programs), programs, router, Accept.FEASIBLE)


def test_a_group_in_another_order_is_the_same_task(evaluator, tasks):
    one, other = (
        evaluator.expose([upper(f"return [np.array({group})]")], INCUMBENTS[:1])
        for group in ([3, 1, 7], [7, 3, 1])
    )
    assert [task.region.nodes for task in (*one, *other)] == [(3, 1, 7), (7, 3, 1)]
    assert one[0].key == other[0].key
    assert len({task.key for task in (*one, *tasks)}) == len(tasks) + 1


def test_what_several_upper_programs_expose_alike_counts_once(evaluator, tasks):
    two = [
        upper("return [[3, 1, 7], [5, 9]]"),
        upper("return [[2, 6], [7, 3, 1], [1 // (0 * max_size)]]"),
    ]
    other = [upper("return [[3, 1, 7], [5, 9]]"), upper("return [[2, 6], [7, 3, 1]]")]
    assert [task.region.nodes for task in evaluator.expose(two, INCUMBENTS[:1])] == [
        (3, 1, 7),
        (5, 9),
    ]
    exposed = evaluator.expose(other, INCUMBENTS[:2])
    assert [(task.case, task.region.nodes) for task in exposed] == [
        (case, nodes) for case in (0, 1) for nodes in ((3, 1, 7), (5, 9), (2, 6))
    ]


def test_several_upper_programs_repair_in_turn(evaluator, tasks):
    one = upper("return [list(route)[:12] for route in routes[:4]]")
    other = replace(upper("return [[x for r in routes for x in r[-6:]][:max_size]]"), id="f")
    system = replace(frozen(tasks, SEEDS[Level.LOWER]), accept=Accept.IMPROVING, passes=8)
    repair = evaluator.repair([one, other], system, 0)
    assert (repair.outcome, {step.upper for step in repair.steps}) == (Outcome.OK, {"g", "f"})
    assert repair.passes > 2
    assert repair == replace(evaluator.repair([one, other], system, 0), seconds=repair.seconds)


def test_the_seed_answers_every_task(evaluator, tasks, cases):
    result = evaluator.respond(SEEDS[Level.LOWER], tasks)
    assert len(tasks) > 3
    assert (result.launched, result.outcome) == (True, Outcome.OK)
    for task, response in zip(tasks, result.responses, strict=True):
        assert response.outcome is Outcome.OK
        assert response.cost_before == cases[task.case].cost
        assert response.cost_merged is not None


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return None", Outcome.INVALID_OUTPUT),
        ("return True", Outcome.INVALID_OUTPUT),
        ("return unvisited_nodes * 1.0", Outcome.INVALID_OUTPUT),
        ("return []", Outcome.INVALID_OUTPUT),
        ("return 1 // 0", Outcome.CRASHED),
        ("demands[0] = 5", Outcome.CRASHED),
        ("return np.zeros((10**6, 10**6))", Outcome.OUT_OF_MEMORY),
    ],
)
def test_a_failing_program_scores_zero_on_every_task(evaluator, tasks, body, outcome):
    result = evaluator.respond(lower(body), tasks)
    assert result.launched
    assert result.outcome is outcome
    assert {response.score for response in result.responses} == {0.0}
    assert {response.cost_merged for response in result.responses} == {None}


def test_an_endless_program_uses_up_its_own_time_only(evaluator, tasks):
    result = evaluator.respond(lower("while True:\n        pass"), tasks)
    assert result.outcome is Outcome.TIMEOUT
    assert len(result.responses) == len(tasks)
    assert evaluator.respond(SEEDS[Level.LOWER], tasks).outcome is Outcome.OK


def test_a_small_region_has_less_time(cases, tasks):
    slow = lower("for _ in range(3_000_000):\n        pass\n    return int(unvisited_nodes[0])")
    limits = CallLimits(lower_call=60.0, lower_node=0.001)
    made = Evaluator(PROBLEM, cases, share_arrays(PROBLEM, cases), limits)
    try:
        response = made.respond(slow, tasks[:1]).responses[0]
        assert response.outcome is Outcome.TIMEOUT
        repair = made.repair([SEEDS[Level.UPPER]], frozen(tasks, slow), 0)
        assert {step.outcome for step in repair.steps} == {Outcome.TIMEOUT}
    finally:
        made.close()


def test_an_instance_has_seconds_of_its_own(evaluator, cases, tasks):
    one = upper("return [list(route)[:12] for route in routes[:4]]")
    other = replace(upper("return [[x for r in routes for x in r[-6:]][:max_size]]"), id="f")
    slow = lower("for _ in range(100_000):\n        pass\n    return int(unvisited_nodes[-1])")
    system = replace(frozen(tasks, slow), accept=Accept.FEASIBLE, passes=3)
    made = Evaluator(PROBLEM, cases, share_arrays(PROBLEM, cases), CallLimits(instance=0.001))
    try:
        repair = made.repair([one, other], system, 0)
    finally:
        made.close()
    # One rebuild takes longer than a millisecond.
    assert (repair.outcome, repair.passes, len(repair.steps)) == (Outcome.OK, 1, 1)
    assert evaluator.repair([one, other], system, 0).passes > 1


def test_a_program_ends_after_three_timeouts_in_a_row(evaluator, tasks):
    by_size = sorted(tasks, key=lambda task: len(task.region.nodes))
    sizes = [len(task.region.nodes) for task in by_size]
    small = sum(size < sizes[-3] for size in sizes)
    assert small > 0
    endless = f"while len(unvisited_nodes) >= {sizes[-3]}:\n        pass\n    return -7"
    result = evaluator.respond(lower(endless), [*by_size, *by_size[:3]])
    outcomes = [response.outcome for response in result.responses]
    assert outcomes == [Outcome.OK] * small + [Outcome.TIMEOUT] * (len(sizes) - small + 3)
    # The whole is ok, since tasks were answered, and says why others were not.
    assert (result.outcome, result.detail) == (
        Outcome.OK,
        "3 timeouts in a row; its other calls were not made",
    )


def test_unavailable_answers_fall_back_and_are_counted(evaluator, tasks):
    result = evaluator.respond(lower("return -7"), tasks)
    nearest = evaluator.respond(SEEDS[Level.LOWER], tasks)
    assert result.outcome is Outcome.OK
    for task, response, same in zip(tasks, result.responses, nearest.responses, strict=True):
        assert response.fallbacks == len(task.region.nodes)
        # The fallback is the nearest feasible customer: the seed's own rule.
        assert response.cost_merged == same.cost_merged


def test_what_does_not_launch_is_discarded(evaluator, tasks):
    broken = Program(
        "h", Level.LOWER, "def another():\n    return 1\n", "", "i1", contract="append"
    )
    result = evaluator.respond(broken, tasks)
    assert (result.launched, result.outcome) == (False, Outcome.LAUNCH_FAILED)


def test_a_race_stops_a_bad_candidate_and_leaves_the_row_of_another_as_it_is(evaluator, tasks):
    some = (tasks * FIRST)[: 2 * FIRST + 1]
    order = list(range(len(some)))[::-1]
    whole = evaluator.respond(SEEDS[Level.LOWER], some)
    kept = np.array([[response.score for response in whole.responses]])
    race = Race.against(kept, 0 * kept, beta=0.5, budget=1, size=1, order=order)
    assert evaluator.respond(SEEDS[Level.LOWER], some, race) == whole
    bad = lower("return int(unvisited_nodes[-1])")
    assert (np.array([one.score for one in evaluator.respond(bad, some).responses]) == 0).any()
    high = Race.against(kept + 1, 0 * kept, beta=0.5, budget=1, size=1, order=order)
    result = evaluator.respond(bad, some, high)
    assert (result.outcome, result.tried, result.responses) == (Outcome.STOPPED, FIRST, ())
    assert result.detail.startswith(f"stopped after {FIRST} of {len(some)} tasks")
    # What fails on each task fails, and is not kept either.
    result = evaluator.respond(lower("while True:\n        pass"), some, high)
    assert (result.launched, result.outcome, result.tried) == (False, Outcome.TIMEOUT, None)


def test_a_race_stops_an_upper_candidate_too(evaluator, tasks):
    system = frozen(tasks, SEEDS[Level.LOWER])
    some = (INCUMBENTS * FIRST)[: FIRST + 1]
    order = [*range(1, len(some)), 0]
    ends = upper("return [[x for r in routes for x in r[-6:]][:max_size]]")
    arguments = ends, system, some, Penalty()
    whole = evaluator.utility(*arguments)
    assert len(set(whole.utilities)) > 1
    low = Race.to_beat(np.array(whole.scores) - 1, order)
    assert evaluator.utility(*arguments, low) == whole
    result = evaluator.utility(*arguments, Race.to_beat(np.array(whole.scores) + 1, order))
    assert (result.outcome, result.tried, result.scores) == (Outcome.STOPPED, FIRST, ())


def test_a_rebuild_is_made_once_and_again_where_there_is_no_room(evaluator, tasks, monkeypatch):
    system = frozen(tasks, lower("return int(unvisited_nodes[len(unvisited_nodes) // 2])", "mid"))
    made = []

    class Counted(Session):
        def call_many(self, calls):
            made.extend(call.instance for call in calls)
            return super().call_many(calls)

    monkeypatch.setattr("specahd.sandbox.session.Session", Counted)
    first = evaluator.repair([SEEDS[Level.UPPER]], system, 0)
    rebuilt = len(first.steps)
    assert (rebuilt > 1, len(made)) == (True, 1 + rebuilt)
    again = evaluator.repair([SEEDS[Level.UPPER]], replace(system, key="other"), 0)
    assert (again, len(made)) == (replace(first, seconds=again.seconds), 2 + rebuilt)
    # The same customers of another instance, and the same program of another system.
    evaluator.repair([upper("return [[1, 2, 3]]")], system, 0)
    evaluator.repair([upper("return [[1, 2, 3]]")], system, 1)
    assert made[-4:] == [0, 0, 1, 1]
    monkeypatch.setattr(evaluator, "_rebuilt", _Rebuilt(0))
    before = len(made)
    for _ in range(2):
        evaluator.repair([upper("return [[1, 2, 3]]")], system, 0)
    assert len(made) == before + 4


def test_an_upper_program_that_fails_once_leaves_the_ranking(evaluator, tasks):
    body = "return [list(r) for r in routes] if len(coords) != %d else 1 // 0"
    size = evaluator._cases[1].instance.size + 1
    result = evaluator.utility(
        upper(body % size), frozen(tasks, SEEDS[Level.LOWER]), INCUMBENTS, Penalty()
    )
    assert result.outcome is Outcome.CRASHED
    assert len(result.utilities) == 1
    assert evaluator._cases[1].instance.name in result.detail


@pytest.mark.parametrize("body", ["return []", "return 5", "return [[0], ['a']]"])
def test_no_region_is_a_penalty_not_a_failure(evaluator, tasks, body):
    result = evaluator.utility(
        upper(body), frozen(tasks, SEEDS[Level.LOWER]), INCUMBENTS, Penalty()
    )
    assert result.outcome is Outcome.OK
    assert result.utilities == (0.0, 0.0, 0.0)
    assert all(penalty >= 0.01 for penalty in result.penalties)


def test_another_system_has_another_repertoire_and_the_same_repeats_itself(evaluator, tasks):
    nearest = frozen(tasks, SEEDS[Level.LOWER])
    farthest = frozen(tasks, lower("return int(unvisited_nodes[-1])", "last"))
    first = evaluator.repair([SEEDS[Level.UPPER]], nearest, 0)
    other = evaluator.repair([SEEDS[Level.UPPER]], farthest, 0)
    assert {step.program for step in other.steps} == {"last"}
    assert other.cost != first.cost
    again = evaluator.repair([SEEDS[Level.UPPER]], nearest, 0)
    assert again == replace(first, seconds=again.seconds)


def test_regions_of_another_solution_are_rebuilt_and_priced_there(evaluator, cases):
    case = cases[0]
    alone = tuple((customer,) for customer in range(1, case.instance.size + 1))
    there = Incumbent(0, alone)
    cost = PROBLEM.cost(case.instance, alone)
    assert cost > case.cost
    group = [upper("return [np.arange(1, 9)]")]
    [task] = evaluator.expose(group, [there])
    [before] = evaluator.expose(group, [Incumbent(0)])
    assert (task.incumbent, task.region) == (there, before.region)
    assert task.key != before.key
    assert task.descriptor != before.descriptor
    assert recorded_task(parse_json(json.dumps(task.record()), Task)) == task
    assert "solution" not in before.record()
    result = evaluator.respond(SEEDS[Level.LOWER], [task, before])
    assert [response.cost_before for response in result.responses] == [cost, case.cost]
    system = frozen([task, before], SEEDS[Level.LOWER])
    [gain] = evaluator.utility(*group, system, [there], Penalty()).utilities
    assert gain == pytest.approx(result.responses[0].score)
    assert gain > 0
