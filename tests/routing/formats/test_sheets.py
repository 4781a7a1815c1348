"""Tables of stops as workbooks and Parquet files, with cells that are dates."""

from contextlib import suppress
from datetime import date, datetime, time, timedelta
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest

from specahd import api
from specahd.core.errors import FileError, FileWarning
from specahd.routing.formats import text as texts

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
FORMS = ("General", 'yyyy\\-mm\\-dd "um" hh:mm', "[$-407]dd/mm/yyyy;@", "[h]:mm:ss", '0.0 "days"')
"""Formats of cells: of a number, a date with time, a date alone, a duration, another number."""
STOPS = [
    ["name", "x", "y", "demand", "ready", "due", "service"],
    ["Dépôt", 0, 0, None, datetime(2026, 12, 1, 6), datetime(2026, 12, 2, 20), None],
    ["Müller & Söhne", 3, 4, 0.1 + 0.2, datetime(2026, 12, 1, 8), datetime(2026, 12, 1, 9),
     time(0, 5)],
    [None] * 7,
    ["später\nzweimal", 6, 8, 2, datetime(2026, 12, 2, 8, 30, 15), None, timedelta(minutes=7)],
]  # fmt: skip


def cell(value, place, row, shared, first_day):
    reference = f'r="{"ABCDEFGH"[place]}{row}"'
    if isinstance(value, str):
        shared.append(value)
        return f'<c {reference} t="s"><v>{len(shared) - 1}</v></c>'
    style = 0
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute)
    if isinstance(value, datetime):
        style, value = 1, (value - first_day) / timedelta(days=1)
    elif isinstance(value, date):
        style, value = 2, (datetime(value.year, value.month, value.day) - first_day).days
    elif isinstance(value, timedelta):
        style, value = 3, value / timedelta(days=1)
    return f'<c {reference} s="{style}"><v>{value!r}</v></c>'


def workbook(path, rows, *, later=False, sheets=("Stopps",), replace=("", ""), prolog=""):
    """Write a workbook by the standard; those of Excel have the same parts, and more."""
    shared, lines = [], []
    first_day = datetime(1904, 1, 1) if later else datetime(1899, 12, 30)
    for number, row in enumerate(rows, 1):
        cells = [
            cell(value, place, number, shared, first_day)
            for place, value in enumerate(row)
            if value is not None
        ]
        if cells:
            lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
        f'<workbookPr date1904="{int(later)}"/><sheets>'
        + "".join(f'<sheet name="{one}" r:id="r1"/>' for one in sheets)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/'
        'package/2006/relationships"><Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts>'
        + "".join(
            f'<numFmt numFmtId="{164 + place}" formatCode="{escape(form, {chr(34): "&quot;"})}"/>'
            for place, form in enumerate(FORMS)
        )
        + "</numFmts><cellXfs>"
        + "".join(f'<xf numFmtId="{164 + place}"/>' for place in range(len(FORMS)))
        + "</cellXfs></styleSheet>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>'
        + "".join(lines).replace(*replace)
        + "</sheetData></worksheet>",
    }
    parts["xl/sharedStrings.xml"] = (
        f'<sst xmlns="{MAIN}">'
        + "".join(
            f"<si><r><t>{escape(each[:2])}</t></r><r><t>{escape(each[2:])}</t></r>"
            "<rPh><t>sound</t></rPh></si>"
            for each in shared
        )
        + "</sst>"
    )
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{prolog}{part}')
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


def test_a_day_alone_is_refused_and_other_formats_are_numbers(tmp_path):
    rows = [["x", "y", "due"], [0, 0, None], [1, 1, date(2026, 12, 1)]]
    with pytest.raises(FileError, match="line 3 holds the due 2026-12-01, expected a date and a t"):
        api.read(workbook(tmp_path / "stops.xlsx", rows))
    rows = [["x", "y", "due"], [0, 0, None], [1, 1, 7.5]]
    path = workbook(tmp_path / "stops.xlsx", rows, replace=('s="0"><v>7.5', 's="4"><v>7.5'))
    assert texts.read_text(path).splitlines()[2] == "1,1,7.5"


def test_the_first_of_several_sheets_is_read_and_told(tmp_path):
    path = workbook(tmp_path / "stops.xlsx", STOPS, sheets=("Stopps", "Notizen"))
    with pytest.warns(FileWarning, match=r"holds 2 sheets; the first, 'Stopps', is read\."):
        assert "Müller" in texts.read_text(path)


def test_a_formula_without_its_value_is_no_empty_cell(tmp_path):
    path = workbook(tmp_path / "stops.xlsx", STOPS, replace=('s="0"><v>3</v>', "><f>1+2</f>"))
    with pytest.raises(FileError, match="line 3 holds a formula without its value"):
        texts.read_text(path)


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
        ('r="A1"', 'r="ZZZ1"'),
        ('r="A2"', 'r="A9999999"'),
        ('r="A1" t="s"><v>0', 'r="A1" t="s"><v>99'),
        ("</row>", ""),
    ):
        with pytest.raises(FileError, match=r"got an archive that is no sound \.xlsx workbook"):
            texts.read_text(workbook(path, STOPS, replace=(old, new)))
    with pytest.raises(FileError, match=r"got an archive that is no sound \.xlsx workbook"):
        # Entities may expand to many times their size.
        texts.read_text(workbook(path, STOPS, prolog='<!DOCTYPE a [<!ENTITY b "c">]>'))
    monkeypatch.setattr(texts, "_ALWAYS", 4000)
    monkeypatch.setattr(texts, "available_memory", lambda: 0)
    workbook(path, [*STOPS, *[[f"a{row}"] for row in range(200)]])
    assert path.stat().st_size < 4000
    with pytest.raises(FileError, match=r"xl/\w+\.xml is larger than"):
        texts.read_text(path)


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
