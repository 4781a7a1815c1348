"""Problems by name, and instances together with their problem."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from specahd.config import CONF_DIR, files, find_file
from specahd.core.display import csv_text
from specahd.core.errors import CheckpointError, ConfigError, FileError, FileWarning
from specahd.core.options import accepted_arguments
from specahd.core.plain import convert
from specahd.core.settings import FleetOptions, TableOptions
from specahd.routing.base import AnyProblem
from specahd.routing.formats import fleet_table, stops
from specahd.routing.formats.kinds import (
    MATRIX,
    STOP_COLUMNS,
    STOPS,
    column_of,
    identify,
    unreadable_error,
)
from specahd.routing.formats.rows import Row
from specahd.routing.formats.text import read_text
from specahd.routing.vehicles import fleet
from specahd.routing.vehicles.instance import VehicleInstance

if TYPE_CHECKING:
    # The library for its tables is slow to import.
    from specahd.checkpoint.frozen import Checkpoint


_TABLES = (STOPS, MATRIX)
_METHODS = ("read", "dumps", "generate", "baseline", "cost", "check")
"""What a class has that a run may name as its problem."""


@dataclass(frozen=True, repr=False)
class ProblemInstance:
    """An instance and the problem that reads, checks and repairs it.

    Parameters
    ----------
    problem
        The problem, with the options that the instance was read with.
    data
        The instance in the problem's own type.
    """

    problem: AnyProblem
    data: Any

    def __repr__(self) -> str:
        return f"<{self.name}: {self.problem.name} of size {self.size}>"

    @property
    def name(self) -> str:
        """The instance's NAME."""
        return str(self.data.name)

    @property
    def size(self) -> int:
        """The number of nodes to serve."""
        return int(self.data.size)


@runtime_checkable
class DataFrame(Protocol):
    """What is used of a DataFrame of pandas, which need not be installed."""

    columns: Any
    index: Any

    def to_csv(
        self, *, index: bool = True, index_label: str | None = None, date_format: str | None = None
    ) -> Any: ...

    def to_numpy(self) -> NDArray[Any]: ...


Matrix = str | Path | NDArray[Any] | Sequence[Sequence[float]] | DataFrame
"""A file of distances, or the distances."""
Fleet = str | Path | DataFrame | Sequence[Mapping[str, Any]]
"""A table of types of vehicles."""
_FLEET = "fleet"
"""Name of a fleet without a file in messages."""
Source = ProblemInstance | str | Path
"""An instance, or the path of its file."""
_FRAME = "DataFrame"
"""Name of a DataFrame in messages, and of its instance."""
_DATE = "%Y-%m-%d %H:%M:%S%z"
"""Format of a DataFrame's dates; by default, pandas leaves out the time where all are midnight."""


def make_problem(name: str, **options: Any) -> AnyProblem:
    """Return a problem; options that are not given are as in ``conf/problem``.

    Parameters
    ----------
    name
        Name of a file of ``conf/problem``: ``cvrp``, ``sdvrp``, ``tsp`` or ``vrptw``.
    options
        Options of that file: ``baseline``, ``max_regions``, ``max_size`` …

    Raises
    ------
    ConfigError
        There is no such problem, it has no such option, or a value is out of range.

    Examples
    --------
    >>> from specahd import api
    >>> api.make_problem("cvrp", baseline="savings").baseline_name
    'savings'
    """
    problem: AnyProblem = files.make_from("problem", name, **options)
    return problem


def settings_of(problem: AnyProblem) -> dict[str, Any]:
    """Return a problem's options by the names that its class and ``conf/problem`` use."""
    return {
        option: getattr(problem, {"baseline": "baseline_name"}.get(option, option))
        for option in accepted_arguments(type(problem))[0]
    }


def with_options(problem: AnyProblem, **options: Any) -> AnyProblem:
    """Return a copy of a problem with some options changed."""
    changed: AnyProblem = type(problem)(**{**settings_of(problem), **options})
    return changed


def checkpoint_problem(checkpoint: "Checkpoint", baseline: str | None = None) -> AnyProblem:
    """Make a checkpoint's problem again, with another baseline if one is given.

    ``conf/`` names the class and declares its options. A checkpoint contains only the values of
    these options.

    Raises
    ------
    ConfigError
        ``conf/`` has no such problem, or the problem no such baseline.
    CheckpointError
        The problem has no such setting, or the guard refuses one of the checkpoint's programs.
    """
    if checkpoint.problem not in files.choices("problem"):
        raise ConfigError(
            f"The checkpoint's problem {checkpoint.problem!r} is not in {CONF_DIR} or a folder of "
            "your own; name the folder with hydra.searchpath=[file:///FOLDER]."
        )
    make = files.target_of("problem", checkpoint.problem)
    if not isinstance(make, type) or not all(hasattr(make, method) for method in _METHODS):
        raise ConfigError(f"Expected problem={checkpoint.problem} to name the class of a problem.")
    options = files.declared_options("problem", checkpoint.problem)
    arguments, _ = accepted_arguments(make)
    for name, value in checkpoint.settings.items():
        try:
            if name not in options:
                raise ValueError
            convert(value, arguments[name].annotation)
        except ValueError:
            raise CheckpointError(
                f"The checkpoint's setting {name} is not one of {checkpoint.problem}, "
                "or has a value of another type."
            ) from None
    asked = {} if baseline is None else {"baseline": baseline}
    problem: AnyProblem = make(**{**options, **checkpoint.settings, **asked})
    checkpoint.admit(problem)
    return problem


def read(
    path: str | Path | DataFrame,
    problem: AnyProblem | str | None = None,
    *,
    capacity: float | None = None,
    matrix: Matrix | None = None,
    durations: Matrix | None = None,
    ignore: str | Sequence[str] | None = None,
    split: bool = False,
    speed: float | None = None,
    vehicles: int | None = None,
    fixed_cost: float = 0.0,
    max_distance: float | None = None,
    max_duration: float | str | None = None,
    open: bool = False,
    prizes: Sequence[float | None] | None = None,
    fleet: Fleet | None = None,
) -> ProblemInstance:
    """Read an instance file; its content determines the problem, unless one is given.

    Parameters
    ----------
    path
        A file, or one of the samples that come with specahd: ``samples/cvrp.vrp``; or a table of
        stops as a DataFrame of pandas, with the columns of docs/reference/solve.md. An index of
        texts has the names, if no column has them.
    problem
        A problem, or the name of one with its default options. It is needed where two problems
        could read the file, and for options other than the defaults (VRPTW's ``convention``). The
        content of a table determines its problem; no other may be given with it.
    capacity
        For a table of stops (CSV) with demands: the capacity of each vehicle.
    matrix
        For a table of stops: the distances among them, in its order; a file, an array, nested
        lists, or a DataFrame, whose texts in index and columns must be the names of the stops.
        Row i has the ways from stop i.
    durations
        Beside ``matrix``: the time that each way takes, in the same form.
    ignore
        For a table of stops: columns to leave out.
    split
        For a table of stops: whether a customer's demand may be delivered in parts.
    speed
        For a table of stops with time windows: the distance travelled in one unit of time, in
        the unit of distances; None means 1.
    vehicles
        The most vehicles that a solution may use; None: any number.
    fixed_cost
        What each vehicle used adds to the cost.
    max_distance, max_duration
        The longest route, and the longest time from the depot and back with service and waiting,
        in the file's units; the time also as ``8:00`` where the file has clock times or dates.
        None: no limit, or the file's own.
    open
        Whether vehicles do not return to the depot.
    prizes
        For each customer in order: what leaving it out adds to the cost; None: it must be served.
        A table of stops may have them in its column ``prize``.
    fleet
        The types of vehicles, where they differ: a table with a row for each, as a file, a
        DataFrame, or a mapping for each with the columns of docs/reference/solve.md.

    Raises
    ------
    FileError
        The file cannot be read, no problem reads it, or more than one does.
    ConfigError
        There is no problem of that name, or an option does not fit the file.

    Examples
    --------
    >>> from specahd import api
    >>> instance = api.read("tests/data/tiny.vrp")
    >>> instance.problem.name, instance.name, instance.size
    ('cvrp', 'tiny', 5)
    >>> stops = api.read("tests/data/stops.csv", capacity=10)
    >>> stops.problem.name, stops.size
    ('cvrp', 5)
    """
    frame = path if isinstance(path, DataFrame) else None
    if frame is None and not isinstance(path, str | Path):
        raise ConfigError(f"Expected a file or a DataFrame, got {type(path).__name__}.")
    path = Path(_FRAME if isinstance(path, DataFrame) else find_file(path))
    ways = {"matrix": matrix, "durations": durations}
    arrays = {
        name: _distances(given, name)
        for name, given in ways.items()
        if not (given is None or isinstance(given, str | Path))
    }
    options = TableOptions(
        capacity=capacity,
        **{
            name: name if name in arrays else str(given)
            for name, given in ways.items()
            if given is not None
        },
        ignore=(ignore if isinstance(ignore, str) else ",".join(ignore or ())) or None,
        split=split,
        speed=speed,
    )
    given = make_problem(problem) if isinstance(problem, str) else problem
    text = read_text(path) if frame is None else _table_text(frame)
    named = None if fleet is None else str(fleet) if isinstance(fleet, str | Path) else _FLEET
    limits = FleetOptions(vehicles, fixed_cost, max_distance, max_duration, open, named)
    rows = [] if fleet is None else _fleet_rows(fleet)
    found = _read(path, text, given, options, arrays, frame is not None, open, rows)
    return with_fleet(found, limits, prizes, rows)


