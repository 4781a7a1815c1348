"""The first line of a table of stops: which columns it names."""

from collections.abc import Sequence

from specahd.routing.formats import kinds
from specahd.routing.formats.rows import Row


def columns_of(header: Row, rows: Sequence[Row]) -> list[str]:
    """Return the columns that the first line names.

    A first column without a heading that numbers the rows, as pandas and R write it, is the
    column ``name``; beside a column of that name it is left out, and called ``""``.

    Raises
    ------
    FileError
        A column is not supported, occurs twice, or has no heading.
    """
    words = dict(enumerate(header.cells.values(), start=1))
    columns = [kinds.column_of(word) for word in words.values()]
    if columns and not columns[0] and _number_the_rows(rows):
        columns[0] = "" if "name" in columns else "name"
        del words[1]
    known = ", ".join(kinds.STOP_COLUMNS)
    for place, word in words.items():
        name = columns[place - 1]
        if not name:
            raise header.error(
                f"no heading for column {place}",
                f"one of {known}, or no such column (pandas leaves it out with index=False)",
            )
        if name not in kinds.STOP_COLUMNS:
            raise header.error(
                f"the column {name[:40]!r}, which is not supported and may be a constraint",
                f"only {known}",
            )
        same = [word for word in words.values() if kinds.column_of(word) == name]
        if len(set(map(str.lower, same))) > 1:
            both = " and ".join(word[:40] for word in same)
            raise header.error(f"the columns {both}, which both mean {name}", "one of them")
        if len(same) > 1:
            raise header.error(f"the column {name} twice", "it once")
    return columns


def _number_the_rows(rows: Sequence[Row]) -> bool:
    """Say whether the first column counts the rows, from 0 or from 1."""
    cells = [row.cells["0"] for row in rows]
    return any(cells == [str(start + place) for place in range(len(rows))] for start in (0, 1))
