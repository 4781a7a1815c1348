"""Distances that are computed where they are needed, against those of a matrix."""

import contextlib
import dataclasses
import functools
import importlib
import math
import tracemalloc

import numpy as np
import pytest

from offered import PROBLEMS, contract_of, problem
from specahd.core.contract import Request
from specahd.core.program import Level, Outcome, Program
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import INITIAL
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.vrptw.baseline import insertion
from specahd.repair.cases import make_case, make_cases, share_arrays
from specahd.repair.evaluator import CallLimits, Evaluator
from specahd.repair.merge import Accept
from specahd.repair.passes import repair_case
from specahd.repair.router import Router
from specahd.repair.system import RepairSystem
from specahd.routing import append, distances
from specahd.routing.distances import ComputedDistances, NoWholeMatrix
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention
from specahd.routing.kernels.distances import distances_of, fill_distance_matrix, leg_length
from specahd.sandbox.session import Result
from specahd.sandbox.shared_arrays import block_size

MEASURED = [convention for convention in Convention if convention is not Convention.EXPLICIT]
SIZE = 40


def points(convention, size=SIZE):
    """Return places of which some are shared, in degrees and minutes where those are asked for."""
    rng = np.random.default_rng(7)
    if convention is Convention.GEO:
        return rng.integers(-80, 80, (size, 2)) + rng.integers(0, 60, (size, 2)) / 100
    places = rng.integers(0, 25, (size, 2)) * 1.5
    places[::2] /= 7
    return places


def both(convention):
    coords = points(convention)
    matrix = np.empty((SIZE, SIZE))
    fill_distance_matrix(coords, convention, matrix)
    return matrix, ComputedDistances(coords, coords, convention)


SOME = np.array([3, 0, 17, 17, -1])
MASK = np.arange(SIZE) % 3 == 0
KEYS = {
    "number": 5,
    "last": -1,
    "pair": (5, 17),
    "nodes": SOME,
    "list": [1, 2],
    "nodes of nodes": SOME[:, None] + np.arange(3),
    "mask": MASK,
    "slice": slice(2, 30, 5),
    "none": slice(0, 0),
    "pairs": (SOME, SOME[::-1]),
    "crossed": (SOME[:, None], SOME),
    "crossed by numpy": np.ix_(SOME, SOME[:2]),
    "row of nodes": (4, SOME),
    "column": (slice(None), 4),
    "columns": (slice(None), SOME),
    "columns of columns": (slice(3, 9), SOME[:, None] + np.arange(3)),
    "rows up to": (SOME, slice(1, None)),
    "rows of rows up to": (SOME[:, None] + np.arange(3), slice(1, None)),
    "block": (slice(1, None), slice(None, None, 2)),
    "rest of a row": (4, slice(1, None)),
    "rows as a tuple": (SOME,),
}


@pytest.mark.parametrize("convention", MEASURED)
def test_every_part_is_that_of_the_matrix(convention):
    matrix, computed = both(convention)
    for name, key in KEYS.items():
        part = computed[key]
        assert type(part) is type(matrix[key]), name
        np.testing.assert_array_equal(part, matrix[key], err_msg=name, strict=True)
    np.testing.assert_array_equal(list(computed), matrix)
    np.testing.assert_array_equal(computed.T[SOME], matrix.T[SOME])
    assert (len(computed), computed.shape, computed.size) == (SIZE, matrix.shape, matrix.size)
    with pytest.raises(IndexError):
        computed[SIZE]


@pytest.mark.parametrize("convention", MEASURED)
def test_kernels_and_regions_have_the_same_distances(convention):
    matrix, computed = both(convention)
    coords = points(convention)
    kinds = (distances_of(coords, convention, None), distances_of(coords, convention, matrix))
    for start, end in [(0, 0), (3, 17), (39, 2)]:
        assert {leg_length(kind, start, end) for kind in kinds} == {matrix[start, end]}
    cut = append.local_distances
    np.testing.assert_array_equal(cut(computed, SOME[:4]), cut(matrix, SOME[:4]), strict=True)


