"""Tables as people have them: decimal commas, Latin-1, clock times, fractions, other columns."""

import gzip
import re
import warnings

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import ConfigError, FileError, FileWarning, NotEnoughMemory
from specahd.routing.formats.text import read_text

SEMICOLONS = "name;x;y;demand\ndepot;0;0;\na;3,5;4;1\nb;4;3,25;2\n"
TIMED = "name,x,y,ready,due,service\ndepot,0,0,08:00,18:00,00:15\na,60,0,09:00,10:00:30,00:05\n"


def read(tmp_path, text, encoding="utf-8", **options):
    (tmp_path / "stops.csv").write_text(text, encoding=encoding)
    return api.read(tmp_path / "stops.csv", **options)


@pytest.mark.parametrize("sign", [";", "\t"])
def test_decimal_commas_are_read(tmp_path, sign):
    text = SEMICOLONS.replace(";", sign)
    assert read(tmp_path, text, capacity=3).data.coords.tolist() == [[0, 0], [3.5, 4], [4, 3.25]]
    quoted = 'x,y,demand\n0,0,\n"3,5",4,1\n'
    assert read(tmp_path, quoted, capacity=3).data.coords.tolist() == [[0, 0], [3.5, 4]]
    for text in ("0;3,5;4\n3,5;0;5\n4;5;0\n", ";a;b;c\na;0;3,5;4\nb;3,5;0;5\nc;4;5;0\n"):
        matrix = read(tmp_path, text.replace(";", sign)).data.matrix
        assert matrix.tolist() == [[0, 3.5, 4], [3.5, 0, 5], [4, 5, 0]]
    # More commas than separators.
    text = "0,0;3,5;4,0\n3,5;0,0;5,0\n4,0;5,0;0,0\n"
    assert read(tmp_path, text.replace(";", sign)).data.matrix.tolist() == matrix.tolist()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # A comma before three digits may stand for thousands, unless another one cannot.
        (SEMICOLONS.replace("3,5", "1,500").replace("3,25", "3"), "x 1,500, which may be 1500 or"),
        (SEMICOLONS.replace(";4;1", ";4.5;1"), "line 3 holds the y 4.5 beside decimal commas"),
        (SEMICOLONS.replace("3,5", "1.234,5"), "line 3 holds the x 1.234,5"),
        ("x,y,demand\n0,0,\n3,5,4,1\n", r"4 cells, .* \(decimal commas want semicolons between"),
        ("0;1,500;4\n1,500;0;5\n4;5;0\n", "line 1 holds the distance 1,500, which may be 1500"),
    ],
)
def test_commas_that_may_be_another_thing_are_refused(tmp_path, text, sentence):
    with pytest.raises(FileError, match=sentence):
        read(tmp_path, text, capacity=None if text[0] == "0" else 3)


def test_a_comma_before_three_digits_is_decimal_where_another_is(tmp_path):
    text = SEMICOLONS.replace("3,5", "13,405")
    assert read(tmp_path, text, capacity=3).data.coords[1, 0] == 13.405


def test_latin_1_is_read_and_told(tmp_path):
    text = SEMICOLONS.replace("a;", "Größe – 1;")
    with pytest.warns(FileWarning, match=r"stops\.csv is not in UTF-8 and was read as Windows-12"):
        instance = read(tmp_path, text, encoding="cp1252", capacity=3)
    assert instance.data.labels.names == ("depot", "Größe – 1", "b")
    (tmp_path / "x").write_bytes(b"\xff\x81")
    with pytest.raises(FileError, match="UTF-8 or Windows-1252, got the byte 0xff at 0"):
        read_text(tmp_path / "x")


@pytest.mark.parametrize(
    ("content", "cure"),
    [
        (b"PK\3\4\x14\0", "save a workbook as CSV, unpack an archive"),
        (b"\xd0\xcf\x11\xe0\xa1", "a workbook of Excel: save it as CSV"),
        (gzip.compress(SEMICOLONS.encode(), mtime=0), "what gzip has compressed: unpack it"),
        (SEMICOLONS.encode("utf-16-le"), "UTF-16 without a byte order mark"),
    ],
)
def test_a_file_that_is_no_text_is_told_what_it_is(tmp_path, content, cure):
    (tmp_path / "stops.csv").write_bytes(content)
    with pytest.raises(FileError, match=rf"stops\.csv: expected a text file, got .*{cure}\.$"):
        api.read(tmp_path / "stops.csv", capacity=3)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_end_as_on_any_system(tmp_path, end):
    (tmp_path / "stops.csv").write_bytes(SEMICOLONS.replace("\n", end).encode())
    assert api.read(tmp_path / "stops.csv", capacity=3).size == 2


