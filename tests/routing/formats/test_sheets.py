"""Tables of stops as workbooks and Parquet files, with cells that are dates."""

import subprocess
import sys
import warnings
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from pyarrow import parquet

from specahd import api
from specahd.core.errors import FileError, FileWarning
from specahd.routing.formats import text as texts

ROOT = Path(__file__).parents[3]
STOPS = [
    ["name", "x", "y", "demand", "ready", "due", "service"],
    ["Dépôt", 0, 0, None, datetime(2026, 12, 1, 6), datetime(2026, 12, 2, 20), None],
    ["Müller & Söhne", 3, 4, 0.1 + 0.2, datetime(2026, 12, 1, 8), datetime(2026, 12, 1, 9),
     time(0, 5)],
    [None] * 7,
    ["später\nzweimal", 6, 8, 2, datetime(2026, 12, 2, 8, 30, 15), None, timedelta(minutes=7)],
]  # fmt: skip


def workbook(path, rows, *, later=False, forms=()):
    """Save rows as a workbook; ``forms`` are formats of cells by their coordinates."""
    book = Workbook()
    book.epoch = CALENDAR_MAC_1904 if later else book.epoch
    sheet = book.active
    sheet.title = "Stopps"
    for row in rows:
        sheet.append(row)
    for cell, form in dict(forms).items():
        sheet[cell].number_format = form
    book.save(path)
    return path


def rewritten(path, old, new):
    """Replace a text in each part of a workbook; it occurs in one of them at least."""
    with ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert any(old in part for part in parts.values())
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part.replace(old, new))
    return path


@pytest.mark.parametrize("later", [False, True])
def test_dates_of_a_workbook_are_dates_of_the_table(tmp_path, later):
    path = workbook(tmp_path / "stops.xlsx", STOPS, later=later)
    assert texts.read_text(path).splitlines() == [
        "name,x,y,demand,ready,due,service",
        "Dépôt,0,0,,2026-12-01 06:00:00,2026-12-02 20:00:00,",
        "Müller & Söhne,3,4,0.3,2026-12-01 08:00:00,2026-12-01 09:00:00,00:05:00",
        "",
        "später zweimal,6,8,2,2026-12-02 08:30:15,,00:07:00",
    ]
    instance = api.read(path, capacity=3, speed=0.01)
    assert instance.data.labels.names == ("Dépôt", "Müller & Söhne", "später zweimal")
    assert instance.data.labels.amount(int(instance.data.demands[1])) == 0.3
    assert (instance.data.windows.ready / 0.01).tolist() == pytest.approx([0, 7200, 95_415])
    assert (instance.data.windows.service / 0.01).tolist() == pytest.approx([0, 300, 420])
    # The line of a message is the row of the sheet.
    STOPS[4][2], kept = "acht", STOPS[4][2]
    try:
        with pytest.raises(FileError, match="line 5 holds the y acht"):
            api.read(workbook(path, STOPS), capacity=3)
    finally:
        STOPS[4][2] = kept


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("form", "days", "text"),
    [
        ('YYYY\\-MM\\-DD "um" HH:MM', 46_357.35434, "2026-12-01 08:30:15"),
        ("yyyy-mm-dd hh:mm", 46_357, "2026-12-01 00:00:00"),
        ("[$-es-ES]dd/mm/yyyy;@", 46_357, "2026-12-01"),
        ("d-mmm", 46_357.5, "2026-12-01 12:00:00"),
        ("mmmm", 46_357, "2026-12-01"),
        ("dd.mm.yyyy", 0, "DAY"),
        ("hh:mm", 46_357.5, "2026-12-01 12:00:00"),
        ("hh:mm", 0.35434, "08:30:15"),
        ("hh:mm", 1.25, "30:00:00"),
        ("[h]:mm:ss", 4.5, "108:00:00"),
        ('0.0 "days"', 7.5, "7.5"),
        ("General", 46_357, "46357"),
    ],
)
def test_the_format_of_a_cell_says_what_its_number_means(tmp_path, later, form, days, text):
    if later and days > 1000 and form != "General":
        days -= 1462
    path = workbook(tmp_path / "stops.xlsx", [[days]], later=later, forms={"A1": form})
    first = "1904-01-01" if later else "1899-12-30"
    assert texts.read_text(path).strip() == text.replace("DAY", first)


