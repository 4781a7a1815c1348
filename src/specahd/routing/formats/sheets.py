"""Workbooks (.xlsx) and Parquet files as CSV, so that what reads tables as text reads them too.

A line of the text is a row of the sheet. Dates become ``2026-12-01 08:00:00``, with the zone that
a column of Parquet has, and times of day and durations ``08:00:00``.
"""

import csv
import io
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

from specahd.core.errors import FileError, FileWarning

_LARGEST_ROW, _LARGEST_COLUMN = 1 << 20, 1 << 14
_DAYS_ALONE = 1000
"""Days from which a number in a format of times is a date whose day is not shown."""
# openpyxl has no error of its own for most of what it cannot read.
_DAMAGED = (
    *(BadZipFile, SyntaxError, zlib.error, EOFError, NotImplementedError, OSError),
    *(LookupError, ValueError, RuntimeError, OverflowError, TypeError, AttributeError),
)


def workbook_text(path: Path, most: int) -> str:
    """Return the first visible sheet of a workbook as CSV.

    Parameters
    ----------
    most
        Most bytes that it unpacks to, and most cells of the sheet.

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
        # The library warns of what else it does not read.
        with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            if sum(part.file_size for part in ZipFile(file).infolist()) > most:
                raise _too_large(path, most)
            sheets = _sheets(file, data_only=True)
            rows = [list(map(_text, row)) for row in _rows(path, sheets[0], most)]
            if any(None in row for row in rows):
                formulas = _rows(path, _sheets(file, data_only=False)[0], most)
                _refuse_formulas(path, rows, formulas)
    except _DAMAGED:
        raise FileError(
            f"{path}: expected a text file, got an archive that is no sound .xlsx workbook: "
            "save a workbook as CSV, unpack an archive."
        ) from None
    if len(sheets) > 1:
        warnings.warn(
            f"{path} holds {len(sheets)} sheets; the first, {sheets[0].title[:40]!r}, is read.",
            FileWarning,
            stacklevel=2,
        )
    width = max(map(len, rows), default=0)
    # An empty row is a line without cells.
    return _csv(
        [*(cell or "" for cell in row), *[""] * (width - len(row))] if row else [] for row in rows
    )


def _too_large(path: Path, most: int) -> FileError:
    return FileError(f"{path} unpacks to more than {most >> 20} MiB, save it as CSV.")


def _sheets(file: BinaryIO, *, data_only: bool) -> list[Any]:
    """Return the visible sheets, which have the values of formulas or the formulas."""
    # Few files are tables of this kind, and the import takes long.
    from openpyxl import load_workbook

    file.seek(0)
    book = load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
    return [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]


def _rows(path: Path, sheet: Any, most: int) -> Iterator[Sequence[Any]]:
    """Yield the cells of each row; those that a row lacks have no coordinate."""
    # What a file states of its dimensions may be wrong.
    sheet.reset_dimensions()
    widest = 0
    for number, row in enumerate(sheet.rows, start=1):
        widest = max(widest, len(row))
        misplaced = any(getattr(cell, "row", number) != number for cell in row)
        if misplaced or number > _LARGEST_ROW or widest > _LARGEST_COLUMN:
            raise ValueError
        if widest * number > most:
            raise _too_large(path, most)
        yield row


def _refuse_formulas(
    path: Path, rows: Sequence[Sequence[str | None]], formulas: Iterable[Sequence[Any]]
) -> None:
    """Refuse a cell that holds a formula and is None in ``rows``."""
    for texts, cells in zip(rows, formulas, strict=True):
        for text, cell in zip(texts, cells, strict=True):
            if text is None and cell.data_type == "f":
                raise FileError(
                    f"{path}: cell {cell.coordinate} holds a formula without its value, expected "
                    "a workbook that a spreadsheet has saved."
                )


def _text(cell: Any) -> str | None:
    """Return what a cell shows; None for one without a value, which may hold a formula."""
    value = cell.value
    if value is None:
        # The value of a formula may be the empty string.
        return None if cell.data_type == "n" and hasattr(cell, "coordinate") else ""
    if not isinstance(value, datetime | time):
        return _plain(value)
    from openpyxl.styles.numbers import STRIP_RE
    from openpyxl.utils.datetime import to_excel

    epoch = cell.parent.parent.epoch
    codes = STRIP_RE.sub("", cell.number_format).lower()
    has_date, has_time = (any(map(codes.__contains__, signs)) for signs in ("dy", "hs"))
    moment = datetime.combine(epoch, value) if isinstance(value, time) else value
    days = to_excel(moment, epoch)
    if has_time and not has_date and days < _DAYS_ALONE:
        return _plain(timedelta(days=days))
    if not has_time and moment.time() == time():
        return _plain(moment.date())
    # Days are stored with fewer digits than a microsecond needs.
    return _plain(moment + timedelta(milliseconds=500))


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
        names, columns = table.column_names, []
        for values in table.columns:
            kind = values.type
            # Python has no nanoseconds.
            if pa.types.is_timestamp(kind) and kind.unit == "ns":
                values = values.cast(pa.timestamp("us", kind.tz), safe=False)
            elif pa.types.is_duration(kind) and kind.unit == "ns":
                values = values.cast(pa.duration("us"), safe=False)
            elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
                # Older programs write texts as bytes.
                values = values.cast(pa.string())
            columns.append(values.to_pylist())
    except (pa.ArrowException, OSError, KeyError, ValueError, OverflowError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")[:100]
        raise FileError(f"{path}: cannot be read as Parquet: {reason}.") from None
    # pandas writes an index without a name as the last column.
    if names and names[-1] == "__index_level_0__":
        texts = "name" not in names and all(isinstance(each, str) for each in columns[-1])
        names = ["name" if texts else "", *names[:-1]]
        columns = [columns[-1], *columns[:-1]]
    rows = zip(*columns, strict=True)
    return _csv([names, *([_plain(value) for value in row] for row in rows)])


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