def test_a_cell_of_several_lines_is_told_in_one(tmp_path):
    with pytest.raises(FileError, match="holds the x 1 2, expected"):
        read(tmp_path, 'x,y\n0,0\n"1\r\n2",3\n')


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_says_the_encoding(tmp_path, encoding):
    assert read(tmp_path, SEMICOLONS, encoding=encoding, capacity=3).size == 2
    assert read(tmp_path, "\ufeff" + SEMICOLONS, encoding="utf-8-sig", capacity=3).size == 2
    (tmp_path / "x").write_bytes(b"\xff\xfea\0\0\xd8")
    with pytest.raises(FileError, match="UTF-16 as its first bytes say, got the byte 0x00 at 4"):
        read_text(tmp_path / "x")


@pytest.mark.parametrize("name", ["dépôt", "De\u0301pot", "DEPOT"])
def test_the_depot_is_recognised_however_it_is_spelt(tmp_path, name):
    instance = read(tmp_path, f"name,x,y,due\na,1,0,\n{name},2,0,9\nb,3,0,\n")
    assert instance.data.coords[0].tolist() == [2, 0]
    assert instance.data.labels.names == (name, "a", "b")


def test_stops_without_a_name_have_their_number_and_no_name_occurs_twice(tmp_path):
    text = "name,x,y,demand\n,0,0,\na,1,0,1\n,2,0,1\nb,3,0,1\n"
    assert read(tmp_path, text, capacity=1).data.labels.names == ("depot", "a", "2", "b")
    for name, lines in (("a", "3 and 5"), ("2", "4 and 5")):
        with pytest.raises(FileError, match=f"lines {lines} both hold the name '{name}'"):
            read(tmp_path, text.replace("b,", f"{name},"), capacity=1)


def test_violations_name_stops_wherever_the_depot_stands(tmp_path):
    text = "name,x,y,demand,due\na,60,0,1,60\ndepot,0,0,,\nb,0,60,1,60\n"
    instance = read(tmp_path, text, capacity=1)
    twice, _, late, _ = instance.problem.check(instance.data, ((1, 2, 2),))
    assert twice.detail == "Customer 'b' is visited 2 times."
    assert late.detail == "Customer 'b' on route 1 is served at 144.853, after 60."
    tour = read(tmp_path, "name,x,y\na,0,0\nb,1,0\nc,0,1\n")
    [first, *_] = tour.problem.check(tour.data, (0, 1))
    assert first.detail == "Node 'c' is not visited."
    parts = read(tmp_path, "name,x,y,demand\na,1,0,5\ndepot,0,0,\n", capacity=2, split=True)
    [missing] = parts.problem.check(parts.data, ())
    assert missing.detail == "Customer 'a' is not visited."


def test_clock_times_are_seconds_and_told_as_such(tmp_path):
    instance = read(tmp_path, TIMED)
    windows = instance.data.windows
    # The depot's service is loading, before vehicles leave.
    assert windows.ready.tolist() == [8.25 * 3600, 9 * 3600]
    assert windows.due.tolist() == [18 * 3600, 10 * 3600 + 30]
    assert windows.service.tolist() == [0, 300]
    with pytest.raises(FileError, match="due time 08:15:59, expected at least 08:16:00, when a"):
        read(tmp_path, TIMED.replace("09:00,10:00:30", ",08:15:59"))
    late = read(tmp_path, TIMED + "b,60,0,,09:01,0\n")
    [violation] = late.problem.check(late.data, ((1, 2),))
    assert violation.detail == "Customer 'b' on route 1 is served at 09:05:00, after 09:01:00."


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("00:05", "300", "line 3 holds the service 300, expected a clock time"),
        ("09:00", "09:60", "line 3 holds the ready 09:60, expected a clock time"),
        ("09:00", "0٩:00", "line 3 holds the ready 0٩:00, expected a clock time"),
        ("09:00", "9 am", "line 3 holds the ready 9 am, expected a clock time"),
        ("09:00", "10:01", "line 3 holds the due time 10:00:30"),
    ],
)
def test_other_times_beside_clock_times_are_refused(tmp_path, old, new, sentence):
    with pytest.raises(FileError, match=sentence):
        read(tmp_path, TIMED.replace(old, new))


