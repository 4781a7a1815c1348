"""Workbooks (.xlsx) and Parquet files as CSV, so that what reads tables as text reads them too.

A line of the text is a row of the sheet. Dates become ``2026-12-01 08:00:00``, with the zone that
a column of Parquet has, and times of day and durations ``08:00:00``.
"""

import csv
import io
import re
import warnings
import zlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from posixpath import join, normpath
from typing import Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from specahd.core.errors import FileError, FileWarning

_LARGEST_ROW, _LARGEST_COLUMN = 1 << 20, 1 << 14
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})", re.ASCII)
_STANDARD_FORMATS = {
    **dict.fromkeys(range(14, 18), "d"),
    **dict.fromkeys((18, 19, 20, 21, 45, 46, 47), "h"),
    22: "d h",
}
"""Codes that stand for the formats of dates and times that workbooks number and do not state."""
_NO_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^]]*\]|am/pm|a/p')
"""Parts of a format that are no codes: quoted words, colours, places."""
_DAYS_ALONE = 1000
"""Days from which a number in a format of times is a date whose day is not shown."""
_DAMAGED = (
    *(BadZipFile, ElementTree.ParseError, zlib.error, EOFError, NotImplementedError),
    *(LookupError, ValueError, RuntimeError, OverflowError, StopIteration),
)


def workbook_text(path: Path, most: int) -> str:
    """Return the first visible sheet of a workbook as CSV.

    Parameters
    ----------
    most
        Most bytes of a part of the workbook.

    Raises
    ------
    FileError
        The file is no workbook, is damaged or too large, or holds a formula without its value.

    Warns
    -----
    FileWarning
        There are other sheets, which are not read.
    """
    try:
        with ZipFile(path) as archive:
            return _first_sheet(path, archive, most)
    except _DAMAGED:
        raise FileError(
            f"{path}: expected a text file, got an archive that is no sound .xlsx workbook: "
            "save a workbook as CSV, unpack an archive."
        ) from None


def _first_sheet(path: Path, archive: ZipFile, most: int) -> str:
    def part(name: str) -> ElementTree.Element:
        with archive.open(name) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise FileError(f"{path}: {name} is larger than {most >> 20} MiB, save it as CSV.")
        text = content.decode("utf-8-sig")
        if "<!DOCTYPE" in text:  # its entities could expand without end
            raise ValueError
        return ElementTree.fromstring(text)

    book, names = part("xl/workbook.xml"), set(archive.namelist())
    targets = {
        each.get("Id"): each.get("Target", "") for each in part("xl/_rels/workbook.xml.rels")
    }
    shown = [
        each
        for each in book.iterfind("{*}sheets/{*}sheet")
        if each.get("state", "visible") == "visible"
    ]
    name = shown[0].get("name", "")
    if len(shown) > 1:
        warnings.warn(
            f"{path} holds {len(shown)} sheets; the first, {name[:40]!r}, is read.",
            FileWarning,
            stacklevel=2,
        )
    target = next(targets[value] for key, value in shown[0].items() if key.endswith("}id"))
    strings: list[str] = []
    if "xl/sharedStrings.xml" in names:
        strings = [_text(each) for each in part("xl/sharedStrings.xml")]
    formats = _formats(part("xl/styles.xml")) if "xl/styles.xml" in names else []
    properties = book.find("{*}workbookPr")
    later = properties is not None and properties.get("date1904") in ("1", "true")
    first_day = datetime(1904, 1, 1) if later else datetime(1899, 12, 30)
    rows: dict[int, dict[int, str]] = {}
    row = column = 0
    for line in part(normpath(join("/xl", target)).lstrip("/")).iterfind("{*}sheetData/{*}row"):
        row, column = int(line.get("r", row + 1)), 0
        for cell in line.iterfind("{*}c"):
            column += 1
            if reference := cell.get("r"):
                found = _REFERENCE.fullmatch(reference)
                if found is None:
                    raise ValueError
                column, row = _number_of(found[1]), int(found[2])
            if not 0 < row <= _LARGEST_ROW or column > _LARGEST_COLUMN:
                raise ValueError
            value = cell.findtext("{*}v")
            if value is None and cell.find("{*}f") is not None:
                raise FileError(
                    f"{path}: line {row} holds a formula without its value, expected a workbook "
                    "that a spreadsheet has saved."
                )
            code = formats[int(cell.get("s", 0))] if formats else ""
            rows.setdefault(row, {})[column] = _cell(cell, value, strings, code, first_day)
    places = range(1, max((max(cells) for cells in rows.values()), default=0) + 1)
    # An empty row is a line without cells.
    lines = (rows.get(number) for number in range(1, max(rows, default=0) + 1))
    return _csv([[cells.get(place, "") for place in places] if cells else [] for cells in lines])


