"""Several processes on one solution: each repairs its tile, and what they answer is merged."""

import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from cases import Place

from specahd import api
from specahd.api.programs import BY_HAND, programs_for
from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine import interfaces, runner, tiled
from specahd.engine.blocks import shared_block
from specahd.engine.neighbourhood_search import run_search
from specahd.engine.orders import Order, Report
from specahd.engine.tiled import TiledEngine, tiled_engine
from specahd.engine.tiles import tiles
from specahd.routing.geometry import Convention
from specahd.routing.groups import separated
from specahd.sandbox.calls import Result

NAMES = ["cvrp", "vrptw"]


class Here:
    """Answers as a process of programs does, in this one; may be told to say something else."""

    def __init__(self, place, change=lambda output: output):
        uppers = place.groups
        self._runner = runner.UpperProgram(uppers.kind, interfaces.GROUPS, [])
        self._runner.lowers = uppers.lowers
        self._program, self._arrays, self._change = place.upper, place.block, change
        self.asked, self.said = [], []

    def call(self, call):
        self.asked.append((Order.decode(call.inputs[0]), call.inputs[1]))
        answer = self._runner(self._program, self._arrays, call.inputs)
        self.said.append(self._change(tuple(answer.arrays)))
        return Result(Outcome.OK, self.said[-1], "", 0.0, answer.fallbacks)


class Parted(Place):
    """A place whose routes several processes share; they are in this process."""

    def __init__(self, name):
        problem = api.make_problem(name, baseline=api.make_problem(name).construction)
        data = next(problem.generate("validation", 1))
        if name == "vrptw":
            # The engine counts in tenths of what solutions cost.
            data = replace(data, convention=Convention.DIMACS)
        self.shared = shared_block(problem, data)
        super().__init__(problem, data, problem.baseline(data), self.shared.arrays(0))
        [self.flat] = self.routes

    def workers(self, *changes):
        return [Here(self, change) for change in changes]

    def engine(self, workers, seed=0, **options):
        return TiledEngine(workers, self.problem, self.instance, self.block, 1, seed, **options)

    def searched(self, workers, repairs=20_000, seed=0, slices=1, each=4000, start=None):
        start = start or self.start
        data, cost = self.instance, self.problem.cost(self.instance, start)
        engine = self.engine(workers, seed)
        engine.lowers, engine._slices = (self.lower,), slices
        engine.start(start)
        limit = SearchLimit(repairs=repairs)
        found = run_search(self.problem, data, start, cost, engine, limit, slice_repairs=each)
        assert self.problem.check(data, found.solution) == ()
        assert self.problem.cost(data, found.solution) == found.cost <= cost
        return found


@pytest.fixture(scope="module")
def places():
    made = {name: Parted(name) for name in NAMES}
    yield made
    for place in made.values():
        place.shared.close()


def as_it_is(output):
    return output


@pytest.mark.integration
def test_parts_begin_as_hot_as_a_search_in_one_process(places):
    place = places["cvrp"]
    stops = 64 * place.instance.demands[1:].mean()
    data = replace(place.instance, capacity=int(stops))
    asked = []
    for given in (False, True):
        [worker] = place.workers(as_it_is)
        engine = TiledEngine([worker], place.problem, data, place.block, 1, 0)
        engine.lowers = (place.lower,)
        engine.start(place.start, given=given)
        engine.improve(None, 10, 0.0, 1.0)
        asked += [order for order, _ in worker.asked]
    hot, usual = (order.temperature for order in asked)
    assert hot / usual == pytest.approx(64 / 16 / 1.5, rel=0.01)


@pytest.mark.integration
@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_searched_alone_and_reports_what_it_costs(places, name):
    place = places[name]
    part, other = tiles(place.flat, place.instance.coords, 2, np.random.default_rng(0))
    [worker] = place.workers(as_it_is)
    order = Order(3, 5000, 0.0, 2, 30, 0.0, 1.0, 50.0, 1.0, (place.lower,), part=True)
    call = tiled.Call(0, 0, (order.encode(), part))
    said, current, best = worker.call(call).output
    report = Report.decode(said)
    for routes, cost in ((current, report.cost), (best, report.best)):
        assert sorted(routes[routes > 0]) == sorted(part[part > 0])
        whole = separated(np.concatenate([routes, [0], other]))
        assert place.problem.check(place.instance, whole) == ()
        assert cost == pytest.approx(place.cost(separated(routes)), rel=1e-12)
    assert report.best < place.cost(separated(part))
    assert 5000 <= report.repairs < 5100
    # What follows goes on from there.
    more, *_ = worker.call(tiled.Call(0, 0, (order.encode(), part[:0]))).output
    assert Report.decode(more).repairs >= 10_000


@pytest.mark.parametrize("name", NAMES)
def test_lists_of_a_part_name_its_customers_in_their_order(places, name):
    place = places[name]
    part, _ = tiles(place.flat, place.instance.coords, 2, np.random.default_rng(0))
    search = place.groups.search_for(place.block, (part,), 0, part=True)
    _, near, away, depot, demands, *_ = search._search._instance
    nodes = np.array([0, *sorted(part[part > 0])])
    assert (demands == place.instance.demands[nodes]).all()
    cut = 0
    for own, node in enumerate(nodes[1:].tolist(), 1):
        known = place.block["neighbours"][node].tolist()
        inside = [other for other in known if other in nodes]
        assert nodes[near[own, : len(inside)]].tolist() == inside
        assert (near[own, len(inside) :] == own).all()
        matrix = place.block["distance_matrix"]
        assert (away[own, : len(inside)] == matrix[node, inside]).all()
        assert (np.diff(away[own]) >= 0).all()
        assert depot[own] == matrix[0, node]
        cut += len(inside) < len(known)
    assert cut


@pytest.mark.parametrize(("name", "repairs"), [("cvrp", 20_000), ("vrptw", 100_000)])
def test_equal_seeds_and_repairs_are_equal_routes(places, name, repairs):
    place = places[name]
    one, two, other = (
        place.searched(place.workers(as_it_is, as_it_is), repairs, seed, each=repairs // 5)
        for seed in (1, 1, 2)
    )
    assert one.solution == two.solution != other.solution
    assert (one.failure, one.ended) == ("", "repairs")
    assert one.repairs == two.repairs >= repairs
    assert place.parts * one.cost < place.cost(place.start)


def test_a_round_hands_out_each_route_once_and_goes_on_for_its_slices(places):
    place = places["cvrp"]
    workers = place.workers(as_it_is, as_it_is)
    place.searched(workers, slices=3, repairs=20_000)
    handed = [[part for _, part in worker.asked] for worker in workers]
    # The fourth of five slices begins a round; the last two would be one of less than half.
    assert [[len(part) > 0 for part in parts] for parts in handed] == [
        [True, False, False, True, False]
    ] * 2
    for first, second in zip(*handed, strict=True):
        assert len(first) == len(second) == 0 or sorted([*first, *second]) == sorted(place.flat)
    seeds = [order.seed for worker in workers for order, part in worker.asked if len(part)]
    assert len(set(seeds)) == 4


def test_a_round_that_would_be_over_in_no_time_is_not_begun(places):
    place = places["cvrp"]
    workers = place.workers(as_it_is, as_it_is)
    place.searched(workers, slices=3, repairs=16_000)
    assert [len(part) > 0 for _, part in workers[0].asked] == [True, False, False, False]


def test_processes_that_keep_nothing_get_a_tile_in_every_call(places, monkeypatch):
    monkeypatch.setattr(tiled, "slice_count", lambda *of: 3)
    place = places["cvrp"]
    kept, other = (place.engine(place.workers(as_it_is, as_it_is), kept=kept) for kept in (1, 0))
    assert other.slice_repairs == 3 * kept.slice_repairs == 300_000
    assert other.slice_seconds == 3 * kept.slice_seconds == 1.5
    for engine, handed in ((kept, [True, False]), (other, [True, True])):
        engine.lowers = (place.lower,)
        engine.start(place.start)
        for share in (0.0, 0.1):
            assert engine.improve(None, 2000, share, share + 0.1).outcome is Outcome.OK
        for worker in engine._workers:
            assert [len(part) > 0 for _, part in worker.asked] == handed


def test_a_round_begins_with_what_the_last_one_left_even_if_it_is_worse(places):
    place = places["cvrp"]
    good = place.searched(place.workers(as_it_is, as_it_is), repairs=100_000, each=20_000)
    workers = place.workers(as_it_is, as_it_is)
    found = place.searched(workers, start=good.solution)
    costs = []
    for number in range(1, 5):
        left = np.concatenate([[*worker.said[number - 1][1], 0] for worker in workers])
        handed = np.concatenate([worker.asked[number][1] for worker in workers])
        assert sorted(separated(left)) == sorted(separated(handed))
        costs.append(place.cost(separated(left)))
    assert costs[0] > good.cost >= found.cost


def moved(output):
    """Leave the last customer out of the current routes."""
    said, current, *best = output
    return said, current[:-1], *best


def joined(output):
    """Say that one vehicle serves all."""
    said, current, *best = output
    return said, current[current > 0], *best


def cheap(output):
    """Claim the best solution there could be, and show none."""
    said, current, *_ = output
    said = said.copy()
    said.view(np.float64)[-1] = -1e9
    return said, current


def wrong_best(output):
    """Show better routes without most of the customers."""
    said, current, *_ = output
    said = said.copy()
    said.view(np.float64)[-1] = 0.0
    return said, current, current[:3]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (moved, "infeasible_merge: Customer"),
        (joined, "infeasible_merge: Route"),
        (wrong_best, "infeasible_merge: Customer"),
        (lambda output: output[:1], "invalid_output"),
        (lambda output: (output[0][:5], output[1]), "invalid_output"),
        (lambda output: (-output[0], output[1]), "invalid_output"),
    ],
)
def test_a_worker_that_lies_ends_the_search_and_the_best_stands(places, change, word):
    place = places["cvrp"]
    workers = place.workers(as_it_is, change)
    found = place.searched(workers)
    assert found.ended == "failed"
    assert word in found.failure
    # No other process is handed what does not hold.
    assert len(workers[0].asked) == 1


def test_a_worker_that_claims_what_it_does_not_show_spoils_nothing(places):
    place = places["cvrp"]
    found = place.searched(place.workers(as_it_is, cheap))
    assert (found.failure, found.ended) == ("", "repairs")


@contextmanager
def processes(place, workers=2, programs=None):
    programs = programs or programs_for(place.problem, BY_HAND)
    options = (place.problem, place.instance, programs, 0, 1 << 30, True)
    with tiled_engine(*options, lambda status: None, workers) as engine:
        engine.start(place.start)
        yield engine


def test_a_worker_that_is_killed_between_rounds_is_replaced(places):
    place = places["cvrp"]
    with processes(place) as engine:
        killed = engine._workers[1].session._child._pid

        def kill(moment, found):
            if 8000 <= moment.repairs < 12_000 and not found.failure:
                os.kill(killed, signal.SIGKILL)

        found = run_search(
            *(place.problem, place.instance, place.start, place.cost(place.start), engine),
            SearchLimit(repairs=20_000),
            kill,
            slice_repairs=4000,
        )
    assert (found.ended, found.failure) == ("repairs", "")
    assert place.problem.check(place.instance, found.solution) == ()
    assert place.cost(found.solution) == found.cost < place.cost(place.start)
