"""What is made of an upper program's answer, for every problem; and what seeds propose."""

import numpy as np
import pytest

from offered import PROBLEMS, arrays_of, contract_of, problem
from problems.instances import LINES, TIMES, instance_of, line
from problems.samples import defined
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Level
from specahd.problems.tsp import construct as tsp
from specahd.routing.answers import UNUSABLE
from specahd.routing.vehicles.runners import propose

PROPOSE = {"cvrp": propose, "sdvrp": propose, "tsp": tsp.propose, "vrptw": propose}
# Of the SDVRP with what is delivered.
ROUTES = {
    "cvrp": ([[2, 1], [], [3], [5, 4]],),
    "sdvrp": ([[2, 1], [2, 3], [4], [4]], [[3, 2], [1, 3], [5], [2]]),
    "tsp": ([[2, 1, 3, 0, 5, 4]],),
    "vrptw": ([[2, 1], [], [3], [4]],),
}


def proposed(name, program, regions=3, size=50, routes=None, instance=None):
    """Return the groups that the loop makes of what a program answers."""
    columns = [[x for part in lists for x in part] for lists in routes or ROUTES[name]]
    lengths = [] if name == "tsp" else [[len(route) for route in (routes or ROUTES[name])[0]]]
    inputs = [np.array(each, np.int64) for each in (*lengths, *columns, [regions, size])]
    arrays = arrays_of(problem(name), instance or line(name))
    answer = PROPOSE[name](program, arrays, inputs).arrays
    assert [array.dtype for array in answer] == [np.int64, np.int64]
    return tuple(array.tolist() for array in answer)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_upper_program_sees_the_incumbent(name):
    names = contract_of(name, Level.UPPER).arguments

    def program(*given):
        told = dict(zip(names, given, strict=True))
        lists = [told[x] for x in ("routes", "deliveries") if x in told] or [[told["route"]]]
        for shown, expected in zip(lists, ROUTES[name], strict=True):
            assert isinstance(shown, list)
            assert [part.tolist() for part in shown] == [part for part in expected if part]
            assert not any(part.flags.writeable for part in shown)
            assert all(part.dtype == np.int64 for part in shown)
        assert given[-2:] == (3, 4)
        assert {type(number) for number in given[-2:]} == {int}
        assert len(told["coords"]) == len(told["distance_matrix"]) == len(LINES[name][0])
        if name != "tsp":
            assert told["demands"].tolist() == LINES[name][0]
            assert told["capacity"] == LINES[name][1]
        if name == "vrptw":
            for field, times in TIMES.items():
                assert told[f"{field}_times"].tolist() == times.tolist()
        return [lists[0][0][:2], (3, np.int64(4)), [4.0]]

    assert proposed(name, program, 3, 4) == ([2, 2, 1], [2, 1, 3, 4, 4])


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "answer",
    [None, 3, "12", {1: 2}, [1, 2], [[1], None], ["12"], np.ones((2, 2)), [np.ones((1, 1))]],
)
def test_no_list_of_sequences_is_malformed(name, answer):
    assert proposed(name, lambda *_: answer) == ([-1], [])


def test_entries_that_are_no_integers_are_marked():
    answer = [[1, 2.0, 2.5, None, True, "3", float("nan"), float("inf"), 2**63, [4], np.float64(3)]]
    assert proposed("cvrp", lambda *_: answer)[1] == [1, 2, *[UNUSABLE] * 8, 3]


@pytest.mark.parametrize(
    ("name", "most"), [("cvrp", 1060), ("sdvrp", 1110), ("tsp", 1060), ("vrptw", 1050)]
)
def test_a_flood_fails(name, most):
    assert proposed(name, lambda *_: [[1] * most, []])[0] == [most, 0]
    for flood in ([[]] * 10_001, [[1] * (most + 1)]):
        with pytest.raises(InvalidAnswer, match="groups of"):
            proposed(name, lambda *_, flood=flood: flood)


@pytest.mark.parametrize(
    ("name", "routes", "regions", "size", "expected"),
    [
        # Consecutive whole routes are joined.
        ("cvrp", ([[2, 1], [3], [5, 4]],), 8, 3, ([3, 2], [2, 1, 3, 5, 4])),
        ("vrptw", ([[2, 1], [3], [4]],), 8, 3, ([3, 1], [2, 1, 3, 4])),
        ("sdvrp", ROUTES["sdvrp"], 8, 3, ([2, 3, 1], [2, 1, 2, 3, 4, 4])),
        # A route that is too long is cut, and the budget is kept.
        ("cvrp", ([[2, 1, 3], [5, 4]],), 1, 2, ([2], [2, 1])),
    ],
)
def test_the_seed_by_hand(name, routes, regions, size, expected):
    contract = contract_of(name, Level.UPPER)
    seed = defined(contract, contract.seed.source)
    assert proposed(name, seed, regions, size, routes) == expected


@pytest.mark.parametrize(
    ("count", "segments", "size", "starts", "length"),
    [
        (100, 3, 10, [0, 33, 66], 10),
        (100, 3, 50, [0, 49], 50),
        (100, 2, 50, [0, 50], 50),
        (20, 3, 50, [0], 20),
        (3, 3, 50, [0], 3),
    ],
)
def test_the_seed_takes_runs_at_even_intervals(count, segments, size, starts, length):
    contract = contract_of("tsp", Level.UPPER)
    seed = defined(contract, contract.seed.source)
    heap = instance_of("tsp", np.zeros((count, 2)))
    lengths, values = proposed("tsp", seed, segments, size, ([[*range(count)]],), heap)
    assert lengths == [length] * len(starts)
    assert values == [start + i for start in starts for i in range(length)]
