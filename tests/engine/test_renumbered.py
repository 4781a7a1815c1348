"""Searches with numbers along a curve: nobody who asks them sees those numbers."""

from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import Place, translated, unmoved_runs

from specahd import api
from specahd.api.programs import BY_HAND, EVOLVED, programs_for
from specahd.engine import blocks, interfaces, renumbered, strings
from specahd.engine.blocks import shared_block
from specahd.engine.builtin_programs import moving_window
from specahd.engine.orders import Order, Report
from specahd.engine.renumbered import RenumberedSearch
from specahd.engine.route_ends import strings_and_ends
from specahd.routing.geometry import along_curve
from specahd.routing.groups import separated

CUSTOMERS = 650
ORDER = Order(3, 5000, 0.0, 2, 30, 0.0, 1.0, 50.0, 1.0)


@pytest.fixture(scope="module")
def small():
    """Let instances be numbered along a curve that are small enough for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MATRIX_NODES", 10)
        patch.setattr(renumbered, "SMALL", CUSTOMERS)
        yield


@pytest.fixture(scope="module", params=["cvrp", "vrptw"])
def place(request, small):
    """A place with numbers along a curve."""
    name = request.param
    problem = api.make_problem(name, baseline=api.make_problem(name).construction)
    given = next(problem.generate("validation", 1))
    rng = np.random.default_rng(2)
    picked = np.concatenate(([0], rng.integers(1, given.size + 1, CUSTOMERS)))
    moved = given.coords[picked] + rng.integers(0, 500, (CUSTOMERS + 1, 2))
    changed = {"coords": moved, "demands": given.demands[picked]}
    if name == "vrptw":
        columns = ("ready", "due", "service")
        times = {each: getattr(given.windows, each)[picked] for each in columns}
        times["due"] = np.full(CUSTOMERS + 1, 1e5)
        changed["windows"] = replace(given.windows, **times)
    data = replace(given, name="large", **changed)
    with closing(shared_block(problem, data)) as shared:
        yield Place(problem, data, problem.baseline(data), shared.arrays(0))


def test_large_instances_without_a_matrix_are_renumbered(place, monkeypatch):
    assert isinstance(place.groups.search_for(place.block, place.routes, 0), RenumberedSearch)
    looked_up = {name: each for name, each in place.block.items() if name != "convention"}
    looked_up["distance_matrix"] = np.ones((CUSTOMERS + 1, CUSTOMERS + 1))
    assert type(place.groups.search_for(looked_up, place.routes, 0)) is place.groups.kind
    monkeypatch.setattr(renumbered, "SMALL", CUSTOMERS + 1)
    assert type(place.groups.search_for(place.block, place.routes, 0)) is place.groups.kind


@pytest.mark.parametrize("part", [False, True])
def test_numbers_inside_follow_the_curve(place, part):
    [routes] = place.routes
    kept = routes[: np.flatnonzero(routes == 0)[10]] if part else routes
    inside = place.groups.search_for(place.block, [kept], 0, part=part)
    assert inside._nodes[0] == 0
    assert sorted(inside._nodes) == sorted({0, *kept.tolist()})
    assert (np.diff(along_curve(place.instance.coords[inside._nodes[1:]])) >= 0).all()


def alone(place):
    return place.problem.flat(place.instance, place.problem.trivial_solution(place.instance))


@pytest.mark.integration
def test_the_best_routes_cost_what_is_reported(place):
    upper = place.groups.always("np.arange(1, 31)")
    positions = place.positions
    search = place.groups.search_for(place.block, alone(place), 0)
    said, *routes = search.run(upper, positions.always("int(np.argmin(a0))"), ORDER).arrays
    solution = place.problem.unflat(place.instance, routes)
    assert place.problem.check(place.instance, solution) == ()
    assert Report.decode(said).best == pytest.approx(place.cost(solution), rel=1e-9)
    assert place.cost(solution) < place.cost(place.problem.trivial_solution(place.instance))


@pytest.mark.parametrize("place", ["cvrp"], indirect=True)
def test_groups_are_named_and_given_in_the_numbers_outside(place):
    upper, _ = translated(place.groups, strings.adjacent_strings)
    search = place.groups.search_for(place.block, place.routes, 0)
    sizes, customers = search.propose(upper, ORDER).arrays
    group = customers[: sizes[0]]
    # Strings: most of them are beside another one.
    [routes] = place.routes
    moved = np.isin(routes, group)
    assert (np.convolve(moved, [1, 0, 1], "same")[moved] > 0).mean() > 0.5
    # Where a group is given, nobody else moves.
    lower = place.positions.always("int(np.argmin(a0))")
    search = place.groups.search_for(place.block, alone(place), 0)
    _, after = search.run(place.groups.nobody, lower, ORDER, group).arrays
    assert sorted(after[after > 0]) == list(range(1, CUSTOMERS + 1))
    assert len(separated(after)) < CUSTOMERS
    assert unmoved_runs([after], group) == unmoved_runs(alone(place), group)


@pytest.mark.parametrize(("progress", "first"), [(0.0, 0), (0.05, 5000), (0.1, 0), (0.999, 9900)])
def test_groups_begin_at_consecutive_customers_that_move_on_with_the_search(progress, first):
    customers, groups = 10_000, 64
    alone = np.zeros(customers + 1, np.int64)
    source = moving_window(interfaces.GROUPS.source_of(strings_and_ends))
    scope = {"np": np}
    exec(source, scope)
    named = scope["select_customer_groups"](
        *(alone, alone, np.arange(customers + 1), np.zeros((customers + 1, 0), np.int64)),
        *(alone.astype(float), alone.astype(float), alone.astype(float)),
        *(np.ones(customers + 1, np.int64), 10, alone),
        *(np.random.default_rng(0).random(32 * groups), progress, groups, 50),
    )
    begun = named[named > 0]
    assert len(begun) == groups
    behind = (begun - 1 - first) % customers
    assert behind.max() < 2000
    assert len(set(behind // 500)) == 4


def test_only_large_instances_on_short_routes_are_searched_in_turn():
    def named(problem="cvrp", nodes=20_001, capacity=199, matrix=None, checkpoint=BY_HAND):
        demands = np.full(nodes, 10)
        given = SimpleNamespace(
            coords=np.zeros((nodes, 2)), capacity=capacity, demands=demands, matrix=matrix
        )
        return programs_for(api.make_problem(problem), checkpoint, given).names()[0]

    assert named() == "upper-strings-and-ends-in-turn"
    assert "turn" not in programs_for(api.make_problem("cvrp"), BY_HAND).names()[0]
    for other in (
        {"nodes": 20_000},
        {"capacity": 200},
        {"matrix": np.zeros(1)},
        {"problem": "sdvrp"},
        {"problem": "vrptw"},
        {"checkpoint": EVOLVED},
    ):
        assert "turn" not in named(**other)


def test_a_part_has_the_ways_and_the_times_of_its_nodes():
    class Kept:
        numbered = True

        def __init__(self, arrays, routes, seed):
            self.arrays = arrays

    nodes = [0, 2, 3]
    ways = np.arange(25.0).reshape(5, 5)
    block = {
        "demands": np.arange(5),
        "distance_matrix": ways,
        "durations": 100 + ways,
        "neighbours": np.array([[2, 3]] * 5),
        "neighbour_distances": np.ones((5, 2)),
    }
    routes = [np.array([3, 2, 0])]
    part = renumbered.search_for(Kept, block, routes, 0, part=True)._search.arrays
    assert part["distance_matrix"].tolist() == ways[np.ix_(nodes, nodes)].tolist()
    assert part["durations"].tolist() == (100 + ways[np.ix_(nodes, nodes)]).tolist()
