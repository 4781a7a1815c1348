"""VRPLIB text files: capacitated problems in CVRPLIB's form, and VRPTW in PyVRP's form."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from specahd.core.errors import FileWarning
from specahd.core.settings import LARGEST_CAPACITY
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats.matrix import read_matrix
from specahd.routing.formats.ranges import Range
from specahd.routing.formats.sections import Layout, Sections
from specahd.routing.geometry import Convention, distances
from specahd.routing.labels import Labels

UNTIMED, TIMED, SPLIT = "CVRP", "VRPTW", "SDVRP"
"""The TYPE of files with demands only, of those with time windows, and of those where deliveries
are split."""
LARGEST = LARGEST_CAPACITY
"""Largest capacity and demand."""
COORDINATE = Range(-1e9, 1e9)
"""Range of coordinates, in which squares and sums of distances stay finite and exact."""
DEMAND = Range(0, LARGEST, integer=True)
_ROUNDED = (Convention.EUC_2D, Convention.CEIL_2D, Convention.FLOOR_2D, Convention.DIMACS)
_MUCH = 0.1
"""Most that rounding may change distances between nearest nodes, as a share of them."""
TIME = Range(0, 1e9)
"""Range of times and of service times, in the unit of distances."""
PRIZE = Range(0, 1e9)
"""Range of what leaving a stop out costs."""
LIMIT = Range(1e-9, 1e9)
"""Range of the limit of a route."""

OPTION, STATED = "convention=float", "EDGE_WEIGHT_TYPE : EXACT_2D"
"""How unrounded distances are had where a file leaves it open, and where it does not."""

_SECTIONS = (
    "NODE_COORD_SECTION",
    "DEMAND_SECTION",
    "DEPOT_SECTION",
    "EDGE_WEIGHT_SECTION",
    "DISPLAY_DATA_SECTION",
)
_FIELDS = ("CAPACITY", "VEHICLES")
_LAYOUTS = {
    UNTIMED: Layout(
        types=(UNTIMED,), sections=_SECTIONS, fields=(*_FIELDS, "DISTANCE", "SERVICE_TIME")
    ),
    SPLIT: Layout(types=(SPLIT,), sections=_SECTIONS, fields=_FIELDS),
} | {
    TIMED: Layout(
        # Files of LKH's collection have the TYPE CVRPTW.
        types=(TIMED, "CVRPTW"),
        sections=(*_SECTIONS, "SERVICE_TIME_SECTION", "TIME_WINDOW_SECTION"),
        fields=(*_FIELDS, "SERVICE_TIME", "SCALE"),
    )
}
_SCALES = {
    (Convention.FLOOR_2D, 10): Convention.DIMACS,
    # LKH uses this scale for EXACT_2D if the file states none.
    (Convention.EXACT_2D, 1000): Convention.EXACT_2D,
}
"""Conventions by EDGE_WEIGHT_TYPE and SCALE other than 1; distances are rounded after scaling."""


def expected_times(time: float, otherwise: str) -> str:
    """Return what is expected instead of a time, for a message; Unix times get their cure."""
    for unit, parts in (("seconds", 1), ("milliseconds", 1000)):
        # From 2001 to 2286.
        if 1e9 < time / parts < 1e10:
            midnight = time // (86_400 * parts) * 86_400 * parts
            return (
                f"times from one midnight on: subtract its Unix {unit}, {midnight:.0f} for this "
                "time, from all of them"
            )
    return otherwise


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Earliest and latest starts of the service, and service times, each of shape (n + 1,).

    Row 0 holds the earliest departure from the depot and the latest return to it.

    Parameters
    ----------
    ready, due
        In [0, 1e9], ``ready`` at most ``due``. Where a table of stops gives no ``due``, it is a
        time that no route exceeds.
    service
        In [0, 1e9]; 0 at the depot.
    speed
        Number of these units in one unit of the file's time; 1 unless a table has a speed.
    """

    ready: FloatArray
    due: FloatArray
    service: FloatArray
    speed: float = field(default=1.0, kw_only=True)

    def changed(self, change: Callable[[FloatArray], FloatArray]) -> "TimeWindows":
        """Return these windows with another array in place of each."""
        return replace(
            self, ready=change(self.ready), due=change(self.due), service=change(self.service)
        )