def test_parts_too_large_for_one_array_read_like_the_matrix_again(monkeypatch):
    matrix, computed = both(Convention.EUC_2D)
    monkeypatch.setattr(distances, "_MOST_ENTRIES", SIZE * 8)
    inner, rows = computed[1:, 1:], computed[MASK]
    assert isinstance(inner, ComputedDistances)
    assert isinstance(rows, ComputedDistances)
    np.testing.assert_array_equal(inner[SOME, 3:], matrix[1:, 1:][SOME, 3:])
    np.testing.assert_array_equal(rows[:, MASK], matrix[MASK][:, MASK])
    assert isinstance(computed[:8], np.ndarray)
    for key in [np.ix_(MASK, MASK | True), (np.arange(SIZE)[:, None], np.arange(SIZE))]:
        with pytest.raises(NoWholeMatrix, match="distance_matrix of 40 nodes is too large"):
            computed[key]


@pytest.mark.parametrize(
    "whole",
    [
        lambda d: d + 1.0,
        lambda d: np.ones(SIZE) * d,
        lambda d: d < 3,
        lambda d: np.argsort(d, axis=1),
        lambda d: np.asarray(d),
        lambda d: np.sqrt(d),
        lambda d: d.mean(),
        lambda d: d.argsort(axis=1),
    ],
)
def test_whatever_takes_the_whole_is_told_so(whole):
    _, computed = both(Convention.EUC_2D)
    with pytest.raises(NoWholeMatrix, match="expected a program that takes rows"):
        whole(computed)


@functools.cache
def programs(name, level, count=8):
    """Return programs of the offline proposer as functions."""
    contract, proposer = contract_of(name, level), OfflineProposer()
    made = []
    for index in range(count):
        request = Request(contract, 3, level, 0, index, INITIAL)
        source, _ = parse_reply(proposer.propose(request).text, contract)
        scope = {"np": np, "math": math}
        exec(source, scope)
        made.append(scope[contract.name])
    return made


def system(solved, *lower):
    """Return a frozen repertoire whose first member is always chosen."""
    width = len(solved.descriptor_names)
    router = Router(
        np.zeros((1, width)),
        np.zeros((1, len(lower))),
        mean=np.zeros(width),
        scale=np.ones(width),
        n_neighbors=5,
    )
    return RepairSystem("system", lower, router, Accept.FEASIBLE)


def one_pass(name, instance, upper, lower):
    """Run B and one pass on the arrays that programs see; return all of it but the seconds."""
    solved = problem(name)
    case = make_case(solved, instance)
    with contextlib.closing(share_arrays(solved, [case])) as shared:
        arrays = shared.arrays(0)
    member = Program("h", Level.LOWER, "", "", "i1", contract="append")

    def run(level, program, inputs):
        module, _, function = contract_of(name, level).runner.partition(":")
        answer = getattr(importlib.import_module(module), function)(program, arrays, inputs)
        return Result(Outcome.OK, tuple(answer.arrays), "", 0.0, answer.fallbacks)

    repair = repair_case(
        solved,
        case,
        system(solved, member),
        {"g": functools.partial(run, Level.UPPER, upper)},
        lambda members, inputs, *_: [run(Level.LOWER, lower, inputs) for _ in members],
    )
    return dataclasses.replace(repair, seconds={})


VARIANTS = [
    *(("tsp", convention) for convention in MEASURED),
    ("cvrp", Convention.EUC_2D),
    ("sdvrp", Convention.EXACT_2D),
    ("vrptw", Convention.EXACT_2D),
    ("vrptw", Convention.DIMACS),
]


def variant(name, convention):
    """Return an instance of a problem, small but for the VRPTW, in a convention."""
    if name == "tsp":
        return TSPInstance("t", points(convention), convention)
    instance = next(problem(name).generate("lower_train", 1))
    if name == "vrptw":
        # A customer that was just reachable need not be when distances are rounded otherwise.
        windows = dataclasses.replace(instance.windows, due=20 * instance.windows.due)
        return dataclasses.replace(instance, convention=convention, windows=windows)
    return dataclasses.replace(instance, convention=convention)


@pytest.mark.integration
@pytest.mark.parametrize(("name", "convention"), VARIANTS)
def test_without_a_matrix_all_is_as_with_one(name, convention, monkeypatch):
    assert {name for name, _ in VARIANTS} == set(PROBLEMS)
    instance, solved = variant(name, convention), problem(name)

    def everything():
        pairs = zip(programs(name, Level.UPPER), programs(name, Level.LOWER), strict=True)
        repairs = [one_pass(name, instance, *pair) for pair in pairs]
        return repairs, [solved.baseline(instance, other) for other in solved.references]

    with_matrix = everything()
    assert "distance_matrix" in solved.layout(instance)
    monkeypatch.setattr(distances, "LARGEST_MATRIX", instance.size - 1)
    assert "distance_matrix" not in solved.layout(instance)
    assert everything() == with_matrix
    repairs, _ = with_matrix
    assert any(step.accepted for repair in repairs for step in repair.steps)


