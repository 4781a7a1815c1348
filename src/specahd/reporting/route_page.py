"""The page of a solution: routes on a map, and for each vehicle its stops and its times.

It is one file that needs no other one, no network and no script.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from specahd.core.display import visible
from specahd.core.sums import sequential_sum
from specahd.reporting.document import Table, asset, page, table_html
from specahd.reporting.maps import COLOURS, Point, around_depot, names_with_room
from specahd.routing import itinerary
from specahd.routing.labels import TimeForm

_MAP = (960.0, 760.0)
"""Largest width and height of the map, in pixels."""
_MARGIN = 40.0
_LETTERS = 12.0
_MOST_NAMES = 400
"""Most places that are named; a place says its name where the pointer is, whatever their number."""
_DASHES = 4
_BAR = 960.0
"""Width of a time bar, in pixels."""
_HEIGHTS = {"loading": 16, "driving": 4, "waiting": 10, "service": 16}
"""Heights of what a vehicle does, in pixels."""
_MOST_TICKS = 12
_STEPS = (60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
"""Seconds between two marks of a bar."""


_Stop = tuple[int, Mapping[str, Any]]


class _Activity(NamedTuple):
    """What a vehicle does from a time to another, and where it does it or drives to."""

    kind: str
    begin: float
    end: float
    name: str


class _Times:
    """The times of all vehicles, as texts for people."""

    def __init__(self, instance: Any, routes: Sequence[Sequence[Any]]) -> None:
        self.form: TimeForm = instance.labels.times
        self._windows = instance.windows
        self._unit = getattr(instance, "parts", 1) * instance.windows.speed
        self.vehicles = itinerary.times(instance, routes)
        self.begin = min(stops[0]["start"] for stops in self.vehicles)
        self.end = max(map(_end, self.vehicles))

    def text(self, value: float | None, before: str = "") -> str:
        """Return a point in time, with its day unless it is the day ``before``."""
        if value is None:
            return ""
        day, time = self.form.day_and_time(value)
        return f"{day} {time}".strip() if day != before else time

    def day(self, value: float) -> str:
        """Return the day of a point in time."""
        return self.form.day_and_time(value)[0]

    def window(self, node: int, day: str) -> str:
        """Return the window of a stop, as far as it is narrower than the depot's."""
        ready, due = self._windows.ready[node], self._windows.due[node]
        opens = self.text(ready / self._unit, day) if ready > self._windows.ready[0] else ""
        closes = self.text(due / self._unit, day) if due < self._windows.due[0] else ""
        return f"{opens} – {closes}".strip() if opens or closes else ""

    def activities(self, place: int, names: Sequence[str]) -> list[_Activity]:
        """Return what a vehicle does, without what takes no time."""
        first, *rest = self.vehicles[place]
        left = first["departure"]
        done = [_Activity("loading", first["start"], left, names[0])]
        for name, times in zip(names[1:], rest, strict=True):
            arrival = times["arrival"]
            done.append(_Activity("driving", left, arrival, name))
            if "start" in times:
                start, left = times["start"], times["departure"]
                done.append(_Activity("waiting", arrival, start, name))
                done.append(_Activity("service", start, left, name))
        return [each for each in done if each.end > each.begin]


