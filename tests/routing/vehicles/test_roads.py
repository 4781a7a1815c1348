"""Directed ways, durations and open routes: the checker by hand, and what the search sees."""

from dataclasses import replace

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import ConfigError, FileError
from specahd.repair.cases import Case, share_arrays
from specahd.routing.formats.road_services import NO_WAY
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.baselines import problem_data
from specahd.routing.vehicles.feasibility import check, cost
from specahd.routing.vehicles.fleet import penalty, reduced, unservable
from specahd.routing.vehicles.instance import OUT_OF_REACH, VehicleInstance

METRES = np.array([[0, 10, 20, 30], [1, 0, 2, 3], [4, 5, 0, 6], [7, 8, 9, 0]], float)
SECONDS = np.array([[0, 5, 5, 5], [1, 0, 1, 1], [2, 2, 0, 2], [3, 3, 3, 0]], float)
PLACES = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)
ALONE = ((1,), (2,), (3,))


def instance(**changes):
    found = VehicleInstance(
        "x", PLACES, np.array([0, 1, 1, 1]), 3, Convention.EXPLICIT, METRES.copy()
    )
    return replace(found, **changes)


def timed(due, service=0.0, **changes):
    windows = TimeWindows(np.zeros(4), np.array(due, float), np.array([0.0, *[service] * 3]))
    return instance(windows=windows, **changes)


def kinds(data, solution):
    return [violation.kind for violation in check(data, solution)]


def test_costs_are_those_of_the_driven_direction():
    assert cost(instance(), ((1, 2, 3),)) == 10 + 2 + 6 + 7
    assert cost(instance(), ((3, 2, 1),)) == 30 + 9 + 5 + 1
    assert cost(instance(durations=SECONDS), ((1, 2, 3),)) == 25
    assert cost(instance(fixed_cost=100.0), ALONE) == 11 + 24 + 37 + 300


def test_no_way_back_is_driven_on_open_routes():
    assert cost(instance(open=True), ((1, 2, 3),)) == 18
    assert cost(instance(open=True, fixed_cost=1.0), ((3,), (2, 1))) == 30 + 25 + 2
    assert cost(instance(open=True), ()) == 0


@pytest.mark.parametrize(
    ("due", "options", "found"),
    [
        # The vehicle is at the customers at 10, 12 and 18, and back at 25.
        ((25, 10, 12, 18), {}, []),
        ((24, 10, 12, 18), {}, ["late_return"]),
        ((25, 10, 11, 18), {}, ["late"]),
        ((18, 10, 12, 18), {"open": True}, []),
        ((17, 10, 12, 18), {"open": True}, ["late_return"]),
        # At 5, 6 and 8, and back at 11.
        ((11, 5, 6, 8), {"durations": SECONDS}, []),
        ((10, 5, 6, 8), {"durations": SECONDS}, ["late_return"]),
        ((11, 4, 6, 8), {"durations": SECONDS}, ["late"]),
        ((8, 5, 6, 8), {"durations": SECONDS, "open": True}, []),
        ((7, 5, 6, 8), {"durations": SECONDS, "open": True}, ["late_return"]),
    ],
)
def test_windows_are_kept_by_the_times_of_the_ways(due, options, found):
    assert kinds(timed(due, **options), ((1, 2, 3),)) == found


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({"max_distance": 25.0}, []),
        ({"max_distance": 24.0}, ["distance"]),
        ({"max_distance": 24.0, "open": True}, []),
        ({"max_distance": 24.0, "durations": SECONDS}, ["distance"]),
        ({"max_duration": 11.0, "durations": SECONDS}, []),
        ({"max_duration": 10.0, "durations": SECONDS}, ["duration"]),
        ({"max_duration": 8.0, "durations": SECONDS, "open": True}, []),
    ],
)
def test_limits_are_of_what_is_driven(limits, found):
    assert kinds(instance(**limits), ((1, 2, 3),)) == found


def test_a_way_that_does_not_exist_is_named():
    metres = METRES.copy()
    metres[1, 2] = metres[3, 0] = NO_WAY
    [first, last] = check(instance(matrix=metres), ((1, 2, 3),))
    assert first.detail == "Route 1 drives from 1 to 2: no such way."
    assert last.detail == "Route 1 drives from 3 to 0: no such way."
    assert kinds(instance(matrix=metres, open=True), ((1, 3), (2,))) == []


def test_split_deliveries_drive_no_missing_way_either():
    metres = METRES.copy()
    metres[2, 3] = NO_WAY
    data = instance(matrix=metres, splits=True)
    [missing] = check(data, (((1, 1), (2, 1), (3, 1)),))
    assert missing.detail == "Route 1 drives from 2 to 3: no such way."
    assert check(data, (((2, 1), (1, 1), (3, 1)),)) == ()


