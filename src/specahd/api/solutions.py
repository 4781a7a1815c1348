"""A solution: its routes and cost, its files, its picture."""

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.core.folders import write_together
from specahd.core.journal import json_text
from specahd.repair.cases import Case
from specahd.repair.merge import EPSILON
from specahd.repair.system import Repair
from specahd.routing import itinerary
from specahd.routing.base import AnyProblem
from specahd.routing.distances import LARGEST_MATRIX

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECORD = ".json"
PAGE = ".html"
PICTURES = (".png", ".pdf", ".svg")


@dataclass(frozen=True, repr=False)
class Solution:
    """A feasible solution of one instance, and the incumbent that it improves.

    Parameters
    ----------
    problem
        The problem of the instance.
    case
        The instance with the incumbent to improve.
    data
        The solution in the problem's own type.
    cost
        Its cost; never above that of the incumbent, unless ``accept=feasible`` allowed it.
    """

    problem: AnyProblem
    case: Case
    data: Any
    cost: float

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self.name}: {self.problem.name}, cost {self.cost:.10g}, "
            f"{len(self.routes)} routes>"
        )

    @property
    def name(self) -> str:
        """The instance's NAME."""
        return str(self.case.instance.name)

    @property
    def incumbent_cost(self) -> float:
        """The cost of the incumbent."""
        return self.case.cost

    @property
    def improvement(self) -> float:
        """The improvement relative to the incumbent's cost."""
        return (self.incumbent_cost - self.cost) / max(EPSILON, self.incumbent_cost)

    @property
    def routes(self) -> Sequence[Any]:
        """The routes without the depot; a TSP has one, its tour.

        A stop is a node; for SDVRP, a pair of node and quantity.
        """
        return routes(self.data)

    @property
    def named_routes(self) -> list[list[Any]]:
        """The routes without the depot; a stop is given by its name or number in the file.

        A stop is a name; for SDVRP, a pair of name and quantity.
        """
        labels = self.case.instance.labels
        return [
            [
                (labels.name(stop[0]), stop[1]) if isinstance(stop, tuple) else labels.name(stop)
                for stop in route
            ]
            for route in self.routes
        ]

    @property
    def types(self) -> list[str]:
        """The type of the vehicle of each route; empty where all vehicles are alike."""
        found = itinerary.types(self.case.instance, self.routes)
        return [kind.name for kind in found if kind is not None]

    @property
    def unserved(self) -> list[dict[str, Any]]:
        """The stops that are left out: ``name``, ``reason``, and ``prize`` if it has one."""
        return itinerary.unserved(self.case.instance, self.routes)

    def visits(self) -> itinerary.Visits:
        """Return the stops of each vehicle, one row for each stop, as in the ``.csv`` file."""
        return itinerary.visits(self.case.instance, self.routes)

    def files(self) -> dict[str, str]:
        """Return the texts of the solution's files, by their endings such as ``.sol``."""
        found = dict(self.problem.solution_files(self.name, self.data, self.cost))
        if self.types:
            found[".sol"] += f"Types: {', '.join(self.types)}\n"
        return found

    def record(self) -> dict[str, Any]:
        """Return what the ``.json`` file holds: cost, routes by name, and the stops as in a CSV.

        Above :data:`LARGEST_MATRIX` nodes, ``visits`` are left out.
        """
        found = {
            "instance": self.name,
            "problem": self.problem.name,
            "size": int(self.case.instance.size),
            "cost": self.cost,
            "vehicles": len(self.routes),
            "routes": self.named_routes,
        }
        if self.types:
            found["types"] = self.types
        if getattr(self.case.instance, "limited", False):
            found["unserved"] = self.unserved
        if self.case.instance.size < LARGEST_MATRIX:
            found["visits"] = [[row for _, row in vehicle] for vehicle in self.visits()]
        return found

    def write(self, path: str | Path, *more: str | Path) -> Path:
        """Write the solution to one or several files, each in the format of its ending.

        Parameters
        ----------
        path, more
            Paths that end in ``.sol``, or for a TSP in ``.tour``: the routes; ``.csv``: the stops
            of each vehicle; ``.geojson``: the same, for coordinates in degrees; ``.json``: cost,
            routes and stops; ``.html``: a page with a map and each vehicle's stops and times;
            ``.png``, ``.svg`` or ``.pdf``: a picture.

        Returns
        -------
        Path
            The first file. All of them are written, or none.

        Raises
        ------
        ConfigError
            This instance has no file with that ending.
        WriteError
            A file cannot be written.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.load(checkpoint).repair("tests/data/tiny.vrp")
        >>> solution.write("tiny.sol", "tiny.html").read_text().splitlines()[0]
        'Route #1: 1 3'
        """
        paths = [Path(each) for each in (path, *more)]
        for each in paths:
            expect_ending(each, self.problem, self.case.instance)
        write_together({each: self.content(each.suffix) for each in paths})
        return paths[0]

    def content(self, ending: str) -> str | bytes:
        """Return the content of the file of an ending that :func:`expect_ending` accepts."""
        if ending in itinerary.FORMATS:
            return itinerary.FORMATS[ending](self.case.instance, self.routes)
        if ending == RECORD:
            return json_text(self.record())
        if ending == PAGE:
            # Imported on demand, since few solutions get a page.
            from specahd.reporting.route_page import route_page

            return route_page(self.case.instance, self.routes, self.cost)
        if ending in PICTURES:
            image = io.BytesIO()
            with warnings.catch_warnings():
                # The font has no sign for some letters of a name.
                warnings.filterwarnings("ignore", "Glyph")
                self.plot().savefig(image, format=ending[1:])
            return image.getvalue()
        return self.files()[ending]

    def plot(self) -> "Figure":
        """Draw the routes before and after; edges that differ are coloured.

        Returns
        -------
        Figure
            A matplotlib figure, which is not shown in a window.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.load(checkpoint).repair("tests/data/tiny.vrp")
        >>> solution.plot().savefig("tiny.png")
        """
        # Imported on demand, since few solutions are drawn.
        from specahd.reporting.figures import draw_routes

        return draw_routes(self.drawn())

    def drawn(self) -> dict[str, Any]:
        """Return the routes before and after, where they begin and end, and the names of nodes."""
        drawn = self.case.comparison(self.problem, self.data, self.cost)
        instance = self.case.instance
        names = list(map(instance.labels.name, range(len(drawn["coords"]))))
        ends = {when: itinerary.ends(instance, drawn[when]) for when in ("before", "after")}
        return {**drawn, "names": names, "ends": ends, "open": getattr(instance, "open", False)}