def test_a_day_alone_is_refused(tmp_path):
    rows = [["x", "y", "due"], [0, 0, None], [1, 1, date(2026, 12, 1)]]
    with pytest.raises(FileError, match="line 3 holds the due 2026-12-01, expected a date and a t"):
        api.read(workbook(tmp_path / "stops.xlsx", rows))


def test_the_first_of_several_sheets_that_are_shown_is_read_and_told(tmp_path):
    book = Workbook()
    for place, title in enumerate(("Alt", "Stopps", "Notizen")):
        book.create_sheet(title, place).append(["name", title])
    book["Alt"].sheet_state = "hidden"
    book.save(tmp_path / "stops.xlsx")
    with pytest.warns(FileWarning, match=r"holds 3 sheets; the first, 'Stopps', is read\."):
        assert texts.read_text(tmp_path / "stops.xlsx") == "name,Stopps\n"


def test_sheets_are_told_once_where_no_problem_reads_the_first(tmp_path):
    book = Workbook()
    book.create_sheet("Notizen", 0).append(["notes"])
    book.save(tmp_path / "stops.xlsx")
    sentence = r"stops\.xlsx: line 1 is 'notes', expected an instance of"
    recorded = warnings.catch_warnings(record=True, action="always")
    with recorded as told, pytest.raises(FileError, match=sentence):
        api.read(tmp_path / "stops.xlsx")
    assert len(told) == 1


def test_a_formula_without_its_value_is_no_empty_cell(tmp_path):
    # Libraries that write formulas do not calculate them.
    path = workbook(tmp_path / "stops.xlsx", [["x", "y"], [1, "=1+2"]])
    with pytest.raises(FileError, match="cell B2 holds a formula without its value, expected a wo"):
        texts.read_text(path)
    rewritten(path, "<v />", "<v>3</v>")
    assert texts.read_text(path) == "x,y\n1,3\n"
    rewritten(rewritten(path, "<v>3</v>", "<v></v>"), 'r="B2"', 'r="B2" t="str"')
    assert texts.read_text(path) == "x,y\n1,\n"


def test_what_a_workbook_states_of_its_size_is_not_believed(tmp_path):
    path = workbook(tmp_path / "stops.xlsx", [["x", "y"], [1, 2]])
    rewritten(path, '<dimension ref="A1:B2"', '<dimension ref="A1:A1"')
    assert texts.read_text(path) == "x,y\n1,2\n"


def test_how_a_text_sounds_is_not_part_of_it(tmp_path):
    path = workbook(tmp_path / "stops.xlsx", [["name"]])
    sound = '<rPh sb="0" eb="1"><t>sound</t></rPh>'
    rewritten(path, "<t>name</t>", f"<r><t>na</t></r><r><t>me</t></r>{sound}")
    assert texts.read_text(path) == "name\n"