@pytest.mark.parametrize("limit", [20_000, 1])
def test_insertion_knows_with_and_without_a_matrix_whether_distances_are_whole(limit, monkeypatch):
    monkeypatch.setattr(distances, "LARGEST_MATRIX", limit)
    instance = next(problem("vrptw").generate("lower_train", 1))
    places = np.arange(instance.size + 1.0)
    # Whoever drives straight along the line is everywhere just in time.
    windows = TimeWindows(0 * places, places.copy(), 0 * places)
    windows.due[0] = 3 * len(places)
    line = dataclasses.replace(
        instance,
        coords=np.stack((places, 0 * places), axis=1),
        capacity=10**9,
        convention=Convention.EXACT_2D,
        windows=windows,
    )
    assert insertion(line) == (tuple(range(1, len(places))),)
    # Where sums may round, nobody is let in that is just in time.
    coords = line.coords.copy()
    coords[-1, 0] -= 0.5
    assert len(insertion(dataclasses.replace(line, coords=coords))) > 1


@pytest.mark.parametrize("name", PROBLEMS)
def test_above_the_limit_memory_is_linear(name, monkeypatch):
    solved = problem(name)
    instance = next(solved.generate("lower_train", 1))
    nodes = 100_000
    fields = {field.name for field in dataclasses.fields(instance)}
    large = dataclasses.replace(
        instance,
        coords=np.zeros((nodes, 2)),
        **({"demands": np.ones(nodes, np.int64)} if "demands" in fields else {}),
    )
    assert block_size(solved.layout(large)) < 100 * nodes
    monkeypatch.setattr(distances, "LARGEST_MATRIX", nodes)
    assert block_size(solved.layout(large)) > 8 * nodes**2


def test_no_matrix_is_made_above_the_limit(monkeypatch):
    nodes = 2_000
    monkeypatch.setattr(distances, "LARGEST_MATRIX", nodes - 1)
    coords = np.random.default_rng(1).integers(0, 10_000, (nodes, 2)).astype(float)
    instance = TSPInstance("large", coords)
    pairs = list(zip(programs("tsp", Level.UPPER), programs("tsp", Level.LOWER), strict=True))[:4]
    one_pass("tsp", instance, *pairs[0])
    tracemalloc.start()
    try:
        for pair in pairs:
            one_pass("tsp", instance, *pair)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * nodes**2 / 2


NEAR = "return [np.argsort(distance_matrix[0], kind='stable')[1:6]]\n"
WHOLE = "return [np.argsort(distance_matrix, axis=1)[0, 1:6]]\n"


def test_in_the_sandbox_rows_are_computed_and_the_whole_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(distances, "LARGEST_MATRIX", 10)
    solved = problem("cvrp")
    instance = next(solved.generate("lower_train", 1))
    cases = make_cases(solved, [instance])
    contract = contract_of("cvrp", Level.UPPER)
    head = f"def {contract.name}({', '.join(contract.arguments)}):\n    "
    near = Program("near", Level.UPPER, head + NEAR, "", "i1", contract="customer_groups")
    whole = dataclasses.replace(near, source=head + WHOLE)
    lower = contract_of("cvrp", Level.LOWER).seed
    evaluator = Evaluator(solved, cases, share_arrays(solved, cases), CallLimits())
    try:
        repair = evaluator.repair([near], system(solved, lower), 0)
        refused = evaluator.repair([whole], system(solved, lower), 0)
    finally:
        evaluator.close()
    matrix = np.empty((instance.size + 1, instance.size + 1))
    fill_distance_matrix(instance.coords, instance.convention, matrix)
    nearest = np.argsort(matrix[0], kind="stable")[1:6]
    assert [step.region.nodes for step in repair.steps] == [tuple(nearest.tolist())]
    assert refused.outcome is Outcome.CRASHED
    assert refused.detail.startswith(f"NoWholeMatrix: distance_matrix of {instance.size + 1} nodes")