@dataclass(frozen=True, eq=False, slots=True)
class Places:
    """All nodes, and behind them k places where vehicles start or end and which are no customers.

    Parameters
    ----------
    coords
        Shape (n + 1 + k, 2); None where only distances are known.
    matrix, durations
        As for :class:`VRPLIBData`, shape (n + 1 + k, n + 1 + k).
    """

    coords: FloatArray | None
    matrix: FloatArray | None
    durations: FloatArray | None


@dataclass(frozen=True, slots=True)
class VehicleType:
    """Vehicles that are alike.

    Parameters
    ----------
    count
        How many there are; None: as many as are wanted.
    capacity
        In the unit of the demands.
    fixed_cost
        What each one that is used adds to the cost.
    cost_per_distance, cost_per_duration
        What a unit of distance, and a unit of time of driving and service, adds to the cost.
    max_distance, max_duration
        As for :class:`VRPLIBData`.
    shift_start, shift_end
        When loading begins at the earliest, and when the route ends at the latest, from time 0 of
        the instance; None: as the depot's window says.
    start, end
        Where vehicles leave from, and return to: 0 the depot, n + 1 and above one of the places.
    """

    name: str
    count: int | None
    capacity: int
    fixed_cost: float = 0.0
    cost_per_distance: float = 1.0
    cost_per_duration: float = 0.0
    max_distance: float | None = None
    max_duration: float | None = None
    shift_start: float | None = None
    shift_end: float | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True, eq=False)
class VRPLIBData:
    """The content of a file, with the depot as node 0 and customers 1 to n in order.

    Parameters
    ----------
    name
        The NAME in the file.
    coords
        Shape (n + 1, 2); None when an EXPLICIT file gives none.
    demands
        Shape (n + 1,), 0 at the depot, never negative. They may exceed the capacity.
    capacity
        The capacity of each vehicle.
    convention
        How distances are measured.
    matrix
        Distances of an EXPLICIT file, shape (n + 1, n + 1), from row to column; else None. An entry
        of :data:`specahd.routing.formats.road_services.NO_WAY` is no way.
    windows
        Time windows; None if there are none.
    splits
        Whether several vehicles may serve a customer; every demand is then at least 1.
    vehicles
        Number of vehicles that the file states, which is not a limit; None if it states none.
    fleet
        The most vehicles that a solution may use; None if their number is not limited.
    fixed_cost
        What each vehicle used adds to the cost.
    max_distance, max_duration
        The longest route, and the longest time from the depot and back; None without a limit.
    stop_time
        What each stop adds to the time of a route, where there are no windows.
    durations
        The time that each way takes, shape (n + 1, n + 1); None where it is the distance.
    open
        Whether vehicles do not return to the depot.
    prizes
        What leaving a customer out adds to the cost, shape (n + 1,), 0 at the depot; infinite for a
        customer that must be served. None if all must be.
    types
        The types of vehicles. Where there are some, ``capacity`` is their largest, and no other
        limit or price of vehicles is set. None: all vehicles are alike.
    places
        Where vehicles start or end other than at the depot; None: nowhere.
    labels
        Names and units that results are reported in; those of places come after those of nodes.
    """

    name: str
    coords: FloatArray | None
    demands: IntArray
    capacity: int
    convention: Convention = Convention.EUC_2D
    matrix: FloatArray | None = None
    comment: str = field(default="", kw_only=True)
    windows: TimeWindows | None = field(default=None, kw_only=True)
    splits: bool = field(default=False, kw_only=True)
    vehicles: int | None = field(default=None, kw_only=True)
    fleet: int | None = field(default=None, kw_only=True)
    fixed_cost: float = field(default=0.0, kw_only=True)
    max_distance: float | None = field(default=None, kw_only=True)
    max_duration: float | None = field(default=None, kw_only=True)
    stop_time: float = field(default=0.0, kw_only=True)
    durations: FloatArray | None = field(default=None, kw_only=True)
    open: bool = field(default=False, kw_only=True)
    prizes: FloatArray | None = field(default=None, kw_only=True)
    types: tuple[VehicleType, ...] | None = field(default=None, kw_only=True)
    places: Places | None = field(default=None, kw_only=True)
    labels: Labels = field(default_factory=Labels, kw_only=True)