def route_page(instance: Any, routes: Sequence[Sequence[Any]], cost: float) -> str:
    """Return the page of a feasible solution.

    Parameters
    ----------
    routes
        As for :func:`specahd.routing.itinerary.visits`.
    cost
        It is told if it is not the distance alone.
    """
    visits = itinerary.visits(instance, routes)
    timed = bool(routes) and getattr(instance, "windows", None) is not None
    times = _Times(instance, routes) if timed else None
    walks = [[node for node, _ in vehicle] for vehicle in visits]
    points = instance.coords.tolist()
    served = [[node for node, _ in _served(instance, vehicle)] for vehicle in visits]
    ranks = around_depot(points, served)
    marks = [f"c{ranks[place] % len(COLOURS)}" for place in range(len(walks))]
    dashes = [f"d{ranks[place] % _DASHES}" for place in range(len(walks))]
    stops = len({node for walk in served for node in walk})
    length = sum(vehicle[-1][1]["distance"] for vehicle in visits)
    facts = [_count(len(walks), "vehicle"), _count(stops, "stop"), f"distance {length:,.10g}"]
    if abs(cost - length) > 1e-6 * max(cost, 1.0):
        facts.append(f"cost {cost:,.10g}")
    if times is not None:
        day = times.day(times.begin)
        facts.append(f"{times.text(times.begin)} to {times.text(times.end, day)}")
        facts.append(_zone(times.form))
    if instance.coords_from_scaling:
        facts.append("places drawn from the distances")
    body = [
        f"<p>{escape(', '.join(filter(None, facts)))}</p>",
        _map(instance, visits, marks, dashes),
        "<h2>Vehicles</h2>",
        _summary(instance, visits, times, marks, dashes) if visits else "",
    ]
    if missing := itinerary.unserved(instance, routes):
        rows = [[visible(row["name"]), row["reason"], _price(row.get("prize"))] for row in missing]
        table = table_html(Table(["stop", "reason", "prize"], rows, words=2))
        body += [f"<h2>Left out</h2><p>{_count(len(missing), 'stop')} on no route.</p>", table]
    if times is not None:
        body.append(
            "<p>The bars below: a line is driving, a block service (pale: loading), "
            "a dashed frame waiting.</p>"
        )
    for place, vehicle in enumerate(visits):
        body.append(
            f'<section class="vehicle {marks[place]}" id="vehicle-{place + 1}">'
            f"<h3>{_swatch(marks[place], dashes[place])} {_vehicle(place, vehicle)}</h3>"
        )
        if times is not None:
            body.append(_bar(times, place, vehicle))
        body += [table_html(_stops(instance, vehicle, times, place)), "</section>"]
    return page(visible(instance.name), body, styles=asset("routes.css"))


def _vehicle(place: int, vehicle: Sequence[_Stop]) -> str:
    """Return what a vehicle is called, in HTML."""
    kind = vehicle[0][1].get("type")
    return f"Vehicle {place + 1}" + ("" if kind is None else f" ({escape(visible(kind))})")


def _end(stops: Sequence[Mapping[str, float]]) -> float:
    """Return when a vehicle is back, or leaves the last stop of an open route."""
    return stops[-1].get("departure", stops[-1]["arrival"])


def _served(instance: Any, vehicle: Sequence[_Stop]) -> list[_Stop]:
    """Return the stops of a vehicle without the depot and other places where it starts or ends."""
    return [stop for stop in vehicle if 0 < stop[0] < len(instance.coords)]


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' if number != 1 else ''}"


def _price(prize: float | None) -> str:
    return "must be served" if prize is None else f"{prize:,.10g}"


def _zone(form: TimeForm) -> str:
    zone = getattr(form, "zone", None)
    if zone is None:
        return "times in UTC" if form.day_and_time(0.0)[0] else ""
    return f"times in the zone {zone.strip()}" if zone else ""


def _swatch(mark: str, dash: str) -> str:
    return f'<svg class="swatch {mark}" viewBox="0 0 34 8"><path class="{dash}" d="M0 4H34"/></svg>'