def test_the_price_of_a_stop_is_not_that_of_a_missing_way():
    metres = METRES.copy()
    metres[1, 2] = NO_WAY
    assert cost(instance(), ALONE) < penalty(instance(matrix=metres)) < 1000


def test_a_limit_of_distance_leaves_out_by_distances():
    data = instance(max_distance=24.0, durations=SECONDS)
    assert unservable(data) == {3: OUT_OF_REACH}
    assert unservable(replace(data, open=True)) == {3: OUT_OF_REACH}


def test_equal_ways_are_directed_where_times_are_apart():
    both = np.maximum(METRES, METRES.T)
    assert not instance(matrix=both).directed
    assert instance(matrix=both, durations=both).directed


def test_the_search_sees_equal_costs_and_feasibility():
    rng = np.random.default_rng(7)
    agreed = []
    for trial in range(60):
        metres, seconds = rng.integers(1, 100, (2, 7, 7)).astype(float)
        for ways in (metres, seconds):
            np.fill_diagonal(ways, 0)
        metres[rng.integers(1, 7), rng.integers(1, 7)] = NO_WAY
        np.fill_diagonal(metres, 0)
        data = VehicleInstance(
            "x",
            rng.random((7, 2)),
            np.array([0, *rng.integers(1, 4, 6)]),
            9,
            Convention.EXPLICIT,
            metres,
            durations=seconds if trial % 2 else None,
            open=bool(trial % 3),
            fixed_cost=float(rng.integers(0, 50)) / 4,
        )
        if trial % 5 == 0:
            data = replace(data, max_distance=200.0)
        elif trial % 5 == 1:
            data = replace(data, max_duration=200.0, stop_time=5.0)
        else:
            due = np.array([250.0, *rng.integers(60, 250, 6)])
            windows = TimeWindows(np.zeros(7), due, np.array([0.0, *[3.0] * 6]))
            data = replace(data, windows=windows)
        seen = reduced(data)
        assert (seen.open, seen.fixed_cost, seen.max_distance) == (False, 0, None)
        for _ in range(40):
            order = rng.permutation(np.arange(1, 7)).tolist()
            cut = sorted(rng.choice(np.arange(1, 6), size=2, replace=False).tolist())
            routes = (order[: cut[0]], order[cut[0] : cut[1]], order[cut[1] :])
            solution = tuple(map(tuple, routes))
            if "no_way" in kinds(data, solution):
                assert 50_000 < cost(seen, solution) < 1e6
                continue
            assert cost(seen, solution) == pytest.approx(cost(data, solution), rel=1e-12)
            agreed.append((not check(seen, solution), not check(data, solution)))
    assert all(ours == theirs for ours, theirs in agreed)
    assert len(set(agreed)) == 2


def test_pyvrp_is_told_both_matrices():
    theirs = problem_data(timed((99,) * 4, durations=SECONDS, open=True), METRES)
    assert theirs.distance_matrix(0)[:, 0].tolist() == [0] * 4
    assert theirs.duration_matrix(0)[:, 0].tolist() == [0] * 4
    assert theirs.distance_matrix(0)[:, 1:].tolist() == METRES[:, 1:].tolist()
    assert theirs.duration_matrix(0)[:, 1:].tolist() == SECONDS[:, 1:].tolist()


FULL = (
    "NAME : x\nTYPE : {}\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
    "EDGE_WEIGHT_FORMAT : FULL_MATRIX\n{}EDGE_WEIGHT_SECTION\n"
    + "\n".join(" ".join(f"{way:g}" for way in row) for row in METRES)
    + "\n{}EOF\n"
)
DEMANDS = "DEMAND_SECTION\n1 0\n2 1\n3 1\n4 1\nDEPOT_SECTION\n1\n-1\n"


def test_a_full_matrix_is_read_row_by_row(tmp_path):
    path = tmp_path / "x.vrp"
    path.write_text(FULL.format("CVRP", "CAPACITY : 3\n", DEMANDS))
    found = api.read(path)
    assert found.data.directed
    assert found.data.between([0, 1], [1, 0]).tolist() == [10, 1]
    (tmp_path / "again.vrp").write_text(found.problem.dumps(found.data))
    assert np.array_equal(api.read(tmp_path / "again.vrp").data.matrix, METRES)
    [case] = [Case(found.data, ALONE, 72.0, "x")]
    with pytest.raises(ConfigError, match="x limits or prices vehicles"):
        share_arrays(found.problem, [case])


def test_a_tour_of_equal_ways_refuses_others(tmp_path):
    path = tmp_path / "x.tsp"
    path.write_text(FULL.format("TSP", "", ""))
    sentence = "from stop 1 to stop 2 is 10, expected 1 as the way back for TYPE : TSP, or"
    with pytest.raises(FileError, match=sentence):
        api.read(path)
