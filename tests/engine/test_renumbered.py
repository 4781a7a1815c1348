"""Searches with numbers along a curve: nobody who asks them sees those numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import translated

from specahd import api
from specahd.api.programs import BY_HAND, EVOLVED, programs_for
from specahd.engine import blocks, interfaces, renumbered, strings
from specahd.engine.blocks import shared_block
from specahd.engine.orders import Order, Report
from specahd.engine.renumbered import RenumberedSearch
from specahd.engine.route_ends import strings_and_ends
from specahd.engine.written import in_turn
from specahd.problems.cvrp import runners as cvrp
from specahd.problems.vrptw import runners as vrptw
from specahd.routing.groups import separated
from specahd.routing.space_filling import along_curve

CUSTOMERS = 650
ORDER = Order(3, 5000, 0.0, 2, 30, 0.0, 1.0, 50.0, 1.0)


class Place:
    """An instance with numbers along a curve, a solution, and its block of arrays."""

    def __init__(self, name):
        self.problem = api.make_problem(name, baseline=api.make_problem(name).construction)
        small = next(self.problem.generate("validation", 1))
        rng = np.random.default_rng(2)
        picked = np.concatenate(([0], rng.integers(1, small.size + 1, CUSTOMERS)))
        moved = small.coords[picked] + rng.integers(0, 500, (CUSTOMERS + 1, 2))
        changed = {"coords": moved, "demands": small.demands[picked]}
        if name == "vrptw":
            columns = ("ready", "due", "service")
            times = {each: getattr(small.windows, each)[picked] for each in columns}
            times["due"] = np.full(CUSTOMERS + 1, 1e5)
            changed["windows"] = replace(small.windows, **times)
        self.data = replace(small, name="large", **changed)
        self.start = self.problem.baseline(self.data)
        self.routes = self.problem.flat(self.data, self.start)
        self.alone = (np.insert(np.arange(1, CUSTOMERS + 1), np.arange(CUSTOMERS), 0)[1:],)
        self.runners = {"cvrp": cvrp, "vrptw": vrptw}[name]
        self.search_for = self.runners.GROUPS.search_for
        self.shared = shared_block(self.problem, self.data)
        self.arrays = self.shared.arrays(0)


@pytest.fixture(scope="module")
def small():
    """Let instances be numbered along a curve that are small enough for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MATRIX_NODES", 10)
        patch.setattr(renumbered, "SMALL", CUSTOMERS)
        yield


@pytest.fixture(scope="module", params=["cvrp", "vrptw"])
def place(request, small):
    made = Place(request.param)
    yield made
    made.shared.close()


def test_large_instances_without_a_matrix_are_renumbered(place, monkeypatch):
    assert isinstance(place.search_for(place.arrays, place.routes, 0), RenumberedSearch)
    looked_up = {name: each for name, each in place.arrays.items() if name != "convention"}
    looked_up["distance_matrix"] = np.ones((CUSTOMERS + 1, CUSTOMERS + 1))
    assert type(place.search_for(looked_up, place.routes, 0)) is place.runners.GROUPS.kind
    monkeypatch.setattr(renumbered, "SMALL", CUSTOMERS + 1)
    assert type(place.search_for(place.arrays, place.routes, 0)) is place.runners.GROUPS.kind


@pytest.mark.parametrize("part", [False, True])
def test_numbers_inside_follow_the_curve(place, part):
    [routes] = place.routes
    kept = routes[: np.flatnonzero(routes == 0)[10]] if part else routes
    inside = place.search_for(place.arrays, [kept], 0, part=part)
    assert inside._nodes[0] == 0
    assert sorted(inside._nodes) == sorted({0, *kept.tolist()})
    assert (np.diff(along_curve(place.data.coords[inside._nodes[1:]])) >= 0).all()


@pytest.mark.integration
def test_the_best_routes_cost_what_is_reported(place):
    upper = place.runners.GROUPS.always("np.arange(1, 31)")
    positions = place.runners.POSITIONS
    search = place.search_for(place.arrays, place.alone, 0)
    said, *routes = search.run(upper, positions.always("int(np.argmin(a0))"), ORDER).arrays
    solution = place.problem.unflat(place.data, routes)
    assert place.problem.check(place.data, solution) == ()
    cost = place.problem.cost(place.data, solution)
    parts = getattr(place.data, "parts", 1)
    assert Report.decode(said).best / parts == pytest.approx(cost, rel=1e-9)
    first = place.problem.unflat(place.data, place.alone)
    assert cost < place.problem.cost(place.data, first)


def test_groups_are_named_and_given_in_the_numbers_outside(small):
    place = Place("cvrp")
    upper = translated(cvrp.GROUPS, strings.adjacent_strings)
    search = place.search_for(place.arrays, place.routes, 0)
    sizes, customers = search.propose(upper, ORDER).arrays
    group = customers[: sizes[0]]
    # Strings: most of them are beside another one.
    [routes] = place.routes
    moved = np.isin(routes, group)
    assert (np.convolve(moved, [1, 0, 1], "same")[moved] > 0).mean() > 0.5
    # Where a group is given, nobody else moves.
    lower = cvrp.POSITIONS.always("int(np.argmin(a0))")
    search = place.search_for(place.arrays, place.alone, 0)
    _, after = search.run(cvrp.GROUPS.nobody, lower, ORDER, group).arrays
    assert sorted(after[after > 0]) == list(range(1, CUSTOMERS + 1))
    assert len(separated(after)) < CUSTOMERS
    assert staying(after, group) == staying(*place.alone, group)
    place.shared.close()


def staying(routes, group):
    """Return the routes of those who are not in a group."""
    parts = (tuple(part) for part in separated(routes[~np.isin(routes, group)]))
    return {part for part in parts if part}


@pytest.mark.parametrize(("progress", "first"), [(0.0, 0), (0.05, 5000), (0.1, 0), (0.999, 9900)])
def test_groups_begin_at_consecutive_customers_that_move_on_with_the_search(progress, first):
    customers, groups = 10_000, 64
    alone = np.zeros(customers + 1, np.int64)
    source = in_turn(interfaces.GROUPS.source_of(strings_and_ends))
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
        return programs_for(api.make_problem(problem), checkpoint, given).names[0]

    assert named() == "upper-strings-and-ends-in-turn"
    assert "turn" not in programs_for(api.make_problem("cvrp"), BY_HAND).names[0]
    for other in (
        {"nodes": 20_000},
        {"capacity": 200},
        {"matrix": np.zeros(1)},
        {"problem": "sdvrp"},
        {"problem": "vrptw"},
        {"checkpoint": EVOLVED},
    ):
        assert "turn" not in named(**other)
