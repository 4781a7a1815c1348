"""What every repair operator keeps: regions, their descriptors, and what is merged of a rebuild."""

import dataclasses
import functools
import importlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cases import problem_of, smallest

from offered import OFFERED, PROBLEMS, REGIONAL, arrays_of
from specahd.core.program import Level, Outcome, Program
from specahd.core.settings import Accept
from specahd.programs.guard import guard
from specahd.repair.passes import _Passes, repair_case, single_pass
from specahd.repair.router import Router
from specahd.repair.system import RepairSystem
from specahd.routing.base import Region, contracts
from specahd.routing.geometry import Convention
from specahd.sandbox.calls import Result

OPERATORS = pytest.mark.parametrize(
    "name",
    [
        # Its programs run in the engine, which is compiled for each problem.
        pytest.param(name, marks=pytest.mark.integration if name.endswith("-insertion") else ())
        for name in REGIONAL
    ],
)
"""Of tests that concern an operator whose regions are chosen; test_construct has the other."""
DESCRIBED = pytest.mark.parametrize(
    "name",
    [
        name
        for name in OFFERED
        if name in PROBLEMS
        or problem_of(name).descriptor_names != problem_of(name.split("-")[0]).descriptor_names
    ],
)
"""Of tests that concern descriptors, where an operator has some of its own."""


# Regions: parts of those that the seed program proposes.


def seed_runner(problem, level, instance, seed=None):
    """Return a runner with a seed program of a level: from inputs to what it returns."""
    contract = contracts(problem.operator)[level]
    run, program = seed_program(contract.runner, contract.name, (seed or contract.seed).source)
    return functools.partial(run, program, arrays_of(problem, instance))


@functools.cache
def seed_program(runner, name, source):
    """Return a runner and what it calls for a program."""
    module, _, attribute = runner.partition(":")
    run = getattr(importlib.import_module(module), attribute)
    scope = {"np": np, "math": math}
    exec(source, scope)
    translate = getattr(run, "translate", None)
    return run, translate(source, name) if translate else scope[name]


def proposals(problem, case, size):
    """Return what an upper runner returns of a program that proposes small regions."""
    run = seed_runner(problem, Level.UPPER, case.instance)
    lengths, values = run(problem.operator.selector.inputs(case.instance, case.baseline)).arrays
    groups = np.split(values, np.cumsum(lengths)[:-1])
    parts = [g[start : start + size] for g in groups for start in range(0, len(g), size)]
    return [np.array([len(part) for part in parts]), np.concatenate(parts)]


def regions(problem, case, size=6):
    found = problem.operator.selector.validate(
        case.instance, case.baseline, proposals(problem, case, size)
    ).regions
    assert found
    return found


def moved(instance, turn, scale, shift):
    """Return an instance turned, scaled (times alike) and shifted, with unrounded distances."""
    axes = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    changes = {
        "coords": scale * instance.coords @ axes.T + shift,
        "convention": Convention.EXACT_2D,
    }
    windows = getattr(instance, "windows", None)
    if windows is not None:
        changes["windows"] = windows.changed(lambda times: scale * times)
    return dataclasses.replace(instance, **changes)


@DESCRIBED
def test_descriptors_say_nothing_of_place_direction_and_scale(name, problem):
    case = smallest(name)
    assert 8 <= len(problem.descriptor_names) <= 16
    assert len(set(problem.descriptor_names)) == len(problem.descriptor_names)
    plain = moved(case.instance, 0.0, 1.0, 0.0)
    ways = ((0, 1, (130.0, -70.0)), (0.7, 1, 0), (0, 0.37, 0), (2, 9, 50))
    others = [moved(plain, *way) for way in ways]
    # An upper program is chosen by the descriptor of all nodes.
    whole = Region(tuple(range(1, len(plain.coords))))
    for region in (*regions(problem, case), whole):
        known = problem.describe(plain, case.baseline, region)
        assert known.shape == (len(problem.descriptor_names),)
        assert known.dtype == np.float64
        assert np.isfinite(known).all()
        for other in others:
            found = problem.describe(other, case.baseline, region)
            np.testing.assert_allclose(found, known, rtol=1e-6, atol=1e-8)


