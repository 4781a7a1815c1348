"""Error messages for a file that no problem reads; they name the line or the field."""

from collections.abc import Collection
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats import kinds
from specahd.routing.formats.rows import lines_of


def unreadable_error(path: Path, text: str, problems: Collection[str]) -> FileError:
    """Return an error with the reason why no problem reads a text.

    Parameters
    ----------
    text
        Content of the file.
    problems
        Names of the problems that were tried.
    """
    lines, sign, _ = lines_of(text)
    number, first = next(lines, (0, ""))
    instance = f"expected an instance of {', '.join(problems)}"
    if not first:
        return FileError(f"{path} is empty, {instance}.")
    if field := _type(text):
        return FileError(f"{path}: {field}.")
    where, line = f"{path}: line {number}", first.strip()[:40]
    columns = ", ".join(kinds.STOP_COLUMNS)
    if sign is not None:
        return FileError(f"{where} is {line!r} and names none of the columns {columns}.")
    if sum(kinds.column_of(word) in kinds.STOP_COLUMNS for word in first.split()) > 1:
        return FileError(
            f"{where} separates its columns by blanks, expected commas, semicolons or tabs."
        )
    return FileError(f"{where} is {line!r}, {instance}, or a table with columns among {columns}.")


def _type(text: str) -> str | None:
    """Return the error in TYPE; None for a text without fields and sections."""
    expected = [name for name, kind in kinds.TYPES.items() if not kind.solution]
    accepted = f"expected {', '.join(expected[:-1])} or {expected[-1]} (docs/limits.md)"
    colonless = None
    has_fields = kinds.begins_with_field(text.lstrip())
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        key, colon, value = line.partition(":")
        word = next(iter(key.split()), "").upper()
        if word == "EOF":
            break
        if word == "TYPE" and colon:
            return f"TYPE is {value.strip()[:40]!r}, {accepted}"
        if word == "TYPE":
            colonless = f"line {number} is {line[:40]!r}, expected 'TYPE : value'"
        has_fields |= word.endswith("_SECTION")
    return (colonless or f"TYPE is missing, {accepted}") if has_fields else None
