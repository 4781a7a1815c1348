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
        The names of the nodes; None where they have numbers only.
    first
        The number of node 0; where it is 0, that node is the depot.
    degrees
        Longitude and latitude of the nodes, shape (n, 2).
    decimals
        Demands and capacity are held in parts of the file's unit: 10 to this power make one.
    clock
        Whether times are seconds of the day, written as 08:30.
    loading
        What loading takes before each route, in the file's unit of time.
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
        """Return the same for a sentence."""
        return str(node + self.first) if self.names is None else repr(self.names[node])

    def amount(self, quantity: int) -> int | float:
        """Return a demand, a load or the capacity in the file's unit."""
        parts: int = 10**self.decimals
        return quantity / parts if quantity % parts else quantity // parts

    def time(self, value: float, digits: int = 6) -> str:
        """Return a time, or how long something takes, as the file writes times."""
        if not self.clock:
            return f"{value:.{digits}g}"
        minutes, seconds = divmod(round(value), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"

    def expect_degrees(self, path: Path) -> None:
        """Refuse a file that would say where the stops lie on the earth.

        Raises
        ------
        ConfigError
            The places are no degrees.
        """
        if self.degrees is None:
            raise ConfigError(f"Expected an instance with the columns lon and lat for {path}.")
