"""Text from files, as a terminal, a picture or a spreadsheet may show it safely."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence

# Control characters (C0, DEL, C1), separators of lines, marks that change the direction of writing,
# and halves of surrogate pairs, which stand for bytes of a file name that are not text.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = tuple("=+-@")
_NUMBER = re.compile(r"[+-][\d., %±]*(?:[eE][+-]?\d+)?")


def visible(text: object, keep: str = "") -> str:
    r"""Return a text with its control characters as escapes such as ``\x1b``.

    Parameters
    ----------
    text
        A text, or an object such as a path, whose text is used.
    keep
        Control characters that stay as they are, such as a newline.
    """
    return _CONTROLS.sub(
        lambda found: found[0] if found[0] in keep else _escape(ord(found[0])), str(text)
    )


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def spreadsheet_cell(value: object) -> object:
    """Return the value of a CSV cell so that no spreadsheet runs it as a formula.

    A text that starts with ``=``, ``+``, ``-`` or ``@`` and is no number gets a quote (``'``)
    before it. Control characters become escapes. Other values than text stay as they are.
    """
    if not isinstance(value, str):
        return value
    text = visible(value)
    formula = text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if formula else text


def csv_text(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Return rows as CSV, with cells that no spreadsheet runs as formulas."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows(map(spreadsheet_cell, row) for row in rows)
    return text.getvalue()


def json_line(value: object) -> str:
    r"""Return a value as one line of JSON, with its control characters as escapes of JSON.

    A program reads the same value; a person sees ``\u202e``, and letters as they are.
    """
    return _CONTROLS.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False)
    )