@dataclass(frozen=True, repr=False)
class Repaired(Solution):
    """A checkpoint's repair of one instance.

    Parameters
    ----------
    repair
        Record of the repair, region by region.
    """

    repair: Repair

    @classmethod
    def of(cls, problem: AnyProblem, case: Case, repair: Repair) -> Self:
        """Return the solution of a repaired case."""
        return cls(problem, case, repair.solution, repair.cost, repair)

    @property
    def failed(self) -> bool:
        """Whether the upper program failed, so that the incumbent is the solution."""
        return self.repair.failed


def early_endings(problem: AnyProblem) -> tuple[str, ...]:
    """Return the endings of files with the routes alone, which are written during a search."""
    return (*problem.endings, *itinerary.FORMATS)


def expect_ending(path: Path, problem: AnyProblem, instance: Any) -> None:
    """Check that a file's ending names a format of the instance's solutions.

    Raises
    ------
    ConfigError
        The ending is wrong, or its format needs what the instance or the installation lacks. The
        message lists the endings, or names what is lacking.
    """
    accepted = (*early_endings(problem), RECORD, PAGE, *PICTURES)
    if path.suffix not in accepted:
        raise ConfigError(
            f"Expected a solution of {problem.name} to end in {', '.join(accepted[:-1])} or "
            f"{accepted[-1]}, got {path}."
        )
    if path.suffix == itinerary.GEOJSON:
        instance.labels.expect_degrees(path)
    if path.suffix == PAGE and instance.size >= LARGEST_MATRIX:
        raise ConfigError(f"Expected at most {LARGEST_MATRIX:,} nodes for a page, got {path}.")
    if path.suffix in PICTURES:
        require("plot", "A picture")


def routes(solution: Sequence[Any]) -> Sequence[Any]:
    """Return the routes of a problem's solution; a tour is one route."""
    tour = any(isinstance(node, int) for node in solution)
    return [solution] if tour else solution
