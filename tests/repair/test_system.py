"""The one-pass pipeline: feasible after any program, and scored as the paper says."""

import itertools
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from specahd.core.errors import FileError, FileWarning, NotEnoughMemory
from specahd.core.program import Level, Outcome, Program
from specahd.core.settings import Accept, Penalty
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.tsp.problem import TSP
from specahd.repair.cases import Case, InfeasibleBaseline, case_of_file, make_case, share_arrays
from specahd.repair.passes import _Passes, repair_case
from specahd.repair.router import Router
from specahd.repair.system import Repair, RepairSystem, Step
from specahd.routing.base import Region
from specahd.routing.geometry import Convention
from specahd.sandbox.session import Result

PROBLEM = CVRP(max_regions=4, max_size=12)
INSTANCE = next(iter(PROBLEM.generate("upper_train", 2024)))
CASE = make_case(PROBLEM, INSTANCE)
SIZE = INSTANCE.size


def system(accept, members=2):
    width = len(PROBLEM.descriptor_names)
    router = Router(
        np.zeros((1, width)),
        np.zeros((1, members)),
        mean=np.zeros(width),
        scale=np.ones(width),
        n_neighbors=5,
    )
    programs = tuple(
        Program(f"h{k}", Level.LOWER, "", "", "i1", contract="append") for k in range(members)
    )
    return RepairSystem("test", programs, router, accept)


def integers(values):
    return np.array(values, dtype=np.int64)


def ok(*arrays):
    return Result(Outcome.OK, tuple(integers(array) for array in arrays), "", 0.0)


NODES = st.lists(st.integers(-2, SIZE + 2), max_size=14)
GROUPS = st.lists(NODES, max_size=7)
FAILURES = st.sampled_from(
    [Result(outcome, (), "no", 0.0) for outcome in (Outcome.CRASHED, Outcome.TIMEOUT)]
)
# Rebuilt routes of local indices: plausible permutations, and anything at all.
REBUILT = st.one_of(
    FAILURES,
    st.lists(st.integers(-1, 14), max_size=40).map(ok),
    st.permutations(range(13)).map(ok),
    st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=4).map(lambda a: ok(*a)),
)


def test_the_time_of_a_pass_is_without_what_is_compiled_in_it():
    compiling = 0.0

    def propose(inputs):
        nonlocal compiling
        began = time.perf_counter()
        # New, so that it is in no cache.
        njit(lambda values: values.sum() + values.mean())(np.arange(3.0))
        compiling = time.perf_counter() - began
        return ok([2], [1, 2])

    repair = repair_case(
        PROBLEM, CASE, system(Accept.IMPROVING), {"g": propose}, lambda m, *_: [ok([1, 2])]
    )
    assert 0 <= repair.seconds["propose"] < 0.5 * compiling


@settings(max_examples=60, deadline=None)
@given(
    st.lists(GROUPS, min_size=1, max_size=3),
    st.lists(REBUILT, min_size=4, max_size=4),
    st.sampled_from(Accept),
    st.sampled_from([(1, 1), (7, 2)]),
)
def test_any_program_leaves_a_feasible_solution(uppers, rebuilt, accept, repeated):
    passes, tries = repeated

    def proposer(groups):
        lengths = [len(group) for group in groups]
        values = [node for group in groups for node in group]
        return lambda inputs: ok(lengths, values)

    answers = itertools.cycle(rebuilt)
    repair = repair_case(
        PROBLEM,
        CASE,
        replace(system(accept), passes=passes, tries=tries),
        {f"g{index}": proposer(groups) for index, groups in enumerate(uppers)},
        lambda m, *_: list(itertools.islice(answers, len(m))),
    )
    assert PROBLEM.check(INSTANCE, repair.solution) == ()
    assert repair.cost == PROBLEM.cost(INSTANCE, repair.solution)
    if accept is Accept.IMPROVING:
        assert repair.cost <= CASE.cost
    assert 1 <= repair.passes <= passes
    for number in {step.number for step in repair.steps}:
        supports = [set(step.region.nodes) for step in repair.steps if step.number == number]
        assert len(supports) <= 4
        assert sum(map(len, supports)) == len(set().union(*supports))


NEW_AGAIN = {
    "in another order": (PROBLEM, (3, 1), ((3, 4), (5, 6), (1, 2)), False),
    "where another route changed": (PROBLEM, (1, 3), ((1, 2), (3, 4), (6,), (5,)), False),
    "where its route changed": (PROBLEM, (1, 3), ((1,), (3, 4), (5, 6, 2)), True),
    "with another customer": (PROBLEM, (1, 4), ((1, 2), (3, 4), (5, 6)), True),
    "where the tour changed elsewhere": (TSP(), (1, 2, 3, 4), (5, 0, 1, 2, 3, 4), False),
    "where the tour changed there": (TSP(), (1, 3, 2, 4), (0, 1, 3, 2, 4, 5), True),
}