def _summary(
    instance: Any,
    visits: itinerary.Visits,
    times: _Times | None,
    marks: Sequence[str],
    dashes: Sequence[str],
) -> str:
    """Return the table of the vehicles, which is the legend of the map, too."""
    loaded, typed = (name in visits[0][0][1] for name in ("load", "type"))
    kinds = ("driving", "waiting", "service")
    columns = ["vehicle", "stops", *(["quantity"] if loaded else []), "distance"]
    columns += ["leaves", "back", *kinds] if times is not None else []
    sums: dict[str, float] = {}
    lines = []
    for place, vehicle in enumerate(visits):
        numbers: dict[str, float] = {"stops": len(_served(instance, vehicle))}
        if loaded:
            numbers["quantity"] = vehicle[0][1]["load"]
        numbers["distance"] = vehicle[-1][1]["distance"]
        cells = [f"{number:,.10g}" for number in numbers.values()]
        if times is not None:
            leaves = times.vehicles[place][0]["departure"]
            back = _end(times.vehicles[place])
            cells += [times.text(leaves), times.text(back, times.day(leaves))]
            done = times.activities(place, [row["name"] for _, row in vehicle])
            spent = {
                kind: sequential_sum(each.end - each.begin for each in done if each.kind == kind)
                for kind in kinds
            }
            cells += map(times.form.short_duration, spent.values())
            numbers |= spent
        sums = {name: sums.get(name, 0) + number for name, number in numbers.items()}
        link = f'<a href="#vehicle-{place + 1}">{place + 1}</a>'
        kind = f" {escape(visible(vehicle[0][1]['type']))}" if typed else ""
        lines.append(_row("", f"{_swatch(marks[place], dashes[place])} {link}{kind}", cells))
    if len(visits) > 1:
        cells = [
            f"{sums[name]:,.10g}" for name in columns[1:] if name in sums and name not in kinds
        ]
        if times is not None:
            cells += ["", "", *(times.form.short_duration(sums[kind]) for kind in kinds)]
        lines.append(_row(' class="total"', "all", cells))
    head = "".join(
        f"<th{'' if place else ' class=left'}>{name}</th>" for place, name in enumerate(columns)
    )
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{"".join(lines)}</table></div>'


def _row(attributes: str, first: str, cells: Sequence[str]) -> str:
    rest = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr{attributes}><td class="left">{first}</td>{rest}</tr>\n'


def _stops(
    instance: Any,
    vehicle: Sequence[tuple[int, Mapping[str, Any]]],
    times: _Times | None,
    place: int,
) -> Table:
    """Return the table of a vehicle's stops; a day is written where it begins."""
    columns = ["#", "stop"]
    columns += ["arrival", "wait", "start", "departure", "window"] if times is not None else []
    numbers = [name for name in ("quantity", "load", "distance") if name in vehicle[0][1]]
    rows = []
    day = ""
    for order, (node, row) in enumerate(vehicle):
        cells = [str(row["order"]), visible(row["name"])]
        if times is not None:
            found = times.vehicles[place][order]
            today = times.day(found.get("departure", found.get("arrival", 0.0)))
            for name in ("arrival", "wait", "start", "departure"):
                value = found.get(name)
                if name == "wait":
                    cells.append(times.form.short_duration(value) if value else "")
                else:
                    cells.append(times.text(value, day))
                    day = day if value is None else times.day(value)
            stop = 0 < node < len(instance.coords)
            cells.append(times.window(node, today) if stop else "")
        rows.append([*cells, *(f"{row[name]:,.10g}" for name in numbers)])
    return Table([*columns, *numbers], rows, words=2)


def _map(
    instance: Any, visits: itinerary.Visits, marks: Sequence[str], dashes: Sequence[str]
) -> str:
    points = getattr(instance, "sites", instance).coords.tolist()
    walks = [[node for node, _ in vehicle] for vehicle in visits]
    across, along = zip(*points, strict=True)
    wide, high = (max(axis) - min(axis) or 1.0 for axis in (across, along))
    scale = min(
        (length - 2 * _MARGIN) / span for length, span in zip(_MAP, (wide, high), strict=True)
    )
    width, height = (max(2 * _MARGIN + scale * span, 200.0) for span in (wide, high))
    left = (width - scale * wide) / 2
    top = (height - scale * high) / 2
    places = [(left + scale * (x - min(across)), top + scale * (max(along) - y)) for x, y in points]
    depot = len(walks) > 1 or getattr(instance, "demands", None) is not None
    lines = []
    for number, vehicle in enumerate(visits):
        walk = "L".join(f"{places[node][0]:.1f} {places[node][1]:.1f}" for node, _ in vehicle)
        stops = _served(instance, vehicle)
        title = f"{_vehicle(number, vehicle)}: {_count(len(stops), 'stop')}"
        lines.append(
            f'<a href="#vehicle-{number + 1}" class="{marks[number]}"><title>{title}</title>'
            f'<path class="{dashes[number]}" d="M{walk}"/><path class="over" d="M{walk}"/>'
        )
        for node, row in stops:
            told = f"{row['name']}: vehicle {number + 1}, stop {row['order']}"
            told += f", {row['start']}" if "start" in row else ""
            lines.append(_dot(places[node], told))
        lines.append("</a>")
    for node, reason, _ in itinerary.unserved_nodes(instance, walks):
        dot = _dot(places[node], f"{instance.labels.name(node)}: left out, {reason}")
        lines.append(f'<g class="out">{dot}</g>')
    for node in (0, *range(len(instance.coords), len(places))) if depot else ():
        name, (x, y) = escape(visible(instance.labels.name(node))), places[node]
        lines.append(
            f'<rect class="depot" x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12">'
            f"<title>{name}</title></rect>"
        )
    if len(points) <= _MOST_NAMES:
        names = [instance.labels.name(node) for node in range(len(points))]
        for (x, y), text, turned in names_with_room(places, names, _LETTERS, 1.0):
            lines.append(
                f'<text x="{x + (-8 if turned else 8):.1f}" y="{y + 4:.1f}"'
                f"{' text-anchor=end' if turned else ''}>{escape(text)}</text>"
            )
    lines += _scale_bar(instance, scale, height)
    return (
        f'<div class="wide map"><svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'style="max-width:{width:.0f}px" aria-label="The routes on a map">\n'
        + "\n".join(lines)
        + "\n</svg></div>"
    )


