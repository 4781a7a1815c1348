"""Dates, time zones and Unix seconds in tables of stops, and the same in what is written."""

import csv
import io
import re
from datetime import datetime, timedelta

import pandas as pd
import pytest

from specahd import api
from specahd.core.errors import FileError
from specahd.routing import itinerary

HEAD = "name,x,y,ready,due,service\n"
TWO_DAYS = (
    f"{HEAD}depot,0,0,2026-12-01 06:00,2026-12-02 20:00,00:10\n"
    "Müller,3,4,2026-12-01 08:00,2026-12-01 09:00,00:05\n"
    "später,6,8,2026-12-02 08:30,2026-12-02 09:00,\n"
    "irgendwann,0,5,,,\n"
)


def read(tmp_path, text, **options):
    (tmp_path / "stops.csv").write_text(text, encoding="utf-8")
    return api.read(tmp_path / "stops.csv", **{"speed": 0.01, **options})


def zoned(text, mark="T", zone="+01:00"):
    return re.sub(r"(\d) (\d\d:\d\d)", rf"\1{mark}\2{zone}", text)


def visits(instance, *route):
    text = itinerary.FORMATS[".csv"](instance.data, [route])
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


@pytest.mark.parametrize(("mark", "zone"), [(" ", ""), ("T", "Z"), ("T", "+01:00"), (" ", "-0330")])
def test_dates_are_seconds_of_one_time_and_are_written_back_as_dates(tmp_path, mark, zone):
    instance = read(tmp_path, zoned(TWO_DAYS, mark, zone))
    windows, speed = instance.data.windows, 0.01
    day = 86_400
    # From the depot's opening on, which its loading delays.
    assert (windows.ready / speed).tolist() == pytest.approx([600, 7200, day + 9000, 0])
    due = [day + 14 * 3600, 3 * 3600, day + 3 * 3600, day + 14 * 3600]
    assert (windows.due / speed).tolist() == pytest.approx(due)
    assert (windows.service / speed).tolist() == pytest.approx([0, 300, 0, 0])
    first, one, two, last = visits(instance, 1, 2)
    form = "{}" + mark + "{}" + zone.replace("0330", "03:30")
    assert first["departure"] == form.format("2026-12-01", "07:51:40")
    assert first["start"] == form.format("2026-12-01", "07:41:40")
    assert (one["arrival"], one["wait"]) == (form.format("2026-12-01", "08:00:00"), "00:00:00")
    assert two["start"] == form.format("2026-12-02", "08:30:00")
    assert two["wait"] == "24:16:40"
    assert last["arrival"] == form.format("2026-12-02", "08:46:40")
    assert last["duration"] == "00:33:20"
    [violation] = instance.problem.check(instance.data, ((2, 1), (3,)))
    late = form.format("2026-12-02", "08:38:20"), form.format("2026-12-01", "09:00:00")
    assert violation.detail.endswith(f"is served at {late[0]}, after {late[1]}.")


def test_zones_that_differ_are_one_time_and_told_in_the_first(tmp_path):
    text = zoned(TWO_DAYS)
    other = text.replace("2026-12-01T08:00+01:00", "2026-12-01T07:00Z")
    one, two = (read(tmp_path, each) for each in (text, other))
    assert (one.data.windows.ready == two.data.windows.ready).all()
    assert visits(one, 1) == visits(two, 1)


def test_a_depot_without_opening_is_open_early_enough(tmp_path):
    text = f"{HEAD}depot,0,0,,,00:10\na,30,40,2026-12-01 00:00,2026-12-01 00:01,\n"
    first, visit, _ = visits(read(tmp_path, text), 1)
    assert visit["arrival"] == "2026-12-01 00:00:00"
    assert (first["start"], first["departure"]) == ("2026-11-30 22:26:40", "2026-11-30 22:36:40")
    # A clock begins at midnight.
    with pytest.raises(FileError, match="line 3 holds the due time 00:01, expected at least 01:33"):
        read(tmp_path, re.sub(r"2026-12-\d\d ", "", text))


@pytest.mark.parametrize("speed", [1e-6, 1e6])
def test_a_speed_that_cannot_be_gives_no_date_that_cannot_be(tmp_path, speed):
    text = "name,x,y,ready,due\ndepot,0,0,,\na,9000000,0,2026-12-01 08:00,\nb,0,0,,\n"
    instance = read(tmp_path, text, speed=speed)
    # Trips of 285,000 years, or of seconds.
    assert visits(instance, 1, 2)[1]["arrival"] >= "2026-12-01 08:00:00"
    day, _ = instance.data.labels.times.day_and_time(9e6 / speed)
    assert day >= "2026-12-01"