def test_fractions_of_demands_are_exact_and_told_in_the_unit_of_the_file(tmp_path):
    text = "name,x,y,demand\ndepot,0,0,\na,1,0,0.1\nb,2,0,0.2\nc,3,0,5.0\n"
    instance = read(tmp_path, text, capacity=np.float64(5))
    assert instance.data.demands.tolist() == [0, 1, 2, 50]
    assert instance.data.capacity == 50
    assert instance.problem.check(instance.data, ((1, 2), (3,))) == ()
    [violation] = instance.problem.check(instance.data, ((1, 2, 3),))
    assert violation.detail == "Route 1 carries 5.3, more than 5."
    assert read(tmp_path, text.replace("5.0", "0.3"), capacity=0.3).data.capacity == 3
    assert list(read(tmp_path, text, capacity=4.9).data.unservable) == [3]


@pytest.mark.parametrize(
    "demand", ["1_0", "٣", "0e99999999999999999999999", "1e-99999999999999999999999", "1e999"]
)
def test_demands_that_are_no_plain_numbers_are_refused(tmp_path, demand):
    with pytest.raises(FileError, match=r"line 4 holds the demand .*, expected (a num|at most 6)"):
        read(tmp_path, f"x,y,demand\n0,0,\n1,0,1\n2,0,{demand}\n", capacity=9)


@pytest.mark.parametrize("capacity", [10**400, -(10**400)])
def test_a_capacity_beyond_all_floats_is_refused(tmp_path, capacity):
    with pytest.raises(ConfigError, match=r"Expected capacity in .* got -?inf"):
        read(tmp_path, SEMICOLONS, capacity=capacity)


def test_columns_can_be_ignored(tmp_path):
    text = "name,x,y,Phone No,demand,max load\ndepot,0,0,1,,\na,3,4,2,1,\nb,4,3,,2,x\n"
    with pytest.raises(FileError, match=r"only name.*; ignore=Phone No leaves it out"):
        read(tmp_path, text, capacity=3)
    for ignore in ("phone no, max load", ["Phone No", "max load"]):
        assert read(tmp_path, text, capacity=3, ignore=ignore).data.demands.tolist() == [0, 1, 2]
    tour = read(tmp_path, text, ignore="demand,phone no,max load")
    assert tour.problem.name == "tsp"


DEGREES = "lon,lat,due\n13.40,52.52,{day}\n13.41,52.52,\n13.40,52.53,\n"
PLANE = "x,y,due\n0,0,{day}\n10,0,{last}\n0,12,\n"


@pytest.mark.parametrize(
    ("text", "speed", "words"),
    [
        (DEGREES.format(day=36000), None, "a vehicle comes 1 metre in one unit of time"),
        (DEGREES.format(day="10:00"), None, "a vehicle comes 1 metre in one second"),
        (DEGREES.format(day=36000), 8.3, None),
        (
            DEGREES.format(day=36000),
            8300,
            "at most 0.107771 from the depot, and the depot closes after 36000",
        ),
        # A matrix or a plane in kilometres, and seconds.
        (
            PLANE.format(day=28800, last=""),
            None,
            "at most 11 from the depot, and the depot closes after 28800",
        ),
        (PLANE.format(day=28800, last=""), 0.01, None),
        (
            PLANE.format(day=99999, last=480),
            900,
            "from the depot, and half of them close within 480",
        ),
        # Kilometres an hour, and times in seconds.
        (
            DEGREES.format(day=36000),
            30,
            "comes 108 km in an hour; speed= is metres in one second, 8.33",
        ),
        (DEGREES.format(day="10:00"), 30, "a vehicle comes 108 km in an hour"),
        (DEGREES.format(day=600), 500, None),
        # Metres a minute, which is no speed in seconds; and none that is one an hour.
        (DEGREES.format(day=600), 150, None),
        (DEGREES.format(day=36000), 500, "from the depot, and the depot closes after 36000"),
        # Kilometres and minutes; who is always there; who names no time.
        (PLANE.format(day=480, last=""), None, None),
        (PLANE.format(day=999999, last=480), None, None),
        (PLANE.format(day="", last="").replace("due", "ready"), None, None),
    ],
)
def test_a_speed_that_cannot_be_gets_a_warning(tmp_path, text, speed, words):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(tmp_path, text, speed=speed)
    # Others may come from what earlier tests left to the garbage collector.
    told = [str(each.message) for each in caught if each.category is FileWarning]
    assert len(told) == (words is not None)
    assert all(words in one and "speed=" in one for one in told)