def _dot(place: Point, title: str) -> str:
    x, y = place
    text = escape(visible(title))
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{text}</title></circle>'


def _scale_bar(instance: Any, scale: float, height: float) -> Iterator[str]:
    """Yield a bar of a round number of metres or kilometres, if places are degrees."""
    if instance.labels.degrees is None:
        return
    metres = _round_step(120 / scale)
    text = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    yield f'<path class="scale" d="M12 {height - 12:.0f}h{scale * metres:.1f}"/>'
    yield f'<text x="12" y="{height - 18:.0f}">{text}</text>'


def _round_step(most: float) -> float:
    """Return the largest 1, 2 or 5 times a power of ten up to a number."""
    power = float(f"1e{int(f'{most:e}'.partition('e')[2])}")
    return max(each * power for each in (1, 2, 5) if each * power <= most)


def _bar(times: _Times, place: int, vehicle: Sequence[tuple[int, Mapping[str, Any]]]) -> str:
    """Return the time bar of a vehicle; the bars of all vehicles have one scale."""
    span = max(times.end - times.begin, 1e-9)
    margin = 44.0

    def across(value: float) -> float:
        return margin + (_BAR - 2 * margin) * (value - times.begin) / span

    lines = []
    day = ""
    for tick in _ticks(times):
        x = across(tick)
        today, text = times.form.day_and_time(tick)
        if today != day:
            day, text = today, f"{today[5:]} {text}"
        lines.append(f'<path class="tick" d="M{x:.1f} 2V32"/>')
        lines.append(f'<text x="{x:.1f}" y="46" text-anchor="middle">{text}</text>')
    names = [row["name"] for _, row in vehicle]
    for kind, begin, end, name in times.activities(place, names):
        height = _HEIGHTS[kind]
        told = f"{kind}: {name}, {times.text(begin)} to {times.text(end, times.day(begin))}"
        lines.append(
            f'<rect class="{kind}" x="{across(begin):.1f}" y="{17 - height / 2:g}" '
            f'width="{max(across(end) - across(begin), 0.5):.1f}" height="{height}">'
            f"<title>{escape(visible(told))}</title></rect>"
        )
    label = f"Times of vehicle {place + 1}"
    return (
        f'<div class="wide bar"><svg viewBox="0 0 {_BAR:.0f} 52" role="img" aria-label="{label}">\n'
        + "\n".join(lines)
        + "\n</svg></div>"
    )


def _ticks(times: _Times) -> Iterator[float]:
    """Yield the marked times, whole hours or days where the unit is a second."""
    span = times.end - times.begin
    step = _round_step(span / 5) if span > 0 else 1.0
    if times.form.seconds:
        step = next((each for each in _STEPS if span / each <= _MOST_TICKS), 0)
        step = step or 86_400 * -(-span // (86_400 * _MOST_TICKS))
    midnight = times.form.midnight
    tick = -(-(times.begin + midnight) // step) * step - midnight
    while tick <= times.end:
        yield tick
        tick += step