def _number_of(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _text(element: ElementTree.Element) -> str:
    """Return the text of a string and of its parts in a style, without what says how it sounds."""
    parts = (*element.iterfind("{*}t"), *element.iterfind("{*}r/{*}t"))
    return "".join(part.text or "" for part in parts)


def _formats(styles: ElementTree.Element) -> list[str]:
    """Return for each style the codes of its format that tell dates and times from numbers."""
    own = {
        int(each.get("numFmtId", 0)): _codes(each.get("formatCode", ""))
        for each in styles.iterfind("{*}numFmts/{*}numFmt")
    }
    numbers = (int(each.get("numFmtId", 0)) for each in styles.iterfind("{*}cellXfs/{*}xf"))
    return [own.get(number, _STANDARD_FORMATS.get(number, "")) for number in numbers]


def _codes(form: str) -> str:
    """Return ``d`` for a format of dates, ``h`` for one of times, ``d h`` for one of both."""
    codes = set(_NO_CODE.sub("", form.lower().partition(";")[0]))
    times = bool(codes & set("hs"))
    dates = bool(codes & set("yd")) or ("m" in codes and not times)
    return " ".join(["d"] * dates + ["h"] * times)


def _cell(
    cell: ElementTree.Element,
    value: str | None,
    strings: Sequence[str],
    code: str,
    first_day: datetime,
) -> str:
    match cell.get("t", "n"):
        case "s":
            return strings[int(value or "")]
        case "inlineStr":
            inline = cell.find("{*}is")
            return "" if inline is None else _text(inline)
        case "n" if value:
            number = float(value)
            if not code:
                return _plain(number)
            if code == "h" and number < _DAYS_ALONE:
                return _plain(timedelta(days=number))
            moment = first_day + timedelta(seconds=round(number * 86_400))
            return _plain(moment.date() if code == "d" and number.is_integer() else moment)
    return value or ""


def parquet_text(path: Path, most: int) -> str:
    """Return the table in a Parquet file as CSV; texts of an index without a name are ``name``.

    Parameters
    ----------
    most
        Most bytes of its columns.

    Raises
    ------
    FileError
        The file is damaged or too large.
    """
    # Few files are tables of this kind, and the import takes long.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        groups = (file.metadata.row_group(place) for place in range(file.num_row_groups))
        if sum(group.total_byte_size for group in groups) > most:
            raise FileError(f"{path}: its columns are larger than {most >> 20} MiB.")
        table = file.read()
        columns: dict[str, list[Any]] = {}
        for name, values in zip(table.column_names, table.columns, strict=True):
            if pa.types.is_timestamp(values.type) or pa.types.is_duration(values.type):
                # Python has no nanoseconds.
                kind = (
                    pa.timestamp("us", values.type.tz)
                    if pa.types.is_timestamp(values.type)
                    else pa.duration("us")
                )
                values = values.cast(kind, safe=False)
            columns[name] = values.to_pylist()
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")[:100]
        raise FileError(f"{path}: cannot be read as Parquet: {reason}.") from None
    # pandas writes an index without a name as the last column.
    if (index := columns.pop("__index_level_0__", None)) is not None:
        texts = "name" not in columns and all(isinstance(each, str) for each in index)
        columns = {"name" if texts else "": index, **columns}
    rows = zip(*columns.values(), strict=True)
    return _csv([list(columns), *([_plain(value) for value in row] for row in rows)])


def _plain(value: Any) -> str:
    """Return a value as text; floats have the fifteen digits that a sheet shows."""
    match value:
        case None:
            return ""
        case float():
            return "" if value != value else f"{value:.15g}"
        case datetime():
            return value.isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    return str(value)


def _csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    # A row of the sheet is one line.
    csv.writer(text, lineterminator="\n").writerows(
        [" ".join(cell.splitlines()) for cell in row] for row in rows
    )
    return text.getvalue()