def read(path: Path, kind: str = UNTIMED, euclidean: Convention = Convention.EUC_2D) -> VRPLIBData:
    """Read a file whose TYPE is ``kind``.

    VEHICLES is not a limit here: CVRPLIB's values assume no fleet limit.

    Parameters
    ----------
    euclidean
        The convention for EUC_2D, where publishers differ. It applies to every file of TYPE
        CVRP and SDVRP, and to the VRPTW files of LKH's collection, which have the TYPE
        CVRPTW or one SERVICE_TIME for all customers.

    Raises
    ------
    FileError
        The file is missing, truncated, not text, or violates the format.

    Warns
    -----
    FileWarning
        Rounding changes distances much.
    """
    timed = kind == TIMED
    sections = Sections(path, _LAYOUTS[kind])
    dimension = sections.integer("DIMENSION", 1, LARGEST)
    if dimension < 2:
        raise sections.error(
            f"DIMENSION is {dimension}, expected at least 2 (a depot and a customer)"
        )
    capacity = sections.integer("CAPACITY", 1, LARGEST)
    stated = _convention(sections)
    left_open = stated is Convention.EUC_2D and (not timed or _from_lkh(sections))
    convention = euclidean if left_open else stated
    weights = read_matrix(sections, dimension, convention)
    coords = None
    if weights is None or "NODE_COORD_SECTION" in sections:
        coords = coordinates(sections, dimension)
    cure = OPTION if left_open and kind != SPLIT else STATED
    warn_of_rounding(path, coords, convention, cure)
    demands = _demands(sections, dimension)
    depot = _depot(sections, dimension)
    if demands[depot] != 0:
        raise sections.error(
            f"DEMAND_SECTION gives the depot {depot + 1} the demand {demands[depot]}, expected 0"
        )
    order = np.concatenate(([depot], np.delete(np.arange(dimension), depot)))
    windows = _windows(sections, dimension, depot, order) if timed else None
    max_distance, max_duration, stop_time = _limits(sections, timed)
    return VRPLIBData(
        name=sections.fields.get("NAME") or path.stem,
        comment=sections.fields.get("COMMENT", "").strip('"'),
        capacity=capacity,
        convention=convention,
        coords=None if coords is None else coords[order],
        matrix=None if weights is None else weights[np.ix_(order, order)],
        demands=demands[order],
        windows=windows,
        splits=kind == SPLIT,
        vehicles=_vehicles(sections),
        max_distance=max_distance,
        max_duration=max_duration,
        stop_time=stop_time,
    )


def _limits(sections: Sections, timed: bool) -> tuple[float | None, float | None, float]:
    """Return the longest route, the longest time of a route, and the time of each stop.

    DISTANCE includes SERVICE_TIME at every stop, if there is one. That is how the sets of
    Christofides, Mingozzi and Toth, of Golden et al. and of Li et al. state their limits.
    """
    stated = "SERVICE_TIME" in sections.fields and not timed
    if "DISTANCE" not in sections.fields:
        if stated:
            raise sections.error("SERVICE_TIME is stated without DISTANCE, expected both")
        return None, None, 0.0
    limit = sections.number("DISTANCE", LIMIT)
    if not stated:
        return limit, None, 0.0
    return None, limit, sections.number("SERVICE_TIME", TIME)


def _vehicles(sections: Sections) -> int | None:
    if "VEHICLES" not in sections.fields:
        return None
    # 0 means an unlimited number.
    return sections.integer("VEHICLES", 0, LARGEST) or None


def _from_lkh(sections: Sections) -> bool:
    return sections.fields["TYPE"].upper() != TIMED or "SERVICE_TIME" in sections.fields


