"""Self-contained HTML pages: their common frame, and their parts from this folder."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any


@cache
def asset(name: str) -> str:
    """Return a style sheet or a script that lies beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(
    title: str, body: Sequence[str], *, styles: str = "", scripts: str = "", first: str = ""
) -> str:
    """Return a page that needs no other file and no network.

    Parameters
    ----------
    body
        Parts in HTML.
    first
        What the page's script shows first.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('page.css')}{styles}</style>\n</head>\n"
        f'<body data-first="{escape(first)}">\n<h1>{escape(title)}</h1>\n'
        + "\n".join(body)
        + f"\n<script>\n{asset('page.js')}{scripts}</script>\n</body>\n</html>\n"
    )


def embed(name: str, data: Any) -> str:
    """Return data for a script of the page; nothing in it can end the element."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
