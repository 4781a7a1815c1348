import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.core.errors import InvalidAnswer
from specahd.problems.sdvrp.baseline import nearest, unsplit
from specahd.problems.sdvrp.checker import check, cost
from specahd.problems.sdvrp.construct import rebuild
from specahd.problems.sdvrp.deliveries import Delivery, merge
from specahd.problems.sdvrp.descriptor import NAMES
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.problems.sdvrp.problem import SDVRP
from specahd.routing.base import Region
from specahd.routing.vehicles import descriptor as shared


def ints(*values):
    return np.array(values, np.int64)


def plan(*routes):
    return tuple(tuple(Delivery(*stop) for stop in route) for route in routes)


SOLUTION = plan([(1, 4), (2, 6)], [(2, 3), (3, 5)], [(4, 7)])


def test_merge_takes_every_delivery_away_and_appends():
    # Sorted customers 2 and 4 are local 1 and 2; the third route vanishes.
    merged = merge(SOLUTION, Region((4, 2)), [ints(2, 1, 0, 1), ints(7, 3, 0, 6)], 9)
    assert merged == plan([(1, 4)], [(3, 5)], [(4, 7), (2, 3)], [(2, 6)])


def test_merge_joins_what_one_route_delivers_to_one_customer():
    output = [ints(1, 2, 1, 1, 0, 1), ints(1, 7, 2, 3, 0, 3)]
    merged = merge(SOLUTION, Region((2, 4)), output, 9)
    assert merged[-2:] == plan([(2, 6), (4, 7)], [(2, 3)])


def test_merge_passes_over_empty_rebuilt_routes():
    output = [ints(0, 2, 0, 0, 1), ints(0, 7, 0, 0, 9)]
    merged = merge(SOLUTION, Region((2, 4)), output, 9)
    assert merged[-2:] == plan([(4, 7)], [(2, 9)])


def test_merge_judges_no_quantity():
    output = [ints(1, 2), ints(-3, 2**62)]
    assert merge(SOLUTION, Region((2, 4)), output, 9)[-1] == plan([(2, -3), (4, 2**62)])[0]


@pytest.mark.parametrize(
    "output",
    [
        [],
        [ints(1, 2)],
        [ints(1, 2), ints(1)],
        [ints(1, 2), ints(1, 2), ints(0)],
        [ints(), ints()],
        [ints(1, 3), ints(1, 1)],
        [ints(1, -1), ints(1, 1)],
        [ints(*[1] * 19), ints(*[1] * 19)],
        [np.array([1.0, 2.0]), ints(1, 2)],
        [ints(1, 2), np.array([1.0, 2.0])],
        [ints(1, 2).astype(np.int32), ints(1, 2)],
        [ints(1, 2).reshape(2, 1), ints(1, 2).reshape(2, 1)],
        [[1, 2], [1, 2]],
    ],
)
def test_malformed_output_merges_to_nothing(output):
    assert merge(SOLUTION, Region((2, 4)), output, 9) is None


@st.composite
def programs(draw):
    """Return a program of any answers, sound ones and others."""
    numbers = st.integers(-3, 60) | st.sampled_from([10**30, np.int64(2), np.int64(-1)])
    pairs = st.tuples(numbers, numbers)
    wild = st.sampled_from([None, 7, 1.5, "go", (1, 2, 3), (1, 2.0), (None, 1), (True, 1)])
    answers = draw(st.lists(draw(st.sampled_from([pairs, pairs, pairs | wild])), min_size=1))
    calls = iter(range(10**9))
    return lambda *_: answers[next(calls) % len(answers)]


@given(program=programs(), seed=st.integers(0, 2**20), solver=st.sampled_from([nearest, unsplit]))
def test_the_solution_is_feasible_after_any_program(program, seed, solver):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 25))
    instance = SDVRPInstance(
        name="any",
        coords=rng.integers(0, 100, (size + 1, 2)).astype(float),
        demands=np.concatenate(([0], rng.integers(1, 40, size))),
        capacity=int(rng.integers(1, 30)),
    )
    problem = SDVRP()
    solution = solver(instance)
    chosen = rng.permutation(size)[: rng.integers(2, size + 1)] + 1
    region = Region(tuple(chosen.tolist()))
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, arrays)
    inputs = problem.operator.inputs(instance, solution, region)
    assert inputs[0].tolist() == sorted(chosen.tolist())
    try:
        output = rebuild(program, arrays, inputs).arrays
    except InvalidAnswer:
        return
    merged = problem.operator.merge(instance, solution, region, output)
    assert check(instance, merged) == ()
    assert cost(instance, merged) >= 0


def test_descriptor_by_hand():
    coords = np.array([[0, 0], [3, 4], [6, 8], [0, 5]], float)
    instance = SDVRPInstance("hand", coords, np.array([0, 2, 12, 3]), 10)
    solution = plan([(1, 2), (2, 8)], [(2, 4)], [(3, 3)])
    found = dict(zip(NAMES, SDVRP().describe(instance, solution, Region((2, 1))), strict=True))
    # Three deliveries of 2, 8 and 4 on two routes; the third route is not touched.
    assert found["log_size"] == pytest.approx(np.log(3))
    assert found["log_routes"] == pytest.approx(np.log(2))
    assert found["completeness"] == 1.0
    assert found["slack"] == pytest.approx(1 - 14 / 20)
    assert found["demand_mean"] == pytest.approx(14 / 3 / 10)
    assert found["demand_variation"] == pytest.approx(np.std([2, 8, 4]) / np.mean([2, 8, 4]))
    assert found["customer_demand"] == pytest.approx(7 / 10)
    assert found["log_splits"] == pytest.approx(np.log(3 / 2))
    assert len(NAMES) == 16
    assert NAMES[:14] == shared.NAMES


def test_descriptor_without_a_split_is_the_shared_one():
    coords = np.array([[0, 0], [3, 4], [6, 8], [0, 5], [-5, 0]], float)
    instance = SDVRPInstance("plain", coords, np.array([0, 2, 4, 3, 1]), 10)
    region = Region((2, 1))
    found = SDVRP().describe(instance, plan([(1, 2), (2, 4)], [(3, 3)], [(4, 1)]), region)
    expected = shared.describe_nodes(
        coords, instance.demands, 10, instance.spread, ((1, 2), (3,), (4,)), region
    )
    np.testing.assert_allclose(found[:14], expected)
    assert found[15] == 0.0


@pytest.mark.parametrize("coords", [np.zeros((4, 2)), np.array([[0, 0], [1, 1], [1, 1], [1, 1.0]])])
def test_descriptor_of_degenerate_regions_is_finite(coords):
    instance = SDVRPInstance("heap", coords, np.array([0, 1, 1, 3]), 2)
    for solve in (nearest, unsplit):
        assert np.isfinite(SDVRP().describe(instance, solve(instance), Region((1, 3)))).all()