def _convention(sections: Sections) -> Convention:
    stated = sections.choice("EDGE_WEIGHT_TYPE", {name.value: name for name in Convention})
    if "SCALE" in sections.fields:
        scale = sections.integer("SCALE", 1, LARGEST)
        if scale != 1 and (stated, scale) not in _SCALES:
            expected = " or ".join(f"{number} with {name}" for name, number in _SCALES)
            raise sections.error(f"SCALE is {scale} with {stated}, expected {expected}")
        stated = _SCALES.get((stated, scale), stated)
    return stated


def coordinates(sections: Sections, dimension: int) -> FloatArray:
    """Return the points of NODE_COORD_SECTION, in the file's order."""
    coords = sections.table("NODE_COORD_SECTION", dimension, 2)
    for place in COORDINATE.outside(coords):
        x, y = coords[place]
        raise sections.error(
            f"NODE_COORD_SECTION puts node {place + 1} at ({x:g}, {y:g}), "
            f"expected each to be {COORDINATE}"
        )
    return coords


def warn_of_rounding(
    path: Path, coords: FloatArray | None, convention: Convention, cure: str
) -> None:
    """Warn if rounding changes the distances between nearest nodes by more than a tenth.

    Coordinates that are whole numbers are never so small.

    Parameters
    ----------
    cure
        How unrounded distances are had, for the message.

    Warns
    -----
    FileWarning
        It changes them by more, as of coordinates in degrees or in a unit square.
    """
    if coords is None or convention not in _ROUNDED or np.array_equal(coords, np.floor(coords)):
        return
    # It is slow to import, and most files have whole coordinates.
    from scipy.spatial import cKDTree

    nearest = np.asarray(cKDTree(coords).query(coords, k=2)[1])[:, 1]
    exact = distances(coords, coords[nearest], Convention.EXACT_2D)
    rounded = distances(coords, coords[nearest], convention)
    if np.abs(rounded - exact).sum() <= _MUCH * exact.sum():
        return
    warnings.warn(
        f"{path}: nearest nodes are {exact.mean():.2g} apart on average, and "
        f"{rounded.mean():.2g} as {convention} rounds it; {cure} has distances unrounded.",
        FileWarning,
        stacklevel=2,
    )


def _demands(sections: Sections, dimension: int) -> IntArray:
    numbers = sections.table("DEMAND_SECTION", dimension, 1)[:, 0]
    for place in DEMAND.outside(numbers):
        raise sections.error(
            f"DEMAND_SECTION gives node {place + 1} the demand {numbers[place]:g}, "
            f"expected {DEMAND}"
        )
    return numbers.astype(np.int64)


def _windows(sections: Sections, dimension: int, depot: int, order: IntArray) -> TimeWindows:
    service = _service(sections, dimension, depot)
    for place in TIME.outside(service):
        raise sections.error(
            f"SERVICE_TIME_SECTION gives node {place + 1} the service time "
            f"{service[place]:g}, expected {TIME}"
        )
    if service[depot] != 0:
        raise sections.error(
            f"SERVICE_TIME_SECTION gives the depot {depot + 1} the service time "
            f"{service[depot]:g}, expected 0"
        )
    times = sections.table("TIME_WINDOW_SECTION", dimension, 2)
    ready, due = times[:, 0], times[:, 1]
    for place in TIME.outside(times) or np.flatnonzero(ready > due).tolist():
        expected = expected_times(due[place], f"0 <= opening <= closing <= {TIME.high:g}")
        raise sections.error(
            f"TIME_WINDOW_SECTION opens node {place + 1} at {ready[place]:.10g} and closes it "
            f"at {due[place]:.10g}, expected {expected}"
        )
    return TimeWindows(ready[order], due[order], service[order])


def _service(sections: Sections, dimension: int, depot: int) -> FloatArray:
    if "SERVICE_TIME" not in sections.fields:
        return sections.table("SERVICE_TIME_SECTION", dimension, 1)[:, 0]
    if "SERVICE_TIME_SECTION" in sections:
        raise sections.error("SERVICE_TIME and SERVICE_TIME_SECTION both occur, expected one")
    service = np.full(dimension, sections.number("SERVICE_TIME", TIME))
    service[depot] = 0
    return service