def test_unix_seconds_stay_unix_seconds(tmp_path):
    text = (
        f"{HEAD}depot,0,0,1796104800,1796187600,600\n"
        "a,3,4,1796112000,1796115600.5,300\nb,6,8,,,60\n"
    )
    instance = read(tmp_path, text)
    assert (instance.data.windows.ready / 0.01).tolist() == pytest.approx([600, 7200, 0])
    first, one, two, last = visits(instance, 1, 2)
    assert (first["start"], first["departure"]) == ("1796110900", "1796111500")
    assert (one["start"], one["departure"], one["wait"]) == ("1796112000", "1796112300", "0")
    assert two["arrival"] == "1796112800"
    assert last["duration"] == "2000"
    with pytest.raises(FileError, match=r"line 4 holds the due 900, .* as line 2 has .1796104800"):
        read(tmp_path, text.replace("b,6,8,,,", "b,6,8,,900,"))
    milliseconds = re.sub(r"(\d{10})(\.5)?", r"\g<1>000", text)
    with pytest.raises(FileError, match=r"line 2 .* subtract its Unix milliseconds"):
        read(tmp_path, milliseconds)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("12-01 09:00", "12-01T09:00Z", "due 2026-12-01T09:00Z, expected no zone, as line 2"),
        (" 09:00,00:05", ",00:05", "due 2026-12-01, .* behind it as line 2 has: 2026-12-01 00:00"),
        ("2026-12-01 09:00", "09:00", "due 09:00, expected the date before .*: 2026-12-01 09:00"),
        ("2026-12-01 09:00", "32400", "due 32400, expected a date and a time as line 2 has: 2026"),
        ("2026-12-01 09:00", "01.12.2026 09:00", r"due 01\.12\.2026 09:00, expected a date and a"),
        ("2026-12-01 09:00", "2026-11-31 09:00", "due 2026-11-31 09:00, expected a day"),
        ("2026-12-01 09:00", "2026-12-01 24:00", "due 2026-12-01 24:00, expected a day"),
        ("2026-12-01 09:00", "2126-12-01 09:00", "due 2126-12-01 09:00, expected at most 11,574"),
        ("2026-12-01 09:00", "2026-12-01 07:00", "due time 2026-12-01 07:00, expected at least"),
        ("2026-12-01 09:00", "08:00-09:00", "due 08:00-09:00, expected a date and a time as"),
        (",00:05", ",5", "service 5, expected a clock time as its duration: 00:05 for five"),
        (",00:05", ",2026-12-01 00:05", "service 2026-12-01 00:05, expected a clock time as its"),
    ],
)  # fmt: skip
def test_a_time_of_another_form_gets_what_to_write_instead(tmp_path, old, new, sentence):
    with pytest.raises(FileError, match=f"line 3 holds the {sentence}") as refused:
        read(tmp_path, TWO_DAYS.replace(old, new, 1), speed=1)
    assert len(str(refused.value).partition(": ")[2]) < 250


def test_a_date_without_a_zone_beside_one_with_is_refused(tmp_path):
    text = zoned(TWO_DAYS).replace("2026-12-01T09:00+01:00", "2026-12-01T09:00")
    cure = re.escape("a zone behind it, as line 2 has one: 2026-12-01T09:00+01:00.")
    with pytest.raises(FileError, match=f"line 3 holds the due 2026-12-01T09:00, expected {cure}"):
        read(tmp_path, text)


def test_dates_as_they_are_written_elsewhere_are_told_how_to_write_them(tmp_path):
    text = "x,y,due\n0,0,\n1,1,28.11.2026 08:30\n"
    with pytest.raises(FileError, match=r"line 3 .*, expected a date and a time written 2026"):
        read(tmp_path, text)


def test_clock_times_without_a_gap_take_a_whole_speed(tmp_path):
    text = f"{HEAD}depot,0,0,06:00,20:00,00:10\na,3,4,08:00,09:00,00:05\n"
    windows = read(tmp_path, text, speed=2).data.windows
    assert (windows.due / 2).tolist() == pytest.approx([72_000, 32_400])


@pytest.mark.parametrize("column", ["ready2", "due_2", "Due Time 2", "windows", "time_windows"])
def test_several_windows_of_a_stop_are_refused_by_name(tmp_path, column):
    text = f"name,x,y,ready,due,{column}\ndepot,0,0,,,\na,3,4,1,2,3\n"
    with pytest.raises(FileError, match=r"line 1 .*; several windows of a stop are not supported"):
        read(tmp_path, text)
    assert read(tmp_path, text, ignore=column, speed=50).size == 1


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_data_frame_holds_dates(zone):
    opening = pd.Timestamp("2026-12-01", tz=zone)
    frame = pd.DataFrame(
        {
            "name": ["depot", "a"],
            "x": [0, 3],
            "y": [0, 4],
            "ready": [opening, pd.NaT],
            # All of them at midnight.
            "due": [opening + timedelta(days=2), opening + timedelta(days=1)],
            "service": [pd.NaT, timedelta(minutes=5)],
        }
    )
    instance = api.read(frame, speed=0.01)
    assert instance.data.windows.due / 0.01 == pytest.approx([2 * 86_400, 86_400])
    assert instance.data.windows.service[1] == pytest.approx(3)
    told = visits(instance, 1)[1]["arrival"]
    assert told == "2026-12-01 00:08:20" + ("" if zone is None else "+01:00")
    assert datetime.fromisoformat(told).hour == 0