def _read(
    path: Path,
    text: str,
    given: AnyProblem | None,
    options: TableOptions,
    arrays: Mapping[str, stops.NamedArray],
    is_frame: bool,
    open_routes: bool,
    rows: Sequence[Row],
) -> ProblemInstance:
    kind = identify(text)
    if is_frame and kind is not STOPS:
        raise FileError(
            f"{_FRAME}: expected a table of stops, with columns of "
            f"{', '.join(STOP_COLUMNS)}; distances alone are matrix=."
        )
    if kind in _TABLES:
        capacity = None if options.capacity is not None else fleet_table.largest_capacity(rows)
        given_arrays = arrays.get("matrix"), arrays.get("durations")
        found, data = stops.read(
            *(path, text, options, *given_arrays),
            open_routes=open_routes,
            capacity=capacity,
            fleet=rows,
        )
        chosen = given or problem_of(found)
        if found not in chosen.types:
            splits = chosen.splits and data.windows is None and data.demands.any()
            cure = " (split=true makes it one)" if splits else ""
            raise ConfigError(
                f"{path} is a table for {found.lower()}, expected problem={found.lower()}, got "
                f"problem={chosen.name}{cure}."
            )
        return ProblemInstance(chosen, chosen.from_table(data, path))
    if kind is not None or given is not None:
        _expect_no_options(path, options)
    if given is not None:
        return ProblemInstance(given, given.read(path))
    if kind is not None and kind.solution:
        raise FileError(f"{path}: {kind.content}, expected an instance.")
    if kind is not None and kind.type is not None:
        chosen = problem_of(kind.type)
        return ProblemInstance(chosen, chosen.read(path))
    # The format is unknown here, but a problem may have formats of its own.
    readers = []
    for chosen in map(make_problem, files.choices("problem")):
        # Each would tell again what was told when the text was read.
        with suppress(FileError), warnings.catch_warnings(action="ignore", category=FileWarning):
            chosen.read(path)
            readers.append(chosen)
    if not readers:
        raise unreadable_error(path, text, files.choices("problem"))
    if len(readers) > 1:
        can = " and ".join(each.name for each in readers)
        raise FileError(f"{path} is read by {can}, expected an instance of one of them alone.")
    _expect_no_options(path, options)
    return ProblemInstance(readers[0], readers[0].read(path))