def _depot(sections: Sections, dimension: int) -> int:
    """Return the index of the depot in the file's order; the final -1 may be missing."""
    numbers = sections.read_numbers("DEPOT_SECTION")
    if numbers.size == 2 and numbers[-1] == -1:
        numbers = numbers[:1]
    if numbers.size != 1:
        raise sections.error(
            "DEPOT_SECTION holds no single depot, expected one node and then -1 (docs/limits.md)"
        )
    depot = float(numbers[0])
    if depot not in Range(1, dimension, integer=True):
        raise sections.error(f"DEPOT_SECTION names node {depot:g}, expected 1 to {dimension}")
    return int(depot) - 1


def dumps(data: VRPLIBData) -> str:
    """Return the text that :func:`read` and other tools read back; the depot is node 1.

    ``fleet`` is VEHICLES, a limit for other tools and a statement here. There is no field for
    ``durations``, ``open``, ``prizes``, ``types`` and ``places``, and none for ``fixed_cost`` and
    for a limit of a route beside windows or beside ``max_duration``, which a comment states.
    """
    kind = SPLIT if data.splits else UNTIMED if data.windows is None else TIMED
    lines = [f"NAME : {data.name}"]
    comments = [data.comment] if data.comment else []
    if data.fixed_cost:
        comments.append(f"fixed_cost={format_number(data.fixed_cost)}")
    limits = {"max_duration": data.max_duration, "max_distance": data.max_distance}
    found = {name: limit for name, limit in limits.items() if limit is not None}
    stated = next(iter(found), None) if kind == UNTIMED else None
    for name, limit in found.items():
        if name != stated:
            comments.append(f"{name}={format_number(limit)}")
    if comments:
        lines.append(f"COMMENT : {'; '.join(comments)}")
    lines += [
        f"TYPE : {kind}",
        f"DIMENSION : {len(data.demands)}",
        f"EDGE_WEIGHT_TYPE : {data.convention}",
        f"CAPACITY : {data.capacity}",
    ]
    if data.fleet is not None:
        lines.append(f"VEHICLES : {data.fleet}")
    if stated is not None:
        lines.append(f"DISTANCE : {format_number(found[stated])}")
        if data.max_duration is not None:
            lines.append(f"SERVICE_TIME : {format_number(data.stop_time)}")
    lines += distance_lines(data.matrix, data.coords)
    lines.append("DEMAND_SECTION")
    lines += [f"{node} {demand}" for node, demand in enumerate(data.demands.tolist(), start=1)]
    if data.windows is not None:
        lines.append("SERVICE_TIME_SECTION")
        lines += [
            f"{node} {format_number(time)}"
            for node, time in enumerate(data.windows.service.tolist(), start=1)
        ]
        lines.append("TIME_WINDOW_SECTION")
        lines += [
            f"{node} {format_number(ready)} {format_number(due)}"
            for node, (ready, due) in enumerate(
                zip(data.windows.ready.tolist(), data.windows.due.tolist(), strict=True), start=1
            )
        ]
    lines += ["DEPOT_SECTION", "1", "-1", "EOF"]
    return "\n".join(lines) + "\n"


def distance_lines(weights: FloatArray | None, coords: FloatArray | None) -> list[str]:
    """Return the lines of the sections with distances."""
    lines = []
    if weights is not None:
        lines += ["EDGE_WEIGHT_FORMAT : FULL_MATRIX", "EDGE_WEIGHT_SECTION"]
        lines += [" ".join(map(format_number, row)) for row in weights.tolist()]
    if coords is not None:
        lines.append("NODE_COORD_SECTION")
        places = enumerate(coords.tolist(), start=1)
        lines += [f"{node} {format_number(x)} {format_number(y)}" for node, (x, y) in places]
    return lines


def format_number(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return str(int(value)) if value.is_integer() else repr(value)
