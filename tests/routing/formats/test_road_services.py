"""Matrices beside a table: durations, answers of road services, and what of them is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import ConfigError, FileError, FileWarning
from specahd.routing.formats.road_services import NO_WAY
from specahd.routing.vehicles.instance import OUT_OF_REACH

TABLE = "name,demand,due\na,1,90\ndepot,,99\nb,1,90\n"
"""The depot is the second row."""
METRES = [[0, 100, 200], [300, 0, 400.5], [500, 600, 0]]
SECONDS = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
ORDER = np.ix_([1, 0, 2], [1, 0, 2])


def pairs(metres, seconds):
    return [
        [
            {"distance": far, "time": time, "to_index": place}
            for place, (far, time) in enumerate(row)
        ]
        for row in map(zip, metres, seconds)
    ]


ANSWERS = {
    "osrm": lambda metres, seconds: {"code": "Ok", "distances": metres, "durations": seconds},
    "openrouteservice": lambda metres, seconds: {
        "durations": seconds,
        "distances": metres,
        "metadata": {"service": "matrix"},
    },
    "valhalla": lambda metres, seconds: {
        "units": "kilometers",
        "sources_to_targets": pairs(metres, seconds),
    },
    "valhalla, terse": lambda metres, seconds: {
        "sources_to_targets": {"distances": metres, "durations": seconds}
    },
}


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(answer, table=TABLE, matrix="answer.json", **options):
    Path("answer.json").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    Path("stops.csv").write_text(table)
    capacity = 2 if "demand" in table else None
    return api.read("stops.csv", capacity=capacity, matrix=matrix, **options).data


@pytest.mark.parametrize("service", ANSWERS)
def test_an_answer_is_read_as_it_comes(service):
    data = read(ANSWERS[service](METRES, SECONDS))
    assert data.matrix.tolist() == np.array(METRES)[ORDER].tolist()
    assert data.durations.tolist() == np.array(SECONDS)[ORDER].tolist()


@pytest.mark.parametrize("service", ANSWERS)
def test_null_is_no_way(service):
    metres, seconds = (json.loads(json.dumps(ways)) for ways in (METRES, SECONDS))
    metres[0][2], seconds[2][0], seconds[1][1] = None, None, None
    data = read(ANSWERS[service](metres, seconds))
    assert np.argwhere(data.matrix >= NO_WAY).tolist() == [[1, 2], [2, 1]]
    metres[1][2] = None
    with pytest.raises(FileError, match=r"line 4 holds a stop without a way from depot to b"):
        read(ANSWERS[service](metres, seconds))
    metres[1][2], metres[2][1] = 1, None
    with pytest.raises(FileError, match=r"line 4 holds a stop without a way from b to depot"):
        read(ANSWERS[service](metres, seconds))
    assert read(ANSWERS[service](metres, seconds), open=True).open


def test_durations_come_from_a_file_or_an_array_of_their_own():
    for durations in (SECONDS, np.array(SECONDS)):
        assert read("", matrix=METRES, durations=durations).durations[0, 1] == 3
    np.save("s.npy", np.array(SECONDS))
    Path("s.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in SECONDS))
    for name in ("s.npy", "s.csv"):
        assert read("", matrix=METRES, durations=name).durations[0, 1] == 3
    both = ANSWERS["osrm"](METRES, SECONDS)
    assert read(both, matrix=METRES, durations="answer.json").durations[0, 1] == 3


def test_windows_hold_for_durations_and_open_routes_need_no_way_back():
    seconds = np.array(SECONDS)
    seconds[1, 0] = 91
    assert read("", matrix=METRES, durations=seconds).unservable == {1: OUT_OF_REACH}
    seconds[1, 0], seconds[0, 1] = 9, 91
    assert read("", matrix=METRES, durations=seconds).unservable == {1: OUT_OF_REACH}
    assert not read("", matrix=METRES, durations=seconds, open=True).unservable


def test_routes_are_open_where_no_stop_has_a_way_back_in_time():
    seconds = np.array(SECONDS)
    seconds[[0, 2], 1] = 98
    with pytest.raises(FileError, match="its vehicle back"):
        read("", matrix=METRES, durations=seconds)
    assert not read("", matrix=METRES, durations=seconds, open=True).unservable


def test_a_way_without_a_duration_is_none():
    Path("seconds.json").write_text(json.dumps({"durations": [[0, 1, None], *SECONDS[1:]]}))
    data = read("", matrix=METRES, durations="seconds.json")
    assert np.argwhere(data.matrix >= NO_WAY).tolist() == [[1, 2]]


def test_a_map_made_of_ways_takes_the_shorter_of_two():
    places = np.array([0.0, 3.0, 7.0])
    ways = np.abs(places[:, None] - places) * np.where(np.tri(3), 1, 5)
    coords = read("", matrix=ways, durations=SECONDS).coords
    found = np.linalg.norm(coords[:, None] - coords, axis=2)
    assert found[ORDER] == pytest.approx(np.abs(places[:, None] - places), abs=1e-9)


def test_no_speed_is_missed_where_times_are_stated():
    # Where distances are times, such short ways are a warning.
    table = TABLE.replace("90", "90000").replace("99", "99000")
    assert read("", table, matrix=METRES, durations=SECONDS).windows.speed == 1
    with pytest.warns(FileWarning, match="speed="):
        read("", table, matrix=SECONDS)


@pytest.mark.parametrize(
    ("answer", "options", "sentence"),
    [
        ("{", {}, "answer.json: expected the JSON answer of a road service"),
        ("[1]", {}, "answer.json: expected the JSON answer of a road service"),
        ({"code": "X", "message": "Too big"}, {}, r"neither distances nor durations \(Too big\)"),
        ({"durations": SECONDS}, {}, "holds no distances, expected them"),
        ({"distances": METRES}, {"durations": "answer.json"}, "holds no durations, expected them"),
        ({"distances": [[0, 1], [1, 0]]}, {}, "expected at least 3"),
        ({"distances": [[0, 1, 2], [1, 0], [1, 1, 0]]}, {}, "row 2 of distances holds 2 entries"),
        ({"distances": [[0, 1, 2], 5, [1, 1, 0]]}, {}, "row 2 of distances holds '5'"),
        (
            {"distances": [[0, 1, 2], [1, 0, -1], [1, 1, 0]]},
            {},
            r"holds '-1', expected a number in",
        ),
        ({"distances": [[0, 1, 2], [1, 0, "1"], [1, 1, 0]]}, {}, "row 2 of distances holds '1'"),
        ({"distances": [[0, 1, 2], [1, 0, True], [1, 1, 0]]}, {}, "row 2 of distances holds 'Tr"),
        ({"distances": [[0, 1, 2], [1, 3, 1], [1, 1, 0]]}, {}, "row 2 holds 3 from a stop to itse"),
        ('{"distances": [[0, 1, NaN]]}', {}, "expected the JSON answer"),
        ({"distances": METRES, "durations": [[0]]}, {}, "as many rows of durations"),
        ({"sources_to_targets": [5, 5, 5]}, {}, "row 1 of distances holds '5'"),
        (ANSWERS["osrm"](METRES, SECONDS), {"speed": 3.0}, "no speed: answer.json holds durations"),
        ("", {"matrix": METRES, "durations": SECONDS, "speed": 3.0}, "speed or durations"),
        ("", {"matrix": METRES, "durations": [[0, 1], [1, 0]]}, "durations: holds 2 rows"),
        ("", {"matrix": METRES, "durations": np.zeros((4, 4))}, "holds the durations of 4 stops"),
        ("", {"matrix": METRES, "durations": -np.array(SECONDS)}, "durations: row 1 holds"),
        ("", {"matrix": METRES, "durations": np.full((3, 3), np.nan)}, "durations: row 1 holds"),
        ("", {"matrix": METRES, "durations": [[0], [1, 0]]}, "durations: expected as many numbers"),
        ("", {"matrix": None, "durations": SECONDS}, "matrix=FILE"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_place(answer, options, sentence):
    with pytest.raises((FileError, ConfigError), match=sentence):
        read(answer, **options)


def test_tours_and_split_deliveries_have_no_durations():
    with pytest.raises(ConfigError, match=r"no durations for stops.csv, which has a tour"):
        read("", "name,x,y\na,0,0\nb,1,1\nc,2,2\n", matrix=METRES, durations=SECONDS)
    with pytest.raises(ConfigError, match=r"which has split deliveries"):
        read("", "name,demand\na,\nb,1\nc,1\n", matrix=METRES, durations=SECONDS, split=True)