@pytest.mark.parametrize("where", NEW_AGAIN)
def test_a_region_is_new_again_where_what_a_merge_changes_is_another(where):
    problem, nodes, solution, new = NEW_AGAIN[where]
    case = Case(None, None, 1.0, "none")
    passes = _Passes(problem, case, replace(system(Accept.IMPROVING), passes=2), None, None)
    if problem is PROBLEM:
        assert passes._is_new(((1, 2), (3, 4), (5, 6)), Region((1, 3)))
    else:
        assert passes._is_new((0, 1, 2, 3, 4, 5), Region((1, 2, 3, 4)))
    assert passes._is_new(solution, Region(nodes)) is new
    assert not passes._is_new(solution, Region(nodes))


def repaired(steps, proposed, outcome=Outcome.OK):
    made = tuple(Step(Region((1, 2)), (0.0,), "h", o, 1.0, None, False, 0) for o in steps)
    return Repair(outcome, "", 100.0, 90.0, (), proposed, (), made, {})


def test_the_penalty_by_hand():
    weights = Penalty(weight=2.0)
    assert repaired([], 0).penalty(weights) == pytest.approx(2 * 0.01)
    assert repaired([], 4).penalty(weights) == pytest.approx(2 * (0.01 + 0.005))
    steps = [Outcome.OK, Outcome.OK, Outcome.INFEASIBLE_MERGE, Outcome.TIMEOUT]
    assert repaired(steps, 5).penalty(weights) == pytest.approx(2 * (0.005 / 5 + 0.005 / 2))
    assert repaired(steps, 5).improvement == pytest.approx(0.1)


def test_a_baseline_must_be_feasible():
    class Careless(CVRP):
        def baseline(self, instance, name=None):
            return CASE.baseline[1:]

    with pytest.raises(InfeasibleBaseline, match=INSTANCE.name):
        make_case(Careless(), INSTANCE)


def test_a_file_may_hold_the_incumbent(tmp_path):
    path = tmp_path / "mine.sol"
    path.write_text(PROBLEM.solution_files("x", CASE.baseline, CASE.cost)[".sol"])
    case = case_of_file(PROBLEM, INSTANCE, path)
    assert (case.baseline, case.cost, case.source) == (CASE.baseline, CASE.cost, "mine.sol")
    path.write_text(PROBLEM.solution_files("x", CASE.baseline[1:], CASE.cost)[".sol"])
    with pytest.raises(FileError, match=r"mine.sol does not solve .*is not visited"):
        case_of_file(PROBLEM, INSTANCE, path)


def test_an_incumbent_that_states_another_cost_gets_a_warning(tmp_path):
    path = tmp_path / "mine.sol"
    for wrong in (0.02, -0.02):
        text = PROBLEM.solution_files("x", CASE.baseline, CASE.cost + wrong)[".sol"]
        path.write_text(text)
        with pytest.warns(FileWarning) as told:
            assert case_of_file(PROBLEM, INSTANCE, path).cost == CASE.cost
        [warning] = told
        words = f"{path}: states the cost {CASE.cost + wrong:.10g}, but costs {CASE.cost:.10g}"
        assert str(warning.message).startswith(words)
    with warnings.catch_warnings(action="error", category=FileWarning):
        for cost in (f"Cost {CASE.cost + 0.004}\n", ""):
            path.write_text(text[: text.index("Cost")] + cost)
            case_of_file(PROBLEM, INSTANCE, path)


def test_instances_whose_matrix_would_not_fit_are_refused_before_any_work():
    nodes = 1_000_000
    coords = np.arange(2.0 * nodes).reshape(nodes, 2)
    huge = replace(
        INSTANCE,
        name="huge",
        coords=coords,
        demands=np.arange(nodes) % 2,
        convention=Convention.EXPLICIT,
        # Of one number: the test itself must not need the memory.
        matrix=np.broadcast_to(np.ones(()), (nodes, nodes)),
    )
    with pytest.raises(NotEnoughMemory, match=r"arrays of huge need 7,450\.6 GiB"):
        make_case(PROBLEM, huge)
    with pytest.raises(NotEnoughMemory, match=r"arrays of huge need 7,450\.6 GiB"):
        case_of_file(PROBLEM, huge, Path("unread.sol"))
    with pytest.raises(NotEnoughMemory, match=r"huge has the largest\) need 7,450\.6 GiB"):
        share_arrays(PROBLEM, [CASE, replace(CASE, instance=huge)])