def with_fleet(
    found: ProblemInstance,
    options: FleetOptions,
    prizes: Sequence[float | None] | None = None,
    rows: Sequence[Row] = (),
) -> ProblemInstance:
    """Return an instance with limits and prices of vehicles, and with prizes of customers.

    Parameters
    ----------
    rows
        Those of ``options.fleet``, if they are read.

    Raises
    ------
    ConfigError
        The problem has no vehicles, or the instance no room for one of the options.
    """
    data = found.data
    if not isinstance(data, VehicleInstance):
        if given := options.given + ["prizes"] * (prizes is not None):
            raise ConfigError(f"Expected no {given[0]} for {found.name}, which has a tour.")
        return found
    if prizes is not None:
        data = fleet.with_prizes(data, prizes)
    if options.fleet is not None and not rows:
        rows = _fleet_rows(options.fleet)
    return ProblemInstance(found.problem, fleet.with_fleet(data, options, rows))


def _fleet_rows(given: Fleet) -> list[Row]:
    """Return the rows of a table of types of vehicles."""
    if isinstance(given, str | Path):
        return fleet_table.read(Path(given), read_text(Path(given)))
    if isinstance(given, DataFrame):
        return fleet_table.read(Path(_FLEET), _table_text(given))
    listed = list(given) if isinstance(given, Sequence) else [given]
    kinds = [each for each in listed if isinstance(each, Mapping)]
    if len(kinds) < len(listed):
        raise ConfigError("Expected fleet to be a table, or a list of a mapping for each type.")
    columns = list(dict.fromkeys(str(name) for each in kinds for name in each))
    lines = [["" if each.get(name) is None else each[name] for name in columns] for each in kinds]
    return fleet_table.read(Path(_FLEET), csv_text([columns, *lines]))


def problem_of(kind: str) -> AnyProblem:
    """Return the problem for instances of a TYPE: that of its name, else the first other one."""
    names = sorted(files.choices("problem"), key=lambda name: name != kind.lower())
    return next(one for one in map(make_problem, names) if kind in one.types)


def _table_text(frame: DataFrame) -> str:
    """Return a DataFrame as a table of stops; an index of texts becomes the column ``name``."""
    columns = [column_of(str(column)) for column in frame.columns]
    labels = list(frame.index)
    if "name" not in columns and labels and all(isinstance(label, str) for label in labels):
        return str(frame.to_csv(index_label="name", date_format=_DATE))
    return str(frame.to_csv(index=False, date_format=_DATE))


def _distances(matrix: Any, option: str) -> stops.NamedArray:
    """Return distances as an array, and the names of the stops if a DataFrame has them."""
    names = None
    if isinstance(matrix, DataFrame):
        rows, columns = list(matrix.index), list(matrix.columns)
        if any(isinstance(label, str) for label in (*rows, *columns)):
            if rows != columns:
                raise FileError(f"{option}: expected the same names in index and columns.")
            names = list(map(str, columns))
        matrix = matrix.to_numpy()
    try:
        return np.asarray(matrix), names
    except ValueError:
        raise FileError(
            f"{option}: expected as many numbers in each row as there are rows."
        ) from None


def _expect_no_options(path: Path, options: TableOptions) -> None:
    """Refuse options for tables of stops if the file is not one."""
    if options.given:
        raise ConfigError(
            f"Expected {options.given[0]} with a table of stops (CSV), and {path} is none."
        )


def under_convention(found: ProblemInstance, path: Path, convention: str) -> ProblemInstance:
    """Read a file again under a convention, which fixes the rounding that the file leaves open.

    Raises
    ------
    ConfigError
        There is no such convention, or all conventions give the same instance.
    """
    name, conventions = found.problem.name, found.problem.conventions
    if conventions and identify(read_text(path)) not in _TABLES:
        asked = make_problem(name, convention=convention)
        data = {one: make_problem(name, convention=one).read(path) for one in conventions}
        if len(set(map(asked.dumps, data.values()))) > 1:
            return ProblemInstance(asked, data[convention])
    raise ConfigError(f"{path} leaves no convention open, expected none.")
