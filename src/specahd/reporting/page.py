"""Self-contained HTML pages: their common frame, with styles and scripts from this folder."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from specahd.core.display import visible


@cache
def asset(name: str) -> str:
    """Return the text of a style sheet or a script in the folder of this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(
    title: str, body: Sequence[str], *, styles: str = "", scripts: str = "", first: str = ""
) -> str:
    """Return a page that needs no other file and no network; control characters become escapes.

    Parameters
    ----------
    body
        Parts in HTML.
    first
        Identifier of the item that the page's script shows first.
    """
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('page.css')}{styles}</style>\n</head>\n"
        f'<body data-first="{escape(first)}">\n<h1>{escape(title)}</h1>\n'
        + "\n".join(body)
        + f"\n<script>\n{asset('page.js')}{scripts}</script>\n</body>\n</html>\n"
    )
    return visible(text, keep="\n\t")


def embed(name: str, data: Any) -> str:
    """Return a script element with data for the page; ``<`` is escaped, so no data can end it."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
