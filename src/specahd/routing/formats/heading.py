"""The first line of a table of stops, which names the columns."""

from collections.abc import Collection, Sequence

from specahd.core.errors import ConfigError
from specahd.routing.formats import kinds
from specahd.routing.formats.rows import Row


def read_heading(header: Row, rows: Sequence[Row], ignored: Collection[str]) -> list[str]:
    """Return the columns that the first line names; ``""`` for one that is left out.

    pandas and R write a first column that has no heading and numbers the rows. It becomes the
    column ``name``, or is left out if there is a column of that name.

    Parameters
    ----------
    ignored
        The names of columns to leave out.

    Raises
    ------
    FileError
        A column is not supported, occurs twice, or has no heading.
    ConfigError
        A column to leave out does not exist.
    """
    words = dict(enumerate(header.cells.values(), start=1))
    left_out = {_bare(name): name for name in ignored}
    for name, word in left_out.items():
        if name not in map(_bare, words.values()):
            raise ConfigError(
                f"Expected ignore to name columns of {header.path}, which has no {word[:40]!r}."
            )
    words = {place: word for place, word in words.items() if _bare(word) not in left_out}
    columns = [
        kinds.column_of(words[place]) if place in words else ""
        for place in range(1, len(header.cells) + 1)
    ]
    if 1 in words and not columns[0] and _number_the_rows(rows):
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
                f"only {known}; {_cure(word)}",
            )
        same = [word for word in words.values() if kinds.column_of(word) == name]
        if len(set(map(str.lower, same))) > 1:
            both = " and ".join(word[:40] for word in same)
            raise header.error(f"the columns {both}, which both mean {name}", "one of them")
        if len(same) > 1:
            raise header.error(f"the column {name} twice", "it once")
    return columns


def _cure(word: str) -> str:
    # The names in ignore= are separated by commas.
    return "rename it" if "," in word else f"ignore={word[:40]} leaves it out"


def _bare(word: str) -> str:
    return " ".join(word.casefold().split())


def _number_the_rows(rows: Sequence[Row]) -> bool:
    """Return whether the first column numbers the rows, from 0 or from 1."""
    cells = [row.cells["0"] for row in rows]
    return any(cells == [str(start + place) for place in range(len(rows))] for start in (0, 1))