@DESCRIBED
def test_descriptors_tell_regions_apart(name, problem):
    case = smallest(name)
    rows = [problem.describe(case.instance, case.baseline, r) for r in regions(problem, case, 4)]
    assert len(rows) == len({row.tobytes() for row in rows})


NUMBERS = st.one_of(
    st.integers(-3, 260), st.sampled_from([-(2**63), 2**63 - 1, -1, 0, 10**6, 2**31])
)
VECTORS = st.lists(NUMBERS, max_size=30).map(lambda values: np.array(values, np.int64))
OTHERS = st.sampled_from(
    [np.zeros((2, 2), np.int64), np.array(3), np.array([0.5, math.nan]), np.zeros(2, np.int32)]
)
ANYTHING = st.lists(st.one_of(VECTORS, OTHERS), max_size=4)
GROUPS = st.lists(st.lists(NUMBERS, max_size=12), max_size=12).map(
    lambda groups: [
        np.array([len(group) for group in groups], np.int64),
        np.array([node for group in groups for node in group], np.int64),
    ]
)


@OPERATORS
@settings(max_examples=60)
@given(st.one_of(ANYTHING, GROUPS))
def test_the_validator_takes_anything(name, output):
    problem, case = problem_of(name), smallest(name)
    known = set(np.concatenate(problem.operator.selector.inputs(case.instance, case.baseline)))
    found = problem.operator.selector.validate(case.instance, case.baseline, output)
    assert found.proposed == len(found.regions) + len(found.rejections)
    assert all(rejection.reason for rejection in found.rejections)
    assert len(found.regions) <= problem.max_regions
    for region in found.regions:
        assert isinstance(region, Region)
        assert 2 <= len(set(region.nodes)) == len(region.nodes) <= problem.max_size
        assert set(region.nodes) <= known
        assert {type(node) for node in region.nodes} == {int}


def frozen(problem, members=1, accept=Accept.FEASIBLE, **options):
    width = len(problem.descriptor_names)
    router = Router(
        np.zeros((1, width)), np.zeros((1, members)), mean=np.zeros(width), scale=np.ones(width),
        n_neighbors=5,
    )  # fmt: skip
    programs = [
        Program(f"h{member}", Level.LOWER, "", "", "i1", contract="append")
        for member in range(members)
    ]
    return RepairSystem("test", tuple(programs), router, accept, **options)


@OPERATORS
def test_regions_are_identified_by_what_a_rebuild_sees(name, problem):
    case = smallest(name)
    operator = problem.operator

    def inputs(region):
        given = operator.inputs(case.instance, case.baseline, region)
        return [array.tolist() for array in given]

    alike = []
    for region, other in itertools.pairwise(regions(problem, case)):
        assert operator.identity(region) != operator.identity(other)
        for nodes in itertools.permutations(region.nodes[:4]):
            turned = Region((*nodes, *region.nodes[4:]))
            same = inputs(turned) == inputs(region)
            assert (operator.identity(turned) == operator.identity(region)) == same
            alike.append(same)
    # Of all orders of four nodes one is the same at least.
    assert sum(alike) >= len(alike) / 24
    # A file may hold any nodes.
    assert len({operator.identity(Region(nodes)) for nodes in ((), (1,), (1, 2))}) == 3


# Local indices of a region of six in the shapes that runners return, anything at all, and
# now and then what the seed program answers.
LOCAL = st.lists(st.integers(-1, 7), max_size=12).map(lambda values: np.array(values, np.int64))
ORDERS = st.permutations(range(1, 7)).map(lambda values: np.array(values, np.int64))
REBUILT = st.one_of(
    ANYTHING,
    st.tuples(st.one_of(LOCAL, ORDERS, ORDERS.map(lambda order: order[order < 5]))),
    st.tuples(ORDERS, st.one_of(VECTORS, LOCAL)),
    st.none(),
)


