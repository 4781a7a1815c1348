"""Small charts as inline SVG, readable in grey: lines over tickets, and events in rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT = 440, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 40
_TICKS = 5
_ROW = 20
"""Pixels of one row of events."""
BLUE, ORANGE = "#0072b2", "#d55e00"
"""Colours of Okabe and Ito's palette; different dashes distinguish lines in grey."""
DASHES = ("", "6 3", "2 2", "8 3 2 3")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart.

    Parameters
    ----------
    parts
        Point sequences that are drawn separately, as steps.
    dots
        Points that are drawn in addition to the line.
    """

    name: str
    parts: Sequence[Sequence[Point]]
    dots: Sequence[Point] = ()
    colour: str = BLUE
    dash: str = ""


def line_chart(
    lines: Sequence[Line], across: str, along: str, *, end: float, marks: Sequence[float] = ()
) -> str:
    """Return an SVG of lines; an empty text if there is no point.

    Parameters
    ----------
    across, along
        Labels of the horizontal and the vertical axis.
    end
        End of the horizontal axis, which begins at 0.
    marks
        Horizontal positions of vertical lines.
    """
    points = [point for line in lines for part in (*line.parts, line.dots) for point in part]
    if not points:
        return ""
    low, high = min(y for _, y in points), max(y for _, y in points)
    low = 0.0 if 0 <= low < 0.5 * high else low
    ticks = list(_ticks(low, high))
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    floor_, top = _HEIGHT - _BOTTOM, _TOP + (16 if len(lines) > 1 else 0)

    def place(x: float, y: float) -> tuple[float, float]:
        share = (y - low) / (high - low or 1.0)
        return round(_x(x, end), 1), round(floor_ - share * (floor_ - top), 1)

    parts = list(_frame(across, end, floor_, marks, top))
    for tick in ticks:
        y = place(0, tick)[1]
        parts.append(_grid_line(_LEFT, _WIDTH - _RIGHT, y, y))
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{_number(tick)}</text>')
    middle = (top + floor_) / 2
    parts.append(
        f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">'
        f"{escape(along)}</text>"
    )
    for number, line in enumerate(lines):
        style = f'stroke="{line.colour}" stroke-dasharray="{line.dash}"'
        for x, y in (place(*point) for point in line.dots):
            parts.append(f'<circle cx="{x}" cy="{y}" r="2" fill="{line.colour}" opacity="0.4"/>')
        for part in line.parts:
            parts.append(
                f'<path d="{_steps([place(*point) for point in part])}" fill="none" '
                f'stroke-width="2" {style}/>'
            )
        if len(lines) > 1:
            x = _LEFT + 140 * number
            parts.append(f'<line x1="{x}" x2="{x + 26}" y1="10" y2="10" stroke-width="2" {style}/>')
            parts.append(f'<text x="{x + 32}" y="14">{escape(line.name)}</text>')
    return drawing(parts, _WIDTH, _HEIGHT, along)


@dataclass(frozen=True, slots=True)
class EventRow:
    """A row of events; ``low`` events are drawn in the lower half of the row."""

    name: str
    high: Sequence[float]
    low: Sequence[float]


def event_chart(
    rows: Sequence[EventRow], across: str, *, end: float, marks: Sequence[float]
) -> str:
    """Return an SVG with a mark for each event, in rows; an empty text if there is no row."""
    if not rows:
        return ""
    left = 150
    floor_ = _TOP + _ROW * len(rows)
    parts = list(_frame(across, end, floor_, marks, _TOP, left))
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number
        parts.append(
            f'<text x="{left - 6}" y="{y + 14}" text-anchor="end">{escape(row.name)}</text>'
        )
        for events, shift, colour in ((row.high, 2, ORANGE), (row.low, 10, BLUE)):
            marks_ = "".join(f"M{round(_x(x, end, left), 1)} {y + shift}v8" for x in events)
            parts.append(f'<path d="{marks_}" stroke="{colour}" stroke-width="1.6"/>')
    return drawing(parts, _WIDTH, floor_ + _BOTTOM, "events")


def _x(x: float, end: float, left: int = _LEFT) -> float:
    return left + x / (end or 1) * (_WIDTH - _RIGHT - left)


def _frame(
    across: str, end: float, floor_: float, marks: Sequence[float], top: float, left: int = _LEFT
) -> Iterator[str]:
    for mark in marks:
        x = round(_x(mark, end, left), 1)
        yield _grid_line(x, x, top, floor_, ' stroke-dasharray="3 3"')
    yield f'<line class="axis" x1="{left}" x2="{_WIDTH - _RIGHT}" y1="{floor_}" y2="{floor_}"/>'
    for tick in _ticks(0, end):
        if tick <= end:
            x = round(_x(tick, end, left), 1)
            yield f'<text x="{x}" y="{floor_ + 15}" text-anchor="middle">{_number(tick)}</text>'
    middle = (left + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle}" y="{floor_ + 32}" text-anchor="middle">{escape(across)}</text>'


def _grid_line(x1: float, x2: float, y1: float, y2: float, style: str = "") -> str:
    return f'<line class="grid-line" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"{style}/>'


def _steps(points: Sequence[Point]) -> str:
    x, y = points[0]
    path = f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in points[1:])
    return path if len(points) > 1 else f"{path}h2"


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield round numbers from at most ``low`` to at least ``high``."""
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** floor(log10(span / _TICKS))
    step = next(unit * each for each in (1, 2, 5, 10) if unit * each * _TICKS >= span)
    for number in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1):
        yield number * step


def _number(value: float) -> str:
    if value and abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def drawing(parts: Sequence[str], width: float, height: float, title: str) -> str:
    """Return an SVG of the given size in pixels, which shrinks with the page."""
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )
