"""A repaired solution: its routes and cost, its files, its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specahd.core.errors import ConfigError
from specahd.core.folders import write_whole
from specahd.repair.cases import Case
from specahd.repair.maps import before_and_after
from specahd.repair.system import Repair
from specahd.routing.base import AnyProblem
from specahd.tracking.figures import route_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Solution:
    """What one pass of a checkpoint made of one instance.

    Parameters
    ----------
    problem
        The problem of the instance.
    case
        The instance with the incumbent that was repaired.
    repair
        What the pass did, region by region.
    """

    problem: AnyProblem
    case: Case
    repair: Repair

    @property
    def name(self) -> str:
        """The instance's NAME."""
        return str(self.case.instance.name)

    @property
    def cost(self) -> float:
        """The cost after repair, never above that of the incumbent under ``accept=improving``."""
        return self.repair.cost

    @property
    def incumbent_cost(self) -> float:
        """The cost before repair."""
        return self.repair.baseline_cost

    @property
    def improvement(self) -> float:
        """What repair gained, relative to the incumbent's cost."""
        return self.repair.improvement

    @property
    def failed(self) -> bool:
        """Whether the upper program failed, so that the incumbent stands."""
        return self.repair.failed

    @property
    def routes(self) -> Sequence[Any]:
        """The routes without the depot; a TSP has one, its tour.

        A stop is a node, for SDVRP a pair of node and quantity.
        """
        return routes(self.repair.solution)

    def files(self) -> dict[str, str]:
        """Return the texts of the solution's files by their endings, ``.sol`` among them."""
        return dict(self.problem.solution_files(self.name, self.repair.solution, self.cost))

    def write(self, path: str | Path) -> Path:
        """Write the solution to a file; its ending says in which format.

        Parameters
        ----------
        path
            Ends in ``.sol``; a TSP's may end in ``.tour``.

        Returns
        -------
        Path
            The file, which appears whole or not at all.

        Raises
        ------
        ConfigError
            The problem has no solution files with that ending.
        WriteError
            The file cannot be written.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.load(checkpoint).repair("tests/data/tiny.vrp")
        >>> solution.write("tiny.sol").read_text().splitlines()[0]
        'Route #1: 5'
        """
        path, texts = Path(path), self.files()
        if path.suffix not in texts:
            raise ConfigError(
                f"Expected a file of {self.problem.name} to end in {' or '.join(texts)}, "
                f"got {path}."
            )
        write_whole(path, texts[path.suffix])
        return path

    def plot(self) -> "Figure":
        """Draw the routes before and after repair; what differs has colour.

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
        return route_map(before_and_after(self.problem, self.case, self.repair))


def routes(solution: Sequence[Any]) -> Sequence[Any]:
    """Return the routes of a problem's solution; a tour is its only one."""
    tour = all(isinstance(node, int) for node in solution)
    return [solution] if tour else solution
