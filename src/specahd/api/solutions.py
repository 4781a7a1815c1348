"""A solution: its routes and cost, its files, its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from specahd.core.errors import ConfigError
from specahd.core.folders import write_atomically
from specahd.repair.cases import Case
from specahd.repair.maps import compare_routes
from specahd.repair.merge import EPSILON
from specahd.repair.system import Repair
from specahd.routing import itinerary
from specahd.routing.base import AnyProblem
from specahd.tracking.figures import draw_route_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Solution:
    """A feasible solution of one instance, and the incumbent that it improves.

    Parameters
    ----------
    problem
        The problem of the instance.
    case
        The instance with the incumbent that was to be improved.
    data
        The solution in the problem's own type.
    cost
        What it costs; never above the incumbent's, unless ``accept=feasible`` allowed it.
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

        A stop is a node, for SDVRP a pair of node and quantity.
        """
        return routes(self.data)

    @property
    def named_routes(self) -> list[list[Any]]:
        """The routes without the depot, each stop by its name in the file, or its number there.

        A stop is a name, for SDVRP a pair of name and quantity.
        """
        labels = self.case.instance.labels
        return [
            [
                (labels.name(stop[0]), stop[1]) if isinstance(stop, tuple) else labels.name(stop)
                for stop in route
            ]
            for route in self.routes
        ]

    def visits(self) -> itinerary.Visits:
        """Return the stops of each vehicle, one row a stop, as in the ``.csv`` file."""
        return itinerary.visits(self.case.instance, self.routes)

    def files(self) -> dict[str, str]:
        """Return the texts of the solution's files by their endings, ``.sol`` among them."""
        return dict(self.problem.solution_files(self.name, self.data, self.cost))

    def write(self, path: str | Path) -> Path:
        """Write the solution to a file, in the format of its ending.

        Parameters
        ----------
        path
            Ends in ``.sol``; a TSP's may end in ``.tour``. What each vehicle does stop by stop
            is in a ``.csv``, and, if places are degrees, in a ``.geojson``.

        Returns
        -------
        Path
            The file, which appears whole or not at all.

        Raises
        ------
        ConfigError
            There are no files with that ending for this instance.
        WriteError
            The file cannot be written.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.load(checkpoint).repair("tests/data/tiny.vrp")
        >>> solution.write("tiny.sol").read_text().splitlines()[0]
        'Route #1: 5'
        """
        path = Path(path)
        instance = self.case.instance
        expect_ending(path, self.problem, instance)
        if path.suffix in itinerary.FORMATS:
            text = itinerary.FORMATS[path.suffix](instance, self.routes)
        else:
            text = self.files()[path.suffix]
        write_atomically(path, text)
        return path

    def plot(self) -> "Figure":
        """Draw the routes before and after; what differs has colour.

        Returns
        -------
        Figure
            One of matplotlib's, which no window shows by itself.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.load(checkpoint).repair("tests/data/tiny.vrp")
        >>> solution.plot().savefig("tiny.png")
        """
        return draw_route_map(self.drawn())

    def drawn(self) -> dict[str, Any]:
        """Return the routes before and after as plain values, as ``routes.json`` holds them."""
        return compare_routes(self.problem, self.case, self.data, self.cost)


@dataclass(frozen=True, repr=False)
class Repaired(Solution):
    """A checkpoint's repair of one instance.

    Parameters
    ----------
    repair
        What the pass did, region by region.
    """

    repair: Repair

    @classmethod
    def of(cls, problem: AnyProblem, case: Case, repair: Repair) -> Self:
        """Return the solution of a repaired case."""
        return cls(problem, case, repair.solution, repair.cost, repair)

    @property
    def failed(self) -> bool:
        """Whether the upper program failed, so that the incumbent stands."""
        return self.repair.failed


def expect_ending(path: Path, problem: AnyProblem, instance: Any) -> None:
    """Refuse a file whose ending names no format that the instance's solutions have.

    Raises
    ------
    ConfigError
        With the endings that there are, or what the instance lacks.
    """
    endings = (*problem.endings, *itinerary.FORMATS)
    if path.suffix not in endings:
        raise ConfigError(
            f"Expected a solution of {problem.name} to end in {' or '.join(endings)}, got {path}."
        )
    if path.suffix == itinerary.GEOJSON:
        instance.labels.expect_degrees(path)


def routes(solution: Sequence[Any]) -> Sequence[Any]:
    """Return the routes of a problem's solution; a tour is its only one."""
    tour = all(isinstance(node, int) for node in solution)
    return [solution] if tour else solution