def repaired(problem, case, rebuilt):
    """Run one pass in which rebuilds answer these outputs in turn, None as the seed does."""
    proposed = Result(Outcome.OK, tuple(proposals(problem, case, 6)))
    honest = seed_runner(problem, Level.LOWER, case.instance)
    outputs = itertools.cycle(rebuilt)

    def rebuild(members, inputs, _nodes):
        return [
            Result(Outcome.OK, tuple(honest(inputs).arrays if output is None else output))
            for output in itertools.islice(outputs, len(members))
        ]

    return repair_case(problem, case, frozen(problem), {"g": lambda inputs: proposed}, rebuild)


@OPERATORS
@settings(max_examples=60)
@given(st.lists(REBUILT, min_size=1, max_size=4))
def test_no_answer_makes_a_solution_infeasible(name, rebuilt):
    problem, case = problem_of(name), smallest(name)
    repair = repaired(problem, case, rebuilt)
    assert repair.steps
    assert problem.check(case.instance, repair.solution) == ()
    assert repair.cost == problem.cost(case.instance, repair.solution)


@OPERATORS
def test_an_honest_answer_is_merged(name, problem):
    steps = repaired(problem, smallest(name), [None]).steps
    assert steps
    assert all(step.outcome is Outcome.OK and step.accepted for step in steps)


MEMBERS = 6


def in_passes(problem, case):
    """Make many passes with upper programs in turn, and members that answer equal inputs alike."""
    runners = [seed_runner(problem, level, case.instance) for level in (Level.UPPER, Level.LOWER)]
    regions_of, honest = runners

    def proposed(inputs, fixed):
        answer = proposals(problem, case, 6) if fixed else regions_of(inputs).arrays
        return Result(Outcome.OK, tuple(answer))

    def rebuilt(member, inputs):
        answer = honest(inputs).arrays
        if member:
            drawn = np.random.default_rng([member, *np.concatenate(inputs).tolist()])
            order = drawn.permutation(len(answer[0]))
            answer = [array[order] for array in answer]
        return Result(Outcome.OK, tuple(answer))

    def rebuild(members, inputs, _nodes):
        return [rebuilt(member, inputs) for member in members]

    return repair_case(
        problem,
        case,
        frozen(problem, MEMBERS, Accept.IMPROVING, passes=20, tries=MEMBERS),
        # Each comes again before the solution has changed everywhere.
        {
            name: lambda inputs, fixed=name < "s": proposed(inputs, fixed)
            for name in ("fixed", "fixed again", "seed", "seed again")
        },
        rebuild,
    )


@pytest.mark.parametrize(
    "name", [n for n in REGIONAL if single_pass(problem_of(n), portfolio=False) is None]
)
def test_what_is_not_tried_again_would_have_gained_nothing(name, problem, monkeypatch):
    case = smallest(name)
    # One that leaves much to gain, where there is one.
    dear = problem.trivial_solution(case.instance) or case.baseline
    case = dataclasses.replace(case, baseline=dear, cost=problem.cost(case.instance, dear))
    once = in_passes(problem, case)
    monkeypatch.setattr(_Passes, "_is_new", lambda *_: True)
    again = in_passes(problem, case)
    assert once.skipped > 0 == again.skipped
    assert (once.solution, once.cost, once.passes) == (again.solution, again.cost, again.passes)
    assert once.passes > 2
    assert problem.check(case.instance, once.solution) == ()


@OPERATORS
def test_varied_programs_propose_regions_of_any_size_none_of_which_is_rejected(name, problem):
    case, contract = smallest(name), contracts(problem.operator)[Level.UPPER]
    *solution, _ = problem.operator.selector.inputs(case.instance, case.baseline)
    # Those of conf/problem have some, where programs rebuild regions once.
    assert bool(contract.varied) == (name in PROBLEMS)
    for program in contract.varied:
        assert guard(program.source, contract.name, contract.arguments) is None
        run = seed_runner(problem, Level.UPPER, case.instance, program)
        for count, size in ((1, 5), (3, 12), (16, 50), (16, case.instance.size)):
            answer = run((*solution, np.array([count, size]))).arrays
            selector = dataclasses.replace(
                problem.operator.selector, max_regions=count, max_size=size
            )
            found = selector.validate(case.instance, case.baseline, answer)
            # A delivery may name a customer twice, and a single one may be left over.
            assert {rejection.reason for rejection in found.rejections} <= {"empty"}, program.id
            assert found.regions, program.id