@pytest.mark.parametrize("time", ["8h30", "8.30 am", "8:30 PM"])
def test_other_forms_of_times_say_how_to_write_them(tmp_path, time):
    cure = "clock times in all cells: 08:30, 20:30 for 8.30 pm, 32:30 on the next day"
    with pytest.raises(FileError, match=f"line 3 holds the due {re.escape(time)}, .*{cure}"):
        read(tmp_path, f"x,y,due\n0,0,\n1,1,{time}\n")
    with pytest.raises(FileError, match=r"line 3 .* a clock time as in other cells: 08:30, 20:30"):
        read(tmp_path, f"x,y,due\n0,0,18:00\n1,1,{time}\n")


def test_who_is_late_because_no_speed_is_given_is_told_of_it(tmp_path):
    with pytest.warns(FileWarning), pytest.raises(FileError, match="in line 2; speed="):
        read(tmp_path, DEGREES.format(day=480))


DISTANCES = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
TOUR = "name,x,y\na,0,0\nb,3,0\nc,0,4\n"


def test_distances_may_be_an_array_or_a_file_of_numpys(tmp_path):
    table = "name,demand\na,1\ndepot,\nb,2\n"
    expected = [[0, 3, 5], [3, 0, 4], [5, 4, 0]]
    for kind in (np.int32, np.float32):
        np.save(tmp_path / "d.npy", DISTANCES.astype(kind))
        for matrix in (DISTANCES.astype(kind), tmp_path / "d.npy"):
            assert read(tmp_path, table, capacity=3, matrix=matrix).data.matrix.tolist() == expected
    mine = DISTANCES.astype(float)
    kept = read(tmp_path, TOUR, matrix=mine).data.matrix
    mine[0, 1] = 7  # it is still the caller's
    assert kept.tolist() == DISTANCES.tolist()


def test_memory_decides_how_large_an_array_may_be_and_a_small_file_is_always_read(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("specahd.core.memory_limit.available_memory", lambda: 71)
    with pytest.raises(NotEnoughMemory, match="distance matrix of matrix"):
        read(tmp_path, TOUR, matrix=DISTANCES)
    monkeypatch.setattr("specahd.routing.formats.text.available_memory", lambda: 71)
    assert read(tmp_path, SEMICOLONS, capacity=3).size == 2


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (DISTANCES[:2], r"an array of shape \(2, 3\) of int64"),
        (DISTANCES.astype(str), "of <U21"),
        (DISTANCES * np.nan, "row 1 holds the distance nan in column 1"),
        (DISTANCES + np.eye(3), "row 1 holds 1 from a stop to itself"),
        (DISTANCES[:2, :2], "holds 2 rows of distances"),
    ],
)
def test_other_arrays_are_refused(tmp_path, array, sentence):
    np.save(tmp_path / "d.npy", array)
    for matrix, name in ((array, "matrix"), (tmp_path / "d.npy", f"{tmp_path}/d.npy")):
        with pytest.raises(FileError, match=f"^{name}: .*{sentence}"):
            read(tmp_path, TOUR, matrix=matrix)


def test_a_file_of_numpys_is_no_pickle_and_no_fragment(tmp_path):
    file = tmp_path / "d.npy"
    np.save(file, DISTANCES)
    whole = file.read_bytes()
    np.save(file, np.array([[{}]]), allow_pickle=True)
    header = whole.replace(b"(3, 3)", b"(9999999999, 9999999999)")
    malformed = [
        whole.replace(b"{'descr'", begin)
        for begin in (b"(((((((", b"{[]:1,'a", b"{1: 2,  ", b"-" * 8, b"\t\t{\n \\ '")
    ]
    contents = (file.read_bytes(), whole[:-8], whole[:20], b"", b"PK\3\4" + whole, header)
    for content in (*contents, *malformed):
        file.write_bytes(content)
        with pytest.raises(FileError, match=r"d\.npy: expected an array that NumPy has saved"):
            read(tmp_path, TOUR, matrix=file)
    with pytest.raises(FileError, match=r"Cannot read .*: No such file"):
        read(tmp_path, TOUR, matrix=tmp_path / "gone.npy")