def test_a_workbook_that_is_damaged_or_a_trap_gets_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "stops.xlsx"
    whole = workbook(path, STOPS).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        content = bytearray(whole)
        for place in rng.integers(0, len(whole), 3).tolist():
            content[place] = int(rng.integers(256))
        path.write_bytes(bytes(content[: rng.integers(4, len(whole) + 1)]))
        # Any other error is a failure.
        with suppress(FileError):
            texts.read_text(path)
    for old, new in (
        ("<v>", "<v>x"),
        ('r="G1"', 'r="ZZZ1"'),
        ('r="A2"', 'r="A9999999"'),
        ('t="inlineStr"><is><t>name</t></is>', 't="s"><v>99</v>'),
        ("</row>", ""),
        # Entities may expand to many times their size.
        ("<worksheet", '<!DOCTYPE a [<!ENTITY b "c">]><worksheet'),
    ):
        with pytest.raises(FileError, match=r"got an archive that is no sound \.xlsx workbook"):
            texts.read_text(rewritten(workbook(path, STOPS), old, new))
    rewritten(workbook(path, [["x"]]), 'r="1"', 'r="1048577"')
    with pytest.raises(FileError, match=r"got an archive that is no sound \.xlsx workbook"):
        texts.read_text(rewritten(path, 'r="A1"', 'r="A1048577"'))
    workbook(path, [*STOPS, *[[f"a{row}"] for row in range(20_000)]])
    assert path.stat().st_size < 1 << 20
    monkeypatch.setattr(texts, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(texts, "available_memory", lambda: 0)
    with pytest.raises(FileError, match="unpacks to more than 1 MiB, save it as CSV"):
        texts.read_text(path)
    # Rows have as many cells as the widest.
    workbook(path, [["x"] for _ in range(100)])
    with pytest.raises(FileError, match="unpacks to more than 1 MiB, save it as CSV"):
        texts.read_text(rewritten(path, 'r="A1"', 'r="XFD1"'))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("index", [False, True])
def test_dates_of_parquet_are_dates_of_the_table(tmp_path, zone, index):
    frame = pd.DataFrame(STOPS[1:3] + STOPS[4:], columns=STOPS[0]).drop(columns="demand")
    frame["name"] = frame["name"].str.replace("\n", " ")
    for column in ("ready", "due"):
        # In summer, too, when the zone is another one.
        times = pd.to_datetime(frame[column]).astype("datetime64[ns]")
        frame[column] = times.dt.tz_localize(zone)
    frame["service"] = pd.to_timedelta([None, "5min", "7min"])
    frame = frame.set_index("name").rename_axis(None) if index else frame
    frame.to_parquet(tmp_path / "stops.parquet")
    found = texts.read_text(tmp_path / "stops.parquet").splitlines()
    end = "" if zone is None else "+01:00"
    assert found[2] == (
        f"Müller & Söhne,3,4,2026-12-01 08:00:00{end},2026-12-01 09:00:00{end},00:05:00"
    )
    assert found[3] == f"später zweimal,6,8,2026-12-02 08:30:15{end},,00:07:00"
    instance = api.read(tmp_path / "stops.parquet", speed=0.01)
    assert instance.data.labels.names == ("Dépôt", "Müller & Söhne", "später zweimal")
    assert (instance.data.windows.ready / 0.01).tolist() == pytest.approx([0, 7200, 95_415])


def test_a_damaged_parquet_file_gets_one_sentence(tmp_path):
    path = tmp_path / "stops.parquet"
    pd.DataFrame(STOPS[1:3], columns=STOPS[0]).astype(str).to_parquet(path)
    whole = path.read_bytes()
    for content in (whole[:-9], whole[:100], whole[:4], whole[:50] + b"\xff" * 60 + whole[110:]):
        path.write_bytes(content)
        with pytest.raises(
            FileError, match=r"stops\.parquet: cannot be read as Parquet: [^\n]*\.$"
        ):
            texts.read_text(path)


def test_parquet_keeps_columns_of_one_name_and_texts_that_are_bytes(tmp_path):
    path = tmp_path / "stops.parquet"
    names, numbers = pa.array([b"a", b"depot"]), pa.array([1, 2])
    parquet.write_table(pa.table({"name": names, "x": numbers, "y": numbers}), path)
    assert texts.read_text(path) == "name,x,y\na,1,1\ndepot,2,2\n"
    parquet.write_table(pa.Table.from_arrays([names, numbers, numbers], ["name", "x", "x"]), path)
    with pytest.raises(FileError, match="line 1 holds the column x twice"):
        api.read(path)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**31 - 1], pa.int32()).cast(pa.date32()),
        pa.array([2**60]).cast(pa.timestamp("ms")),
        pa.array([2**60]).cast(pa.duration("s")),
        pa.array([b"\xff"]),
    ],
)
def test_what_python_cannot_hold_of_parquet_gets_one_sentence(tmp_path, values):
    path = tmp_path / "stops.parquet"
    parquet.write_table(pa.table({"name": values}), path)
    with pytest.raises(FileError, match=r"stops\.parquet: cannot be read as Parquet: [^\n]*\.$"):
        texts.read_text(path)


def test_only_a_file_that_needs_one_imports_a_library_of_tables():
    code = (
        "import sys, specahd.solve; from specahd import api\n"
        "api.read('tests/data/stops.csv', capacity=10)\n"
        "print({'openpyxl', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "set()\n", done.stderr
