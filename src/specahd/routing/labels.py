"""The labels of results: names of an instance's stops, and units of its file."""

from dataclasses import dataclass
from pathlib import Path

from specahd.core.errors import ConfigError
from specahd.routing.base import FloatArray


@dataclass(frozen=True, eq=False)
class Labels:
    """Names and units of a file, which do not affect the solution; most files have none.

    Parameters
    ----------
    names
        The names of the nodes; None if they have numbers only.
    first
        The number of node 0. If it is 0, node 0 is called depot.
    degrees
        Longitude and latitude of the nodes, shape (n, 2).
    decimals
        Demands and capacity are stored in parts of the file's unit; 10**decimals make one unit.
    clock
        Whether times are seconds of the day, written as 08:30.
    loading
        Loading time before each route, in the file's unit of time.
    """

    names: tuple[str, ...] | None = None
    first: int = 0
    degrees: FloatArray | None = None
    decimals: int = 0
    clock: bool = False
    loading: float = 0.0

    def name(self, node: int) -> str:
        """Return the name of a node."""
        if self.names is not None:
            return self.names[node]
        return str(node + self.first) if node or self.first else "depot"

    def quoted_name(self, node: int) -> str:
        """Return the name of a node, quoted for a sentence; a number is not quoted."""
        return str(node + self.first) if self.names is None else repr(self.names[node])

    def amount(self, quantity: int) -> int | float:
        """Return a demand, a load or the capacity in the file's unit."""
        parts: int = 10**self.decimals
        return quantity / parts if quantity % parts else quantity // parts

    def time(self, value: float, digits: int = 6) -> str:
        """Return a time of day or a duration in the format of the file."""
        if not self.clock:
            return f"{value:.{digits}g}"
        minutes, seconds = divmod(round(value), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"

    def expect_degrees(self, path: Path) -> None:
        """Check that there are degrees, which the file at ``path`` needs for its positions.

        Raises
        ------
        ConfigError
            There are no degrees.
        """
        if self.degrees is None:
            raise ConfigError(f"Expected an instance with the columns lon and lat for {path}.")
